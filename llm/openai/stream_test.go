package openai_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

// TestChunks: times are those of generated tokens: no keep-alive, no role, no
// empty text, no usage.
func TestChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := fake(raw(llmtest.SlowStream(time.Second,
			": OPENROUTER PROCESSING\n\n", "event: ping\n\n", "data:\n\n", // 1 to 3 s
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",                                                      // 4
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"hm\"}}]}\n\n",                                                                         // 5
			llmtest.Text("18")+llmtest.Text("!"),                                                                                                               // 6, twice
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\n", // 7
			stop+usageChunk+llmtest.Done,                                                                                                                       // 8
		)))
		r, err := m.Generate(t.Context(), streamed("q"))
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{5 * time.Second, 6 * time.Second, 6 * time.Second, 7 * time.Second}, r.Chunks)
		assert.Equal(t, 5*time.Second, r.Timing.FirstToken)
		assert.Equal(t, 8*time.Second, r.Timing.Total)
		whole, err := m.Generate(t.Context(), llm.Prompt("q"))
		require.NoError(t, err)
		assert.Nil(t, whole.Chunks, "nobody asked for a stream")
		assert.Zero(t, whole.Timing.FirstToken)
	})
}

func TestRateLimitOfAnswers(t *testing.T) {
	const answer = `{"choices":[{"message":{"content":"18"},"finish_reason":"stop"}]}`
	head := []string{"x-ratelimit-limit-requests", "500", "x-ratelimit-remaining-requests", "0", "x-ratelimit-remaining-tokens", "9", "x-ratelimit-reset-tokens", "1.5s"}
	m, _ := fake(raw(llmtest.Status(200, answer, head...)))
	r, err := m.Generate(t.Context(), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, &llm.RateLimit{
		Requests: llm.Window{Limit: new(int64(500)), Remaining: new(int64(0))},
		Tokens:   llm.Window{Remaining: new(int64(9)), Reset: new(1500 * time.Millisecond)},
	}, r.RateLimit)

	m, _ = fake(raw(llmtest.Status(200, answer)))
	r, err = m.Generate(t.Context(), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Nil(t, r.RateLimit, "unknown is not nothing left")

	recorded := wire.MiddlewareFunc(func(q *http.Request, _ http.RoundTripper) (*http.Response, error) {
		return &http.Response{
			StatusCode: 200, Request: q, Body: wire.NewRecorded([]byte(answer), nil, time.Second),
			Header: http.Header{"Content-Type": {"application/json"}, "X-Ratelimit-Remaining-Requests": {"0"}},
		}, nil
	})
	r, err = m.Generate(wire.WithMiddleware(t.Context(), recorded), llm.Prompt("q"))
	require.NoError(t, err)
	assert.True(t, r.Replayed)
	assert.Nil(t, r.RateLimit, "recorded limits say nothing of now")
}

// TestUsageOfProviders: usage means the same for all: what was cached is part
// of the input, what was thought of the output.
func TestUsageOfProviders(t *testing.T) {
	rows := []struct {
		name, reason string
		usage        []string // of a whole answer, or of each chunk of a stream
		in           string   // the object that usage stands in, "" for the answer itself
		want         llm.Usage
		cost         string
	}{
		{"OpenAI", "details", []string{`{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920},"completion_tokens_details":{"reasoning_tokens":200}}`}, "", llm.Usage{Input: 2006, CachedInput: 1920, Output: 300, Reasoning: 200, Known: true}, ""},
		{"DeepSeek", "a field of its own beside the details", []string{`{"prompt_tokens":100,"completion_tokens":9,"total_tokens":109,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`}, "", llm.Usage{Input: 100, CachedInput: 64, Output: 9, Known: true}, ""},
		{"OpenRouter", "with the cost", []string{`{"prompt_tokens":8,"completion_tokens":11,"total_tokens":19,"cost":0.00078,"completion_tokens_details":{"reasoning_tokens":4}}`}, "", llm.Usage{Input: 8, Output: 11, Reasoning: 4, Known: true}, "0.00078"},
		{"Groq", "in x_groq", []string{`{"queue_time":0.1,"prompt_tokens":24,"completion_tokens":5,"total_tokens":29}`}, "x_groq", llm.Usage{Input: 24, Output: 5, Known: true}, ""},
		{"Moonshot", "in the choice", []string{`null`, `{"prompt_tokens":24,"completion_tokens":5,"total_tokens":29}`}, "choice", llm.Usage{Input: 24, Output: 5, Known: true}, ""},
		{"Ollama", "no details", []string{`{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}`}, "", llm.Usage{Input: 3, Output: 4, Known: true}, ""},
		{"reasoning beside the completion", "its own total tells", []string{`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":35,"completion_tokens_details":{"reasoning_tokens":20}}`}, "", llm.Usage{Input: 10, Output: 25, Reasoning: 20, Known: true}, ""},
		{"U06 cumulative", "the last one counts", []string{`{"prompt_tokens":10,"completion_tokens":1}`, `{"prompt_tokens":10,"completion_tokens":2}`, `{"prompt_tokens":10,"completion_tokens":3}`}, "", llm.Usage{Input: 10, Output: 3, Known: true}, ""},
		{"U06 a field goes missing", "an earlier one counts then", []string{`{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4},"cost":0.1}`, `{"completion_tokens":3,"prompt_tokens_details":null}`}, "", llm.Usage{Input: 10, CachedInput: 4, Output: 3, Known: true}, "0.1"},
		{"null until the end", "as OpenAI has it", []string{`null`, `null`, `{"prompt_tokens":10,"completion_tokens":3}`}, "", llm.Usage{Input: 10, Output: 3, Known: true}, ""},
		{"none", "unknown is not zero", []string{`null`}, "", llm.Usage{}, ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			field := func(u string) string {
				if r.in == "x_groq" {
					return `,"x_groq":{"usage":` + u + `}`
				}
				return `,"usage":` + u
			}
			choice := func(inside, u string) string {
				if r.in == "choice" {
					return `"choices":[{` + inside + field(u) + `}]`
				}
				return `"choices":[{` + inside + `}]` + field(u)
			}
			var pieces []string
			for i, u := range r.usage {
				finish := "null"
				if i == len(r.usage)-1 {
					finish = `"stop"`
				}
				pieces = append(pieces, "data: {"+choice(`"index":0,"delta":{"content":"1"},"finish_reason":`+finish, u)+"}\n\n")
			}
			last := "{" + choice(`"message":{"content":"1"},"finish_reason":"stop"`, r.usage[len(r.usage)-1]) + "}"
			for _, stream := range []bool{true, false} {
				h := llmtest.Stream(append(pieces, llmtest.Done)...)
				if !stream {
					if len(r.usage) > 1 {
						continue
					}
					h = llmtest.Status(200, last)
				}
				m, _ := fake(raw(h))
				req := llm.Prompt("q")
				req.Stream = stream
				got, err := m.Generate(t.Context(), req)
				require.NoError(t, err)
				assert.Equal(t, r.want, got.Usage, "%s (stream %v)", r.reason, stream)
				assert.Equal(t, r.cost, got.CostUSD)
				assert.Empty(t, got.Warnings)
			}
		})
	}
}

