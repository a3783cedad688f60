package call

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goevals/evals/llm"
)

// ErrTooLong is wrapped where the provider asked for a longer wait than
// [Limits.MaxWait].
var ErrTooLong = errors.New("call: the provider asks to wait too long")

// longestPause bounds what a provider may state, so that nothing overflows.
const longestPause = 365 * 24 * time.Hour

// A pause is the one that a scope's calls wait out together. It belongs to no
// call: whoever reported the rate limit may be cancelled, and it goes on.
//
// gen numbers the rate limits that were met, and each call carries the number
// that it started under. A report of a call that started before the present one
// is about the same event, however late it comes: it joins, and neither starts
// another pause nor makes the next one longer.
type pause struct {
	gen   uint64
	until time.Duration
	// count is how many there were in a row, without a success in between.
	count int
	// asked is what the provider stated; 0 if it did not.
	asked time.Duration
	err   error  // the rate limit itself
	text  string // its words for other processes; "" until they are needed
}

// stated is how long a rate limit's answer asks to wait: its Retry-After, else
// the reset of the limit that is used up, the longer one if both are. A limit
// that is not used up says nothing of when to come back.
func stated(err error) (wait time.Duration, ok bool) {
	e := known(err)
	if e == nil {
		return 0, false
	}
	if e.RetryAfter != nil && *e.RetryAfter >= 0 {
		return min(*e.RetryAfter, longestPause), true
	}
	if e.RateLimit == nil {
		return 0, false
	}
	for _, w := range []llm.Window{e.RateLimit.Requests, e.RateLimit.Tokens} {
		if w.Exhausted() && w.Reset != nil && *w.Reset >= 0 {
			wait, ok = max(wait, min(*w.Reset, longestPause)), true
		}
	}
	return wait, ok
}

// limited takes in a rate limit that g's call met. It returns how long that
// call alone must wait.
func (s *Scope) limited(g *grant, err error, now time.Duration) time.Duration {
	s.rateLimits++
	until := s.pause.until
	own := s.report(g, err, now)
	s.refusals.refuse(now)
	if !s.refusals.acted && s.refusals.crowd() {
		s.crowded(now)
	}
	if p := s.pause.until; p != until && now < p || s.deaf(now) != nil { // else nothing is new, and a line may be long
		s.dismiss(now)
	}
	return own
}

// report begins a pause, or joins the present one.
func (s *Scope) report(g *grant, err error, now time.Duration) (own time.Duration) {
	wait, ok := stated(err)
	p := &s.pause
	switch {
	case g.gen == p.gen: // nobody has reported this one yet
		s.share.dirty = true
		p.gen++
		p.asked, p.err, p.text = wait, err, ""
		if !ok {
			p.asked, wait = 0, s.limits.cooldown(p.count+1)
		}
		if wait > 0 {
			p.count++
			s.pauses++
		}
		p.until = now + wait
		s.paused(now)
	case now >= p.until: // late: this pause is over, and is not begun again
		return wait
	case ok && now+wait > p.until:
		s.share.dirty = true
		p.until, p.asked, p.err, p.text = now+wait, wait, err, ""
		s.clock.stand(now, p.until)
	}
	return 0
}

// paused takes in that a pause has begun, here or in another process.
func (s *Scope) paused(now time.Duration) {
	s.refusals.begin(s.inFlight + 1) // this one is out by now
	s.ages.pause()
	s.adaptive.limited(s.limits)
	if s.pause.count > 1 { // the first call after the last one was refused
		s.adaptive.crowded()
	}
	s.pacer.keep(s.meter.most(s.clock.read(now)), s.inFlight)
	s.clock.stand(now, s.pause.until)
}

// dismiss fails those who cannot wait for the end of the pause.
func (s *Scope) dismiss(now time.Duration) {
	for w := s.line.front; w != nil; {
		next := w.next
		if err := s.overlong(w.deadline, now); err != nil {
			s.fail(w, err, now)
		}
		w = next
	}
}

// overlong is why a call does not wait for the end of the pause; nil if it
// does.
func (s *Scope) overlong(deadline, now time.Duration) error {
	p := &s.pause
	left := p.until - now
	if left <= 0 {
		return s.deaf(now)
	}
	if most := maxWaitOr(s.limits.MaxWait); p.asked > 0 && left > most {
		return fmt.Errorf("%w: the server asked for %v%s, and the most is %v (call.Limits.MaxWait): %w",
			ErrTooLong, shortly(p.asked), remains(p.asked, left), most, p.err)
	}
	if p.until < deadline {
		return s.deaf(now)
	}
	who := "the scope pauses for"
	if p.asked > 0 {
		who = "the server asked for"
	}
	return fmt.Errorf("%w: %s %v%s, and this call has %v: %w",
		ErrNoTime, who, shortly(max(p.asked, left)), remains(p.asked, left), shortly(max(deadline-now, 0)), p.err)
}

// remains says what is left of a wait that has begun.
func remains(asked, left time.Duration) string {
	if asked <= 0 || shortly(left) == shortly(asked) {
		return ""
	}
	return fmt.Sprintf(", %v are left", shortly(left))
}

// shortly rounds a time for people.
func shortly(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// gaveUp is the error of a wait that ctx ended.
func gaveUp(ctx context.Context, w Waits) error {
	return fmt.Errorf("call: in line for %v (pause %v, limit %v, slot %v): %w",
		shortly(w.Total()), shortly(w.Pause), shortly(w.Limit), shortly(w.Slot), ctx.Err())
}
