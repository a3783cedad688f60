package wire_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// An api is how one provider streams: what comes before the first token, two
// pieces of a reasoning model's answer, and what ends it.
type api struct {
	name, url string
	head      []string // no token in it
	tokens    []string // one token each
	idle      []string // keep-alives and empty pieces, to be put anywhere
	end       []string // the last of which is not needed, if optional is set
	optional  bool
	json      bool // an array, not server-sent events
}

func event(name, data string) string {
	if name == "" {
		return "data: " + data + "\n\n"
	}
	return "event: " + name + "\ndata: " + data + "\n\n"
}

func typed(name, fields string) string { return event(name, `{"type":"`+name+`"`+fields+`}`) }

// keepAlives are those of C06.
var keepAlives = []string{": OPENROUTER PROCESSING\n\n", "retry: 3000\n\n", "data:\n\n", "event: ping\n\n"}

var apis = []api{
	{name: "chat completions", url: chatURL,
		head: []string{event("", `{"id":"i","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`)},
		tokens: []string{
			event("", `{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}`),
			event("", `{"choices":[{"index":0,"delta":{"content":"a \"content\": b"},"finish_reason":null}],"usage":null}`),
			event("", `{"choices":[{"index":0,"delta":{"content":"é"}}]}`),
		},
		idle: append([]string{event("", `{"choices":[{"index":0,"delta":{"content":""}}]}`), event("", `{"choices":[{"index":0,"delta":{}}]}`)}, keepAlives...),
		end: []string{event("", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`),
			event("", `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}`), llmtest.Done},
		optional: true},
	{name: "responses", url: "http://fake/v1/responses",
		head: []string{typed("response.created", `,"response":{"object":"response","id":"i","model":"m","status":"in_progress","usage":null}`), typed("response.output_item.added", `,"item":{"type":"message"}`)},
		tokens: []string{
			typed("response.reasoning_summary_text.delta", `,"delta":"hm"`),
			typed("response.output_text.delta", `,"delta":"a"`),
			typed("response.output_text.delta", `,"delta":"é"`),
		},
		idle: append([]string{typed("response.output_text.delta", `,"delta":""`), typed("response.in_progress", "")}, keepAlives...),
		end:  []string{typed("response.completed", `,"response":{"object":"response","id":"i","model":"m","status":"completed","usage":{"input_tokens":7,"output_tokens":3}}`)}},
	{name: "Anthropic", url: "http://fake/v1/messages",
		head: []string{typed("message_start", `,"message":{"id":"i","model":"m","usage":{"input_tokens":7,"output_tokens":1}}`), typed("content_block_start", `,"content_block":{"type":"text","text":""}`)},
		tokens: []string{
			typed("content_block_delta", `,"delta":{"type":"thinking_delta","thinking":"hm"}`),
			typed("content_block_delta", `,"delta":{"type":"text_delta","text":"a"}`),
			typed("content_block_delta", `,"delta":{"type":"input_json_delta","partial_json":"{"}`),
		},
		idle: append([]string{typed("ping", ""), typed("content_block_delta", `,"delta":{"type":"text_delta","text":""}`), typed("content_block_delta", `,"delta":{"type":"signature_delta","signature":"x"}`)}, keepAlives...),
		end:  []string{typed("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}`), typed("message_stop", "")}},
	{name: "Gemini", url: "http://fake/v1beta/models/m:streamGenerateContent?alt=sse",
		head: []string{event("", `{"responseId":"i","modelVersion":"m","candidates":[{"index":0,"content":{"parts":[{"text":""}]}}],"usageMetadata":{"promptTokenCount":7}}`)},
		tokens: []string{
			event("", `{"candidates":[{"content":{"parts":[{"thought":true,"text":"hm"}]}}],"usageMetadata":{"promptTokenCount":7,"thoughtsTokenCount":1}}`),
			event("", `{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":7,"thoughtsTokenCount":1,"candidatesTokenCount":1}}`),
			event("", `{"candidates":[{"content":{"parts":[{"text":"é"}]}}],"usageMetadata":{"promptTokenCount":7,"thoughtsTokenCount":1,"candidatesTokenCount":2}}`),
		},
		idle: keepAlives,
		end:  []string{event("", `{"candidates":[{"index":0,"content":{},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"thoughtsTokenCount":1,"candidatesTokenCount":2}}`)}},
	{name: "Gemini array", url: "http://fake/v1beta/models/m:streamGenerateContent", json: true,
		head: []string{`[{"responseId":"i","modelVersion":"m","candidates":[{"content":{"parts":[{"text":""}]}}]}`},
		tokens: []string{
			"\n,\r\n" + `{"candidates":[{"content":{"parts":[{"thought":true,"text":"hm}]"}]}}]}`,
			`,{"candidates":[{"content":{"parts":[{"text":"\"[{"}]}}],"usageMetadata":{"promptTokenCount":7}}`,
			`,{"candidates":[{"content":{"parts":[{"text":"é\\"}]}}]}`,
		},
		idle: []string{"\n", `,{"candidates":[{"content":{"parts":[]}}]}`},
		end:  []string{`,{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"thoughtsTokenCount":1,"candidatesTokenCount":2}}`, "]"}, optional: true},
}