// TestThinkingIsPartOfTheRecording: an answer that was thought over is not
// played back for one that was not.
func TestThinkingIsPartOfTheRecording(t *testing.T) {
	path := t.TempDir() + "/c.jsonl.gz"
	ask := func(mode cassette.Mode, cfg openai.Config, th *llm.Thinking) error {
		c, err := cassette.Open(path, cassette.Options{Mode: mode})
		require.NoError(t, err)
		cfg.HTTPClient, cfg.KeyOptional = new(llmtest.Server).Client(), true
		cfg.BaseURL = "http://127.0.0.1/v1"
		req := llm.Prompt("q")
		req.Thinking = th
		_, err = cfg.New().Generate(wire.WithMiddleware(llm.WithItem(t.Context(), "a"), c), req)
		require.NoError(t, c.Close())
		return err
	}
	routed := openai.OpenRouter("m")
	routed.Extra = map[string]json.RawMessage{"provider": json.RawMessage(`{"only":["z-ai"]}`)}
	require.NoError(t, ask(cassette.Record, routed, &llm.Thinking{Off: true}))
	require.NoError(t, ask(cassette.Replay, routed, &llm.Thinking{Off: true}))
	elsewhere := routed
	elsewhere.Extra = map[string]json.RawMessage{"provider": json.RawMessage(`{"only":["other"]}`)}
	for name, err := range map[string]error{
		"level":             ask(cassette.Replay, routed, &llm.Thinking{Level: "low"}),
		"budget":            ask(cassette.Replay, routed, &llm.Thinking{Budget: new(int64(5))}),
		"unset":             ask(cassette.Replay, routed, nil),
		"another dialect":   ask(cassette.Replay, openai.VLLM("", "m"), &llm.Thinking{Off: true}),
		"another provider":  ask(cassette.Replay, elsewhere, &llm.Thinking{Off: true}),
		"no provider named": ask(cassette.Replay, openai.OpenRouter("m"), &llm.Thinking{Off: true}),
	} {
		assert.Equal(t, llm.KindMiss, llm.KindOf(err), "%s: %v", name, err)
	}
}

