package run

import (
	"context"
	"fmt"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// Escalate answers with fast, and from attempt from on with thinking: most items
// are answered by the cheap model, and only those whose answer was unusable or
// cut are asked again of the dear one. Failed calls and busy providers never
// escalate: an item with no unusable answer behind it is asked of fast, in
// whatever attempt. from is at least 2; less, or a nil strategy, panics. A run
// with fewer attempts than from never escalates.
func Escalate(fast, thinking Strategy, from int) Strategy {
	switch {
	case fast == nil || thinking == nil:
		panic("evaltest/run.Escalate: a strategy is nil")
	case from < 2:
		panic(fmt.Sprintf("evaltest/run.Escalate: from is %d; it must be at least 2, or the first strategy is never asked", from))
	}
	return escalate{fast, thinking, from}
}

type escalate struct {
	fast, thinking Strategy
	from           int
}

var (
	_ Strategy  = escalate{}
	_ Escalator = escalate{}
)

func (s escalate) Execute(ctx context.Context, it dataset.Item, a Attempt) (llm.Response, error) {
	if a.Number < s.from || a.Unusable == 0 {
		return s.fast.Execute(ctx, it, a)
	}
	return s.thinking.Execute(ctx, it, a)
}

// Escalates implements [Escalator]; either part may itself escalate.
func (s escalate) Escalates(attempt int) bool {
	if attempt < s.from {
		return true
	}
	e, ok := s.thinking.(Escalator)
	return ok && e.Escalates(attempt)
}

func (s escalate) Name() string {
	return fmt.Sprintf("%s, from attempt %d %s", NameOf(s.fast), s.from, NameOf(s.thinking))
}
