package metric

import (
	"github.com/goevals/evals/evaltest/load/record"
)

// goods counts judgements.
type goods struct {
	good, bad, undecided int64
	ttft, tpot, e2e      int64 // requests within each limit
}

func (g *goods) judge(s SLO, v *View) {
	j := s.judge(v)
	if j.all() {
		g.good++
	} else {
		g.bad++
	}
	for _, l := range []struct {
		kept  bool
		count *int64
	}{{j.ttft, &g.ttft}, {j.tpot, &g.tpot}, {j.e2e, &g.e2e}} {
		if l.kept {
			*l.count++
		}
	}
}

func (g *goods) fail() { g.bad++ }

// unfinished judges a request that was cut when the run ended.
func (g *goods) unfinished(s SLO, r *record.Request, v *View) {
	from := r.Due
	if s.Service {
		from = r.Sent
	}
	if s.doomed(r.Done-from, v, len(r.Fragments) > 0) {
		g.bad++
		return
	}
	g.undecided++
}

// Goodput says how many requests were answered within the limits.
type Goodput struct {
	SLO SLO `json:"slo"`
	// Good answers kept every limit. Bad are all other due requests: too
	// slow, failed, dropped, or cut when they had missed a limit already.
	Good int64 `json:"good"`
	Bad  int64 `json:"bad"`
	// Undecided were cut at the end of the run while they could still have
	// been good. They are in no denominator but FractionLow's.
	Undecided int64 `json:"undecided"`
	// Fraction is Good / (Good + Bad); FractionLow what it is if none of the
	// undecided had been good. 0 to 1.
	Fraction    Figure `json:"fraction"`
	FractionLow Figure `json:"fraction_low"`
	// PerSecond is Good over the whole run.
	PerSecond Figure `json:"good_requests_per_s"`
	// WithinTTFT, WithinTPOT and WithinE2E are the shares of Good + Bad that
	// kept each limit; absent where there is no limit.
	WithinTTFT Figure `json:"within_ttft"`
	WithinTPOT Figure `json:"within_tpot"`
	WithinE2E  Figure `json:"within_e2e"`
	// Met says whether each limit was kept by the share that the SLO asks
	// for, limit by limit, as MLPerf judges; nil if it asks for none or
	// nothing was judged. The undecided are taken for misses: a run that waits
	// for no slow answers must not look better for it.
	Met *bool `json:"met,omitempty"`
}

// goodput is what the counts come to, nil without limits.
func (m *Meter) goodput() *Goodput {
	s, c := m.config.SLO, m.good
	if !s.limits() {
		return nil
	}
	all := float64(c.good + c.bad)
	g := &Goodput{
		SLO: s, Good: c.good, Bad: c.bad, Undecided: c.undecided,
		Fraction:    ratio(float64(c.good), all),
		FractionLow: ratio(float64(c.good), all+float64(c.undecided)),
		PerSecond:   ratio(float64(c.good), m.whole.length().Seconds()),
	}
	met := s.Share > 0 && all > 0
	for _, l := range []struct {
		limit int64
		count int64
		share *Figure
	}{{int64(s.TTFT), c.ttft, &g.WithinTTFT}, {int64(s.TPOT), c.tpot, &g.WithinTPOT}, {int64(s.E2E), c.e2e, &g.WithinE2E}} {
		if l.limit == 0 {
			continue
		}
		*l.share = ratio(float64(l.count), all)
		if float64(l.count) < s.Share*(all+float64(c.undecided)) {
			met = false
		}
	}
	if s.Share > 0 && all > 0 {
		g.Met = &met
	}
	return g
}
