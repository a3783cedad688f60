package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

// fake is a client whose calls are answered by reply, in memory.
func fake(reply func(llmtest.Chat) llmtest.Reply) (*openai.Client, *llmtest.Server) {
	s := &llmtest.Server{Reply: reply}
	return openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: s.Client()}.New(), s
}

func raw(h http.HandlerFunc) func(llmtest.Chat) llmtest.Reply {
	return func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Raw: h} }
}

func streamed(text string) llm.Request {
	r := llm.Prompt(text)
	r.Stream = true
	return r
}

func TestConformance(t *testing.T) {
	llmtest.Suite{
		New:           func(*testing.T) llm.Model { m, _ := fake(nil); return m },
		NewOn:         clientOf(openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1"}),
		Deterministic: true, Streams: true,
	}.Run(t)
}

// clientOf makes clients of a fake by a provider's configuration.
func clientOf(cfg openai.Config) func(*testing.T, *llmtest.Server) llm.Model {
	return func(_ *testing.T, s *llmtest.Server) llm.Model {
		cfg.HTTPClient, cfg.KeyOptional = s.Client(), true
		return cfg.New()
	}
}

func TestConformanceOverLoopback(t *testing.T) {
	llmtest.Suite{
		New: func(t *testing.T) llm.Model {
			return openai.Config{Model: "m", BaseURL: new(llmtest.Server).Start(t)}.New()
		},
		Deterministic: true, Streams: true,
	}.Run(t)
}

func TestUnaryAndStreamAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := fake(func(llmtest.Chat) llmtest.Reply {
			return llmtest.Reply{
				Text: "The answer is 18.", Reasoning: "6 times 3", FirstToken: time.Second, PerToken: 100 * time.Millisecond,
				ToolCalls: []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"x": 1}`}, {ID: "c2", Name: "g", Arguments: "{}"}},
			}
		})
		var log llm.CallLog
		ctx := llm.WithCallLog(t.Context(), &log)
		unary, err := m.Generate(ctx, llm.Prompt("What is 6*3?"))
		require.NoError(t, err)
		stream, err := m.Generate(ctx, streamed("What is 6*3?"))
		require.NoError(t, err)
		for _, r := range []llm.Response{unary, stream} {
			assert.Equal(t, "The answer is 18.", r.Text)
			assert.Equal(t, "6 times 3", r.Reasoning)
			assert.Equal(t, llm.FinishToolCalls, r.Finish)
			assert.Equal(t, []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"x": 1}`}, {ID: "c2", Name: "g", Arguments: "{}"}}, r.ToolCalls)
			assert.Equal(t, llm.Usage{Input: 3, Output: 7, Reasoning: 3, Known: true}, r.Usage)
			assert.Equal(t, "m", r.Model)
			assert.Equal(t, 1600*time.Millisecond, r.Timing.Total)
			assert.False(t, r.Timing.Start.IsZero())
			assert.Empty(t, r.Warnings)
		}
		assert.Zero(t, unary.Timing.FirstToken)
		assert.Equal(t, time.Second, stream.Timing.FirstToken, "reasoning is a token, the role is none")
		require.Len(t, log.Calls(), 2, "each call is logged once")
		assert.Equal(t, "The answer is 18.", log.Calls()[0].Response.Text, "the client's own log has the text")
		assert.Zero(t, s.Memory().OpenBodies())
	})
}

