package client_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/llm"
)

var hello = []byte(`{"messages":[{"role":"user","content":"hi"}],"stream":true}`)

// TestTimes: every time of a record, to the nanosecond, in a bubble.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, stop := inMemory(t, client.Config{}, func(w http.ResponseWriter, r *http.Request) {
			say(w, r, 10*time.Millisecond, ": hello\n\n")
			say(w, r, 90*time.Millisecond, `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}`+"\n\n")
			say(w, r, 100*time.Millisecond, `data: {"choices":[{"delta":{"reasoning":"hm"}}]}`+"\n\n", piece("a"), piece("b"), okStream)
		})
		defer stop()
		start := time.Now()
		<-time.After(time.Second) // the run has been going on for a while
		rec := record.Request{Seq: 7, Due: time.Second, AskedOutput: 3}
		c.Do(t.Context(), &client.Call{Start: start, Body: hello}, &rec)
		require.Nil(t, rec.Failure)
		ms := func(n int) time.Duration { return time.Second + time.Duration(n)*time.Millisecond }
		want := record.Request{
			Seq: 7, Due: time.Second, AskedOutput: 3,
			FirstSent: time.Second, Sent: time.Second, Connected: time.Second, Headers: ms(10), Done: ms(500), Streamed: true,
			Fragments: []record.Fragment{{At: ms(200), Kind: record.Reasoning, Bytes: 2}, {At: ms(300), Bytes: 1}, {At: ms(400), Bytes: 1}, {At: ms(500), Bytes: 5}},
			Usage:     llm.Usage{Input: 12, Output: 2, Known: true}, Finish: "stop", Model: "m", Status: 200,
			Tries: rec.Tries,
		}
		assert.Equal(t, want, rec)

		c.Do(t.Context(), &client.Call{Start: start, Body: hello}, &rec)
		assert.True(t, rec.Reused)
		assert.Len(t, rec.Fragments, 4)
		assert.Equal(t, 7, rec.Seq, "what the caller knows is left alone")
	})
}

// TestWhatIsSent: the request, as the server sees it.
func TestWhatIsSent(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		cfg          client.Config
		call         client.Call
		path, host   string
		header       map[string]string
		absent       []string
	}{
		{name: "chat", reason: "the defaults", cfg: client.Config{Key: "secret-key-1"}, path: "/v1/chat/completions",
			header: map[string]string{"Authorization": "Bearer secret-key-1", "Content-Type": "application/json"}, absent: []string{"Accept-Encoding", "X-Goog-Api-Key"}},
		{name: "no key", reason: "no header then", path: "/v1/chat/completions", absent: []string{"Authorization"}},
		{name: "completions", reason: "its path", cfg: client.Config{API: client.Completions}, path: "/v1/completions"},
		{name: "endpoint", reason: "with a query", cfg: client.Config{Endpoint: "x/y?v=1"}, path: "/x/y?v=1"},
		{name: "key header", reason: "Azure's", cfg: client.Config{Key: "secret-key-1", KeyHeader: "Api-Key"}, path: "/v1/chat/completions", header: map[string]string{"Api-Key": "secret-key-1"}, absent: []string{"Authorization"}},
		{name: "routing", reason: "a call's own headers beside the client's, of which they replace some",
			cfg:  client.Config{Header: http.Header{"X-A": {"a"}, "X-B": {"b"}}},
			call: client.Call{Header: http.Header{"X-SMG-Routing-Key": {"loadtest-1"}, "x-b": {"c"}, "Host": {"other"}}},
			path: "/v1/chat/completions", host: "other", header: map[string]string{"X-Smg-Routing-Key": "loadtest-1", "X-A": "a", "X-B": "c"}},
		{name: "gemini", reason: "streams are another method", cfg: client.Config{API: client.Gemini, Model: "g-1", Key: "secret-key-1"}, path: "/v1beta/models/g-1:streamGenerateContent?alt=sse", header: map[string]string{"X-Goog-Api-Key": "secret-key-1"}, absent: []string{"Authorization"}},
		{name: "gemini whole", reason: "than whole answers", cfg: client.Config{API: client.Gemini, Model: "tunedModels/g", Endpoint: "/v1"}, call: client.Call{Whole: true}, path: "/v1/tunedModels/g:generateContent"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got *http.Request
			var body []byte
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Clone(r.Context())
				body, _ = io.ReadAll(r.Body)
				_, _ = io.WriteString(w, okStream)
			}))
			defer s.Close()
			tc.cfg.Host, tc.cfg.Concurrency = s.URL+"/", 1
			c, err := client.New(tc.cfg)
			require.NoError(t, err)
			defer c.Close()
			tc.call.Start, tc.call.Body = time.Now(), hello
			var rec record.Request
			c.Do(t.Context(), &tc.call, &rec)
			if tc.cfg.API != client.Gemini {
				require.Nil(t, rec.Failure)
			}
			require.NotNil(t, got)
			assert.Equal(t, tc.path, got.URL.String(), tc.reason)
			assert.Equal(t, hello, body)
			for name, value := range tc.header {
				assert.Equal(t, value, got.Header.Get(name), "%s: %s", name, tc.reason)
			}
			for _, name := range tc.absent {
				assert.Empty(t, got.Header.Values(name), "%s: %s", name, tc.reason)
			}
			if tc.host != "" {
				assert.Equal(t, tc.host, got.Host, tc.reason)
			}
		})
	}
}

