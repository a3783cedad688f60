package grade_test

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func TestCheckTarget(t *testing.T) {
	asked := grade.Func(func(context.Context, dataset.Item, llm.Response) (grade.Verdict, error) {
		t.Error("a grader of the user's own may be a judge: it must not be asked")
		return grade.Verdict{}, nil
	})
	words := dataset.Item{ID: "a", Target: "billing team"}
	for _, row := range []struct {
		name, reason string
		grader       grade.Grader
		item         dataset.Item
		bad          bool
	}{
		{"numeric", "no response makes a number of this target", grade.Numeric(), words, true},
		{"numeric, a number", "the target is one", grade.Numeric(), dataset.Item{ID: "a", Target: "1,234"}, false},
		{"exact", "any text will do", grade.Exact(), words, false},
		{"choice", "no such option", grade.Choice(), dataset.Item{ID: "a", Target: "E", Choices: []string{"x", "y"}}, true},
		{"json", "not JSON", grade.JSON(), words, true},
		{"tool calls", "not a list of calls", grade.ToolCalls(), words, true},
		{"includes", "an empty target is in every text", grade.Includes(), dataset.Item{ID: "a"}, true},
		{"regexp", "its group is compared with any text", grade.Regexp(regexp.MustCompile(`(\w+)`)), words, false},
		{"not", "as its part", grade.Not(grade.Numeric()), words, true},
		{"all", "any part", grade.All(grade.Exact(), grade.Numeric()), words, true},
		{"fallback", "any part, but nobody is asked", grade.Fallback(grade.Exact(), asked), words, false},
		{"weighted", "any part", grade.Weighted(0.5, grade.Part{Grader: grade.Numeric(), Weight: 1}), words, true},
		{"user's own", "it does not say", asked, words, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := grade.CheckTarget(row.grader, row.item)
			assert.Equal(t, row.bad, errors.Is(err, grade.ErrTarget), "%s: %v", row.reason, err)
			assert.Equal(t, row.bad, err != nil, row.reason)
		})
	}
}
