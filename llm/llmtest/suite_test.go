package llmtest_test

import (
	"testing"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// overOpenAI is a client of server, with a key.
func overOpenAI(t *testing.T, server *llmtest.Server) llm.Model {
	return openai.Config{Model: "m", BaseURL: "https://fake.example/v1", KeyEnv: "LLMTEST_KEY", HTTPClient: server.Client()}.New()
}

func overGemini(t *testing.T, server *llmtest.Server) llm.Model {
	return gemini.Config{Model: "m", BaseURL: "https://fake.example", KeyEnv: "LLMTEST_KEY", HTTPClient: server.Client()}.New()
}

func TestConformanceOfClients(t *testing.T) {
	t.Setenv("LLMTEST_KEY", "sk-llmtest-0123456789abcdef")
	for name, newOn := range map[string]func(*testing.T, *llmtest.Server) llm.Model{"openai": overOpenAI, "gemini": overGemini} {
		t.Run(name, func(t *testing.T) {
			llmtest.Suite{
				New:           func(t *testing.T) llm.Model { return newOn(t, new(llmtest.Server)) },
				NewOn:         newOn,
				Deterministic: true, Streams: true,
			}.Run(t)
		})
	}
}

func TestShout(t *testing.T) { testShout(t) }

func TestFaultsAlone(t *testing.T) {
	t.Setenv("LLMTEST_KEY", "sk-llmtest-0123456789abcdef")
	llmtest.RunFaults(t, overOpenAI)
}

// TestConformanceOfTheEngine: what tries again keeps a Model's promises, and
// hands on what the last try said.
func TestConformanceOfTheEngine(t *testing.T) {
	t.Setenv("LLMTEST_KEY", "sk-llmtest-0123456789abcdef")
	on := func(t *testing.T, s *llmtest.Server) llm.Model { return call.New(overOpenAI(t, s), call.Config{}) }
	llmtest.Suite{
		New:   func(t *testing.T) llm.Model { return on(t, new(llmtest.Server)) },
		NewOn: on, Deterministic: true, Streams: true, Tries: call.DefaultTries,
	}.Run(t)
}
