package evaltest

import (
	"fmt"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade/stat"
	"github.com/goevals/evals/judge"
)

// Calibrated says how the run's judge compares with the labels of people. The
// report then shows, beside the accuracy as it was judged, what it comes to if
// the judge errs as it did in the calibration. A calibration is of one judge: that
// of another one is refused. In code alone; default: none.
func Calibrated(c *judge.Calibration) Option {
	return optionFunc(func(s *settings) {
		if c == nil {
			s.refuse("Calibrated(nil): want one made by judge.Calibrate")
		}
		s.calibration = c
	})
}

// RequireAgreement gates the judge as any model is gated: its agreement with
// people, Cohen's kappa, must be at least this, above 0 and at most 1; with
// [LowerBound] the lower end of its interval must, at the level of the calibration
// (95% by default). It implies [Calibrated].
// Default: none. EVALTEST_REQUIRE_AGREEMENT, -evaltest.require-agreement; there,
// none takes it back.
func RequireAgreement(c *judge.Calibration, kappa float64) Option {
	return optionFunc(func(s *settings) {
		Calibrated(c).apply(s)
		if err := checkKappa(kappa); err != nil {
			s.refuse(fmt.Sprintf("RequireAgreement(…, %v): %v", kappa, err))
			return
		}
		s.agreement = &kappa
	})
}

func checkKappa(kappa float64) error {
	if !(kappa > 0 && kappa <= 1) {
		return fmt.Errorf("want Cohen's kappa, above 0 and at most 1, such as 0.8")
	}
	return nil
}

// gateAgreement is the gate's name.
const gateAgreement = "RequireAgreement"

// checkCalibration reports a calibration that is of no judge of this run.
func (s *settings) checkCalibration(refuse func(format string, args ...any)) {
	switch c := s.calibration; {
	case c == nil && s.agreement != nil && s.judge != nil:
		refuse("RequireAgreement without a calibration: nobody knows how far the judge agrees with people; add evaltest.RequireAgreement with what judge.Calibrate returns")
	case c == nil:
	case s.judge == nil && s.grader != nil && c.Judge != run.NameOf(s.grader):
		refuse("the calibration is of %q, and the run has no judge and the grader %q: add evaltest.Judge, or leave the calibration away", c.Judge, run.NameOf(s.grader))
	case s.judge != nil && c.Judge != run.NameOf(s.judge):
		refuse("the calibration is of %q, and the run's judge is %q: calibrate the judge as it is, or take the one that was calibrated", c.Judge, run.NameOf(s.judge))
	}
}

// agreed is what the judge's gate decides; false if there is none.
func (s *settings) agreed() (d gate.Decision, ok bool) {
	c := s.calibration
	if s.agreement == nil || c == nil {
		return d, false
	}
	d = gate.Decision{Gate: gateAgreement, Status: gate.Passed}
	if c.KappaErr != nil {
		d.Status, d.Text = gate.NotEnoughData, fmt.Sprintf("kappa is not known: %v", c.KappaErr)
		if s.gate.FailNotEnough {
			d.Status, d.Text = gate.Failed, "not enough data: "+d.Text
		}
		return d, true
	}
	k, what, got := c.Kappa, "kappa", c.Kappa.Value
	if s.gate.LowerBound {
		what, got = "the lower end of kappa's interval", k.Interval.Lo
	}
	relation := "is at least"
	if got < *s.agreement {
		d.Status, relation = gate.Failed, "is below"
	}
	a := c.Agreement()
	d.Text = fmt.Sprintf("%s %.3f %s the %v required (kappa %.3f, %.4g%% interval %.3f to %.3f; the judge agrees with people on %s)",
		what, got, relation, *s.agreement, k.Value, 100*k.Interval.Level, k.Interval.Lo, k.Interval.Hi, share(a))
	if n := len(c.Ungraded) + len(c.Errored); n > 0 {
		d.Text += fmt.Sprintf("; %d of %d labelled answers got no legal verdict", n, c.Labelled)
	}
	return d, true
}

func share(p stat.Proportion) string {
	return fmt.Sprintf("%d of %d answers, %s", p.Successes, p.N, stat.Percent(p.Successes, p.N))
}

// corrected is the run's accuracy without the judge's known errors; nil if
// there is no calibration or nothing was judged.
func (s *settings) corrected(st *report.Stats) *report.Corrected {
	if s.calibration == nil || st.Judge.Decided == 0 {
		return nil
	}
	e, err := s.calibration.Correct(st.Judge.Decided, st.Judge.Passed, gate.Level)
	return &report.Corrected{Judged: e, Err: err}
}
