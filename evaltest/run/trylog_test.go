package run_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
)

// TestTryLog: what a busy provider cost is in the record: each physical call,
// its waits, its cause and its tokens.
func TestTryLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now().UTC()
		billed := llm.Usage{Input: 3, Output: 0, Known: true}
		m := &llmtest.Model{
			Reply: func(n int, _ llm.Request) (llm.Response, error) {
				if n == 1 {
					return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, Status: 429, Message: "slow down", RetryAfter: new(5 * time.Second), Usage: billed}
				}
				return llm.Response{Text: "18", Finish: llm.FinishStop, Usage: llm.Usage{Input: 10, Output: 5, Known: true}}, nil
			},
			Latency: func(int, llm.Request) time.Duration { return time.Second },
			Log:     true,
		}
		s := run.Ask(m, func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) })
		rec := must(t, config(s).Item(t.Context(), eggs, 0))
		require.Len(t, rec.Attempts, 1)
		a := rec.Attempts[0]
		assert.Equal(t, 2, a.Tries)
		assert.Equal(t, []result.Try{
			{Start: begun, Duration: time.Second, Usage: billed, RetryAfter: new(5 * time.Second),
				Error: &result.Error{Kind: llm.KindRateLimit, Status: 429, Message: "rate_limit (HTTP 429): slow down"}},
			{Start: begun.Add(6 * time.Second), PauseWait: 5 * time.Second, Duration: time.Second, Usage: llm.Usage{Input: 10, Output: 5, Known: true}},
		}, a.TryLog)
		assert.EqualValues(t, 13, rec.Usage.Input, "failed tries count")
	})
}

// TestTryLogOfModel: the calls of a call.Model inside the strategy are the
// tries, and the time that it waits is not the attempt's.
func TestTryLogOfModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &llmtest.Model{Reply: func(n int, _ llm.Request) (llm.Response, error) {
			if n == 1 {
				return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(90 * time.Second)}
			}
			return llm.Response{Text: "18"}, nil
		}}
		calls := 0
		model := call.New(m, call.Config{})
		c := config(run.StrategyFunc(func(ctx context.Context, it dataset.Item, _ run.Attempt) (llm.Response, error) {
			calls++
			return model.Generate(ctx, llm.Prompt(it.Input))
		}))
		c.AttemptTimeout = 10 * time.Second
		rec := must(t, c.Item(t.Context(), eggs, 0))
		assert.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
		assert.Equal(t, 1, calls, "the strategy is not begun again")
		assert.Equal(t, 2, rec.Attempts[0].Tries)
		require.Len(t, rec.Attempts[0].TryLog, 2)
		assert.Equal(t, 90*time.Second, rec.Attempts[0].TryLog[1].PauseWait)
	})
}

// TestTryLogLeftOut: a call that went well says nothing that its attempt does
// not.
func TestTryLogLeftOut(t *testing.T) {
	rec := must(t, config(answers(says("18"))).Item(t.Context(), eggs, 0))
	assert.Nil(t, rec.Attempts[0].TryLog)
	assert.Equal(t, 1, rec.Attempts[0].Tries)
}

// TestPauseOfAll: a rate limit that one item meets makes all wait, and then
// they do not all come at once.
func TestPauseOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var starts []time.Duration
		begun := time.Now()
		m := &llmtest.Model{Reply: func(n int, _ llm.Request) (llm.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			starts = append(starts, time.Since(begun))
			if n == 1 {
				return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(10 * time.Second)}
			}
			return llm.Response{Text: "18"}, nil
		}}
		c := config(run.Ask(m, func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }))
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { assert.Equal(t, result.Correct, must(t, c.Item(t.Context(), eggs, 0)).Outcome) })
			synctest.Wait() // the first waits by now
		}
		wg.Wait()
		require.Len(t, starts, 6)
		assert.Equal(t, 10*time.Second, starts[1])
		assert.Less(t, starts[1], starts[5], "a stampede would bring the next rate limit")
	})
}

// TestCaseL11Ask: a question larger than the scope's tokens a minute ends its
// item at once, unsent; the others are asked.
func TestCaseL11Ask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &llmtest.Model{Reply: func(int, llm.Request) (llm.Response, error) { return llm.Response{Text: "18"}, nil }}
		c := config(run.Ask(m, func(it dataset.Item) llm.Request {
			r := llm.Prompt(it.Input)
			r.MaxOutputTokens = new(int64(100))
			return r
		}))
		c.Scope = call.NewScope(call.Limits{TPM: 10_000})
		rec := c.Item(t.Context(), dataset.Item{ID: "long", Input: strings.Repeat("four", 11_900), Target: "18"}, 0)
		assert.Equal(t, result.Errored, rec.Outcome)
		assert.Contains(t, rec.Error.Message, "request needs 12000 tokens, limit 10000/min")
		assert.Zero(t, m.Calls())
		assert.Equal(t, result.Correct, must(t, c.Item(t.Context(), eggs, 0)).Outcome)
	})
}
