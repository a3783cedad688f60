package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// call makes one call as an SDK that we do not know would: it reads the body
// as a stream and returns what it read and the error it met.
func call(ctx context.Context, rt http.RoundTripper, url, body string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Authorization", "Bearer sk-0123456789")
	resp, err := (&http.Client{Transport: rt}).Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

const chatURL = "http://fake/v1/chat/completions"

func memory(h http.HandlerFunc) wire.Transport {
	return wire.Transport{Base: &llmtest.Memory{Handler: h}}
}

func TestZeroTransport(t *testing.T) {
	s := &llmtest.Server{}
	url := s.Start(t)
	var log llm.CallLog
	ctx := llm.WithCallLog(t.Context(), &log)
	_, text, err := call(ctx, wire.Transport{}, url+"/chat/completions", `{"messages":[{"role":"user","content":"hi you"}],"model":"m"}`)
	require.NoError(t, err)
	assert.Contains(t, text, `"content":"ok"`)
	require.Len(t, log.Calls(), 1)
	got := log.Calls()[0]
	require.NoError(t, got.Err)
	assert.Equal(t, llm.Usage{Input: 2, Output: 1, Known: true}, got.Response.Usage)
	assert.Equal(t, "m", got.Response.Model)
	assert.Equal(t, llm.FinishStop, got.Response.Finish)
	assert.Positive(t, got.Response.Timing.Total)
	assert.Zero(t, got.Response.Timing.FirstToken, "the answer was not streamed")
}

func TestLoggedOnce(t *testing.T) {
	reply := llmtest.Status(200, `{"id":"1","model":"m","choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	rows := []struct {
		name, reason string
		rt           http.RoundTripper
		wrap         func(context.Context) context.Context
		url          string
		want         int
	}{
		{"one transport", "a call", memory(reply), nil, chatURL, 1},
		{"transport in transport", "the outer one logs", wire.Transport{Base: memory(reply)}, nil, chatURL, 1},
		{"own log", "the client logs itself", memory(reply), wire.WithOwnLog, chatURL, 0},
		{"unknown path", "the body shows that it is a model's", memory(reply), nil, "http://fake/gateway", 1},
		{"another service", "not every call of an application asks a model", memory(llmtest.Status(200, `{"hits":[]}`)), nil, "http://fake/search", 0},
		{"another service's failure", "not every call of an application asks a model", memory(llmtest.Status(500, `{}`)), nil, "http://fake/search", 0},
		{"a model's failure", "unknown usage of a known call", memory(llmtest.Status(500, `{}`)), nil, chatURL, 1},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var log llm.CallLog
			ctx := llm.WithCallLog(t.Context(), &log)
			if r.wrap != nil {
				ctx = r.wrap(ctx)
			}
			_, _, err := call(ctx, r.rt, r.url, `{}`)
			require.NoError(t, err)
			assert.Len(t, log.Calls(), r.want, r.reason)
		})
	}
}

func TestLoggedUsageOfStreams(t *testing.T) {
	gemini := func(n int, rest string) string {
		return fmt.Sprintf("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}%s}],\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":%d}}\n\n", rest, n)
	}
	var many []string
	for i := 1; i < 50; i++ {
		many = append(many, gemini(i, ""))
	}
	many = append(many, gemini(50, `,"finishReason":"STOP"`))
	rows := []struct {
		name, reason string
		url          string
		pieces       []string
		want         llm.Usage
		kind         llm.ErrorKind
	}{
		{"U06 Gemini cumulative", "the last one counts, not the sum", "http://fake/v1beta/models/m:streamGenerateContent?alt=sse", many, llm.Usage{Input: 10, Output: 50, Known: true}, ""},
		{"U06 last lacks a field", "an earlier value then stays", "http://fake/v1beta/models/m:streamGenerateContent", []string{
			gemini(7, ""), "data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"candidatesTokenCount\":8}}\n\n"}, llm.Usage{Input: 10, Output: 8, Known: true}, ""},
		{"OpenAI", "usage comes after the finish, without choices", chatURL, []string{llmtest.Text("a"), llmtest.Finish("stop"), "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n", llmtest.Done}, llm.Usage{Input: 3, Output: 1, Known: true}, ""},
		{"OpenAI cumulative", "vLLM can report usage in each chunk", chatURL, []string{
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n",
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n", llmtest.Done}, llm.Usage{Input: 3, Output: 2, Known: true}, ""},
		{"Groq", "usage in a field of its own", chatURL, []string{llmtest.Text("a"), "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"x_groq\":{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}}\n\n", llmtest.Done}, llm.Usage{Input: 3, Output: 1, Known: true}, ""},
		{"Anthropic", "input at the start, output at the end", "http://fake/v1/messages", []string{
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n",
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"a\"}}\n\n",
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":15}}\n\n",
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"}, llm.Usage{Input: 25, Output: 15, Known: true}, ""},
		{"responses", "OpenAI's other API ends with response.completed", "http://fake/v1/responses", []string{
			"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n",
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":6}}}\n\n"}, llm.Usage{Input: 5, Output: 6, Known: true}, ""},
		{"C03 cut", "usage is unknown, not estimated", chatURL, []string{llmtest.Text("a")}, llm.Usage{}, llm.KindIncomplete},
		{"C01 error", "a call that failed inside a 200", chatURL, []string{"data: {\"error\":{\"message\":\"quota exceeded\"}}\n\n", llmtest.Done}, llm.Usage{}, llm.KindRateLimit},
		{"C01 a text", "nothing says what it is", chatURL, []string{"data: {\"error\":\"STREAM_EXPLODED\"}\n\n", llmtest.Done}, llm.Usage{}, llm.KindBadResponse},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log llm.CallLog
				ctx := llm.WithCallLog(t.Context(), &log)
				_, _, err := call(ctx, memory(llmtest.SlowStream(time.Second, r.pieces...)), r.url, `{}`)
				if r.kind == llm.KindIncomplete {
					require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				} else {
					require.NoError(t, err)
				}
				require.Len(t, log.Calls(), 1)
				got := log.Calls()[0]
				assert.Equal(t, r.want, got.Response.Usage, r.reason)
				assert.Equal(t, r.kind, llm.KindOf(got.Err))
				if !strings.HasPrefix(r.name, "C01") && !strings.HasPrefix(r.name, "Anthropic") {
					assert.Equal(t, time.Second, got.Response.Timing.FirstToken)
				}
				assert.Equal(t, time.Duration(len(r.pieces))*time.Second, got.Response.Timing.Total)
			})
		})
	}
}

func TestStreamIsNotBuffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		rt := memory(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, llmtest.Text("a"))
			w.(http.Flusher).Flush()
			<-release
			fmt.Fprint(w, llmtest.Finish("stop"))
		})
		req, err := http.NewRequestWithContext(t.Context(), "POST", chatURL, nil)
		require.NoError(t, err)
		resp, err := rt.RoundTrip(req)
		require.NoError(t, err)
		buf := make([]byte, 1000)
		n, err := resp.Body.Read(buf)
		require.NoError(t, err)
		assert.Equal(t, llmtest.Text("a"), string(buf[:n]), "the first bytes come while the server still writes")
		close(release)
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
	})
}

func TestCapture(t *testing.T) {
	var c, outer wire.Capture
	c.MaxBody = 5
	ctx := wire.WithCapture(wire.WithCapture(t.Context(), &outer), &c)
	ctx = wire.WithExtra(ctx, map[string]json.RawMessage{"x": json.RawMessage("1")})
	rt := memory(llmtest.Status(418, `{"error":"teapot"}`, "X-Request-Id", "r1", "Set-Cookie", "s=1"))
	_, _, err := call(ctx, rt, chatURL+"?key=abcdefghij", `{"a":2}`)
	require.NoError(t, err)
	g := c.Get()
	assert.Equal(t, 418, g.Status)
	assert.Equal(t, "r1", g.Header.Get("X-Request-Id"))
	assert.Empty(t, g.Header.Get("Set-Cookie"))
	assert.Equal(t, `{"err`, string(g.Body))
	assert.True(t, g.BodyCut)
	assert.Equal(t, `{"a":2,"x":1}`, string(g.Request), "as it was sent")
	assert.Equal(t, chatURL, g.URL, "without its query")
	assert.Equal(t, 1, g.Calls)
	assert.Equal(t, `{"error":"teapot"}`, string(outer.Get().Body), "each capture is filled")
	assert.False(t, outer.Get().BodyCut)

	broken := errors.New("broken")
	_, _, err = call(ctx, wire.Transport{Base: roundTrip(func(*http.Request) (*http.Response, error) { return nil, broken })}, chatURL, `{}`)
	require.ErrorIs(t, err, broken)
	assert.ErrorIs(t, c.Get().Err, broken)
	assert.Equal(t, 2, c.Get().Calls)
	assert.Zero(t, c.Get().Status, "a new call begins anew")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestExtra(t *testing.T) {
	rows := []struct {
		name, reason string
		body         string
		extra        string // a JSON object; a null value removes
		want         string // the body sent, or part of the error after "!"
	}{
		{"add", "in the order of their names", `{"b":1,"a":2}`, `{"z":1,"y":2}`, `{"b":1,"a":2,"y":2,"z":1}`},
		{"replace", "where it stands", `{"a":1,"temperature":1,"b":2}`, `{"temperature":0}`, `{"a":1,"temperature":0,"b":2}`},
		{"remove", "null removes", `{"a":1,"b":2}`, `{"a":null}`, `{"b":2}`},
		{"remove all", "an object stays", `{"a":1}`, `{"a":null}`, `{}`},
		{"remove absent", "nothing to do", `{"a":1}`, `{"b":null}`, `{"a":1}`},
		{"digits", "numbers keep them", `{"seed":12345678901234567890,"t":0.10}`, `{"x":1e-45}`, `{"seed":12345678901234567890,"t":0.10,"x":1e-45}`},
		{"null of the SDK", "only what was asked for changes", `{"a":null}`, `{"x":1}`, `{"a":null,"x":1}`},
		{"nested", "replaced whole", `{"o":{"a":1}}`, `{"o":{"b":2}}`, `{"o":{"b":2}}`},
		{"empty object", "fields alone", `{}`, `{"x":[1, 2]}`, `{"x":[1, 2]}`},
		{"no object", "a field is never dropped in silence", `[1]`, `{"x":1}`, `!body is a JSON object`},
		{"no JSON", "a field is never dropped in silence", `a=b`, `{"x":1}`, `!body is a JSON object`},
		{"cut", "a broken body is not sent", `{"a":1`, `{"x":1}`, `!reading the request's body`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var fields map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(r.extra), &fields))
			var sent string
			var length int64
			rt := memory(func(w http.ResponseWriter, req *http.Request) {
				b, err := io.ReadAll(req.Body)
				assert.NoError(t, err)
				sent, length = string(b), req.ContentLength
			})
			_, _, err := call(wire.WithExtra(t.Context(), fields), rt, chatURL, r.body)
			if want, bad := strings.CutPrefix(r.want, "!"); bad {
				require.ErrorContains(t, err, want, r.reason)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, r.want, sent, r.reason)
			assert.Equal(t, int64(len(sent)), length)
		})
	}
}

// closeTracker is a request's body that knows whether it was closed.
type closeTracker struct {
	io.Reader
	closed atomic.Bool
}

func (c *closeTracker) Close() error { c.closed.Store(true); return nil }

func TestRoundTripperContract(t *testing.T) {
	plain := func(ctx context.Context) context.Context { return ctx }
	extra := func(ctx context.Context) context.Context {
		return wire.WithExtra(ctx, map[string]json.RawMessage{"x": json.RawMessage("1")})
	}
	bad := func(ctx context.Context) context.Context {
		return wire.WithExtra(ctx, map[string]json.RawMessage{"x": json.RawMessage("{")})
	}
	for name, wrap := range map[string]func(context.Context) context.Context{"plain": plain, "extra": extra, "bad extra": bad} {
		t.Run(name, func(t *testing.T) {
			body := &closeTracker{Reader: strings.NewReader(`{"a":1}`)}
			req, err := http.NewRequestWithContext(wrap(t.Context()), "POST", chatURL, body)
			require.NoError(t, err)
			req.ContentLength = 7
			before := req.Header.Clone()
			var got *http.Request
			rt := wire.Transport{Base: roundTrip(func(r *http.Request) (*http.Response, error) {
				got = r
				_, err := io.ReadAll(r.Body)
				r.Body.Close()
				return &http.Response{StatusCode: 200, Body: http.NoBody, Header: http.Header{}}, err
			})}
			_, err = rt.RoundTrip(req)
			assert.True(t, body.closed.Load(), "the body is always closed")
			assert.Equal(t, before, req.Header, "the caller's request is not changed")
			assert.Equal(t, int64(7), req.ContentLength)
			assert.Same(t, body, req.Body)
			if name == "bad extra" {
				require.ErrorContains(t, err, `the extra field "x" is not JSON`)
				return
			}
			require.NoError(t, err)
			assert.NotSame(t, req, got)
			if name == "extra" {
				again, err := got.GetBody()
				require.NoError(t, err)
				b, err := io.ReadAll(again)
				require.NoError(t, err)
				assert.Equal(t, `{"a":1,"x":1}`, string(b), "a redirect or a retry of net/http sends the same")
			}
		})
	}
}

func TestMiddlewaresNest(t *testing.T) {
	var order []string
	mw := func(name string) wire.Middleware {
		return wire.MiddlewareFunc(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			order = append(order, name)
			return next.RoundTrip(r)
		})
	}
	ctx := wire.WithMiddleware(wire.WithMiddleware(t.Context(), mw("first")), mw("second"))
	rt := memory(llmtest.Status(200, `{}`))
	rt.Middleware = mw("transport's")
	_, _, err := call(ctx, rt, chatURL, `{}`)
	require.NoError(t, err)
	assert.Equal(t, []string{"first", "second", "transport's"}, order)
}

