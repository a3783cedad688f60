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
	share := func(head string, p stat.Proportion, in *stat.Interval) {
		text := stat.Percent(p.Successes, p.N) + fmt.Sprintf(" (%d of %d", p.Successes, p.N)
		if in != nil {
			text += fmt.Sprintf("; %.4g%% interval %s", 100*in.Level, in)
		}
		line(head, "%s)", text)
	}
	share("agreement", c.Agreement(), nil)
	if c.KappaErr != nil {
		line("kappa", "%v", c.KappaErr)
	} else {
		line("kappa", "%v", c.Kappa)
	}
	share("sensitivity", c.Sensitivity, &c.SensitivityInterval)
	share("specificity", c.Specificity, &c.SpecificityInterval)
	line("no verdict", "ungraded %d, errors %d", len(c.Ungraded), len(c.Errored))
	spent := fmt.Sprintf("%d calls, %d tokens in, %d out", c.Usage.Calls, c.Usage.Input, c.Usage.Output)
	if c.Usage.Unknown > 0 {
		spent += fmt.Sprintf(", at least: %d calls told no usage", c.Usage.Unknown)
	}
	line("spent", "%s", spent)
	return strings.TrimSuffix(b.String(), "\n")
}
