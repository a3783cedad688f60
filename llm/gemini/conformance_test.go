package gemini_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
)

const fakeKey = "AIza-fake-key-0123456789"

// onFake are the Configs of both APIs for one fake server.
func onFake(s *llmtest.Server) map[string]gemini.Config {
	return map[string]gemini.Config{
		"Gemini API": {Model: "gemini-2.5-flash", HTTPClient: s.Client()},
		"Vertex AI":  {Model: "gemini-2.5-flash", HTTPClient: s.Client(), Vertex: true, Project: "acme", Credentials: token(fakeKey)},
	}
}

func TestConformance(t *testing.T) {
	t.Setenv(gemini.DefaultKeyEnv, fakeKey)
	for _, api := range []string{"Gemini API", "Vertex AI"} {
		t.Run(api, func(t *testing.T) {
			llmtest.Suite{
				New:           func(*testing.T) llm.Model { return onFake(&llmtest.Server{})[api].New() },
				NewOn:         func(_ *testing.T, s *llmtest.Server) llm.Model { return onFake(s)[api].New() },
				Deterministic: true, Streams: true,
			}.Run(t)
		})
	}
}

func TestConformanceOverLoopback(t *testing.T) {
	llmtest.Run(t, func(t *testing.T) llm.Model {
		return gemini.Config{Model: "gemini-2.5-flash", BaseURL: new(llmtest.Server).StartRoot(t)}.New()
	})
}

func TestUnaryAndStreamAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply {
			return llmtest.Reply{
				Text: "The answer is 18.", Reasoning: "6 times 3", FirstToken: time.Second, PerToken: 100 * time.Millisecond,
				ToolCalls: []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"x":1}`}, {ID: "c2", Name: "g", Arguments: "{}"}},
			}
		}}
		for name, cfg := range onFake(s) {
			cfg.BaseURL = "http://127.0.0.1"
			var log llm.CallLog
			ctx := llm.WithCallLog(t.Context(), &log)
			m := cfg.New()
			unary, err := m.Generate(ctx, llm.Prompt("What is 6*3?"))
			require.NoError(t, err, name)
			stream, err := m.Generate(ctx, streamed("What is 6*3?"))
			require.NoError(t, err, name)
			for _, r := range []llm.Response{unary, stream} {
				assert.Equal(t, "The answer is 18.", r.Text)
				assert.Equal(t, "6 times 3", r.Reasoning)
				assert.Equal(t, llm.FinishToolCalls, r.Finish)
				assert.Equal(t, []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"x":1}`}, {ID: "c2", Name: "g", Arguments: "{}"}}, r.ToolCalls)
				assert.Equal(t, llm.Usage{Input: 3, Output: 7, Reasoning: 3, Known: true}, r.Usage)
				assert.Equal(t, "gemini-2.5-flash", r.Model)
				assert.Equal(t, 1600*time.Millisecond, r.Timing.Total)
				assert.Empty(t, r.Warnings)
			}
			assert.Zero(t, unary.Timing.FirstToken)
			assert.Nil(t, unary.Chunks)
			assert.Equal(t, time.Second, stream.Timing.FirstToken, "a thought is a token")
			assert.Equal(t, time.Second, stream.Chunks[0])
			require.Len(t, log.Calls(), 2, "each call is logged once")
			assert.Equal(t, "The answer is 18.", log.Calls()[0].Response.Text, "the client's own log has the text")
		}
		assert.Zero(t, s.Memory().OpenBodies())
	})
}