func TestReplayedTiming(t *testing.T) {
	data := llmtest.Text("a") + llmtest.Finish("stop") + llmtest.Done
	cut := len(llmtest.Text("a"))
	replay := wire.MiddlewareFunc(func(*http.Request, http.RoundTripper) (*http.Response, error) {
		h := http.Header{"Content-Type": {"text/event-stream"}}
		marks := []wire.Mark{{End: cut, At: 300 * time.Millisecond}, {End: len(data), At: 2 * time.Second}}
		return &http.Response{StatusCode: 200, ProtoMajor: 1, Header: h, Body: wire.NewRecorded([]byte(data), marks, 3*time.Second)}, nil
	})
	synctest.Test(t, func(t *testing.T) {
		var log llm.CallLog
		ctx := llm.WithCallLog(wire.WithMiddleware(t.Context(), replay), &log)
		start := time.Now()
		_, text, err := call(ctx, wire.Transport{}, chatURL, `{}`)
		require.NoError(t, err)
		assert.Equal(t, data, text)
		assert.Zero(t, time.Since(start), "a replay does not sleep")
		got := log.Calls()[0].Response
		assert.True(t, got.Replayed)
		assert.Equal(t, 300*time.Millisecond, got.Timing.FirstToken)
		assert.Equal(t, 2*time.Second, got.Timing.Total, "[DONE] is the end, not the connection's")
	})
}

