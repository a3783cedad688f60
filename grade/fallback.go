package grade

import (
	"context"
	"fmt"
	"strings"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

// Fallback asks the next grader only where the ones before found no answer to
// compare: where their mark is Unparsed. An answer that was found and is wrong
// stays wrong, and Ungraded is final. If all are Unparsed, the last one's
// verdict stands. Fallback of no graders, or of a nil one, panics.
func Fallback(graders ...Grader) Grader {
	checkParts("fallback", graders)
	return fallback{append([]Grader(nil), graders...)}
}

type fallback struct{ graders []Grader }

var (
	_ Grader = fallback{}
	_ Named  = fallback{}
)

// Name returns fallback(…).
func (f fallback) Name() string { return namesOf("fallback", f.graders) }

func (f fallback) Grade(ctx context.Context, item dataset.Item, resp llm.Response) (Verdict, error) {
	var (
		calls  []llm.Response
		before []string
	)
	for i := range f.graders {
		v, err := gradePart(ctx, "fallback", f.graders, i, item, resp)
		calls = append(calls, v.Calls...)
		if err != nil {
			return Verdict{Calls: calls}, err
		}
		if v.Mark == Unparsed && i < len(f.graders)-1 {
			before = append(before, fmt.Sprintf("%s: %s", NameOf(f.graders[i]), v.Why))
			continue
		}
		v = attribute(v, "fallback", f.graders, i)
		v.Calls = calls
		if v.Mark != Correct && len(before) > 0 {
			v.Why += "\nbefore it, " + strings.Join(before, "\nand ")
		}
		return v, nil
	}
	panic("unreachable: the last grader's verdict always stands")
}
