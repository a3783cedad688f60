package evaltest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
)

// TestAgreementTellsItsLevel: the interval that is printed has the level at which
// the judge was calibrated.
func TestAgreementTellsItsLevel(t *testing.T) {
	labels := append(labelledAnswers(40, 36, grade.Correct), labelledAnswers(40, 8, grade.Incorrect)...)
	for level, says := range map[float64]string{0: "95% interval", 0.8: "80% interval", 0.999: "99.9% interval"} {
		c, err := judge.Calibrate(t.Context(), careful{}, labels, judge.CalibrateConfig{Level: level})
		require.NoError(t, err)
		var rep *evaltest.Report
		t.Run(says, func(t *testing.T) {
			rep = evaltest.RunInBubble(t, questions(t, 3), answers(nil), evaltest.Grader(grade.Exact()), evaltest.MinAccuracy(0),
				evaltest.Judge(careful{}), evaltest.RequireAgreement(c, 0.5), evaltest.MaxErrored(3), evaltest.MaxUngraded(3))
		})
		var text string
		for _, d := range rep.Decisions {
			if strings.Contains(d.Gate, "Agreement") {
				text = d.Text
			}
		}
		assert.Contains(t, text, says)
	}
}
