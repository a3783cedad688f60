package metric

import (
	"fmt"
	"math"
	"time"
)

// Health is what the load generator knows of itself. Absent figures were not
// measured; the verdict says so.
type Health struct {
	// CPU is the process's CPU time over the run divided by what its
	// processors could have given: 0 to 1.
	CPU Figure `json:"cpu_share"`
	// WakeupP99 is by how much the client's timers were late, in nanoseconds, of
	// which 99 of 100 were less.
	WakeupP99 Figure `json:"wakeup_p99_ns"`
	// GCPause is the part of the run in which the world was stopped: 0 to 1.
	GCPause Figure `json:"gc_pause_share"`
	// PoolWaits is how many requests waited for a connection because a limit
	// of the client's own pool was reached.
	PoolWaits Figure `json:"pool_waits"`
	// FDErrors is how many requests found no file descriptor or port left.
	FDErrors Figure `json:"fd_errors"`
	// Blocked is how many arrivals of an open loop had to wait for a request
	// in flight, which makes a closed loop of it.
	Blocked Figure `json:"blocked_arrivals"`
	// Held is the part of a closed loop's or of sessions' time in which they
	// waited because what they had finished was not written yet: 0 to 1.
	Held Figure `json:"held_share"`
}

// Limits say when a run is not valid. A zero field is its default; a negative
// one switches the check off, and the verdict says that.
type Limits struct {
	// LagP99 and LagMax bound the schedule lag. Default 10 ms and 500 ms, the marks
	// at which inference-perf warns and AIPerf calls a replay degraded.
	LagP99, LagMax time.Duration
	// Wakeup bounds Health.WakeupP99. Default 5 ms: a quiet host has 1 to 2 ms, one
	// that sends thousands of requests a second 4, and where three other programs
	// want this one's processor the times of answers are as much too long.
	Wakeup time.Duration
	// CPU bounds Health.CPU. Default 0.85, where AIPerf warns.
	CPU float64
	// GCPause bounds Health.GCPause. Default 0.01.
	GCPause float64
	// Achieved is the smallest share of the schedule's arrival rate that must
	// have been sent. Default 0.99. All arrivals may take longer by the lag that is
	// allowed: of a short run less is enough, span / (span + lag).
	Achieved float64
	// Unfinished is the largest share of an open loop's due requests that may
	// have been cut when the run ended: those that take longest, so that no time
	// is of them. Default 0.01.
	Unfinished float64
	// Cached is the largest share of input tokens from the server's prefix cache
	// that nothing explains, see Config.CacheWanted. Default 0.01, where vLLM's
	// client warns.
	Cached float64
}

func (l *Limits) fill() error {
	for _, f := range []struct {
		name     string
		value    *float64
		standard float64
	}{{"CPU", &l.CPU, 0.85}, {"GCPause", &l.GCPause, 0.01}, {"Achieved", &l.Achieved, 0.99}, {"Unfinished", &l.Unfinished, 0.01}, {"Cached", &l.Cached, 0.01}} {
		if math.IsNaN(*f.value) || *f.value > 1 {
			return fmt.Errorf("metric: limit %s of %v: want a share of 0 to 1, or negative for none", f.name, *f.value)
		}
		if *f.value == 0 {
			*f.value = f.standard
		}
	}
	if l.LagP99 == 0 {
		l.LagP99 = 10 * time.Millisecond
	}
	if l.LagMax == 0 {
		l.LagMax = 500 * time.Millisecond
	}
	if l.Wakeup == 0 {
		l.Wakeup = 5 * time.Millisecond
	}
	return nil
}

// A Verdict says whether a run's numbers speak of the server. They do not if
// the client was the bottleneck or measured two things at once.
type Verdict struct {
	Valid bool `json:"valid"`
	// Checks are all that was looked at, in a fixed order.
	Checks []Check `json:"checks"`
}

// A Check is one reason for which a run may be invalid.
type Check struct {
	Name   string `json:"name"`
	Figure Figure `json:"figure"` // absent: not measured, or of too little to tell
	Limit  Figure `json:"limit"`  // absent: switched off, or does not apply
	Unit   string `json:"unit"`
	State  State  `json:"state"`
	// Why says what a broken limit means and what to do about it.
	Why string `json:"why,omitempty"`
}

// State is what became of a check.
type State string

// States.
const (
	Passed     State = "ok"
	Broken     State = "broken"
	Unmeasured State = "not measured"
	TooFew     State = "too few to tell"
	Off        State = "off"
)

// Broken returns the checks that make the run invalid.
func (v Verdict) Broken() []Check {
	var broken []Check
	for _, c := range v.Checks {
		if c.State == Broken {
			broken = append(broken, c)
		}
	}
	return broken
}

// most adds a check that figure is at most limit.
func (v *Verdict) most(name string, figure Figure, limit float64, unit, why string) {
	v.add(name, figure, limit, unit, why, func(x float64) bool { return x <= limit })
}

func (v *Verdict) add(name string, figure Figure, limit float64, unit, why string, holds func(float64) bool) {
	c := Check{Name: name, Figure: figure, Limit: Some(limit), Unit: unit, State: Passed}
	x, ok := figure.Get()
	switch {
	case limit < 0:
		c.State, c.Limit = Off, Figure{}
	case !ok:
		c.State = Unmeasured
	case !holds(x):
		c.State, c.Why = Broken, why
		v.Valid = false
	}
	v.Checks = append(v.Checks, c)
}