func TestCloseWithoutReading(t *testing.T) {
	var log llm.CallLog
	ctx, cancel := context.WithCancel(llm.WithCallLog(t.Context(), &log))
	req, err := http.NewRequestWithContext(ctx, "POST", chatURL, nil)
	require.NoError(t, err)
	resp, err := memory(llmtest.Status(200, `{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`)).RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NoError(t, resp.Body.Close(), "twice")
	cancel()
	require.Len(t, log.Calls(), 1)
	assert.Equal(t, int64(2), log.Calls()[0].Response.Usage.Output, "what was billed is counted even if nobody reads it")
}

func TestCanceledCallIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log llm.CallLog
		ctx, cancel := context.WithTimeout(llm.WithCallLog(t.Context(), &log), time.Minute)
		defer cancel()
		_, _, err := call(ctx, memory(llmtest.Hang), chatURL, `{}`)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, log.Calls(), 1)
		assert.Equal(t, llm.KindTimeout, llm.KindOf(log.Calls()[0].Err))
		assert.Equal(t, time.Minute, log.Calls()[0].Response.Timing.Total)
	})
}

func TestUpgradedConnectionIsLeftAlone(t *testing.T) {
	type conn struct{ io.ReadWriteCloser }
	rt := wire.Transport{Base: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 101, Header: http.Header{}, Body: conn{}}, nil
	})}
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://fake/ws", nil)
	require.NoError(t, err)
	resp, err := rt.RoundTrip(req)
	require.NoError(t, err)
	assert.Implements(t, (*io.Writer)(nil), resp.Body)
}
