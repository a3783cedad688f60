package grade

import (
	"context"
	"errors"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// A TargetChecker is a [Grader] that can tell from an item alone whether its
// target can be graded with, so that a run of the wrong grader ends before it
// asks anybody. The graders of this package are, combinators as far as their
// parts are.
type TargetChecker interface {
	// CheckTarget returns the error that Grade would return for any response,
	// or nil. It calls nobody.
	CheckTarget(item dataset.Item) error
}

// CheckTarget returns what g's CheckTarget says of the item, or nil if g is no
// [TargetChecker].
func CheckTarget(g Grader, item dataset.Item) error {
	if c, ok := g.(TargetChecker); ok {
		return c.CheckTarget(item)
	}
	return nil
}

// checkByGrading is the CheckTarget of graders that read the target before the
// response and ask nobody.
func checkByGrading(g Grader, item dataset.Item) error {
	if _, err := g.Grade(context.Background(), item, llm.Response{Text: "0"}); errors.Is(err, ErrTarget) {
		return err
	}
	return nil
}

func checkTargets(parts []Grader, item dataset.Item) error {
	for _, p := range parts {
		if err := CheckTarget(p, item); err != nil {
			return err
		}
	}
	return nil
}

// CheckTarget implements [TargetChecker].
func (g choiceGrader) CheckTarget(item dataset.Item) error { return checkByGrading(g, item) }

// CheckTarget implements [TargetChecker].
func (g exactGrader) CheckTarget(item dataset.Item) error { return checkByGrading(g, item) }

// CheckTarget implements [TargetChecker].
func (g f1Grader) CheckTarget(item dataset.Item) error { return checkByGrading(g, item) }

// CheckTarget implements [TargetChecker].
func (g includesGrader) CheckTarget(item dataset.Item) error { return checkByGrading(g, item) }

// CheckTarget implements [TargetChecker].
func (g jsonGrader) CheckTarget(item dataset.Item) error { return checkByGrading(g, item) }

// CheckTarget implements [TargetChecker].
func (n *numeric) CheckTarget(item dataset.Item) error {
	_, err := n.targets(item)
	return err
}

// CheckTarget implements [TargetChecker].
func (g regexpGrader) CheckTarget(item dataset.Item) error { return checkByGrading(g, item) }

// CheckTarget implements [TargetChecker].
func (g toolCallGrader) CheckTarget(item dataset.Item) error { return checkByGrading(g, item) }

// CheckTarget implements [TargetChecker].
func (c combined) CheckTarget(item dataset.Item) error { return checkTargets(c.parts, item) }

// CheckTarget implements [TargetChecker].
func (n not) CheckTarget(item dataset.Item) error { return CheckTarget(n.g, item) }

// CheckTarget implements [TargetChecker].
func (f fallback) CheckTarget(item dataset.Item) error { return checkTargets(f.graders, item) }

// CheckTarget implements [TargetChecker].
func (w weighted) CheckTarget(item dataset.Item) error { return checkTargets(w.parts, item) }
