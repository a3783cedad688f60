package client

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/llm"
)

// A vector is an answer's body and what a measurement has to see in it.
type vector struct {
	name, reason string
	api          API
	body         string
	require      bool // usage
	maxEvent     int

	frags  []record.Fragment // without their times
	finish string
	model  string
	usage  llm.Usage
	class  record.Class
	says   string // in the failure's message
}

func text(n int) record.Fragment     { return record.Fragment{Bytes: n} }
func thought(n int) record.Fragment  { return record.Fragment{Kind: record.Reasoning, Bytes: n} }
func toolCall(n int) record.Fragment { return record.Fragment{Kind: record.ToolCall, Bytes: n} }
func used(in, out int64) llm.Usage   { return llm.Usage{Input: in, Output: out, Known: true} }

func delta(fields string) string {
	return `data: {"choices":[{"index":0,"delta":{` + fields + `}}]}` + "\n\n"
}

const (
	stop  = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	tail  = `data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":2,"total_tokens":14}}` + "\n\n"
	ended = "data: [DONE]\n\n"
)

var long = strings.Repeat("x", 70<<10)

var vectors = []vector{
	{name: "plain", reason: "role chunk, two texts, finish, usage tail, [DONE]",
		body:  `data: {"model":"m","choices":[{"delta":{"role":"assistant","content":""}}]}` + "\n\n" + delta(`"content":"Hel"`) + delta(`"content":"lo"`) + stop + tail + ended,
		frags: []record.Fragment{text(3), text(2)}, finish: "stop", model: "m", usage: used(12, 2)},
	{name: "role only", reason: "a role is nothing that was generated",
		body: delta(`"role":"assistant"`) + delta(`"content":"a"`) + stop + ended, frags: []record.Fragment{text(1)}, finish: "stop"},
	{name: "null and empty", reason: "neither are a null and an empty text",
		body: delta(`"role":"assistant","content":null`) + delta(`"content":"","reasoning_content":"","tool_calls":[],"refusal":null`) + stop + ended, finish: "stop"},
	{name: "empty after a text", reason: "an event like the one before, but for the text, of which there is none",
		body: delta(`"content":"a"`) + delta(`"content":""`) + delta(`"content":"bc"`) + stop + ended, frags: []record.Fragment{text(1), text(2)}, finish: "stop"},
	{name: "CRLF", reason: "legal line end",
		body:  strings.ReplaceAll(delta(`"content":"a"`)+delta(`"content":"b"`)+stop+tail+ended, "\n", "\r\n"),
		frags: []record.Fragment{text(1), text(1)}, finish: "stop", usage: used(12, 2)},
	{name: "CR", reason: "legal line end",
		body: strings.ReplaceAll(delta(`"content":"a"`)+stop+ended, "\n", "\r"), frags: []record.Fragment{text(1)}, finish: "stop"},
	{name: "mixed ends", reason: "each line may end in its own way",
		body: "data: {\"choices\":[{\"delta\":\rdata: {\"content\":\"a\"}}]}\r\n\n" + stop + ended, frags: []record.Fragment{text(1)}, finish: "stop"},
	{name: "no space", reason: "the space after the colon is optional",
		body: strings.ReplaceAll(delta(`"content":"a"`)+stop+tail+ended, "data: ", "data:"), frags: []record.Fragment{text(1)}, finish: "stop", usage: used(12, 2)},
	{name: "multi-line", reason: "the lines of an event's data are joined by newlines",
		body:  "data: {\"choices\":\ndata:  [{\"delta\":\ndata\ndata: {\"content\":\"ab\"}}]}\n\n" + stop + ended,
		frags: []record.Fragment{text(2)}, finish: "stop"},
	{name: "multi-line CRLF", reason: "a CRLF is one line end, not a blank line too",
		body:  "data: {\"choices\":\r\ndata:  [{\"delta\":\r\ndata: {\"content\":\"ab\"}}]}\r\n\r\n" + stop + ended,
		frags: []record.Fragment{text(2)}, finish: "stop"},
	{name: "comments", reason: "keep-alives are no fragments",
		body:  ": keep-alive\n\n" + delta(`"content":"a"`) + ":\n\n: ping\n" + delta(`"content":"b"`) + "data:\n\ndata: \n\n" + stop + ended,
		frags: []record.Fragment{text(1), text(1)}, finish: "stop"},
	{name: "other fields", reason: "id, retry, event and unknown fields do not matter",
		body: "event: message\nid: 7\nretry: 100\nwhat: ever\n" + delta(`"content":"a"`) + stop + ended, frags: []record.Fragment{text(1)}, finish: "stop"},
	{name: "byte order mark", reason: "legal at the very beginning",
		body: "\xef\xbb\xbf" + delta(`"content":"a"`) + stop + ended, frags: []record.Fragment{text(1)}, finish: "stop"},
	{name: "several tokens", reason: "an event is one fragment, whatever it holds",
		body: delta(`"content":"one two three"`) + stop + tail + ended, frags: []record.Fragment{text(13)}, finish: "stop", usage: used(12, 2)},
	{name: "reasoning only", reason: "a thinking model that is cut has answered nothing visible",
		body:  delta(`"reasoning_content":"hm"`) + delta(`"reasoning":"mm."`) + `data: {"choices":[{"delta":{},"finish_reason":"length"}]}` + "\n\n" + tail + ended,
		frags: []record.Fragment{thought(2), thought(3)}, finish: "length", usage: used(12, 2)},
	{name: "reasoning twice", reason: "the same text under two names is one",
		body: delta(`"reasoning_content":"hm","reasoning":"hm"`) + stop + ended, frags: []record.Fragment{thought(2)}, finish: "stop"},
	{name: "reasoning details", reason: "OpenRouter's",
		body:  delta(`"reasoning":null,"reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"long"}]`) + stop + ended,
		frags: []record.Fragment{thought(2)}, finish: "stop"},
	{name: "tool call only", reason: "name and arguments are generated, ids are not",
		body: delta(`"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"look","arguments":""}}]`) +
			delta(`"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]`) + delta(`"tool_calls":[{"index":0,"id":"x","function":{"arguments":""}}]`) +
			`data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n" + tail + ended,
		frags: []record.Fragment{toolCall(4), toolCall(4)}, finish: "tool_calls", usage: used(12, 2)},
	{name: "two channels", reason: "one event is one fragment, of the more visible kind",
		body: delta(`"reasoning_content":"hm","content":"a"`) + stop + ended, frags: []record.Fragment{text(3)}, finish: "stop"},
	{name: "refusal", reason: "people see it", body: delta(`"refusal":"No."`) + stop + ended, frags: []record.Fragment{text(3)}, finish: "stop"},
	{name: "content parts", reason: "Mistral's form",
		body:  delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`) + delta(`"content":[{"type":"text","text":"abc"}]`) + stop + ended,
		frags: []record.Fragment{thought(2), text(3)}, finish: "stop"},
	{name: "usage tail", reason: "it comes after the last fragment and is none",
		body:  delta(`"content":"a"`) + stop + `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}}` + "\n\n" + ended,
		frags: []record.Fragment{text(1)}, finish: "stop", usage: llm.Usage{Input: 5, CachedInput: 4, Output: 1, Reasoning: 1, Known: true}},
	{name: "usage in each chunk", reason: "vLLM's continuous_usage_stats: the last one counts",
		body: `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}` + "\n\n" +
			`data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}` + "\n\n" + ended,
		frags: []record.Fragment{text(1), text(1)}, finish: "stop", usage: used(5, 2)},
	{name: "one token", reason: "the fragment with the finish reason is one",
		body: `data: {"choices":[{"delta":{"role":"assistant","content":"4"},"finish_reason":"stop"}]}` + "\n\n" + tail + ended, frags: []record.Fragment{text(1)}, finish: "stop", usage: used(12, 2)},
	{name: "no [DONE]", reason: "a finish reason is an end too",
		body: delta(`"content":"a"`) + stop, frags: []record.Fragment{text(1)}, finish: "stop"},
	{name: "only [DONE]", reason: "and so is [DONE]", body: delta(`"content":"a"`) + ended, frags: []record.Fragment{text(1)}},
	{name: "only usage", reason: "and so is a usage tail", body: delta(`"content":"a"`) + tail, frags: []record.Fragment{text(1)}, usage: used(12, 2)},
	{name: "[DONE] without a newline", reason: "G14: the last event may lack its blank line", body: delta(`"content":"a"`) + "data: [DONE]", frags: []record.Fragment{text(1)}},
	{name: "after [DONE]", reason: "nothing counts after the end", body: delta(`"content":"a"`) + ended + delta(`"content":"b"`) + "data: no JSON\n\n", frags: []record.Fragment{text(1)}},
	{name: "truncated", reason: "a clean end of the connection in the middle of an answer",
		body: delta(`"content":"a"`) + delta(`"content":"b"`), frags: []record.Fragment{text(1), text(1)}, class: record.Truncated, says: "after 2 fragments"},
	{name: "truncated with usage so far", reason: "continuous usage does not prove an end",
		body:  `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}` + "\n\n",
		frags: []record.Fragment{text(1)}, usage: used(5, 1), class: record.Truncated},
	{name: "cut inside an event", reason: "half an event is no JSON", body: delta(`"content":"a"`) + `data: {"choices":[{"del`, frags: []record.Fragment{text(1)}, class: record.Malformed},
	{name: "nothing", reason: "an empty body", body: "", class: record.Truncated, says: "after 0 fragments"},
	{name: "error in the stream", reason: "it began well", body: delta(`"content":"a"`) + `data: {"error":{"message":"worker died","code":500}}` + "\n\n" + ended,
		frags: []record.Fragment{text(1)}, class: record.InStream, says: "worker died"},
	{name: "error event", reason: "named as one, with a text", body: delta(`"content":"a"`) + "event: error\ndata: out of memory\n\n", frags: []record.Fragment{text(1)}, class: record.InStream, says: "out of memory"},
	{name: "error of vLLM", reason: "an object that calls itself one", body: `data: {"object":"error","message":"bad thing","code":500}` + "\n\n", class: record.InStream, says: "bad thing"},
	{name: "error in a choice", reason: "OpenRouter's", body: `data: {"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"upstream"}}]}` + "\n\n", class: record.InStream, says: "upstream"},
	{name: "context in the stream", reason: "the code says it", body: `data: {"error":{"message":"no","code":"context_length_exceeded"}}` + "\n\n", class: record.Context},
	{name: "no error", reason: "some servers say that there is none", body: `data: {"error":null,"choices":[{"delta":{"content":"a"}}]}` + "\n\n" + stop + ended, frags: []record.Fragment{text(1)}, finish: "stop"},
	{name: "over 64 KB", reason: "a line has no length that a reader may assume", body: delta(`"content":"`+long+`"`) + stop + ended, frags: []record.Fragment{text(70 << 10)}, finish: "stop"},
	{name: "over the limit", reason: "but one that is configured", maxEvent: 64 << 10, body: delta(`"content":"`+long+`"`) + stop + ended, class: record.Malformed, says: "MaxEvent"},
	{name: "over the limit in lines", reason: "the limit is for the event", maxEvent: 1 << 10, body: strings.Repeat("data: "+strings.Repeat(" ", 300)+"\n", 9) + "\n", class: record.Malformed, says: "MaxEvent"},
	{name: "no JSON", reason: "not what the API promises", body: "data: hello\n\n", class: record.Malformed, says: "hello"},
	{name: "half JSON", reason: "a trailing comma", body: `data: {"choices":[],}` + "\n\n", class: record.Malformed},
	{name: "a list", reason: "an event is an object", body: "data: []\n\n", class: record.Malformed},
	{name: "wrong type", reason: "what cannot be measured is not taken for nothing", body: delta(`"content":5`), class: record.Malformed, says: "content"},
	{name: "choices of another type", reason: "the same", body: `data: {"choices":{"delta":{}}}` + "\n\n", class: record.Malformed, says: "choices"},
	{name: "HTML", reason: "a proxy's page under status 200", body: "<html><body>hi</body></html>", class: record.Malformed, says: "HTML"},
	{name: "escapes", reason: "the length is that of the decoded text: é, \\n, an emoji, half a pair",
		body:  delta(`"content":"\u00e9\n\ud83d\ude00\ud83d\"\\\/"`) + delta(`"c\u006fntent":"é😀"`) + stop + ended,
		frags: []record.Fragment{text(2 + 1 + 4 + 3 + 3), text(6)}, finish: "stop"},
	{name: "nested look-alikes", reason: "a field counts where it stands, not where it is found",
		body: `data: {"meta":{"choices":[{"delta":{"content":"no"},"finish_reason":"no"}],"usage":{"prompt_tokens":1}},"text":"\"content\":\"no\"","choices":[{"logprobs":{"content":[{"token":"no"}]},"delta":{"x":{"content":"no"},"content":"y\"}]}"},"finish_reason":null}]}` +
			"\n\n" + stop + ended,
		frags: []record.Fragment{text(5)}, finish: "stop"},
	{name: "twice", reason: "of two equal fields the last one counts, as in encoding/json",
		body: `data: {"choices":[{"delta":{"content":"aaa"}}],"choices":[{"delta":{"content":"b"},"delta":{"content":"ccccc","content":"dd"}}]}` + "\n\n" + stop + ended, frags: []record.Fragment{text(2)}, finish: "stop"},
	{name: "twice, otherwise", reason: "nothing is left of the first ones",
		body: `data: {"choices":[{"delta":{"content":"aaa"},"delta":{"reasoning":"b"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"aaa"}}],"choices":[]}` + "\n\n" + stop + ended, frags: []record.Fragment{thought(1)}, finish: "stop"},
	{name: "no UTF-8", reason: "a byte that is none is decoded as the replacement character, of three bytes", body: delta("\"content\":\"a\xff\"") + stop + ended, frags: []record.Fragment{text(4)}, finish: "stop"},
	{name: "no usage", reason: "where it is wanted, it is a failure", require: true, body: delta(`"content":"a"`) + stop + ended, frags: []record.Fragment{text(1)}, finish: "stop", class: record.NoUsage},
	{name: "usage null", reason: "null is none", require: true, body: `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":null}` + "\n\n" + ended, frags: []record.Fragment{text(1)}, finish: "stop", class: record.NoUsage},
	{name: "whole", reason: "an answer that was not streamed is one fragment",
		body:  `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":2,"total_tokens":14}}`,
		frags: []record.Fragment{text(5)}, finish: "stop", model: "m", usage: used(12, 2)},
	{name: "whole after white space", reason: "some gateways keep a connection alive so", body: " \n\n \n" + `{"choices":[{"message":{"content":"Hello"}}]}` + "\n", frags: []record.Fragment{text(5)}},
	{name: "whole with a mark", reason: "a byte order mark is white space to people", body: "\xef\xbb\xbf" + `{"choices":[{"message":{"content":"Hello"}}]}`, frags: []record.Fragment{text(5)}},
	{name: "whole tool call", reason: "arguments as an object count as they stand",
		body:  `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":{"a":1}}}]},"finish_reason":"tool_calls"}]}`,
		frags: []record.Fragment{toolCall(1 + 7)}, finish: "tool_calls"},
	{name: "whole error", reason: "under status 200", body: `{"error":{"message":"overloaded","type":"server_error"}}`, class: record.InStream, says: "overloaded"},
	{name: "whole of something else", reason: "no choices", body: `{"status":"ok"}`, class: record.Malformed, says: "no choices"},
	{name: "completion", reason: "the older API", api: Completions,
		body:  `data: {"choices":[{"index":0,"text":"He"}]}` + "\n\n" + `data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}]}` + "\n\n" + tail + ended,
		frags: []record.Fragment{text(2)}, finish: "stop", usage: used(12, 2)},
	{name: "gemini", reason: "native streams end without [DONE]", api: Gemini,
		body: `data: {"candidates":[{"content":{"parts":[{"text":"hm","thought":true}],"role":"model"}}],"modelVersion":"g"}` + "\r\n\r\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":"Hel"},{"text":"lo"}]}}]}` + "\r\n\r\n" +
			`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":1,"cachedContentTokenCount":4}}` + "\r\n\r\n",
		frags: []record.Fragment{thought(2), text(5), toolCall(8)}, finish: "STOP", model: "g", usage: llm.Usage{Input: 5, CachedInput: 4, Output: 3, Reasoning: 1, Known: true}},
	{name: "gemini blocked", reason: "a prompt that is not answered has an end too", api: Gemini,
		body: `data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":5}}` + "\n\n", finish: "SAFETY", usage: llm.Usage{Input: 5, Known: true}},
	{name: "gemini truncated", reason: "no finish reason", api: Gemini, body: `data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":1}}` + "\n\n",
		frags: []record.Fragment{text(1)}, usage: used(5, 1), class: record.Truncated},
	{name: "gemini error", reason: "a google.rpc.Status", api: Gemini, body: `data: {"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}` + "\n\n", class: record.InStream, says: "busy"},
}