func TestRequestBody(t *testing.T) {
	rows := []struct {
		name, reason string
		cfg          openai.Config
		req          func(*llm.Request)
		field, want  string // want "" is not sent
	}{
		{"temperature 0", "zero is a setting", openai.Config{}, func(r *llm.Request) { r.Temperature = new(0.0) }, "temperature", "0"},
		{"temperature", "as it was written", openai.Config{}, func(r *llm.Request) { r.Temperature = new(0.7) }, "temperature", "0.7"},
		{"no temperature", "what is not set is not sent", openai.Config{}, nil, "temperature", ""},
		{"top_p 0", "zero is a setting", openai.Config{}, func(r *llm.Request) { r.TopP = new(0.0) }, "top_p", "0"},
		{"seed", "beyond what a float holds", openai.Config{}, func(r *llm.Request) { r.Seed = new(int64(9007199254740993)) }, "seed", "9007199254740993"},
		{"max_tokens", "the name that other servers know", openai.Config{}, func(r *llm.Request) { r.MaxOutputTokens = new(int64(0)) }, "max_tokens", "0"},
		{"max_completion_tokens", "C16: a switch picks the name", openai.Config{MaxTokensField: openai.MaxCompletionTokens}, func(r *llm.Request) { r.MaxOutputTokens = new(int64(5)) }, "max_completion_tokens", "5"},
		{"OpenAI's name", "C16: its reasoning models refuse max_tokens", openai.Config{BaseURL: "https://api.openai.com/v1"}, func(r *llm.Request) { r.MaxOutputTokens = new(int64(5)) }, "max_completion_tokens", "5"},
		{"o1 by name", "the SDK would refuse it before the server could", openai.Config{Model: "o1-like-local"}, func(r *llm.Request) { r.MaxOutputTokens, r.Temperature = new(int64(5)), new(0.0) }, "max_tokens", "5"},
		{"GPT-6 with tools", "the SDK would refuse it, though thinking is off", openai.Config{Model: "gpt-6-sol"}, func(r *llm.Request) {
			r.Tools, r.Thinking = []llm.Tool{{Name: "f", Parameters: json.RawMessage(`{}`)}}, &llm.Thinking{Off: true}
		}, "tools", `[{"type":"function","function":{"name":"f","parameters":{}}}]`},
		{"model", "the server's name for it", openai.Config{Model: "gpt-6-astra"}, nil, "model", `"gpt-6-astra"`},
		{"stop", "a text of white space is one", openai.Config{}, func(r *llm.Request) { r.Stop = []string{"\n\n"} }, "stop", `["\n\n"]`},
		{"effort", "the provider's word", openai.Config{}, func(r *llm.Request) { r.Thinking = &llm.Thinking{Level: "low"} }, "reasoning_effort", `"low"`},
		{"thinking off", "the dialect's own word for it", openai.Config{}, func(r *llm.Request) { r.Thinking = &llm.Thinking{Off: true} }, "reasoning_effort", `"none"`},
		{"extra of the client", "fields that llm.Request does not have", openai.Config{Extra: map[string]json.RawMessage{"top_k": json.RawMessage("20")}}, nil, "top_k", "20"},
		{"extra of the request", "it wins", openai.Config{Extra: map[string]json.RawMessage{"top_k": json.RawMessage("20")}}, func(r *llm.Request) { r.Extra = map[string]json.RawMessage{"top_k": json.RawMessage("1")} }, "top_k", "1"},
		{"extra removes", "null removes what the client would send", openai.Config{}, func(r *llm.Request) {
			r.Temperature, r.Extra = new(0.5), map[string]json.RawMessage{"temperature": json.RawMessage("null")}
		}, "temperature", ""},
		{"usage of a stream", "it must be asked for", openai.Config{}, func(r *llm.Request) { r.Stream = true }, "stream_options", `{"include_usage":true}`},
		{"schema", "passed as it is", openai.Config{}, func(r *llm.Request) {
			r.Schema = &llm.Schema{Name: "v", JSON: json.RawMessage(`{"type":"object","x":1.0}`), Strict: true}
		}, "response_format", `{"type":"json_schema","json_schema":{"name":"v","schema":{"type":"object","x":1.0},"strict":true}}`},
		{"tools", "a tool without parameters needs an object of none", openai.Config{}, func(r *llm.Request) {
			r.Tools = []llm.Tool{{Name: "f", Parameters: json.RawMessage(`{"type":"object"}`)}}
		}, "tools", `[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`},
		{"tool choice", "a tool's name", openai.Config{}, func(r *llm.Request) { r.Tools, r.ToolChoice = []llm.Tool{{Name: "f"}}, "f" }, "tool_choice", `{"type":"function","function":{"name":"f"}}`},
		{"tool choice word", "a word is no tool's name", openai.Config{}, func(r *llm.Request) { r.Tools, r.ToolChoice = []llm.Tool{{Name: "f"}}, "required" }, "tool_choice", `"required"`},
		{"empty content", "the SDK leaves it out, and servers refuse that", openai.Config{}, func(r *llm.Request) { r.Messages[0].Content = "" }, "messages", `[{"content":"","role":"user"}]`},
		{"empty content of an assistant", "also beside others", openai.Config{}, func(r *llm.Request) {
			r.Messages = []llm.Message{{Role: "user", Content: "q"}, {Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: "{}"}}}, {Role: "tool", ToolCallID: "1"}}
		}, "messages", `[{"content":"q","role":"user"},{"content":"","role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"content":"","role":"tool","tool_call_id":"1"}]`},
		{"developer elsewhere", "only OpenAI has that role", openai.Config{}, func(r *llm.Request) { r.Messages[0].Role = llm.RoleDeveloper }, "messages", `[{"role":"system","content":"q"}]`},
		{"developer at OpenAI", "only its own servers know the role", openai.Config{BaseURL: "https://api.openai.com/v1"}, func(r *llm.Request) { r.Messages[0].Role = llm.RoleDeveloper }, "messages", `[{"role":"developer","content":"q"}]`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Setenv(openai.DefaultKeyEnv, "test-key-0123")
			var got llmtest.Chat
			s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply { got = c; return llmtest.Reply{Text: "x"} }}
			cfg := r.cfg
			cfg.HTTPClient = s.Client()
			if cfg.Model == "" {
				cfg.Model = "m"
			}
			if cfg.BaseURL == "" {
				cfg.BaseURL = "http://127.0.0.1/v1"
			}
			req := llm.Prompt("q")
			if r.req != nil {
				r.req(&req)
			}
			_, err := cfg.New().Generate(t.Context(), req)
			if r.field == "messages" && r.name == "empty content of an assistant" {
				require.NoError(t, err)
			}
			if f := got.Field(r.field); r.want == "" {
				assert.Nil(t, f, r.reason)
			} else if strings.Contains(r.want, "1.0") {
				assert.Equal(t, r.want, string(f), r.reason)
			} else {
				assert.JSONEq(t, r.want, string(f), r.reason)
			}
			if r.want != "" && r.field != "messages" && r.want[0] != '{' && r.want[0] != '[' {
				assert.Equal(t, r.want, string(got.Field(r.field)), "digit by digit")
			}
		})
	}
}

