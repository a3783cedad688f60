package grade

import (
	"context"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A Grader judges one response to one item. Grade must be safe for concurrent
// use and must not depend on anything but its arguments (a judge depends on
// its model). An error means that the item could not be graded at all, such as
// a target that is no number; a bad answer is a Verdict, never an error.
type Grader interface {
	Grade(ctx context.Context, item dataset.Item, resp llm.Response) (Verdict, error)
}

// Func makes a function a [Grader].
type Func func(context.Context, dataset.Item, llm.Response) (Verdict, error)

var _ Grader = Func(nil)

// Grade calls f.
func (f Func) Grade(ctx context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	return f(ctx, item, resp)
}
