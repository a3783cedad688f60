package evaltest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// billed answers right, and says what it took.
func billed(model string) evaltest.Strategy {
	return evaltest.StrategyFunc(func(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
		return llm.Response{Text: it.Target, Model: model, Finish: llm.FinishStop, Usage: llm.Usage{Input: 1000, Output: 100, Known: true}}, nil
	})
}

func init() {
	priced := evaltest.Price(func(r llm.Response) (string, bool) { return "0.001", r.Model == "known-1" })
	scenarios["budget"] = func(t *testing.T) {
		evaltest.Run(t, capitals(t, 6), billed("known-1"), exact, priced, evaltest.MaxCost("0.003"), evaltest.Parallel(1))
	}
	scenarios["budget unpriced"] = func(t *testing.T) {
		evaltest.Run(t, capitals(t, 6), billed("mystery-1"), exact, priced, evaltest.MaxCost("0.003"), evaltest.Parallel(1))
	}
	scenarios["bad budget"] = func(t *testing.T) {
		evaltest.Run(t, capitals(t, 3), answers{}, exact, evaltest.MaxCost("$5"), evaltest.MaxTokens(0), evaltest.RunTimeout(-time.Second), evaltest.Scope(nil))
	}
	hang := strategy(func(ctx context.Context, _ dataset.Item) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	scenarios["three times"] = func(t *testing.T) {
		t.Run("attempt", func(t *testing.T) {
			evaltest.Run(t, capitals(t, 1), hang, exact, evaltest.AttemptTimeout(50*time.Millisecond), evaltest.Attempts(1))
		})
		t.Run("item", func(t *testing.T) {
			evaltest.Run(t, capitals(t, 1), hang, exact, evaltest.Timeout(60*time.Millisecond))
		})
		t.Run("run", func(t *testing.T) {
			evaltest.Run(t, capitals(t, 1), hang, exact, evaltest.RunTimeout(70*time.Millisecond))
		})
	}
}

// TestBudgetExact: a run that spends exactly what it may is whole, and passes.
func TestBudgetExact(t *testing.T) {
	var rep *evaltest.Report
	require.True(t, t.Run("run", func(t *testing.T) {
		rep = evaltest.Run(t, capitals(t, 3), billed("known-1"), exact, evaltest.MaxTokens(3300), evaltest.Dir(t.TempDir()))
	}))
	assert.Equal(t, 3, rep.Stats.Outcomes[result.Correct])
}