// TestReply: the message of an answer, streamed or whole.
func TestReply(t *testing.T) {
	str := func(s string) *string { return &s }
	for _, tc := range []struct {
		name, reason string
		api          client.API
		body         string
		want         client.Message
		raw          string
	}{
		{name: "G14", reason: "batchbench's vector", body: "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"think\"}}]}\r\n\r\n: keep-alive\r\n\r\n" + piece("Hel") + piece("lo") + stopEvent + "data: [DONE]",
			want: client.Message{Role: "assistant", Content: str("Hello"), ReasoningContent: str("think")}, raw: `{"role":"assistant","content":"Hello","reasoning_content":"think"}`},
		{name: "reasoning", reason: "vLLM's newer name is kept under its name", body: `data: {"choices":[{"delta":{"role":"assistant","reasoning":"a","name":"n","refusal":"no"}}]}` + "\n\n" + stopEvent,
			want: client.Message{Role: "assistant", Reasoning: str("a"), Name: str("n"), Refusal: str("no")}, raw: `{"role":"assistant","content":null,"reasoning":"a","name":"n","refusal":"no"}`},
		{name: "tool calls", reason: "put together by their index", body: `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c0","type":"function","function":{"name":"f","arguments":""}},{"index":1,"id":"c1","function":{"name":"g","arguments":"{"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"1<2"}}]}}]}` + "\n\n" + stopEvent,
			want: client.Message{Role: "assistant", ToolCalls: []client.ToolCall{{ID: "c0", Type: "function", Name: "f", Arguments: "1<2"}, {ID: "c1", Name: "g", Arguments: "{}"}}},
			raw:  `{"role":"assistant","content":null,"tool_calls":[{"id":"c0","type":"function","function":{"name":"f","arguments":"1<2"}},{"id":"c1","type":"function","function":{"name":"g","arguments":"{}"}}]}`},
		{name: "whole", reason: "its bytes as they came", body: `{"choices":[{"message":{"role":"assistant",  "content":null,"x":1,"reasoning_content":"r"},"finish_reason":"stop"}]}`,
			want: client.Message{Role: "assistant", ReasoningContent: str("r")}, raw: `{"role":"assistant",  "content":null,"x":1,"reasoning_content":"r"}`},
		{name: "completion", reason: "its text", api: client.Completions, body: `data: {"choices":[{"text":"a"}]}` + "\n\n" + `data: {"choices":[{"text":"b","finish_reason":"stop"}]}` + "\n\n",
			want: client.Message{Role: "assistant", Content: str("ab")}, raw: `{"role":"assistant","content":"ab"}`},
		{name: "gemini", reason: "a content of all parts", api: client.Gemini, body: `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"t","thought":true},{"text":"a"}]}}]}` + "\n\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":"b"},{"functionCall":{"name":"f","args":{"x":1}}}]},"finishReason":"STOP"}]}` + "\n\n",
			want: client.Message{Role: "model", Content: str("ab"), ReasoningContent: str("t"), ToolCalls: []client.ToolCall{{Type: "function", Name: "f", Arguments: `{"x":1}`}}},
			raw:  `{"role":"model","parts":[{"text":"t","thought":true},{"text":"a"},{"text":"b"},{"functionCall":{"name":"f","args":{"x":1}}}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := client.New(client.Config{Host: canned(t, chunked("", tc.body)), Concurrency: 1, API: tc.api, Model: "m"})
			require.NoError(t, err)
			defer c.Close()
			var rec record.Request
			var reply client.Reply
			for range 2 { // the second one has nothing of the first
				c.Do(t.Context(), &client.Call{Start: time.Now(), Body: hello, Reply: &reply}, &rec)
				require.Nil(t, rec.Failure)
				m, err := reply.Message()
				require.NoError(t, err)
				assert.Equal(t, tc.raw, string(m.Raw), tc.reason)
				assert.True(t, json.Valid(m.Raw))
				m.Raw = nil
				assert.Equal(t, tc.want, *m, tc.reason)
			}
		})
	}
	_, err := new(client.Reply).Message()
	assert.ErrorContains(t, err, "no message")
}

