package run_test

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// TestFingerprint: it changes with what is asked, and where it means nothing
// there is none.
func TestFingerprint(t *testing.T) {
	asks := func(prompt func(dataset.Item) llm.Request) run.Strategy { return run.Ask(&llmtest.Model{}, prompt) }
	plain := asks(func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) })
	cold := asks(func(it dataset.Item) llm.Request {
		r := llm.Prompt(it.Input)
		r.Temperature = new(0.0)
		return r
	})
	calls := 0
	all := map[string]bool{}
	for _, tc := range []struct {
		name, reason string
		strategy     run.Strategy
		item         dataset.Item
		known        bool
	}{
		{"a request", "", plain, eggs, true},
		{"another item's", "", plain, dataset.Item{ID: "eggs", Input: "How much?"}, true},
		{"with a setting", "a zero is one", cold, eggs, true},
		{"two", "both count", run.Escalate(plain, cold, 2), eggs, true},
		{"two the other way", "and which comes first", run.Escalate(cold, plain, 2), eggs, true},
		{"another each time", "such as one with the time in it", asks(func(dataset.Item) llm.Request {
			calls++
			return llm.Prompt(string(rune('a' + calls)))
		}), eggs, false},
		{"a panic", "the item will say so", asks(func(dataset.Item) llm.Request { panic("no index") }), eggs, false},
		{"the end of its goroutine", "not of the caller's", asks(func(dataset.Item) llm.Request { runtime.Goexit(); return llm.Request{} }), eggs, false},
		{"no JSON", "the call will say so", asks(func(dataset.Item) llm.Request {
			return llm.Request{Extra: map[string]json.RawMessage{"x": json.RawMessage("{")}}
		}), eggs, false},
		{"code", "what it asks is not known", answers(says("18")), eggs, false},
		{"half code", "half is not enough", run.Escalate(plain, answers(says("18")), 2), eggs, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := run.FingerprintOf(tc.strategy, tc.item)
			if !tc.known {
				assert.Empty(t, got, tc.reason)
				return
			}
			assert.NotEmpty(t, got, tc.reason)
			assert.Equal(t, got, run.FingerprintOf(tc.strategy, tc.item), "the same each time")
			assert.False(t, all[got], "the same as another's: %s", tc.reason)
			all[got] = true
		})
	}
}

// TestRequestOf: who knows what will be asked says so, and a prompt that panics
// is no reason to end a test.
func TestRequestOf(t *testing.T) {
	item := dataset.Item{ID: "a", Input: "why?"}
	prompt := func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }
	model := &llmtest.Model{}
	asks := run.Ask(model, prompt)
	req, ok := run.RequestOf(asks, item)
	require.True(t, ok)
	assert.Equal(t, prompt(item), req)
	_, ok = run.RequestOf(run.Escalate(asks, asks, 2), item)
	assert.True(t, ok, "of the first attempt")
	function := run.StrategyFunc(func(context.Context, dataset.Item, run.Attempt) (llm.Response, error) { return llm.Response{}, nil })
	_, ok = run.RequestOf(function, item)
	assert.False(t, ok)
	_, ok = run.RequestOf(run.Escalate(function, asks, 2), item)
	assert.False(t, ok)
	_, ok = run.RequestOf(run.Ask(model, func(dataset.Item) llm.Request { panic("no template") }), item)
	assert.False(t, ok)
	_, ok = run.RequestOf(run.Ask(model, func(dataset.Item) llm.Request { runtime.Goexit(); return llm.Request{} }), item)
	assert.False(t, ok)
}
