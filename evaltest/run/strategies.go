package run

import (
	"context"
	"fmt"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// Ask answers an item with one call of m.
func Ask(m llm.Model, prompt func(dataset.Item) llm.Request) Strategy {
	return StrategyFunc(func(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
		return m.Generate(ctx, prompt(it))
	})
}

// Escalate answers with fast, and with thinking from attempt from on.
func Escalate(fast, thinking Strategy, from int) Strategy {
	return StrategyFunc(func(ctx context.Context, it dataset.Item, a Attempt) (llm.Response, error) {
		if a.Number >= from {
			return thinking.Execute(ctx, it, a)
		}
		return fast.Execute(ctx, it, a)
	})
}

// App answers with a whole application.
func App[In, Out any](f func(context.Context, In) (Out, error)) Strategy {
	return StrategyFunc(func(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
		return llm.Response{}, fmt.Errorf("not implemented")
	})
}

// Named is implemented by strategies, graders and judges that have a name.
type Named interface{ Name() string }

// NameOf returns a name for a strategy, grader or judge; "" for nil.
func NameOf(v any) string { return fmt.Sprintf("%T", v) }