// reads cuts a body: whole, byte by byte, and in pieces of odd sizes.
var reads = []struct {
	name  string
	sizes []int // used in turn; 0 is all
}{
	{"whole", []int{0}}, {"bytes", []int{1}}, {"odd", []int{7, 1, 13, 3}}, {"primes", []int{31, 2, 57}}, {"pages", []int{4096}},
}

// feed gives a body to an answer as reads of these sizes. The clock stands at
// the number of bytes that have come.
func feed(t testing.TB, v vector, sizes []int) record.Request {
	cfg := Config{Host: "http://h", Model: "m", Concurrency: 1, API: v.api, RequireUsage: v.require, MaxEvent: v.maxEvent}
	c, err := New(cfg)
	require.NoError(t, err)
	var rec record.Request
	a := c.flights.Get().(*answer)
	a.begin(c, nil, &rec, &watchdog{start: time.Now(), cancel: func() {}}, nil)
	defer a.w.stop()
	body := []byte(v.body)
	at := 0
	buf := make([]byte, len(body))
	for i := 0; at < len(body); i++ {
		n := sizes[i%len(sizes)]
		if n == 0 || n > len(body)-at {
			n = len(body) - at
		}
		copy(buf, body[at:at+n]) // the same memory each time, as in a call
		at += n
		if !a.read(buf[:n], time.Duration(at)) {
			break
		}
	}
	rec.Failure = a.end(time.Duration(at)+1, nil)
	for i := range buf {
		buf[i] = 'Z'
	}
	return rec
}

