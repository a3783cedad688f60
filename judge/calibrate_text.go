package judge

import (
	"fmt"
	"strings"

	"github.com/goevals/evals/grade/stat"
)

// String is a small table for people.
func (c *Calibration) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %d labelled answers, %d with a legal verdict\n", c.Judge, c.Labelled, c.Judged)
	row := func(head string, right, wrong any) { fmt.Fprintf(&b, "  %-17s%17v%19v\n", head, right, wrong) }
	row("", "labelled correct", "labelled incorrect")
	row("judged correct", c.Matrix.TruePass, c.Matrix.FalsePass)
	row("judged incorrect", c.Matrix.FalseFail, c.Matrix.TrueFail)
	line := func(head, format string, args ...any) {
		fmt.Fprintf(&b, "  %-13s"+format+"\n", append([]any{head}, args...)...)
	}
	share := func(head string, p stat.Proportion, in stat.Interval) {
		if p.N == 0 {
			line(head, "not known: no answer of this kind was judged")
			return
		}
		line(head, "%s (%d of %d; %.4g%% interval %s)", stat.Percent(p.Successes, p.N), p.Successes, p.N, 100*in.Level, in)
	}
	// Without its interval 100% of three answers reads like a good judge.
	a := c.Agreement()
	share("agreement", a, stat.ClopperPearson(a.Successes, a.N, c.SensitivityInterval.Level))
	if c.KappaErr != nil {
		line("kappa", "%v", c.KappaErr)
	} else if c.Sensitivity.N == 0 || c.Specificity.N == 0 {
		line("kappa", "%.3f whatever the judge says: the labels of what it judged are all of one kind", c.Kappa.Value)
	} else {
		line("kappa", "%v", c.Kappa)
	}
	share("sensitivity", c.Sensitivity, c.SensitivityInterval)
	share("specificity", c.Specificity, c.SpecificityInterval)
	without := fmt.Sprintf("ungraded %d, errors %d", len(c.Ungraded), len(c.Errored))
	if n := len(c.Ungraded) + len(c.Errored); n > 0 {
		without += fmt.Sprintf(": %s of the labelled answers, in none of the numbers above", stat.Percent(n, c.Labelled))
	}
	line("no verdict", "%s", without)
	if c.Repeated > 0 {
		line("repeated", "%d answers stand there more than once: the intervals are too narrow", c.Repeated)
	}
	spent := fmt.Sprintf("%d calls, %d tokens in, %d out", c.Usage.Calls, c.Usage.Input, c.Usage.Output)
	if c.Usage.Unknown > 0 {
		spent += fmt.Sprintf(", at least: %d calls told no usage", c.Usage.Unknown)
	}
	line("spent", "%s", spent)
	return strings.TrimSuffix(b.String(), "\n")
}
