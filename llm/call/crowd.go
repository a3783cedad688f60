package call

import (
	"fmt"
	"time"
)

// refusals tell a crowd that is refused from a call now and then: providers
// refuse single calls for reasons of their own, and a limit that is met a
// little too often is used well. They count the last 512 to 1,024 calls that
// were answered or refused.
type refusals struct {
	all, refused int

	// Of the last pause: how many were in flight when it began, and how many of
	// them it was that were refused.
	inFlight, together int
	acted              bool // they are known to be a crowd

	answered    bool          // ever
	first, last time.Duration // of a provider that has answered nothing yet
}

const (
	refusalsSpan = 1024
	// refusalsFew is one in how many calls is few.
	refusalsFew = 32
)

func (r *refusals) add(refused bool) {
	if r.all++; refused {
		r.refused++
	}
	if r.all >= refusalsSpan {
		r.all, r.refused = r.all/2, r.refused/2
	}
}

// crowd reports that it is more than a call now and then: among the last ones,
// or among those in flight, of which a quarter is refused together. At first,
// while more are in flight than have come back, one in few of those counts: a
// single refusal among the first three that come back says little of the 247
// that are out.
func (r *refusals) crowd() bool {
	return r.refused*refusalsFew > max(r.all, r.inFlight) || r.together > 1 && r.together*4 >= r.inFlight
}

// begin begins a pause.
func (r *refusals) begin(inFlight int) {
	r.inFlight, r.together, r.acted = inFlight, 0, false
}

// answer takes in a call that was not too much.
func (r *refusals) answer() {
	r.add(false)
	r.answered = true
}

// refuse takes in a call that was.
func (r *refusals) refuse(now time.Duration) {
	if r.refused == 0 {
		r.first = now
	}
	r.last = now
	r.together++
	r.add(true)
}

// crowded takes in, once a pause, that more than a call now and then is refused,
// here or in another process.
func (s *Scope) crowded(now time.Duration) {
	s.refusals.acted = true
	// Under a pacer the meter has seen too little: it began anew with the last
	// crowd, and a second one would make a crawl of what was fast.
	s.pacer.begin(max(s.meter.rate(s.clock.read(now)), s.pacer.rate), max(s.inFlight, s.refusals.inFlight))
	s.meter = meter{}
	s.adaptive.crowded()
}

// deaf is why no call waits for a provider that has answered nothing yet, and
// refused every call for as long as it may ask one to wait (at least 2 minutes;
// and at least as many calls as one may try): every item of a run would wait
// in vain until its time is up. nil if there is hope. One call at a time still
// goes to see. A provider that did answer is waited for as long as each call
// has time.
func (s *Scope) deaf(now time.Duration) error {
	r := &s.refusals
	refused := r.last - r.first
	switch {
	case r.answered, r.refused < DefaultTries, refused < max(maxWaitOr(s.limits.MaxWait), DefaultMaxWait):
		return nil
	case s.ages.older > 0: // was let in, and takes long
		return nil
	case now >= s.pause.until && s.inFlight == 0:
		return nil
	}
	return fmt.Errorf("%w: it has answered nothing yet, and refused every call for %v: %w", ErrBusy, shortly(refused), s.pause.err)
}

// ages are how many calls in flight started since the last pause, between the
// last two, and before: what is out that long was not refused.
type ages struct {
	pauses             uint64
	now, before, older int
}

// begin takes in a call and returns its age for end.
func (a *ages) begin() uint64 {
	a.now++
	return a.pauses
}

func (a *ages) pause() {
	a.pauses++
	a.now, a.before, a.older = 0, a.now, a.older+a.before
}

func (a *ages) end(age uint64) {
	switch a.pauses - age {
	case 0:
		a.now--
	case 1:
		a.before--
	default:
		a.older--
	}
}