func TestVectors(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range vectors {
		require.False(t, seen[v.name], "twice: %s", v.name)
		seen[v.name] = true
		for _, r := range reads {
			t.Run(v.name+"/"+r.name, func(t *testing.T) {
				rec := feed(t, v, r.sizes)
				checkTimes(t, rec)
				var frags []record.Fragment
				for _, f := range rec.Fragments {
					f.At = 0
					frags = append(frags, f)
				}
				assert.Equal(t, v.frags, frags, v.reason)
				assert.Equal(t, v.finish, rec.Finish, v.reason)
				assert.Equal(t, v.model, rec.Model, v.reason)
				assert.Equal(t, v.usage, rec.Usage, v.reason)
				if v.class == "" {
					assert.Nil(t, rec.Failure, v.reason)
					return
				}
				if assert.NotNil(t, rec.Failure, v.reason) {
					assert.Equal(t, v.class, rec.Failure.Class, "%s: %s", v.reason, rec.Failure.Message)
					assert.Contains(t, rec.Failure.Message, v.says, v.reason)
				}
			})
		}
	}
}

// checkTimes are what holds of every record: times that do not go back, gaps
// that add up to what lies between the first and the last.
func checkTimes(t testing.TB, rec record.Request) {
	t.Helper()
	f := rec.Fragments
	if len(f) == 0 {
		return
	}
	var sum time.Duration
	for i := 1; i < len(f); i++ {
		gap := f[i].At - f[i-1].At
		require.GreaterOrEqual(t, gap, time.Duration(0))
		sum += gap
	}
	require.Equal(t, f[len(f)-1].At-f[0].At, sum)
	require.LessOrEqual(t, f[len(f)-1].At, rec.Done)
	for _, one := range f {
		require.Positive(t, one.Bytes)
	}
}

