package metric

import (
	"fmt"
	"time"
)

// Loop says what decides when a request is due.
type Loop string

// Loops.
const (
	Closed   Loop = "closed"   // each user sends its next one after the answer
	Open     Loop = "open"     // a schedule, whatever is in flight
	Sessions Loop = "sessions" // agents: a turn is due when the one before and its tool are done
)

// DefaultClockNoise is the span below which times between fragments are taken
// for noise: what a read, a wake-up and the clock of a shared host resolve.
const DefaultClockNoise = time.Millisecond

// A Config says what was asked of a run. The zero value is a closed loop of
// unknown size.
type Config struct {
	// Loop is the kind of run; "" is Closed.
	Loop Loop
	// Users is how many requests were to be in flight; 0 if nobody said.
	Users int
	// Rate is the arrivals that were asked for, a second; 0 if none were. It is
	// only shown: the verdict uses Expected.
	Rate float64
	// Expected returns how many arrivals the schedule of an open loop means to have
	// in [from, to), the integral of its rate; times are since the run's start. The
	// verdict holds what came due against it. [Meter.Result] calls it, and it must
	// not call the Meter. nil: nothing to hold it against.
	Expected func(from, to time.Duration) float64
	// Shape is that of the gamma distribution of the gaps, as arrival.Process has
	// it: 0 is even gaps, 1 a Poisson process, and it may be 0.01 to 1e6. It says
	// how far chance takes arrivals from Expected.
	Shape float64
	// SLO is what a good answer keeps to.
	SLO SLO
	// CacheWanted says that a warm prefix cache is part of the workload. If
	// not, hits beyond the requests' PossibleCached, which are this run's own, and
	// the tokens that a chat template adds make the run invalid: a repeat that
	// reads the cache of the one before measures something else.
	CacheWanted bool
	// ClockNoise is the span below which a TPOT is undefined; 0 is
	// [DefaultClockNoise]. A calibrated host knows better.
	ClockNoise time.Duration
	// Exact is how many values of each metric are kept before percentiles come
	// from a histogram; 0 is [DefaultExact].
	Exact int
	// InputTolerance and OutputTolerance say when a length is not the asked one.
	InputTolerance, OutputTolerance Tolerance
	// Limits say when a run is not valid; zero fields are defaults.
	Limits Limits
	// Failures is how many failed requests are kept word for word; 0 is 100,
	// of which 3 a class stand in the result. All are counted.
	Failures int
}

// A Tolerance is how far a length may be from the asked one: the smaller of
// Share of it and Tokens. The zero value is AIPerf's 5 % and 50 tokens.
type Tolerance struct {
	Share  float64 // 0 to 1
	Tokens int
	Exact  bool // no deviation is tolerated
}

func (t Tolerance) allows(asked, got int64) bool {
	if t == (Tolerance{}) {
		t = Tolerance{Share: 0.05, Tokens: 50}
	}
	off := float64(max(asked-got, got-asked))
	if t.Exact {
		return off == 0
	}
	return off <= min(t.Share*float64(asked), float64(t.Tokens))
}

func (c *Config) check() error {
	if c.Loop == "" {
		c.Loop = Closed
	}
	switch {
	case c.Loop != Closed && c.Loop != Open && c.Loop != Sessions:
		return fmt.Errorf("metric: loop %q: want %q, %q or %q", c.Loop, Closed, Open, Sessions)
	case c.Users < 0:
		return fmt.Errorf("metric: %d users: want 0 (not known) or more", c.Users)
	case !(c.Shape == 0 || c.Shape >= 0.01 && c.Shape <= 1e6):
		return fmt.Errorf("metric: shape of gaps of %v: want 0 (even), or 0.01 to 1e6", c.Shape)
	case !(c.Rate >= 0 && c.Rate < 1e12):
		return fmt.Errorf("metric: rate of %v arrivals a second: want 0 (none asked) or more", c.Rate)
	case c.ClockNoise < 0:
		return fmt.Errorf("metric: clock noise of %v is negative; 0 is %v", c.ClockNoise, DefaultClockNoise)
	case c.Exact < 0:
		return fmt.Errorf("metric: %d exact values is negative; 0 is %d", c.Exact, DefaultExact)
	case c.Failures < 0:
		return fmt.Errorf("metric: %d failures kept is negative; 0 is %d", c.Failures, defaultFailures)
	}
	for _, t := range []Tolerance{c.InputTolerance, c.OutputTolerance} {
		if !(t.Share >= 0 && t.Share <= 1) || t.Tokens < 0 {
			return fmt.Errorf("metric: tolerance of %v and %d tokens: want a share of 0 to 1 and at least 0 tokens", t.Share, t.Tokens)
		}
	}
	if c.ClockNoise == 0 {
		c.ClockNoise = DefaultClockNoise
	}
	if c.Failures == 0 {
		c.Failures = defaultFailures
	}
	if err := c.Limits.fill(); err != nil {
		return err
	}
	return c.SLO.check()
}
