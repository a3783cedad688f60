package call_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
)

// TestModelBudget: Models that share a budget stop together, failed calls that
// were billed count, and refused ones do not.
func TestModelBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := call.NewBudget(call.Caps{MaxTokens: 25})
		require.NoError(t, err)
		used := llm.Usage{Input: 8, Output: 2, Known: true}
		fake := &llmtest.Model{Reply: func(n int, _ llm.Request) (llm.Response, error) {
			switch n {
			case 1:
				return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit}
			case 2:
				return llm.Response{}, &llm.Error{Kind: llm.KindServer, Usage: used}
			}
			return llm.Response{Text: "ok", Usage: used}, nil
		}}
		one, other := call.New(fake, call.Config{Budget: b}), call.New(fake, call.Config{Budget: b})
		_, err = one.Generate(t.Context(), llm.Prompt("x"))
		assert.Equal(t, llm.KindServer, llm.KindOf(err), "after one rate limit")
		for range 2 {
			_, err = other.Generate(t.Context(), llm.Prompt("x"))
			require.NoError(t, err)
		}
		for _, m := range []*call.Model{one, other} {
			_, err = m.Generate(t.Context(), llm.Prompt("x"))
			assert.ErrorIs(t, err, call.ErrBudget)
			assert.Equal(t, llm.KindBudget, llm.KindOf(err))
			assert.ErrorContains(t, err, "30 of 25 tokens")
		}
		assert.Equal(t, 4, fake.Calls())
		assert.EqualValues(t, 30, b.Spent().Tokens)
	})
}

// TestModelBudgetAfterARateLimit: the budget is asked before each try, and the
// rate limit is not forgotten.
func TestModelBudgetAfterARateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := call.NewBudget(call.Caps{MaxTokens: 5})
		require.NoError(t, err)
		fake := &llmtest.Model{Reply: func(int, llm.Request) (llm.Response, error) {
			return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, Message: "slow down", Usage: llm.Usage{Input: 5, Known: true}}
		}}
		_, err = call.New(fake, call.Config{Budget: b}).Generate(t.Context(), llm.Prompt("x"))
		assert.ErrorIs(t, err, call.ErrBudget)
		assert.ErrorContains(t, err, "slow down")
		assert.Equal(t, 1, fake.Calls())
	})
}
