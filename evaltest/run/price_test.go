package run_test

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// TestItemPriceMisbehaves: the answer is there and was paid for; a price
// function that panics leaves its cost unknown. One that hangs, or ends its
// goroutine, costs its own item only, and is named.
func TestItemPriceMisbehaves(t *testing.T) {
	hang := make(chan struct{})
	for _, tc := range []struct {
		name    string
		price   func()
		outcome result.Outcome
		warning string
		message string
	}{
		{name: "panics", price: func() { panic(errors.New("no table")) }, outcome: result.Correct, warning: "the price function panicked: no table: the cost is unknown"},
		{name: "panics with a runtime error", price: func() { _ = []int{}[len(t.Name())] }, outcome: result.Correct, warning: "the price function panicked: runtime error"},
		{name: "ends its goroutine", price: runtime.Goexit, outcome: result.Errored, message: "the price function ended its goroutine"},
		{name: "hangs", price: func() { <-hang }, outcome: result.Errored, message: "abandoned: the price function did not return within 5s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hang = make(chan struct{})
				c := config(answers(turn{resp: llm.Response{Text: "18", Usage: used(3, 0).Usage}}))
				c.ItemTimeout, c.Grace, c.Attempts = time.Minute, 5*time.Second, 1
				c.Price = func(llm.Response) (string, bool) { tc.price(); return "1", true }
				rec := must(t, c.Item(t.Context(), eggs, 0))
				assert.Equal(t, tc.outcome, rec.Outcome)
				assert.Empty(t, rec.CostUSD)
				if tc.warning != "" {
					require.Len(t, rec.Warnings, 1)
					assert.Contains(t, rec.Warnings[0], tc.warning)
				}
				if tc.message != "" {
					require.NotNil(t, rec.Error)
					assert.Contains(t, rec.Error.Message, tc.message)
				}
				close(hang)
			})
		})
	}
}

// TestItemAbandonedIsNotPriced: the caller must not run the user's code, which
// may hang or panic there too; and what goes on may still spend.
func TestItemAbandonedIsNotPriced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c := config(answers(turn{do: func() { <-release }, logs: []llm.Call{{Response: used(7, 1)}}}))
		c.ItemTimeout, c.Grace, c.Attempts = time.Minute, 5*time.Second, 1
		c.Grader = grade.Exact()
		c.Price = func(llm.Response) (string, bool) { panic("in the caller's goroutine") }
		rec := must(t, c.Item(t.Context(), eggs, 0))
		assert.True(t, rec.Abandoned)
		assert.EqualValues(t, 7, rec.Usage.Input)
		assert.Empty(t, rec.CostUSD)
		close(release)
		synctest.Wait()
	})
}
