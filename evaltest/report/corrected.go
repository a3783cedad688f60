package report

import (
	"fmt"

	"github.com/goevals/evals/grade/stat"
)

// Corrected is the part of a run's accuracy that a judge decided, without the
// errors that the judge is known to make.
type Corrected struct {
	// Judged is the share of the judged answers that is truly correct.
	Judged stat.Estimate
	// Err says why there is none.
	Err error
}

func writeCorrected(p *page, s *Stats, c *Corrected) {
	if c == nil {
		return
	}
	j := s.Judge
	raw := fmt.Sprintf("the judge passed %d of the %d answers that it decided (%s)", j.Passed, j.Decided, stat.Percent(j.Passed, j.Decided))
	if c.Err != nil {
		p.para("", "corrected", raw+"; not corrected for its errors: "+inline(c.Err.Error(), shortText))
		return
	}
	whole := func(share float64) float64 {
		return (float64(s.Correct()-j.Passed) + share*float64(j.Decided)) / float64(s.Total)
	}
	e := c.Judged
	p.para("", "corrected", fmt.Sprintf("%s; by its calibration %.1f%% of them are correct (95%% interval %.1f%% to %.1f%%), which makes the accuracy %.1f%% (%.1f%% to %.1f%%, the other answers as graded)",
		raw, 100*e.Value, 100*e.Interval.Lo, 100*e.Interval.Hi, 100*whole(e.Value), 100*whole(e.Interval.Lo), 100*whole(e.Interval.Hi)))
}