// TestFragmentTime: a fragment has the time of the read that brought the end of
// its event, not of its beginning or of what came after.
func TestFragmentTime(t *testing.T) {
	first, second := delta(`"content":"a"`), delta(`"content":"b"`)
	rec := feed(t, vector{body: first + second + stop + ended}, []int{1})
	require.Len(t, rec.Fragments, 2)
	assert.Equal(t, time.Duration(len(first)), rec.Fragments[0].At)
	assert.Equal(t, time.Duration(len(first+second)), rec.Fragments[1].At)
	assert.Equal(t, time.Duration(len(first+second+stop+ended)), rec.Done, "done is [DONE], not the end of the body")
}

// TestWholeTime: a whole answer's fragment has the time of its last byte.
func TestWholeTime(t *testing.T) {
	body := `{"choices":[{"message":{"content":"Hello"}}]}`
	rec := feed(t, vector{body: body}, []int{5})
	require.Len(t, rec.Fragments, 1)
	assert.Equal(t, time.Duration(len(body)), rec.Fragments[0].At)
}

// TestEndless: a server that does not end its answer cannot fill the memory.
func TestEndless(t *testing.T) {
	one := `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n"
	rec := feed(t, vector{body: strings.Repeat(one, maxFragments+1)}, []int{1 << 16})
	require.NotNil(t, rec.Failure)
	assert.Equal(t, record.Malformed, rec.Failure.Class)
	assert.Contains(t, rec.Failure.Message, "does not end it")
	assert.Len(t, rec.Fragments, maxFragments)
}