func (a api) pieces(tokens ...string) []string {
	var out []string
	for _, part := range [][]string{a.head, tokens, a.end} {
		out = append(out, part...)
	}
	return out
}

// server streams the pieces, each a second after the one before.
func (a api) server(pieces []string) http.HandlerFunc {
	h := llmtest.SlowStream(time.Second, pieces...)
	if !a.json {
		return h
	}
	return func(w http.ResponseWriter, r *http.Request) { h(asJSON{w}, r) }
}

// asJSON sends server-sent pieces under the content type of JSON.
type asJSON struct{ http.ResponseWriter }

func (a asJSON) Write(p []byte) (int, error) {
	a.Header().Set("Content-Type", "application/json; charset=UTF-8") // before the first byte
	return a.ResponseWriter.Write(p)
}

func (a asJSON) Flush() { a.ResponseWriter.(http.Flusher).Flush() }

// seen is what the transport told of a call.
type seen struct {
	body string
	err  error
	wire.Captured
	calls []llm.Call
}

func (a api) call(t *testing.T, pieces []string) (s seen) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var c wire.Capture
		var log llm.CallLog
		_, s.body, s.err = call(llm.WithCallLog(wire.WithCapture(t.Context(), &c), &log), memory(a.server(pieces)), a.url, `{}`)
		s.Captured, s.calls = c.Get(), log.Calls()
	})
	require.Len(t, s.calls, 1)
	assert.Equal(t, strings.Join(pieces, ""), s.body, "the bytes are passed on as they came")
	return s
}

// TestStreams: the same answer through each API means the same.
func TestStreams(t *testing.T) {
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			pieces := a.pieces(a.tokens...)
			s := a.call(t, pieces)
			require.NoError(t, s.err)
			require.NoError(t, s.calls[0].Err)
			first := time.Duration(len(a.head)+1) * time.Second
			times := []time.Duration{first, first + time.Second, first + 2*time.Second}
			r := s.calls[0].Response
			assert.Equal(t, times, r.Chunks)
			assert.Equal(t, first, r.Timing.FirstToken)
			assert.Equal(t, time.Duration(len(pieces))*time.Second, r.Timing.Total)
			assert.Equal(t, llm.FinishStop, r.Finish)
			assert.Equal(t, [2]string{"i", "m"}, [2]string{r.ID, r.Model})
			assert.Equal(t, [2]int64{7, 3}, [2]int64{r.Usage.Input, r.Usage.Output})
			assert.Empty(t, r.Warnings)
			assert.True(t, s.Whole)
			assert.Equal(t, times, s.Chunks)
			assert.Equal(t, first, s.FirstToken)
			assert.Equal(t, r.Usage, s.Usage)
		})
	}
}

