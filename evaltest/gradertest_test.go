package evaltest_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

var four = []evaltest.GraderExample{
	{Name: "right", Item: dataset.Item{ID: "1", Target: "4", Targets: []string{"four"}}, Response: llm.Response{Text: "4"}, Mark: grade.Correct},
	{Name: "wrong", Item: dataset.Item{ID: "2", Target: "4"}, Response: llm.Response{Text: "5"}, Mark: grade.Incorrect},
}

func TestTestGrader(t *testing.T) {
	evaltest.TestGrader(t, func() grade.Grader { return grade.Exact() }, four...)
}

// flawed makes graders of which each breaks one promise.
func flawed(name string) func() grade.Grader {
	var calls atomic.Int64
	return func() grade.Grader {
		return grade.Func(func(ctx context.Context, it dataset.Item, r llm.Response) (grade.Verdict, error) {
			v := grade.Verdict{Mark: grade.Incorrect, How: "flawed", Answer: r.Text}
			if r.Text == it.Target {
				v.Mark, v.Score = grade.Correct, 1
			}
			switch {
			case name == "wrong mark" && v.Mark == grade.Incorrect:
				v.Mark = grade.Unparsed
			case name == "score":
				v.Score = math.NaN()
			case name == "silent":
				v.How = ""
			case name == "flips" && calls.Add(1)%3 == 0:
				v.Answer = "?"
			case name == "writes" && len(it.Targets) > 0:
				it.Targets[0] = strings.ToUpper(it.Targets[0])
			case name == "panics" && r.Text == "":
				v.Answer = it.Targets[len(it.Targets)]
			case name == "errs" && !strings.Contains("45", r.Text):
				return v, errors.New("not a number")
			case name == "no context" && ctx.Err() != nil:
				panic(ctx.Err())
			}
			return v, nil
		})
	}
}

func init() {
	for _, name := range []string{"wrong mark", "score", "silent", "flips", "writes", "panics", "errs", "no context"} {
		scenarios["grader: "+name] = func(t *testing.T) { evaltest.TestGrader(t, flawed(name), four...) }
	}
	scenarios["grader: no correct example"] = func(t *testing.T) { evaltest.TestGrader(t, flawed(""), four[1]) }
	scenarios["grader: none"] = func(t *testing.T) { evaltest.TestGrader(t, nil, four...) }
}

func TestTestGraderFindsFlaws(t *testing.T) {
	for _, row := range []struct{ flaw, check, want string }{
		{"wrong mark", "examples", `wrong: Grade("5") of target "4" = unparsed`},
		{"score", "examples", "score NaN lies outside 0..1"},
		{"silent", "examples", "does not say how it was reached"},
		{"flips", "same_again", "of the same answer differs"},
		{"writes", "arguments_unchanged", "right: Grade changed its arguments"},
		{"panics", "any_text", "index out of range"},
		{"errs", "any_text", "a bad answer is a verdict, never an error"},
		{"no context", "cancelled", "with a cancelled context: panic: context canceled"},
		{"no correct example", "", "none of the 1 examples is correct"},
		{"none", "", "newGrader gives no grader"},
	} {
		t.Run(row.flaw, func(t *testing.T) {
			t.Parallel()
			c := newChild(t, "grader: "+row.flaw).run()
			assert.Equal(t, 1, c.code)
			assert.Contains(t, c.text(), row.want)
			if row.check != "" {
				assert.Contains(t, c.text(), "--- FAIL: TestChild/"+row.check)
			}
		})
	}
}
