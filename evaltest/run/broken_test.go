package run_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// TestBrokenOffCounts: what was spent by code that crashed or hangs is in the
// record, in its log of tries and in the budget, once.
func TestBrokenOffCounts(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(release chan struct{})
		then func() // after both
		took time.Duration
		// Of two calls, the second of which may not return: how many are in the
		// log, and of how many the tokens are known, at first and after a
		// straggler's end.
		tries, known, later int
	}{
		{"returns", func(chan struct{}) {}, nil, 0, 2, 2, 2},
		{"Goexit", func(chan struct{}) { runtime.Goexit() }, nil, 0, 2, 1, 1},
		{"hangs", func(release chan struct{}) { <-release }, nil, 65 * time.Second, 2, 1, 2},
		{"hangs, then Goexit", func(release chan struct{}) { <-release }, runtime.Goexit, 65 * time.Second, 2, 1, 2},
	} {
		for _, who := range []string{"strategy", "judge"} {
			t.Run(tc.name+" in "+who, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					release := make(chan struct{})
					calls := 0
					m := call.New(llm.ModelFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
						if calls++; calls == 2 {
							tc.do(release)
						}
						resp := llm.Response{Text: "18", Usage: llm.Usage{Input: 10, Known: true}}
						llm.LogCall(ctx, llm.Call{Response: resp})
						return resp, nil
					}), call.Config{})
					twice := func(ctx context.Context) (llm.Response, error) {
						if resp, err := m.Generate(ctx, llm.Prompt("?")); err != nil {
							return resp, err
						}
						resp, err := m.Generate(ctx, llm.Prompt("?"))
						if tc.then != nil {
							tc.then()
						}
						return resp, err
					}
					c := config(answers(turn{resp: llm.Response{Text: "?"}, logs: []llm.Call{{Response: llm.Response{Replayed: true}}}}))
					c.ItemTimeout, c.Grace, c.Attempts = time.Minute, 5*time.Second, 1
					c.Budget = budget(t, call.Caps{MaxTokens: 1000})
					if who == "judge" {
						c.Judge = grade.Func(func(ctx context.Context, _ dsItem, _ llm.Response) (grade.Verdict, error) {
							_, err := twice(ctx)
							return grade.Verdict{Mark: grade.Correct, Score: 1}, err
						})
					} else {
						c.Strategy = run.StrategyFunc(func(ctx context.Context, _ dsItem, _ run.Attempt) (llm.Response, error) { return twice(ctx) })
					}
					rec := must(t, c.Item(t.Context(), eggs, 0))
					synctest.Wait()
					assert.Equal(t, tc.took, rec.Duration)
					log, usage := rec.JudgeTryLog, rec.JudgeUsage
					if who == "strategy" {
						require.Len(t, rec.Attempts, 1)
						assert.Equal(t, tc.tries, rec.Attempts[0].Tries)
						log, usage = rec.Attempts[0].TryLog, rec.Usage
					}
					assert.Len(t, log, tc.tries, "each physical call")
					assert.EqualValues(t, 10*tc.known, usage.Input)
					assert.EqualValues(t, 10*tc.known, c.Budget.Spent().Tokens, "the budget knows of it")
					close(release)
					synctest.Wait()
					assert.EqualValues(t, 10*tc.later, c.Budget.Spent().Tokens, "what goes on goes on spending, and nothing counts twice")
				})
			})
		}
	}
}

// TestAbandonedGivesItsSlotBack: two strategies that ignore their contexts take
// all that the scope allows at once. The other items proceed when they are
// abandoned.
func TestAbandonedGivesItsSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		scope := call.NewScope(call.Limits{Concurrency: 2})
		deaf := config(answers(turn{do: func() { <-release }}))
		good := config(answers(says("18")))
		deaf.Scope, good.Scope = scope, scope
		deaf.ItemTimeout, deaf.Grace = time.Minute, 5*time.Second
		done := make(chan result.Record)
		for range 2 {
			go func() { done <- deaf.Item(t.Context(), eggs, 0) }()
		}
		synctest.Wait()
		begun := time.Now()
		for range 5 {
			go func() { done <- good.Item(t.Context(), eggs, 0) }()
		}
		outcomes := map[result.Outcome]int{}
		for range 7 {
			rec := must(t, <-done)
			outcomes[rec.Outcome]++
			if rec.Outcome == result.Errored {
				require.Len(t, rec.Attempts, 1)
				require.Len(t, rec.Attempts[0].TryLog, 1)
				assert.Equal(t, 65*time.Second, rec.Attempts[0].TryLog[0].Duration)
			}
		}
		assert.Equal(t, map[result.Outcome]int{result.Correct: 5, result.Errored: 2}, outcomes)
		assert.Equal(t, 65*time.Second, time.Since(begun))
		close(release)
		synctest.Wait()
		assert.Zero(t, scope.Stats().InFlight)
	})
}

// TestJudgeTryLog: what a judge's busy provider cost is in the record.
func TestJudgeTryLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		c := config(answers(says("?")))
		c.Attempts = 2
		c.Judge = grade.Func(func(context.Context, dsItem, llm.Response) (grade.Verdict, error) {
			switch calls++; calls {
			case 1:
				return grade.Verdict{}, &llm.Error{Kind: llm.KindRateLimit, Status: 429, RetryAfter: new(7 * time.Second)}
			case 2:
				return grade.Verdict{}, &llm.Error{Kind: llm.KindServer, Status: 503, RetryAfter: new(time.Second)}
			}
			return grade.Verdict{Mark: grade.Correct, Score: 1}, nil
		})
		rec := must(t, c.Item(t.Context(), eggs, 0))
		assert.Equal(t, result.Correct, rec.Outcome)
		require.Len(t, rec.JudgeTryLog, 2, "two of the first attempt; the second was one good call")
		assert.Equal(t, 429, rec.JudgeTryLog[0].Error.Status)
		assert.Equal(t, 7*time.Second, rec.JudgeTryLog[1].PauseWait)
		assert.Equal(t, 503, rec.JudgeTryLog[1].Error.Status)
	})
}