func TestRefusedRequests(t *testing.T) {
	m, s := fake(nil)
	nan := 0.0
	rows := []struct {
		name string
		req  llm.Request
		want string
	}{
		{"no messages", llm.Request{}, "Request.Messages is empty"},
		{"NaN", llm.Request{Messages: llm.Prompt("q").Messages, Temperature: new(nan / nan)}, "Request.Temperature is NaN: want a finite number"},
		{"budget", llm.Request{Messages: llm.Prompt("q").Messages, Thinking: &llm.Thinking{Budget: new(int64(7))}}, "Budget is 7"},
		{"no thinking", llm.Request{Messages: llm.Prompt("q").Messages, Thinking: &llm.Thinking{}}, "sets nothing"},
		{"two", llm.Request{Messages: llm.Prompt("q").Messages, Thinking: &llm.Thinking{Off: true, Level: "low"}}, `has Off and Level "low": set one`},
		{"schema", llm.Request{Messages: llm.Prompt("q").Messages, Schema: &llm.Schema{JSON: json.RawMessage("{")}}, "Schema.JSON is not JSON"},
		{"extra", llm.Request{Messages: llm.Prompt("q").Messages, Extra: map[string]json.RawMessage{"x": json.RawMessage("{")}}, `Extra["x"] is not JSON`},
		{"tool", llm.Request{Messages: llm.Prompt("q").Messages, Tools: []llm.Tool{{Name: "f", Parameters: json.RawMessage("{")}}}, `tool "f"`},
		{"choice", llm.Request{Messages: llm.Prompt("q").Messages, ToolChoice: "g"}, `"g": want auto, none, required`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			_, err := m.Generate(t.Context(), r.req)
			require.ErrorContains(t, err, r.want)
			assert.Equal(t, llm.KindBadRequest, llm.KindOf(err))
		})
	}
	assert.Zero(t, s.Counts().Calls, "nothing was sent")
}

func TestMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"Model is empty":                   func() { openai.New(" ") },
		`BaseURL is "api.deepseek.com"`:    func() { openai.Config{Model: "m", BaseURL: "api.deepseek.com"}.New() },
		`Extra["x"] is not JSON`:           func() { openai.Config{Model: "m", Extra: map[string]json.RawMessage{"x": []byte("{")}}.New() },
		`MaxTokensField is "maxOutput"`:    func() { openai.Config{Model: "m", MaxTokensField: "maxOutput"}.New() },
		`BaseURL is no URL: "http://[::1"`: func() { openai.Config{Model: "m", BaseURL: "http://[::1"}.New() },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { assert.Contains(t, recover(), name) }()
			f()
		})
	}
}