// TestChunksOfAReplay: a recorded answer has the recorded times.
func TestChunksOfAReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir() + "/c.jsonl.gz"
		ask := func(mode cassette.Mode) llm.Response {
			c, err := cassette.Open(path, cassette.Options{Mode: mode})
			require.NoError(t, err)
			m, _ := fake(raw(llmtest.SlowStream(time.Second, ": ping\n\n", llmtest.Text("1"), llmtest.Text("8"), stop, llmtest.Done)))
			r, err := m.Generate(wire.WithMiddleware(llm.WithItem(t.Context(), "a"), c), streamed("q"))
			require.NoError(t, err)
			require.NoError(t, c.Close())
			return r
		}
		live, replayed := ask(cassette.Record), ask(cassette.Replay)
		assert.True(t, replayed.Replayed)
		assert.Equal(t, []time.Duration{2 * time.Second, 3 * time.Second}, live.Chunks)
		assert.Equal(t, live.Chunks, replayed.Chunks)
		assert.Equal(t, live.Timing.FirstToken, replayed.Timing.FirstToken)
	})
}

// TestConnections: streamed calls reuse their connections, though the SDK stops
// at [DONE], a moment before the body ends.
func TestConnections(t *testing.T) {
	const calls, parallel = 1000, 20
	var dials, arrived, stalls atomic.Int64
	all := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		// No answer before all are there: net/http gives a connection that is
		// free to a call that waits for a dial, whose own then comes on top.
		if arrived.Add(1) == parallel {
			close(all)
		}
		<-all
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(llmtest.Text("18") + llmtest.Finish("stop") + llmtest.Done))
		_ = http.NewResponseController(w).Flush()
		flushed := time.Now()
		<-time.After(time.Millisecond) // then comes the terminator
		if time.Since(flushed) > 20*time.Millisecond {
			stalls.Add(1) // of the machine; the client waits 50 ms at most
		}
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			dials.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	m := openai.VLLM(server.URL+"/v1", "m").New()
	var left atomic.Int64
	left.Store(calls)
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				r, err := m.Generate(t.Context(), streamed("q"))
				if !assert.NoError(t, err) || !assert.Equal(t, "18", r.Text) {
					return
				}
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, dials.Load(), parallel+1+stalls.Load())
	t.Logf("%d calls, %d at once: %d connections, %d stalls of the machine", calls, parallel, dials.Load(), stalls.Load())
}

// TestUnreachable says what to do where no server is.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	_, err = openai.LlamaCpp("http://"+addr+"/v1", "m").New().Generate(t.Context(), llm.Prompt("q"))
	var le *llm.Error
	require.ErrorAs(t, err, &le)
	assert.Equal(t, llm.KindConnection, le.Kind)
	if strings.Contains(err.Error(), "connection refused") {
		assert.Contains(t, le.Hint, "no server listens there")
	}
}

// TestLineEndInText: an event whose lines break inside a text is read with a
// blank there, not refused.
func TestLineEndInText(t *testing.T) {
	m, _ := fake(raw(llmtest.Stream("data: {\"choices\":[{\"delta\":{\"content\":\"1\ndata: 8\"},\ndata: \"finish_reason\":\"stop\"}]}\n\n", llmtest.Done)))
	r, err := m.Generate(t.Context(), streamed("q"))
	require.NoError(t, err)
	assert.Equal(t, "1 8", r.Text)
}
