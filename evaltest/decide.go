package evaltest

import (
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
)

// decided holds the run against its gates.
func (r *runner) decided(s *report.Stats, narrowed bool) (ds []gate.Decision, now *gate.Baseline) {
	cfg := r.gates()
	e, err := r.evidence.forGates(r.baselineHeader(s))
	if err != nil {
		r.fail("%v", err)
	}
	e.Counts, e.Narrowed, e.Curtailed, e.Comparison = s.Counts(), narrowed, s.Curtailed, r.comparison
	e.Final = r.bench
	if cfg.Baseline != nil && e.Run == nil && e.Comparison == nil {
		cfg.Baseline = nil // the error is told
	}
	if narrowed && r.set.baseline != "" {
		cfg.Baseline = &gate.Baseline{} // says that it is not evaluated
	}
	ds = gate.Decide(e, cfg)
	if d, ok := r.set.agreed(); ok {
		ds = append(ds, d)
	}
	if why := r.uncompared(narrowed); why != "" {
		ds = append(ds, gate.Decision{Gate: gate.NoDrop, Status: gate.NotEvaluated, Text: why})
	}
	return ds, e.Run
}

// gates are those that decide on this run.
func (r *runner) gates() gate.Config {
	cfg := r.set.gate
	cfg.Baseline = r.baseline
	return cfg
}

// uncompared says why the run is not compared with its baseline; "" if it is,
// or has none.
func (r *runner) uncompared(narrowed bool) string {
	switch {
	case r.set.baseline == "" || narrowed:
		return ""
	case r.bench:
		return "a benchmark measures; with each -count the comparison would be tested anew, so it is for Run"
	case r.set.update:
		return "this run is to be the baseline itself"
	case r.elsewhere:
		return "the limit, sample or part of the command line or environment takes other items than the baseline has"
	}
	return ""
}

// baselineHeader describes the run as a baseline.
func (r *runner) baselineHeader(s *report.Stats) gate.BaselineHeader {
	return gate.BaselineHeader{Fingerprint: wholeFingerprint(r.header, lateFingerprint(s)), Samples: r.set.samples}
}

// compare holds a whole run against its baseline, before anything is concluded
// from it. An error is left to the gate to tell.
func (r *runner) compare() {
	if r.baseline == nil || r.narrowed() {
		return
	}
	s := r.sum.Stats()
	e, err := r.evidence.forGates(r.baselineHeader(s))
	if err != nil {
		return
	}
	o := r.set.gate.Compare
	o.Curtailed = r.settled.Load()
	if c, err := gate.Compare(r.baseline, e.Run, o); err == nil {
		r.comparison = c
	}
}
