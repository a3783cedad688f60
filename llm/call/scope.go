package call

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/goevals/evals/llm"
)

// A Scope is who shares a quota: an account, a key, a server. All calls that go
// through one Scope wait in one line, pause together when the provider says
// that it is too much, and share its limits. A failure that every further call
// would meet too (no money, a bad key) stops it for good. The zero value works:
// no limit is known, and only what the provider says is obeyed. Safe for
// concurrent use; do not copy it.
type Scope struct {
	limits Limits

	mu       sync.Mutex
	epoch    time.Time // of the times below; set by the first call
	quotas   quotas
	pause    pause
	pacer    pacer
	meter    meter
	adaptive adaptive
	trip     trip
	expect   expectation
	share    share

	line   line
	watch  watch
	timer  *time.Timer // for the first in line; nil if nothing is to be waited for
	wakeAt time.Duration

	inFlight           int
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

// A grant is one admitted call. end must be called exactly once.
type grant struct {
	scope   *Scope
	at      time.Duration // when it started
	tokens  int64         // reserved
	gen     uint64        // of the pause that was the last one then
	nth     int64         // of the scope's starts, and the tokens charged by then
	charged int64
	over    bool
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

// begin returns the present time. With mu held, as in all that follows.
func (s *Scope) begin() time.Duration {
	if s.epoch.IsZero() {
		s.epoch = time.Now()
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
// [ErrTooLarge] if the tokens never fit; with [ErrStopped] where the scope is
// stopped; and with ctx's error if that ends first. After a failure nothing is
// owed.
func (s *Scope) admit(ctx context.Context, tokens int64) (*grant, Waits, error) {
	if err := ctx.Err(); err != nil {
		return nil, Waits{}, err
	}
	s.mu.Lock()
	g, w, err := s.enter(ctx, max(tokens, 0))
	s.mu.Unlock()
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

// enter starts a call at once, if it can, and else puts it in line.
func (s *Scope) enter(ctx context.Context, tokens int64) (*grant, *waiter, error) {
	now := s.begin()
	first := s.line.n == 0 // else what other processes did is known to the first
	if first {
		if err := s.open(now); err != nil {
			return nil, nil, err
		}
	}
	g, w, err := s.place(ctx, tokens, now, first)
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

func (s *Scope) place(ctx context.Context, tokens int64, now time.Duration, first bool) (*grant, *waiter, error) {
	if s.trip.err != nil {
		return nil, nil, s.trip.err
	}
	if tpm := int64(s.limits.TPM); tpm > 0 && tokens > tpm {
		return nil, nil, fmt.Errorf("%w: request needs %d tokens, limit %d/min", ErrTooLarge, tokens, tpm)
	}
	if first {
		if to, _ := s.next(tokens, now); to == ready {
			return s.start(tokens, now, false), nil, nil
		}
	}
	deadline := s.deadline(ctx)
	if err := s.overlong(deadline, now); err != nil {
		return nil, nil, err
	}
	if err := s.hopeless(deadline, now); err != nil {
		return nil, nil, err
	}
	w := &waiter{tokens: tokens, deadline: deadline, since: now, ready: make(chan struct{})}
	s.watch.turn(now, s.watch.stage)
	w.before = s.watch.spent
	s.line.join(w)
	return nil, w, nil
}

func (s *Scope) deadline(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		return end.Sub(s.epoch)
	}
	return forever
}

// hopeless is why a call cannot start by its deadline even if all in flight
// gave everything back and nobody stood before it; nil if it may.
func (s *Scope) hopeless(deadline, now time.Duration) error {
	for _, l := range []struct {
		q        *quota
		returns  int64
		whatever string
	}{{&s.quotas.requests, int64(s.inFlight), "requests"}, {&s.quotas.tokens, s.reserved, "tokens"}} {
		if l.q.perMin == 0 {
			continue
		}
		if at := l.q.due - l.q.cost(l.returns); at > now && at >= deadline {
			return fmt.Errorf("%w: the limit of %d %s a minute allows the next call in %v, and this one has %v",
				ErrNoTime, l.q.perMin, l.whatever, shortly(at-now), shortly(max(deadline-now, 0)))
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

// start takes all that a call needs. late says that it has waited for a limit.
func (s *Scope) start(tokens int64, now time.Duration, late bool) *grant {
	s.inFlight++
	s.reserved += tokens
	s.starts++
	s.charged += tokens
	g := &grant{scope: s, at: now, tokens: tokens, gen: s.pause.gen, nth: s.starts, charged: s.charged}
	if !s.quotas.none() {
		s.quotas.take(now, tokens, late)
		s.share.dirty = true
	}
	s.adaptive.take(now, late)
	s.pacer.started(g, now)
	s.meter.start(now)
	return g
}

// giveBack undoes start: the call never was.
func (s *Scope) giveBack(g *grant) {
	s.inFlight--
	s.reserved -= g.tokens
	s.starts--
	s.charged -= g.tokens
	if !s.quotas.none() {
		s.quotas.correct(g.at, g.tokens, 0, true)
		s.share.dirty = true
	}
	s.adaptive.giveBack()
	s.pacer.ended(g, false, false)
}

// serve starts those in line who can start, and sets the timer for the next. It
// ends what open began; err is open's.
func (s *Scope) serve(now time.Duration, err error) {
	s.watch.turn(now, s.watch.stage)
	late := s.watch.stage == forLimit
	to, at := ready, time.Duration(forever)
	var first, last *waiter // of those who start
	for w := s.line.front; w != nil && err == nil; w = s.line.front {
		if to, at = s.next(w.tokens, now); to != ready {
			break
		}
		s.line.leave(w)
		w.grant, w.waits = s.start(w.tokens, now, late && w.since < now), s.watch.waits(w.before)
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
			s.timer = nil
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
	s.wakeAt = never
	now := s.begin()
	s.serve(now, s.open(now))
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
			s.serve(now, s.open(now))
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
	broken := s.open(now)
	s.giveBack(g)
	w.grant = nil
	if err == nil {
		w.ready = make(chan struct{})
		s.line.rejoin(w)
	}
	s.serve(now, broken)
	return nil, err
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
	now := s.begin()
	err := s.open(now)
	wait := s.settle(g, o, now)
	s.serve(now, err)
	return wait
}

func (s *Scope) settle(g *grant, o outcome, now time.Duration) (wait time.Duration) {
	kind := llm.KindOf(o.err)
	counted := o.sent && !o.resp.Replayed
	good := counted && letIn(kind)
	if counted {
		s.inFlight--
		s.reserved -= g.tokens
		s.charge(g, o)
		s.pacer.ended(g, true, good && g.gen == s.pause.gen)
	} else {
		s.giveBack(g)
	}
	switch {
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
func (s *Scope) charge(g *grant, o outcome) {
	usage, limits := o.resp.Usage, o.resp.RateLimit
	var e *llm.Error
	if o.err != nil && errors.As(o.err, &e) {
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