// TestCutStreams is C03: every beginning of a stream that lacks its end is an
// incomplete answer, and what was reported of usage is kept as a lower bound.
func TestCutStreams(t *testing.T) {
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			whole := a.pieces(a.tokens...)
			for n := range len(whole) - len(a.end) + 1 {
				s := a.call(t, whole[:n])
				require.ErrorIs(t, s.err, wire.ErrIncomplete, "after %d pieces", n)
				assert.Equal(t, llm.KindIncomplete, llm.KindOf(s.calls[0].Err))
				assert.False(t, s.Whole)
				assert.Equal(t, s.Usage.Known, strings.Contains(fmt.Sprint(s.Warnings), "at least"), "%v", s.Warnings)
			}
		})
	}
}

// TestOptionalEnds is C04: what may be missing after the end was told.
func TestOptionalEnds(t *testing.T) {
	for _, a := range apis {
		if !a.optional {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			whole := a.pieces(a.tokens...)
			s := a.call(t, whole[:len(whole)-1])
			require.NoError(t, s.err)
			require.NoError(t, s.calls[0].Err)
			assert.Equal(t, int64(3), s.Usage.Output)
		})
	}
}

// TestKeepAlives is C06: what holds no token changes no time but its own.
func TestKeepAlives(t *testing.T) {
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			idle := len(a.idle)
			pieces := append(append([]string{}, a.head...), a.idle...)
			for _, tok := range a.tokens {
				pieces = append(append(pieces, tok), a.idle...)
			}
			s := a.call(t, append(pieces, a.end...))
			require.NoError(t, s.err)
			first := time.Duration(len(a.head)+idle+1) * time.Second
			step := time.Duration(idle+1) * time.Second
			assert.Equal(t, []time.Duration{first, first + step, first + 2*step}, s.Chunks)
			assert.Equal(t, first, s.FirstToken)
		})
	}
}

// TestSplitWrites: a stream cut into single bytes, with every kind of line end,
// is read like the whole one.
func TestSplitWrites(t *testing.T) {
	for _, a := range apis {
		for _, ends := range []string{"\n", "\r\n", "\r"} {
			if a.json && ends != "\n" {
				continue
			}
			t.Run(fmt.Sprintf("%s %q", a.name, ends), func(t *testing.T) {
				body := strings.ReplaceAll(strings.Join(a.pieces(a.tokens...), ""), "\n", ends)
				h := http.Header{"Content-Type": {"text/event-stream"}}
				if a.json {
					h.Set("Content-Type", "application/json")
				}
				path, _, _ := strings.Cut(strings.TrimPrefix(a.url, "http://fake"), "?")
				w := wire.NewWatch("POST", path, h)
				for i := range len(body) {
					w.Write([]byte(body[i:i+1]), time.Duration(i+1))
				}
				w.End(time.Duration(len(body)))
				s := w.State()
				assert.True(t, s.Done)
				assert.True(t, w.Whole())
				assert.Len(t, s.Chunks, 3)
				assert.IsIncreasing(t, s.Chunks)
				assert.Equal(t, int64(3), s.Usage.Output)
			})
		}
	}
}