const stopEvent = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"

// TestWarnings: usage that cannot be read is a warning, and no number.
func TestWarnings(t *testing.T) {
	c, err := client.New(client.Config{Host: canned(t, chunked("", piece("a")+`data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":"many","completion_tokens":1}}`+"\n\n")), Concurrency: 1})
	require.NoError(t, err)
	defer c.Close()
	var rec record.Request
	for range 2 {
		c.Do(t.Context(), &client.Call{Start: time.Now(), Body: hello}, &rec)
		require.Nil(t, rec.Failure)
		assert.False(t, rec.Usage.Known)
	}
	require.Len(t, c.Warnings(), 1)
	for text, n := range c.Warnings() {
		assert.Contains(t, text, "prompt_tokens")
		assert.Equal(t, 2, n)
	}
}

func TestNewRefuses(t *testing.T) {
	good := client.Config{Host: "http://h", Concurrency: 1}
	_, err := client.New(good)
	require.NoError(t, err)
	for _, tc := range []struct {
		name   string
		reason string
		change func(*client.Config)
		says   []string
	}{
		{"no host", "nothing is called by default", func(c *client.Config) { c.Host = "" }, []string{"Host is empty"}},
		{"scheme", "only HTTP", func(c *client.Config) { c.Host = "ftp://h" }, []string{`"ftp"`}},
		{"no hostname", "a path alone", func(c *client.Config) { c.Host = "http://" }, []string{"no host"}},
		{"password", "it would stand in errors", func(c *client.Config) { c.Host = "http://me:hunter2hunter2@h" }, []string{"password"}},
		{"fragment", "never sent", func(c *client.Config) { c.Endpoint = "/a#b" }, []string{"fragment"}},
		{"no URL", "it cannot be read", func(c *client.Config) { c.Host = "http://a b" }, []string{"no URL"}},
		{"concurrency", "0 has no meaning", func(c *client.Config) { c.Concurrency = 0 }, []string{"Concurrency is 0"}},
		{"too many", "more sockets than the process may have", func(c *client.Config) { c.Concurrency = math.MaxInt32 }, []string{"2147483647", "open files"}},
		{"api", "a typo", func(c *client.Config) { c.API = "chta" }, []string{`"chta"`}},
		{"lengths", "a typo", func(c *client.Config) { c.Lengths = "x" }, []string{`"x"`}},
		{"gemini", "the model is in the path", func(c *client.Config) { c.API = client.Gemini }, []string{"Model is empty"}},
		{"timeout", "no time is negative", func(c *client.Config) { c.Timeouts.Idle = -1 }, []string{"Timeouts.Idle", "-1ns"}},
		{"read buffer", "too small", func(c *client.Config) { c.ReadBuffer = 10 }, []string{"ReadBuffer is 10"}},
		{"event", "too small", func(c *client.Config) { c.MaxEvent = 10 }, []string{"MaxEvent is 10"}},
		{"key space", "a file's newline", func(c *client.Config) { c.Key = "secret-key-1\n" }, []string{"white space", "13 bytes"}},
		{"key control", "no header may", func(c *client.Config) { c.Key = "secret\x00key-1" }, []string{"control"}},
		{"key header", "no name", func(c *client.Config) { c.KeyHeader = "a b" }, []string{`"a b"`}},
		{"header value", "no header may", func(c *client.Config) { c.Header = http.Header{"X-Secret": {"secret-key-1\r\nX: y"}} }, []string{"X-Secret"}},
		{"header name", "no name", func(c *client.Config) { c.Header = http.Header{"": {"v"}} }, []string{`""`}},
		{"retries", "negative", func(c *client.Config) { c.Retry.Max = -1 }, []string{"Retry.Max is -1"}},
		{"delay", "negative", func(c *client.Config) { c.Retry.Delay = -1 }, []string{"-1ns"}},
		{"jitter", "no number", func(c *client.Config) { c.Retry.Jitter = math.NaN() }, []string{"NaN"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := good
			tc.change(&cfg)
			_, err := client.New(cfg)
			require.Error(t, err, tc.reason)
			for _, s := range tc.says {
				assert.ErrorContains(t, err, s, tc.reason)
			}
			for _, secret := range []string{"secret", "hunter2"} {
				assert.NotContains(t, strings.ReplaceAll(err.Error(), "X-Secret", ""), secret)
			}
		})
	}
}

