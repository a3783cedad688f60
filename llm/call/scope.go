package call

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A Scope is who shares a quota: an account, a key, a server. All calls that go
// through one Scope wait in one line, pause together when the provider says
// that it is too much, and share its limits. A failure that every further call
// would meet too (no money, a bad key) stops it for good. The zero value works:
// no limit is known, and only what the provider says is obeyed. Safe for
// concurrent use; do not copy it.
type Scope struct {
	limits Limits // never change

	// mu guards all below, and what points into it: waiters and grants. The
	// methods take it for granted, but for those that users call, admit,
	// estimate and tick. Nobody waits for anything but the shared file with it.
	mu       sync.Mutex
	epoch    time.Time // of the times below; set by the first call
	quotas   quotas
	pause    pause
	pacer    pacer
	meter    meter
	clock    clock // the meter's
	refusals refusals
	adaptive adaptive
	trip     trip
	expect   expectation
	share    share

	line   line
	watch  watch
	timer  *time.Timer // for the first in line; nil if nothing is to be waited for
	wakeAt time.Duration

	inFlight           int
	ages               ages  // of those in flight
	reserved           int64 // the tokens of those in flight
	starts, charged    int64 // calls and their tokens so far
	rateLimits, pauses int64
}

// NewScope returns a Scope with these limits. It panics if they cannot be
// meant, naming the field and the value.
func NewScope(l Limits) *Scope {
	if err := l.Check(); err != nil {
		panic(err)
	}
	return &Scope{limits: l}
}

// Waits are how long a call waited before it started.
type Waits struct {
	// Pause is for the scope's pause and the pacing after it, Limit for RPM
	// and TPM, Slot for a call in flight to end. A call that is not the first
	// in line waits for what the first one waits for.
	Pause, Limit, Slot time.Duration
}

// Total is the sum.
func (w Waits) Total() time.Duration { return w.Pause + w.Limit + w.Slot }

func (w Waits) plus(v Waits) Waits {
	return Waits{Pause: w.Pause + v.Pause, Limit: w.Limit + v.Limit, Slot: w.Slot + v.Slot}
}

// begin returns the present time.
func (s *Scope) begin() time.Duration {
	if s.epoch.IsZero() {
		s.epoch = time.Now()
		s.wakeAt = forever
		s.quotas, s.adaptive = newQuotas(s.limits), newAdaptive(s.limits)
		s.share.init(s.limits)
		return 0
	}
	return time.Since(s.epoch)
}

// slots is how many calls may be in flight; 0 for no limit.
func (s *Scope) slots() int {
	if s.adaptive.calls > 0 {
		return s.adaptive.calls
	}
	return s.limits.Concurrency
}

// admit waits until a call of about this many tokens may start, and returns
// the grant that it runs under. Calls start in the order in which they came, in
// one line: the pause is over, the pacer and RPM and TPM allow it and a slot is
// free, all in the same moment, so that nothing is held while something else is
// waited for.
//
// It fails at once, with [ErrNoTime] or [ErrTooLong] and what the provider said
// last, where the wait is known not to fit ctx's deadline or MaxWait; with
// [ErrTooLarge] if the tokens never fit; with [ErrBusy] where the provider has
// answered nothing for too long; with [ErrStopped] where the scope is stopped;
// with [ErrShare] where the shared file cannot be used; and with ctx's error if
// that ends first. After a failure nothing is owed.
func (s *Scope) admit(ctx context.Context, tokens int64) (*grant, Waits, error) {
	if err := ctx.Err(); err != nil {
		return nil, Waits{}, err
	}
	s.mu.Lock()
	g, w, err := s.enter(ctx, max(tokens, 0), 0)
	s.mu.Unlock()
	return s.await(ctx, g, w, err)
}

// await waits if it must: enter has put w in line.
func (s *Scope) await(ctx context.Context, g *grant, w *waiter, err error) (*grant, Waits, error) {
	if w == nil {
		return g, Waits{}, err
	}
	for {
		select {
		case <-w.ready:
		case <-ctx.Done():
		}
		s.mu.Lock()
		g, err := s.claim(ctx, w)
		s.mu.Unlock()
		if g != nil || err != nil {
			return g, w.waits, err
		}
	}
}

