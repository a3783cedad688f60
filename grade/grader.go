package grade

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// Func makes a function a [Grader]. What the function decides is final: it
// sees empty responses and refusals too. [FuncOf] is the shorter way for a
// question of yes or no.
type Func func(context.Context, dataset.Item, llm.Response) (Verdict, error)

var (
	_ Grader = Func(nil)
	_ Named  = Func(nil)
)

// Grade calls f.
func (f Func) Grade(ctx context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	return f(ctx, item, resp)
}

// Name returns "func": a function has no name that is stable enough to
// compare two runs by.
func (f Func) Name() string { return "func" }

// Named is what a [Grader] implements to be called by a name in journals and
// reports: a short, stable word, such as "numeric". Every grader of this
// package does.
type Named interface {
	Name() string
}

// NameOf returns the grader's name, or its Go type if it has none, or "none"
// for nil.
func NameOf(g Grader) string {
	if g == nil {
		return "none"
	}
	if n, ok := g.(Named); ok {
		return n.Name()
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", g), "*")
}

// ErrTarget is wrapped by every error that says that an item's own target,
// and not the response, cannot be graded with.
var ErrTarget = errors.New("grade: unusable target")

// A TargetError names the item whose target cannot be graded with. It wraps
// [ErrTarget].
type TargetError struct {
	Grader string // the grader's name
	Item   string // the item's id
	Target string // the target as it stands in the dataset
	Reason string // what is wrong and what to write instead
}

// Error names the grader, the item, the target and what to do.
func (e *TargetError) Error() string {
	return fmt.Sprintf("grade: %s: item %q: target %s: %s", e.Grader, e.Item, quote(e.Target), e.Reason)
}

// Unwrap returns [ErrTarget].
func (e *TargetError) Unwrap() error { return ErrTarget }