// verdict judges the result.
func (m *Meter) verdict(r *Result, h Health) Verdict {
	v, l := Verdict{Valid: true}, m.config.Limits
	v.add("answers", Some(float64(r.Counts.OK)), 1, "requests", "nothing was answered, so nothing was measured: see the errors",
		func(x float64) bool { return x >= 1 })
	lag := r.Dists[Lag]
	v.most("lag p99", lag.At(0.99).Value, float64(l.LagP99), "ns",
		"the client fell behind its schedule: lower the rate, use more processors or fewer streams; service times hide it, response times do not")
	v.most("lag max", lag.Max, float64(l.LagMax), "ns", "the client stood still once: look for other load on this host")
	if m.config.Loop == Open {
		// A lag that is allowed may be that of the last arrival, and stretches a
		// short run by more than a hundredth.
		achieved, limit := Figure{}, l.Achieved
		if span := m.due.length(); l.LagP99 > 0 && span > 0 && limit > 0 {
			late := l.LagP99
			if x, ok := lag.Max.Get(); ok && x <= float64(l.LagMax) {
				late = max(late, time.Duration(x))
			}
			limit = min(limit, float64(span)/float64(span+late))
		}
		if offered, ok := r.Rates.Offered.Get(); ok {
			if got, ok := r.Rates.Achieved.Get(); ok {
				achieved = ratio(got, offered)
			}
		}
		v.add("achieved / scheduled rate", achieved, limit, "1", "fewer requests were sent a second than the schedule wanted", func(x float64) bool { return x >= limit })
		v.schedule(&m.config, m.due)
		v.most("dropped arrivals", Some(float64(r.Counts.Dropped)), 0, "requests", "arrivals were never sent: the load was not the asked one")
		if r.Counts.Due > 0 {
			v.most("unfinished requests", ratio(float64(r.Counts.Incomplete), float64(r.Counts.Due)), l.Unfinished, "1", "requests were cut while they waited, and no time is of them: wait longer when nothing more is due, or lower the rate")
		}
		v.most("blocked arrivals", h.Blocked, 0, "requests", "an open loop that waits for requests in flight is a closed loop: raise the limit on those")
	}
	if m.config.Loop != Open {
		v.most("held by the sink", h.Held, 0.01, "1", "less was sent than was asked, because what had ended was not written yet: write less, or to a faster disk")
	}
	v.most("client CPU share", h.CPU, l.CPU, "1", "the client's processors were busy: times hold its own queueing")
	v.most("wake-up p99", h.WakeupP99, float64(l.Wakeup), "ns", "the client's goroutines waited for a processor, and times hold that: look for other load on this host, or lower this one")
	v.most("GC pause share", h.GCPause, l.GCPause, "1", "the client's garbage collector stopped it too long")
	v.most("pool waits", h.PoolWaits, 0, "requests", "requests waited for the client's own connection limit")
	v.most("fd errors", h.FDErrors, 0, "requests", "the client ran out of file descriptors or ports: raise ulimit -n, keep connections open")
	v.most("token sources", Some(float64(len(r.Tokens.Sources))), 1, "sources", "token counts of different kinds were added up: make the server report usage for every request")
	v.most("uncounted answers", Some(float64(m.uncounted)), 0, "answers", "nobody counted the tokens of answers that came in one piece: make the server report usage, or stream")
	v.most("refused records", Some(float64(r.Counts.Refused)), 0, "requests", "records that could not be true are missing from every number")
	if !m.config.CacheWanted {
		share := Figure{}
		if input, ok := r.Tokens.Input.Get(); ok && r.Tokens.CachedShare.Known() {
			share = ratio(float64(m.unwanted), input)
		}
		v.most("cached input", share, l.Cached, "1", "the server answered from a prefix cache more than the workload's shared prefixes and the chat template explain: salt the prompts of each run, or say that a warm cache is wanted")
	}
	return v
}

// schedule checks that the schedule itself was the asked one: that the n-1 gaps
// between the measured arrivals took as long as Config.Expected says. Random gaps
// add up to a gamma distribution of the shape (n-1)·Shape; the limit is five
// standard deviations in the scale on which that is nearly normal, one run in a
// million (Wilson and Hilferty, PNAS 17, 1931), and a hundredth more. No limit on
// the rate with as much room above as below would do: the reciprocal of a short
// sum has a long tail.
func (v *Verdict) schedule(c *Config, due series) {
	if c.Expected == nil {
		return
	}
	const tolerance = 0.01
	const name, unit = "scheduled / asked rate - 1", "1"
	if want := c.expected(due); want > 0 {
		faster := float64(due.n-1)/want - 1
		if slack, enough := chance(faster, float64(due.n-1)*c.Shape); enough {
			v.most(name, Some(math.Abs(faster)), tolerance+slack, unit, "the schedule did not offer the rate that was asked for")
			return
		}
	}
	v.Checks = append(v.Checks, Check{Name: name, Unit: unit, State: TooFew})
}

// expected is how many gaps there should have been between the first and the
// last arrival.
func (c *Config) expected(due series) float64 {
	if due.n < 2 {
		return 0
	}
	return c.Expected(due.from, due.to)
}

// chance is how far from 0 chance takes (asked / real length of the gaps) - 1,
// on the side of faster; not enough says that there it may be anything. An alpha
// of 0 has no chance in it.
func chance(faster, alpha float64) (limit float64, enough bool) {
	if alpha == 0 {
		return 0, true
	}
	sd := 1 / (3 * math.Sqrt(alpha))
	if faster < 0 {
		return 1 - 1/cube(1-sd*sd+5*sd), true
	}
	shortest := cube(max(0, 1-sd*sd-5*sd))
	return 1/shortest - 1, shortest > 0
}

func cube(x float64) float64 { return x * x * x }
