package call

import (
	"time"

	"github.com/goevals/evals/llm"
)

// Stats are what a [Scope] is doing, for people and tests.
type Stats struct {
	// InFlight is how many calls have started and not ended, Waiting how many
	// are in line.
	InFlight, Waiting int
	// Starts is how many calls have started, those that came from a recording
	// or never left the process not counted.
	Starts int64
	// RateLimits is how many calls met a rate limit, Pauses how many pauses
	// came of that in this process.
	RateLimits, Pauses int64
	// PausedUntil is when the present pause ends; zero if there is none.
	PausedUntil time.Time
	// Pace is the most starts a second while the calls come back after a
	// pause; 0 for no limit.
	Pace float64
	// RPM, TPM and Concurrency are the limits at present, those found or
	// stated by the provider included; 0 for none.
	RPM         float64
	TPM         int64
	Concurrency int
	// Err is why the scope is stopped (it wraps [ErrStopped]); nil if it is
	// not.
	Err error
}

// Stats returns a snapshot. What other processes do is in it as far as this one
// has noticed.
func (s *Scope) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.begin()
	st := Stats{
		InFlight: s.inFlight, Waiting: s.line.n, Starts: s.starts,
		RateLimits: s.rateLimits, Pauses: s.pauses,
		Pace: s.pacer.rate, RPM: float64(s.quotas.requests.perMin), TPM: s.quotas.tokens.perMin,
		Concurrency: s.slots(), Err: s.trip.err,
	}
	if now < s.pause.until {
		st.PausedUntil = s.epoch.Add(s.pause.until)
	}
	if r := s.adaptive.rate; r > 0 && (st.RPM == 0 || r < st.RPM) {
		st.RPM = r
	}
	return st
}

// Backlog returns how long the last of n more calls would wait for its turn
// under RPM and TPM, if they came now, took as many tokens as calls do on
// average, and all in line went on waiting. Whoever starts work that will call
// can begin it later instead, so that its time is not used up in line.
func (s *Scope) Backlog(n int) time.Duration {
	tokens := s.estimate(llm.Request{})
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.begin()
	wait := time.Duration(0)
	if q := &s.quotas.requests; q.perMin > 0 {
		wait = q.from(now) + q.cost(int64(s.line.n+n-1)) - now
	}
	if q := &s.quotas.tokens; q.perMin > 0 {
		wait = max(wait, q.from(now)+q.cost(s.line.tokens+int64(n-1)*tokens)-now)
	}
	return max(wait, 0)
}