// TestAddress: golden vector G17.
func TestAddress(t *testing.T) {
	for _, tc := range []struct{ name, reason, host, endpoint, want string }{
		{"no scheme", "https", "api.x.com/", "/v1/c", "https://api.x.com/v1/c"},
		{"slashes", "any number between the two", "http://h:8000//", "v1/c", "http://h:8000/v1/c"},
		{"whole endpoint", "replaces the host", "api.x.com", "http://z/y", "http://z/y"},
		{"whole endpoint alone", "needs none", "", "https://z/y", "https://z/y"},
		{"path", "before the endpoint's", "http://h/base", "", "http://h/base/v1/chat/completions"},
		{"port only", "a host with a port is no scheme", "localhost:8000", "", "https://localhost:8000/v1/chat/completions"},
		{"key in the query", "is not shown", "http://h", "/c?key=abcdefghijkl", "http://h/c?key=[masked]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := client.New(client.Config{Host: tc.host, Endpoint: tc.endpoint, Concurrency: 1})
			require.NoError(t, err)
			assert.Equal(t, tc.want, c.URL(), tc.reason)
		})
	}
}

func TestBody(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, tc := range []struct {
		name, reason string
		cfg          client.Config
		p            client.Prompt
		want         string
		err          string
	}{
		{name: "text", reason: "streamed, with usage", cfg: client.Config{Model: "m"}, p: client.Prompt{Text: `a<b>&"` + "é\n"},
			want: `{"model":"m","messages":[{"role":"user","content":"a<b>&\"é\n"}],"stream":true,"stream_options":{"include_usage":true}}`},
		{name: "G11", reason: "the exact length is both bounds", cfg: client.Config{Model: "m"}, p: client.Prompt{Text: "a", MaxTokens: 17, MinTokens: 17, Whole: true},
			want: `{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":17,"min_tokens":17}`},
		{name: "G11 sglang", reason: "its names, and no others", cfg: client.Config{Lengths: client.SGLang}, p: client.Prompt{Text: "a", MaxTokens: 4, MinTokens: 4, Whole: true},
			want: `{"messages":[{"role":"user","content":"a"}],"max_new_tokens":4,"min_new_tokens":4}`},
		{name: "all", reason: "the order is always the same", cfg: client.Config{Model: "m", NoStreamOptions: true},
			p: client.Prompt{Messages: raw(`[ {"role":"user","content":"a"} ]`), Tools: raw(`[1]`), MaxTokens: 2, MinTokens: 1, IgnoreEOS: true, User: "u-1",
				Extra: map[string]json.RawMessage{"top_p": raw("0.50"), "model": raw(`"other"`), "a": raw("null")}},
			want: `{"model":"other","messages":[ {"role":"user","content":"a"} ],"tools":[1],"max_tokens":2,"min_tokens":1,"ignore_eos":true,"stream":true,"user":"u-1","a":null,"top_p":0.50}`},
		{name: "openai", reason: "its name", cfg: client.Config{Lengths: client.OpenAI}, p: client.Prompt{Text: "a", MaxTokens: 4, Whole: true}, want: `{"messages":[{"role":"user","content":"a"}],"max_completion_tokens":4}`},
		{name: "completion", reason: "a prompt", cfg: client.Config{API: client.Completions}, p: client.Prompt{Text: "a", Whole: true}, want: `{"prompt":"a"}`},
		{name: "tokens", reason: "by number", cfg: client.Config{API: client.Completions}, p: client.Prompt{Tokens: []int{1, 2}, Whole: true}, want: `{"prompt":[1,2]}`},
		{name: "gemini", reason: "native", cfg: client.Config{API: client.Gemini, Model: "g"}, p: client.Prompt{Text: "a", MaxTokens: 5, Extra: map[string]json.RawMessage{"generationConfig": raw(`{"temperature":0}`)}},
			want: `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"generationConfig":{"maxOutputTokens":5,"temperature":0}}`},
		{name: "gemini config", reason: "alone", cfg: client.Config{API: client.Gemini, Model: "g"}, p: client.Prompt{Messages: raw(`[]`), Extra: map[string]json.RawMessage{"generationConfig": raw(`{"temperature":0}`)}},
			want: `{"contents":[],"generationConfig":{"temperature":0}}`},
		{name: "nothing", reason: "an empty prompt", err: "0 are set"},
		{name: "two", reason: "which one?", p: client.Prompt{Text: "a", Messages: raw("[]")}, err: "2 are set"},
		{name: "completion messages", reason: "has none", cfg: client.Config{API: client.Completions}, p: client.Prompt{Messages: raw("[]")}, err: "no Messages"},
		{name: "chat tokens", reason: "has none", p: client.Prompt{Tokens: []int{1}}, err: "Tokens"},
		{name: "min over max", reason: "impossible", p: client.Prompt{Text: "a", MaxTokens: 1, MinTokens: 2}, err: "MinTokens is 2"},
		{name: "negative", reason: "impossible", p: client.Prompt{Text: "a", MaxTokens: -1}, err: "-1"},
		{name: "openai min", reason: "it would be refused by the server", cfg: client.Config{Lengths: client.OpenAI}, p: client.Prompt{Text: "a", MinTokens: 2}, err: "no least length"},
		{name: "gemini eos", reason: "unknown there", cfg: client.Config{API: client.Gemini, Model: "g"}, p: client.Prompt{Text: "a", IgnoreEOS: true}, err: "ignore_eos"},
		{name: "gemini twice", reason: "which one?", cfg: client.Config{API: client.Gemini, Model: "g"}, p: client.Prompt{Text: "a", MaxTokens: 5, Extra: map[string]json.RawMessage{"generationConfig": raw(`{"maxOutputTokens":6}`)}}, err: "maxOutputTokens 6"},
		{name: "no UTF-8", reason: "JSON would change it", p: client.Prompt{Text: "\xff"}, err: "UTF-8"},
		{name: "no list", reason: "messages are one", p: client.Prompt{Messages: raw(`{}`)}, err: "Messages is no JSON list"},
		{name: "blank", reason: "white space is no list", p: client.Prompt{Messages: raw("  ")}, err: "Messages is no JSON list"},
		{name: "several answers", reason: "would be measured as one", p: client.Prompt{Text: "a", Extra: map[string]json.RawMessage{"n": raw("2")}}, err: "n"},
		{name: "stream", reason: "the call has to know", p: client.Prompt{Text: "a", Extra: map[string]json.RawMessage{"stream": raw("false")}}, err: "Whole"},
		{name: "no JSON", reason: "an extra field", p: client.Prompt{Text: "a", Extra: map[string]json.RawMessage{"x": raw("{")}}, err: `"x"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.cfg.Host, tc.cfg.Concurrency = "http://h", 1
			c, err := client.New(tc.cfg)
			require.NoError(t, err)
			b, err := c.Body(tc.p)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err, tc.reason)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, string(b), tc.reason)
			assert.True(t, json.Valid(b))
			again, err := c.Body(tc.p)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(b, again), "equal prompts give equal bytes")
		})
	}
}

func TestLimits(t *testing.T) {
	c, err := client.New(client.Config{Host: "http://127.0.0.1", Concurrency: 3})
	require.NoError(t, err)
	l := c.Limits()
	assert.Equal(t, 3, l.Concurrency)
	assert.Equal(t, 3, l.IdleConnections)
	assert.Equal(t, client.DefaultIdleTimeout, l.IdleTimeout)
	assert.Equal(t, "HTTP/1.1", l.Protocol)
	assert.Empty(t, l.Check())
	assert.Len(t, client.Limits{Concurrency: 10, Ports: 9, Proxy: "http://p"}.Check(), 2)
	assert.Len(t, client.Limits{Protocol: "HTTP/2"}.Check(), 1)
}
