package run_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// TestTrap01UngradedIsNotWrong: where the judge gave no verdict nobody knows
// whether the answer is right. It is counted apart from wrong ones, and fails
// the run unless that is allowed.
func TestTrap01UngradedIsNotWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sum := report.New(report.Labels{})
		for name, g := range map[string]grade.Grader{
			"the call fails":         judge(grade.Verdict{}, &llm.Error{Kind: llm.KindServer, Status: 500}),
			"the key is wrong":       judge(grade.Verdict{}, &llm.Error{Kind: llm.KindAuth, Status: 401}),
			"no word of a verdict":   judge(grade.Verdict{}, llm.Unusable(errors.New("the judge said: perhaps"))),
			"an illegal verdict":     judge(grade.Verdict{Mark: "maybe", Score: 0.5}, nil),
			"it says that it cannot": judge(grade.Verdict{Mark: grade.Ungraded}, nil),
			"it panics":              grade.Func(func(context.Context, dsItem, llm.Response) (grade.Verdict, error) { panic("nil map") }),
		} {
			c := config(answers(says("?")))
			c.Judge = g
			rec := c.Item(t.Context(), eggs, 0)
			assert.Equal(t, result.Ungraded, rec.Outcome, name)
			assert.Zero(t, rec.Score, name)
			assert.Equal(t, grade.Ungraded, rec.Verdict.Mark, name)
			sum.Add(&rec)
		}
		stats := sum.Stats()
		assert.Equal(t, map[result.Outcome]int{result.Ungraded: 6}, stats.Outcomes)
		assert.Equal(t, 6, stats.Judge.Ungraded, "nobody could fail to notice")
		assert.Equal(t, "0/6 correct, 6 ungraded", report.Headline(stats))
		for allowed, failed := range map[int]bool{0: true, 5: true, 6: false} {
			decisions := gate.Evaluate(stats.Counts(), gate.Config{MaxUngraded: allowed}, false)
			assert.Equal(t, failed, gate.AnyFailed(decisions), "%d may be ungraded: %v", allowed, decisions)
		}
	})
}

// An error named so made an earlier tool retry at once; one named otherwise
// was never retried.
type ParseValidationError struct{ Text string }

func (e *ParseValidationError) Error() string { return "validation: cannot parse " + e.Text }

// TestTrap07BadAnswersByCategory: what follows an attempt depends on what its
// end means, never on the name of an error's type or on its words.
func TestTrap07BadAnswersByCategory(t *testing.T) {
	named := &ParseValidationError{"a dozen"}
	for _, row := range []struct {
		name, reason string
		first        turn
		attempts     int
		wait         time.Duration
		escalates    bool
		outcome      result.Outcome
	}{
		{"the grader found nothing", "its typed mark says so", says("?"), 2, 0, true, result.Correct},
		{"marked unusable", "whatever is inside", turn{err: llm.Unusable(errBoom)}, 2, 0, true, result.Correct},
		{"marked, of that name", "the same", turn{err: llm.Unusable(named)}, 2, 0, true, result.Correct},
		{"marked, further out", "the same", turn{err: fmt.Errorf("my app: %w", llm.Unusable(errBoom))}, 2, 0, true, result.Correct},
		{"that name alone", "says nothing: an application's own error", turn{err: named}, 1, 0, false, result.Errored},
		{"its words alone", "say nothing either", turn{err: errors.New("validation error: parse failed, retry")}, 1, 0, false, result.Errored},
		{"a server error of that name", "the kind decides: later, and not harder", turn{err: &llm.Error{Kind: llm.KindServer, Err: named}}, 2, 500 * time.Millisecond, false, result.Correct},
		{"wrong", "an answer that was found is final", says("17"), 1, 0, false, result.Incorrect},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fast, thinking := answers(row.first, says("18")), answers(says("18"))
				rec := must(t, config(run.Escalate(fast, thinking, 2)).Item(t.Context(), eggs, 0))
				require.Equal(t, row.outcome, rec.Outcome, row.reason)
				assert.Len(t, rec.Attempts, row.attempts, row.reason)
				assert.Equal(t, row.wait, rec.Duration, row.reason)
				assert.Equal(t, row.escalates, len(thinking.attempts) == 1, row.reason)
			})
		})
	}
}
