package run

import (
	"context"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A Strategy answers one item. Execute is called once an attempt, from many
// goroutines at once, and must return soon after ctx is done. It must not use
// the *testing.T of the test around it: a failure is a returned error.
type Strategy interface {
	Execute(ctx context.Context, item dataset.Item, attempt Attempt) (llm.Response, error)
}

// StrategyFunc makes a function a [Strategy].
type StrategyFunc func(context.Context, dataset.Item, Attempt) (llm.Response, error)

var _ Strategy = StrategyFunc(nil)

// Execute calls f.
func (f StrategyFunc) Execute(ctx context.Context, item dataset.Item, a Attempt) (llm.Response, error) {
	return f(ctx, item, a)
}

// An Attempt says which logical try at the item this is. It advances when the
// answer was unusable or a call failed in a way worth another attempt, never
// because a provider was busy.
type Attempt struct {
	Number int // from 1
	Of     int // the most attempts this item gets
	Sample int // the k-th independent answer, from 0
	// Unusable is how many of the attempts before this one had an answer that
	// could not be used: the grader found nothing to compare in it, the
	// strategy said so with [llm.Unusable], or it was cut at its limit. Failed
	// calls are not among them.
	Unusable int
	// Last is what the attempt before this one came to; nil for the first.
	Last *Last
	// State is what the strategy keeps of this item between attempts.
	State *State
}
