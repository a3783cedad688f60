package run_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

func budget(t *testing.T, c call.Caps) *call.Budget {
	t.Helper()
	b, err := call.NewBudget(c)
	require.NoError(t, err)
	return b
}

// TestBudget: what is spent before is paid for and kept; what would come after
// is not begun, and is to be run again.
func TestBudget(t *testing.T) {
	judged := func(calls *int) grade.Grader {
		return grade.Func(func(context.Context, dsItem, llm.Response) (grade.Verdict, error) {
			*calls++
			return grade.Verdict{Mark: grade.Correct, Score: 1, Calls: []llm.Response{{Usage: llm.Usage{Input: 50, Known: true}}}}, nil
		})
	}
	for _, tc := range []struct {
		name, reason string
		tokens       int64
		first        turn
		outcome      result.Outcome
		asked, judge int
		message      string
	}{
		{"enough", "", 100, says("18"), result.Correct, 1, 0, ""},
		{"used up by an answer", "the answer stands: only the next call is not made", 15, says("18"), result.Correct, 1, 0, ""},
		{"before the second attempt", "the first answer is kept with its attempt", 15, says("?"), result.NotRun, 1, 0, "stopped before attempt 2"},
		{"before the judge", "a verdict that was not paid for is none", 45, says("?"), result.NotRun, 3, 0, "stopped before the judge was asked"},
		{"the judge overruns it", "by one call, as documented", 46, says("?"), result.Correct, 3, 1, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			judge := 0
			s := answers(tc.first)
			c := config(s)
			c.Judge, c.Budget = judged(&judge), budget(t, call.Caps{MaxTokens: tc.tokens})
			rec := must(t, c.Item(t.Context(), eggs, 0))
			assert.Equal(t, tc.outcome, rec.Outcome, tc.reason)
			assert.Len(t, s.attempts, tc.asked)
			assert.Equal(t, tc.judge, judge)
			if tc.message != "" {
				assert.Equal(t, llm.KindBudget, rec.Error.Kind)
				assert.Contains(t, rec.Error.Message, tc.message)
				assert.Len(t, rec.Attempts, tc.asked, "what was spent is told")
			}
		})
	}
}

// TestBudgetBeforeTheFirst: an item that is not begun has spent nothing.
func TestBudgetBeforeTheFirst(t *testing.T) {
	b := budget(t, call.Caps{MaxTokens: 15})
	s := answers(says("18"))
	c := config(s)
	c.Budget = b
	require.Equal(t, result.Correct, must(t, c.Item(t.Context(), eggs, 0)).Outcome)
	rec := must(t, c.Item(t.Context(), eggs, 0))
	assert.Equal(t, result.NotRun, rec.Outcome)
	assert.Empty(t, rec.Attempts)
	assert.Zero(t, rec.Usage)
	assert.Len(t, s.attempts, 1)
	assert.Contains(t, rec.Error.Message, "stopped before attempt 1")
	assert.Contains(t, rec.Error.Message, "15")
}

// TestBudgetWithoutPrice: money that cannot be counted is not spent blindly
// (U10).
func TestBudgetWithoutPrice(t *testing.T) {
	s := answers(turn{resp: llm.Response{Text: "18", Model: "mystery-1", Usage: llm.Usage{Input: 10, Output: 5, Known: true}}})
	c := config(s)
	c.Budget = budget(t, call.Caps{MaxUSD: "1"})
	require.Equal(t, result.Correct, must(t, c.Item(t.Context(), eggs, 0)).Outcome)
	rec := must(t, c.Item(t.Context(), eggs, 0))
	assert.Equal(t, result.NotRun, rec.Outcome)
	assert.Contains(t, rec.Error.Message, "mystery-1")
	assert.Len(t, s.attempts, 1)
}