func TestKeys(t *testing.T) {
	s := &llmtest.Server{Key: "right-key-0123456789"}
	cfg := openai.Config{Model: "m", BaseURL: "https://fake.example/v1", HTTPClient: s.Client(), KeyEnv: "MY_KEY"}

	t.Setenv("MY_KEY", "")
	_, err := cfg.New().Generate(t.Context(), llm.Prompt("q"))
	require.ErrorContains(t, err, "MY_KEY")
	assert.Equal(t, llm.KindAuth, llm.KindOf(err))
	assert.Zero(t, s.Memory().Calls(), "nothing was sent")

	replay := wire.MiddlewareFunc(func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
			Body: io.NopCloser(strings.NewReader(`{"choices":[{"message":{"content":"replayed"},"finish_reason":"stop"}]}`))}, nil
	})
	r, err := cfg.New().Generate(wire.WithMiddleware(t.Context(), replay), llm.Prompt("q"))
	require.NoError(t, err, "a replay needs no key")
	assert.Equal(t, "replayed", r.Text)

	t.Setenv("MY_KEY", "wrong-key-0123456789")
	_, err = cfg.New().Generate(t.Context(), llm.Prompt("q"))
	require.Error(t, err)
	assert.Equal(t, llm.KindAuth, llm.KindOf(err))

	t.Setenv("MY_KEY", "right-key-0123456789")
	_, err = cfg.New().Generate(t.Context(), llm.Prompt("q"))
	require.NoError(t, err, "the key is read at each call")

	t.Setenv(openai.DefaultBaseURLEnv, "no url")
	_, err = openai.New("m").Generate(t.Context(), llm.Prompt("q"))
	require.ErrorContains(t, err, "OPENAI_BASE_URL")
	t.Setenv(openai.DefaultBaseURLEnv, s.Start(t))
	t.Setenv(openai.DefaultKeyEnv, "right-key-0123456789")
	_, err = openai.New("m").Generate(t.Context(), llm.Prompt("q"))
	require.NoError(t, err, "the environment names the server")
}

func TestKeyIsNeverShown(t *testing.T) {
	const key = "super-secret-key-42"
	t.Setenv("MY_KEY", key)
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(401)
		_, _ = io.WriteString(w, `{"error":{"message":"wrong: `+r.Header.Get("Authorization")+`"}}`)
	}
	s := &llmtest.Server{Reply: raw(echo)}
	m := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", KeyEnv: "MY_KEY", HTTPClient: s.Client()}.New()
	var log llm.CallLog
	_, err := m.Generate(llm.WithCallLog(t.Context(), &log), llm.Prompt("q"))
	require.ErrorContains(t, err, "Bearer [masked]")
	assert.NotContains(t, err.Error(), key)
	assert.NotContains(t, log.Calls()[0].Err.Error(), key)
}

func TestHeaders(t *testing.T) {
	var got http.Header
	s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply { got = c.Header; return llmtest.Reply{} }}
	m := openai.Config{Model: "m", BaseURL: "http://localhost/v1/", HTTPClient: s.Client(), Header: http.Header{"x-title": {"evals"}}}.New()
	_, err := m.Generate(t.Context(), llm.Prompt("q"))
	require.NoError(t, err)
	assert.Equal(t, "evals", got.Get("X-Title"))
	assert.Empty(t, got.Get("Authorization"), "no key, no header")
}

func TestCancelMidStreamKeepsTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := fake(raw(llmtest.SlowStream(time.Second, llmtest.Text("The "), llmtest.Text("answer"), llmtest.Text(" is"))))
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		r, err := m.Generate(ctx, streamed("q"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, llm.KindTimeout, llm.KindOf(err))
		assert.Equal(t, "The answer", r.Text)
		assert.Equal(t, 2500*time.Millisecond, r.Timing.Total)
		assert.False(t, r.Usage.Known)
		s.Memory().Wait()
		assert.Zero(t, s.Memory().OpenBodies())
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// clientOver is a client whose calls are answered by f.
func clientOver(f roundTrip) *openai.Client {
	return openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: &http.Client{Transport: f}}.New()
}

func TestContextEndsBehindAnotherError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := clientOver(func(*http.Request) (*http.Response, error) {
		cancel()
		return nil, io.ErrUnexpectedEOF
	})
	_, err := m.Generate(ctx, llm.Prompt("q"))
	require.ErrorIs(t, err, context.Canceled, "the caller gave up, whatever broke first")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, llm.KindCanceled, llm.KindOf(err))
}