// enter starts a call at once, if it can, and else puts it in line: in the place
// of this ticket, at the end for 0.
func (s *Scope) enter(ctx context.Context, tokens int64, ticket uint64) (*grant, *waiter, error) {
	now := s.begin()
	if ticket == 0 {
		ticket = s.line.ticket()
	}
	first := s.line.n == 0 || ticket < s.line.front.ticket // else what other processes did is known to the first
	if first {
		var err error
		if now, err = s.open(now); err != nil {
			return nil, nil, err
		}
	}
	g, w, err := s.place(ctx, tokens, now, ticket, first)
	if w != nil && first {
		s.serve(now, nil)
		return nil, w, nil
	}
	if first {
		if broken := s.shut(now); broken != nil && g != nil {
			s.giveBack(g)
			return nil, nil, broken
		}
	}
	return g, w, err
}

func (s *Scope) place(ctx context.Context, tokens int64, now time.Duration, ticket uint64, first bool) (*grant, *waiter, error) {
	if s.trip.err != nil {
		return nil, nil, s.trip.err
	}
	if tpm := int64(s.limits.TPM); tpm > 0 && tokens > tpm {
		return nil, nil, fmt.Errorf("%w: request needs %d tokens, limit %d/min", ErrTooLarge, tokens, tpm)
	}
	if first {
		if to, _ := s.next(tokens, now); to == ready {
			return s.start(tokens, now, 0, ticket), nil, nil
		}
	}
	deadline := s.deadline(ctx)
	if err := s.overlong(deadline, now); err != nil {
		return nil, nil, err
	}
	if err := s.hopeless(deadline, now); err != nil {
		return nil, nil, err
	}
	w := &waiter{tokens: tokens, deadline: deadline, ticket: ticket, ready: make(chan struct{})}
	s.watch.turn(now, s.watch.stage)
	w.before = s.watch.spent
	s.line.insert(w)
	return nil, w, nil
}

func (s *Scope) deadline(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return end.Sub(s.epoch)
	}
	return forever
}

// hopeless is why a call cannot start by its deadline even if all in flight
// gave everything back and nobody stood before it; nil if it may, or if other
// processes may give something back.
func (s *Scope) hopeless(deadline, now time.Duration) error {
	if s.share.name != "" {
		return nil
	}
	for _, l := range []struct {
		q       *quota
		returns int64
		of      string
	}{{&s.quotas.requests, int64(s.inFlight), "requests"}, {&s.quotas.tokens, s.reserved, "tokens"}} {
		if l.q.perMin == 0 {
			continue
		}
		if at := l.q.due - l.q.cost(l.returns); at > now && at >= deadline {
			return fmt.Errorf("%w: the limit of %d %s a minute allows the next call in %v, and this one has %v",
				ErrNoTime, l.q.perMin, l.of, shortly(at-now), shortly(max(deadline-now, 0)))
		}
	}
	return nil
}

// next is what the first in line waits for, and until when if that is known.
func (s *Scope) next(tokens int64, now time.Duration) (stage, time.Duration) {
	if now < s.pause.until {
		return forPause, s.pause.until
	}
	if at := s.pacer.next(); now < at {
		return forPause, at
	}
	at := s.quotas.ready(now, tokens)
	if s.adaptive.rate > 0 {
		at = max(at, s.adaptive.due)
	}
	if now < at {
		return forLimit, at
	}
	if most := s.slots(); most > 0 && s.inFlight >= most {
		return forSlot, forever
	}
	return ready, now
}

// start takes all that a call needs. late is how late it was woken.
func (s *Scope) start(tokens int64, now, late time.Duration, ticket uint64) *grant {
	s.inFlight++
	s.reserved += tokens
	s.starts++
	s.charged += tokens
	g := &grant{scope: s, at: now, tokens: tokens, gen: s.pause.gen, age: s.ages.begin(), ticket: ticket, nth: s.starts, charged: s.charged}
	if !s.quotas.none() {
		s.quotas.take(now, tokens, late)
		s.share.dirty = true
	}
	s.adaptive.take(now, late)
	s.pacer.started(g, now)
	s.meter.start(s.clock.read(now))
	return g
}