// TestStreamEnds are the ends that are no natural one.
func TestStreamEnds(t *testing.T) {
	rows := []struct {
		name, reason, url string
		pieces            []string
		finish            llm.FinishReason
		kind              llm.ErrorKind
		message           string
	}{
		{"responses incomplete", "cut at the limit: a whole stream of half an answer", "http://fake/v1/responses",
			[]string{typed("response.incomplete", `,"response":{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":7,"output_tokens":3}}`)}, llm.FinishLength, "", ""},
		{"responses filtered", "the reason stands in incomplete_details", "http://fake/v1/responses",
			[]string{typed("response.incomplete", `,"response":{"object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"usage":{"input_tokens":7,"output_tokens":3}}`)}, llm.FinishContentFilter, "", ""},
		{"responses failed", "with the error's code", "http://fake/v1/responses",
			[]string{typed("response.failed", `,"response":{"object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"},"usage":{"input_tokens":7,"output_tokens":3}}`)}, "", llm.KindRateLimit, "slow down"},
		{"responses error", "an event of its own", "http://fake/v1/responses",
			[]string{typed("error", `,"code":"server_error","message":"sorry"`)}, "", llm.KindServer, "sorry"},
		{"Anthropic overloaded", "in the middle of an answer", "http://fake/v1/messages",
			[]string{apis[2].head[0], apis[2].tokens[1], event("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}, "", llm.KindServer, "Overloaded"},
		{"Anthropic length", "the reason stands in message_delta", "http://fake/v1/messages",
			[]string{apis[2].head[0], typed("message_delta", `,"delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":3}`), typed("message_stop", "")}, llm.FinishLength, "", ""},
		{"Gemini blocked", "C09: the prompt is counted, the answer whole", apis[3].url,
			[]string{event("", `{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":7}}`)}, llm.FinishContentFilter, "", ""},
		{"Gemini error", "in the middle", apis[3].url,
			[]string{apis[3].tokens[1], event("", `{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}`)}, "", llm.KindServer, "busy"},
		{"chat error in a choice", "OpenRouter's place for it", chatURL,
			[]string{apis[0].tokens[1], event("", `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"upstream"}}]}`), llmtest.Done}, "error", llm.KindServer, ""},
		{"chat error by a text", "C01", chatURL, []string{event("", `{"error":"STREAM_EXPLODED"}`)}, "", llm.KindBadResponse, "STREAM_EXPLODED"},
		{"no error", "fields that say that there was none", chatURL, []string{event("", `{"error":null,"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`), llmtest.Done}, llm.FinishStop, "", ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			s := api{url: r.url}.call(t, r.pieces)
			require.NoError(t, s.err, "the SDK sees the error itself")
			got := s.calls[0]
			assert.Equal(t, r.kind, llm.KindOf(got.Err), r.reason)
			assert.Equal(t, r.finish, got.Response.Finish, r.reason)
			if r.message != "" {
				assert.ErrorContains(t, got.Err, r.message)
			}
		})
	}
}

// TestGeminiArrayErrors come in one object, or in an array of one.
func TestGeminiArrayErrors(t *testing.T) {
	body := fmt.Sprintf(retryInfo, "Quota exceeded", `"38s"`)
	for _, body := range []string{body, "[" + body + "]", "\n" + body} {
		var log llm.CallLog
		_, text, err := call(llm.WithCallLog(t.Context(), &log), memory(llmtest.Status(429, body)), apis[4].url, `{}`)
		require.NoError(t, err, "an error body is no cut stream")
		assert.Equal(t, body, text)
		var e *llm.Error
		require.ErrorAs(t, log.Calls()[0].Err, &e)
		assert.Equal(t, llm.KindRateLimit, e.Kind)
		assert.Equal(t, 38*time.Second, *e.RetryAfter)
	}
	for _, ctype := range []string{"application/json", "text/event-stream"} {
		_, text, err := call(t.Context(), memory(llmtest.Status(503, "", "Content-Type", ctype)), apis[4].url, `{}`)
		require.NoError(t, err, "a failure without a body is no cut stream")
		assert.Empty(t, text)
	}
}

// TestCumulativeUsage is U06 for each API that repeats its counts.
func TestCumulativeUsage(t *testing.T) {
	rows := []struct {
		name, url string
		piece     func(n int) string
		end       string
	}{
		{"Gemini", apis[3].url, func(n int) string {
			return event("", fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":%d}}`, n))
		}, event("", `{"candidates":[{"finishReason":"STOP"}]}`)},
		{"chat", chatURL, func(n int) string {
			return event("", fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":10,"completion_tokens":%d}}`, n))
		}, llmtest.Finish("stop") + llmtest.Done},
		{"Anthropic", apis[2].url, func(n int) string {
			return typed("message_delta", fmt.Sprintf(`,"delta":{},"usage":{"input_tokens":10,"output_tokens":%d}`, n))
		}, typed("message_stop", "")},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var pieces []string
			for n := range 50 {
				pieces = append(pieces, r.piece(n+1))
			}
			s := api{url: r.url}.call(t, append(pieces, r.end))
			require.NoError(t, s.err)
			assert.Equal(t, llm.Usage{Input: 10, Output: 50, Known: true}, s.calls[0].Response.Usage)
		})
	}
}

// TestOddNumbers is U15 for each API: the answer is read all the same.
func TestOddNumbers(t *testing.T) {
	rows := []struct{ name, url, body string }{
		{"chat", chatURL, `{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":%s}}`},
		{"responses", apis[1].url, `{"object":"response","status":"completed","usage":{"input_tokens":3,"output_tokens":%s}}`},
		{"Anthropic", apis[2].url, `{"type":"message","stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":%s}}`},
		{"Gemini", "http://fake/v1beta/models/m:generateContent", `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":%s}}`},
	}
	for _, r := range rows {
		for number, want := range map[string]int64{"12": 12, "12.0": 12, "1.2e1": 12, "12.5": -1, `"12"`: -1, "-1": -1, "1e300": -1} {
			t.Run(r.name+" "+number, func(t *testing.T) {
				var log llm.CallLog
				_, _, err := call(llm.WithCallLog(t.Context(), &log), memory(llmtest.Status(200, fmt.Sprintf(r.body, number))), r.url, `{}`)
				require.NoError(t, err)
				got := log.Calls()[0].Response
				assert.Equal(t, llm.FinishStop, got.Finish, "what else the answer says is kept")
				if want < 0 {
					assert.False(t, got.Usage.Known)
					assert.Len(t, got.Warnings, 1)
					return
				}
				assert.Equal(t, llm.Usage{Input: 3, Output: want, Known: true}, got.Usage)
				assert.Empty(t, got.Warnings)
			})
		}
	}
}

// FuzzWatch: bytes of any kind break nothing, and how they are cut does not
// matter.
func FuzzWatch(f *testing.F) {
	for _, a := range apis {
		f.Add(a.json, strings.Join(a.pieces(a.tokens...), ""))
	}
	f.Add(true, `[{"a":"\u0022]"}`)
	f.Add(true, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hm\"}}]}\n\ndata:") // events that call themselves JSON
	f.Add(true, "\xef\xbb\xbf \nretry: 3\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hm\"}}]}\n\n")
	f.Fuzz(func(t *testing.T, array bool, body string) {
		media, path := "text/event-stream", "/v1/chat/completions"
		if array {
			media, path = "application/json", "/v1beta/models/m:streamGenerateContent"
		}
		read := func(r io.Reader) (wire.WatchState, bool) {
			w := wire.NewWatch("POST", path, http.Header{"Content-Type": {media}})
			buf := make([]byte, 512)
			for {
				n, err := r.Read(buf)
				w.Write(buf[:n], 1)
				if err != nil {
					w.End(1)
					return w.State(), w.Whole()
				}
			}
		}
		one, whole := read(strings.NewReader(body))
		two, wholeToo := read(iotest.OneByteReader(strings.NewReader(body)))
		a, err := json.Marshal(one)
		require.NoError(t, err)
		b, err := json.Marshal(two)
		require.NoError(t, err)
		if string(a) != string(b) || whole != wholeToo {
			t.Errorf("at once %s %v, byte by byte %s %v", a, whole, b, wholeToo)
		}
		if len(one.Chunks) > 0 && one.Chunks[0] != one.FirstToken {
			t.Errorf("the first of %v is not %v", one.Chunks, one.FirstToken)
		}
	})
}
