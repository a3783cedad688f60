package call

import (
	"context"
	"errors"
	"time"

	"github.com/goevals/evals/llm"
)

// A grant is one admitted call. end must be called exactly once.
type grant struct {
	scope   *Scope
	at      time.Duration // when it started
	tokens  int64         // reserved
	gen     uint64        // of the pause that was the last one then
	age     uint64        // see ages
	ticket  uint64        // of its place in the line
	nth     int64         // of the scope's starts, and the tokens charged by then
	charged int64
	over    bool
}

// again returns a grant for a call that takes over one that was given for it
// further out, maybe long ago: the same one if the call could start now by it,
// else one that it waits for in the old one's place.
func (g *grant) again(ctx context.Context, tokens int64) (*grant, Waits, error) {
	s := g.scope
	s.mu.Lock()
	now := s.begin()
	timed := !s.quotas.none() || s.adaptive.rate > 0
	if s.trip.err == nil && g.gen == s.pause.gen && !(timed && (now-g.at > s.quotas.window.grain || tokens > g.tokens)) {
		s.mu.Unlock()
		return g, Waits{}, nil
	}
	g.over = true
	now, err := s.open(now)
	s.giveBack(g)
	if broken := s.shut(now); err == nil {
		err = broken
	}
	var next *grant
	var w *waiter
	if err == nil {
		next, w, err = s.enter(ctx, max(tokens, 0), g.ticket)
	}
	if next == nil { // others may have what it gave back
		s.serve(s.open(s.begin()))
	}
	s.mu.Unlock()
	return s.await(ctx, next, w, err)
}

// An outcome is what an admitted call came to.
type outcome struct {
	// sent is false if nothing left the process: all is given back.
	sent bool
	// resp and err are what the call returned. Unknown usage keeps the
	// estimate; a replayed answer gives all back.
	resp llm.Response
	err  error
}

// end settles the call with the scope: gives the slot back, corrects the
// tokens, and on a rate limit pauses the scope. It returns how long this call's
// own next try must wait beside what admit will see: the stale report's
// Retry-After.
func (g *grant) end(o outcome) time.Duration {
	s := g.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.over {
		panic("call: a grant was ended twice")
	}
	g.over = true
	now, err := s.open(s.begin())
	wait := s.settle(g, &o, now)
	s.serve(now, err)
	return wait
}

func (s *Scope) settle(g *grant, o *outcome, now time.Duration) (wait time.Duration) {
	kind := llm.KindOf(o.err)
	counted := o.sent && !o.resp.Replayed
	good := counted && letIn(kind)
	if counted {
		s.inFlight--
		s.ages.end(g.age)
		s.reserved -= g.tokens
		s.charge(g, o)
		s.pacer.ended(g, true, good && g.gen == s.pause.gen, s.line.n > 0)
		if good {
			s.refusals.answer()
		}
	} else {
		s.giveBack(g)
	}
	switch {
	case o.resp.Replayed: // says nothing of now
	case kind.Fatal(): // a missing key is found before anything is sent
		s.adaptive.failed()
		if s.trip.fatal(kind, o.err) {
			s.stop(now)
		}
	case !counted:
	case kind == llm.KindRateLimit:
		return s.limited(g, o.err, now)
	case !good:
		s.adaptive.failed()
	default:
		if o.err == nil {
			s.trip.success()
		}
		// What started before the last pause says nothing of the time since.
		if g.gen == s.pause.gen {
			s.adaptive.succeeded(s.limits)
			if s.pause.count > 0 {
				s.pause.count = 0
				s.share.dirty = true
			}
		}
	}
	return 0
}

// letIn reports that a call with this end was not too much for the provider: it
// was answered, or refused for what it asked.
func letIn(kind llm.ErrorKind) bool {
	switch kind {
	case "", llm.KindBadRequest, llm.KindContext, llm.KindBlocked, llm.KindIncomplete, llm.KindBadResponse, llm.KindUnusable:
		return true
	}
	return false
}

// charge corrects what a call that ended was thought to take, and takes in what
// the provider said of its limits.
func (s *Scope) charge(g *grant, o *outcome) {
	usage, limits := o.resp.Usage, o.resp.RateLimit
	if e := known(o.err); e != nil {
		if !usage.Known {
			usage = e.Usage
		}
		if e.RateLimit != nil {
			limits = e.RateLimit
		}
	}
	if limits != nil {
		s.observe(g, limits)
	}
	if !usage.Known {
		return
	}
	if o.err == nil {
		s.expect.learn(usage.Output)
	}
	if took := max(usage.Input+usage.Output, 0); took != g.tokens && s.quotas.tokens.perMin > 0 {
		s.quotas.correct(g.at, g.tokens, took, false)
		s.charged += took - g.tokens
		s.share.dirty = true
	}
}

// known returns the first error of ours in err's tree; nil if there is none.
func known(err error) *llm.Error {
	if err == nil {
		return nil // before e, which escapes
	}
	var e *llm.Error
	errors.As(err, &e)
	return e
}

func (s *Scope) observe(g *grant, l *llm.RateLimit) {
	if s.limits.Adaptive == AdaptAuto {
		s.quotas.limit(unset(s.limits.RPM, l.Requests.Limit), unset(s.limits.TPM, l.Tokens.Limit), s.limits.Burst)
	}
	if left := l.Requests.Remaining; left != nil {
		s.quotas.requests.observe(*left, g.at, s.starts-g.nth)
		s.share.dirty = true
	}
	if left := l.Tokens.Remaining; left != nil {
		s.quotas.tokens.observe(*left, g.at, s.charged-g.charged)
		s.share.dirty = true
	}
}

// unset is the limit that the provider stated where none is configured; 0 if
// there is none to take.
func unset(configured int, stated *int64) int64 {
	if configured > 0 || stated == nil || *stated <= 0 {
		return 0
	}
	return min(*stated, maxPerMinute)
}