// giveBack undoes start: the call never was.
func (s *Scope) giveBack(g *grant) {
	s.inFlight--
	s.ages.end(g.age)
	s.reserved -= g.tokens
	s.starts--
	s.charged -= g.tokens
	if !s.quotas.none() {
		s.quotas.correct(g.at, g.tokens, 0, true)
		s.share.dirty = true
	}
	s.adaptive.giveBack()
	s.pacer.ended(g, false, false, s.line.n > 0)
}

// serve starts those in line who can start, and sets the timer for the next. It
// ends what open began; err is open's.
func (s *Scope) serve(now time.Duration, err error) {
	s.watch.turn(now, s.watch.stage)
	late := time.Duration(0)
	if now >= s.wakeAt {
		if s.watch.stage == forLimit {
			late = min(now-s.wakeAt, lateness)
		}
		s.wakeAt = forever // it has come
	}
	to, at := ready, time.Duration(forever)
	var first, last *waiter // of those who start
	for w := s.line.front; w != nil && err == nil; w = s.line.front {
		if to, at = s.next(w.tokens, now); to != ready {
			break
		}
		s.line.leave(w)
		w.grant, w.waits = s.start(w.tokens, now, late, w.ticket), s.watch.waits(w.before)
		if last == nil {
			first = w
		} else {
			last.next = w
		}
		last = w
	}
	if broken := s.shut(now); err == nil {
		err = broken
	}
	for w := first; w != nil; {
		next := w.next
		w.next = nil
		if err != nil {
			s.giveBack(w.grant)
			w.grant, w.err = nil, err
		}
		close(w.ready)
		w = next
	}
	for err != nil && s.line.front != nil {
		s.fail(s.line.front, err, now)
	}
	if s.line.n == 0 {
		to, at = ready, forever
	}
	s.watch.turn(now, to)
	s.wake(at, now)
}

// fail ends the wait of w, who is in line.
func (s *Scope) fail(w *waiter, err error, now time.Duration) {
	s.watch.turn(now, s.watch.stage)
	s.line.leave(w)
	w.err, w.waits = err, s.watch.waits(w.before)
	close(w.ready)
}

// wake sets the timer. It is dropped with the line, for a Scope may outlive a
// test's bubble of time and the timer may not.
func (s *Scope) wake(at, now time.Duration) {
	if s.line.n > 0 {
		at = s.share.poll(at, now)
	}
	switch {
	case at == forever:
		if s.timer != nil {
			s.timer.Stop()
			s.timer, s.wakeAt = nil, forever
		}
	case s.timer == nil:
		s.wakeAt = at
		s.timer = time.AfterFunc(at-now, s.tick)
	case s.wakeAt != at:
		s.wakeAt = at
		s.timer.Reset(at - now)
	}
}

func (s *Scope) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serve(s.open(s.begin()))
}

// claim is called when w's wait or ctx has ended. Neither a grant nor an error
// sends w back to the line.
func (s *Scope) claim(ctx context.Context, w *waiter) (*grant, error) {
	now := s.begin()
	g, err := w.grant, w.err
	switch {
	case w.inLine:
		first := s.line.front == w
		s.watch.turn(now, s.watch.stage)
		w.waits = s.watch.waits(w.before)
		s.line.leave(w)
		if first { // the next may need less
			s.serve(s.open(now))
		}
		return nil, gaveUp(ctx, w.waits)
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		err = gaveUp(ctx, w.waits)
	case s.trip.err != nil:
		err = s.trip.err
	case g.gen == s.pause.gen:
		return g, nil
	default: // a pause began between its start on paper and here
		err = s.overlong(w.deadline, now)
	}
	now, broken := s.open(now)
	s.giveBack(g)
	w.grant = nil
	if err == nil {
		w.ready = make(chan struct{})
		s.line.insert(w)
	}
	s.serve(now, broken)
	return nil, err
}
