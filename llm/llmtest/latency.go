package llmtest

import (
	"math"
	"math/rand/v2"
	"net/http"
	"time"
)

// A Dist is a distribution of times: it draws one. It must not keep r, and must
// return the same for equal draws of r. Nil draws no time at all. Times below 0
// count as 0.
type Dist func(r *rand.Rand) time.Duration

// Constant is always d.
func Constant(d time.Duration) Dist {
	return func(*rand.Rand) time.Duration { return d }
}

// Uniform lies between min and max, evenly. It panics if min is above max.
func Uniform(min, max time.Duration) Dist {
	if min > max {
		panic("llmtest.Uniform: min " + min.String() + " is above max " + max.String())
	}
	return func(r *rand.Rand) time.Duration { return min + time.Duration(r.Float64()*float64(max-min)) }
}

// Exponential has this mean and no memory: the time between independent events.
func Exponential(mean time.Duration) Dist {
	return func(r *rand.Rand) time.Duration { return time.Duration(r.ExpFloat64() * float64(mean)) }
}

// LogNormal has this median; sigma is the standard deviation of the time's
// logarithm: with 0.5, one in a hundred takes 3.2 times the median or more.
// Times of servers look like this. It panics if sigma is negative or no number.
func LogNormal(median time.Duration, sigma float64) Dist {
	if !(sigma >= 0) || math.IsInf(sigma, 1) {
		panic("llmtest.LogNormal: sigma must be a finite number of at least 0")
	}
	return func(r *rand.Rand) time.Duration {
		d := math.Exp(sigma*r.NormFloat64()) * float64(median)
		return time.Duration(min(d, math.MaxInt64/4)) // no overflow in sums
	}
}

// Latency is how long answers take, drawn for each call from the server's Seed,
// what was asked and which try of it this is: the same whatever order calls
// arrive in, and whichever API they come by. The zero value takes no time.
type Latency struct {
	// First is the time until the first token, Between that from one token to
	// the next.
	First, Between Dist
	// PerInput is added to First for each token of input that was not in the
	// prefix cache.
	PerInput time.Duration
}

// pace is when an answer's tokens are due. They are due at points in time, not
// after waits, so that a server that is late for one catches up with the next.
type pace struct {
	latency Latency
	due     time.Time
	rand    *rand.Rand
}

// newPace returns the pace of an answer whose input has this many tokens to
// read.
func (s *Server) newPace(a *scripted) pace {
	l := s.Latency
	if a.reply.FirstToken != 0 || a.reply.PerToken != 0 {
		l = Latency{First: Constant(a.reply.FirstToken), Between: Constant(a.reply.PerToken)}
	}
	p := pace{latency: l}
	if l.First == nil && l.Between == nil && l.PerInput == 0 {
		return p
	}
	p.due = time.Now().Add(time.Duration(a.usage.Input-a.usage.CachedInput) * l.PerInput)
	p.rand = s.draw(saltLatency, a.chat)
	return p
}

func (p *pace) add(d Dist) {
	if d != nil {
		p.due = p.due.Add(max(d(p.rand), 0))
	}
}

// first waits for the first token and reports whether the caller is still
// there.
func (p *pace) first(r *http.Request) bool {
	p.add(p.latency.First)
	return p.catchUp(r)
}

// between waits for the next token.
func (p *pace) between(r *http.Request) bool {
	p.add(p.latency.Between)
	return p.catchUp(r)
}

// skip adds a token's time without waiting.
func (p *pace) skip() { p.add(p.latency.Between) }

func (p *pace) catchUp(r *http.Request) bool {
	if p.due.IsZero() {
		return r.Context().Err() == nil
	}
	return pause(r, time.Until(p.due))
}
