package arrival

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// A Dist draws a time, such as how long a user thinks. It must not be negative.
// It is called by one goroutine a user and must keep no state of its own.
type Dist func(*rand.Rand) time.Duration

// Fixed returns a Dist that always draws d. A negative d panics.
func Fixed(d time.Duration) Dist {
	if d < 0 {
		panic(&OptionError{"Fixed", d, "a time must not be negative"})
	}
	return func(*rand.Rand) time.Duration { return d }
}

// Between returns the uniform Dist over [lo, hi], both included. A negative lo,
// and a hi below it, panic.
func Between(lo, hi time.Duration) Dist {
	if lo < 0 || hi < lo || hi == Forever {
		panic(&OptionError{"Between", [2]time.Duration{lo, hi}, "the bounds must be ordered, not negative and not forever"})
	}
	return func(r *rand.Rand) time.Duration { return lo + time.Duration(r.Int64N(int64(hi-lo)+1)) }
}

// Exponential returns the exponential Dist of the mean. A negative mean, and
// one above a year, panic.
func Exponential(mean time.Duration) Dist {
	if mean < 0 || mean > 8760*time.Hour {
		panic(&OptionError{"Exponential", mean, "a mean must be from 0 to 8760h"})
	}
	return func(r *rand.Rand) time.Duration { return time.Duration(r.ExpFloat64() * float64(mean)) }
}

// Closed is a closed loop: users of which each has at most one request in flight
// and sends the next when the last is answered. What it measures is the server
// under that many users; it slows down with the server, so its latencies hold
// no queueing beyond the users themselves. Say so beside its numbers.
type Closed struct {
	// Users is how many there are; at least 1.
	Users int
	// RequestsPerUser is how many requests a user makes; 0: no limit. Limits to the
	// total are in Phases. Without any the loop runs until its context ends.
	RequestsPerUser int
	// Think draws the time between the end of a user's request and when its
	// next is due; nil: none.
	Think Dist
	// Every draws the least time between when a user's requests are due; nil:
	// none. With Fixed(10s), 30 users offer 3 requests a second for as long as
	// answers take less than 10 s. What is missed is not made up for.
	Every Dist
	// Join is the time over which users come, evenly: user i of n at i·Join/n.
	// 0: all at once, which makes the server begin with as many prompts as
	// there are users. Make it part of the warm-up.
	Join time.Duration
	// Rand returns the generator of a user; each must have its own stream, so
	// that what a user does depends on no other's timing. Needed if Think or
	// Every is set.
	Rand func(user int) *rand.Rand
	// Start, Phases and LateAfter are as in [Pacer]. A request is due when the
	// time since the user's last has passed, and belongs to the phase that is
	// then. Counts are over all users.
	Start     time.Time
	Phases    Phases
	LateAfter time.Duration
	// Waiter waits for the users' requests. It is shared by all, so it must be
	// safe for concurrent use; nil: [Sleep].
	Waiter Waiter
	// Admitted, if it is not nil, is told of each arrival before do is called
	// for it, of one at a time and in their order: who counts by phase must not
	// miss one whose user has not got to its do yet.
	Admitted func(Arrival)
	// Ended, if it is not nil, is called once, when no further request can
	// begin: the phases are over, or every user is at its last. Requests may be
	// in flight still. It is not called if the context ends first.
	Ended func()
}

// Check returns the *[OptionError] that Run would.
func (c Closed) Check() error { return c.check() }

// Run calls do for the users' requests, on one goroutine a user, and returns
// when nobody has anything more to do and every call has returned. do gets ctx
// itself and must return when the request is answered. A user whose next
// request would be due after the phases leaves without waiting.
//
// Errors are *[OptionError], returned before anything is done for a Closed
// that makes no sense. A Think or Every that draws a negative time ends the run
// as soon as calls in flight have returned; the Report is of what was done. A
// nil do panics. A panic in do is not caught: it ends the program.
func (c Closed) Run(ctx context.Context, do func(context.Context, Arrival)) (Report, error) {
	if do == nil {
		panic("arrival.Closed.Run: do is nil")
	}
	if err := c.check(); err != nil {
		return Report{}, err
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	l := &loop{Closed: c, book: newBook(c.Phases, c.LateAfter, c.Start), waiting: waiting, stop: stop, going: c.Users}
	if l.Waiter == nil {
		l.Waiter = Sleep{}
	}
	var users sync.WaitGroup
	for i := range c.Users {
		users.Go(func() { l.user(ctx, i, do) })
	}
	users.Wait()

	end := time.Since(l.start)
	report := Report{End: l.end(end)}
	l.fill(&report, end)
	return report, l.err
}

func (c Closed) check() error {
	if err := refuse(c.Users >= 1, "Closed: Users", c.Users, "at least one is needed"); err != nil {
		return err
	}
	if err := refuse(c.RequestsPerUser >= 0, "Closed: RequestsPerUser", c.RequestsPerUser, "it must not be negative; 0 sets no limit"); err != nil {
		return err
	}
	// The product i·Join below must not overflow either.
	if err := refuse(c.Join >= 0 && c.Join <= Forever/time.Duration(c.Users), "Closed: Join", c.Join, "it must not be negative, and not be years"); err != nil {
		return err
	}
	if err := refuse(c.Rand != nil || c.Think == nil && c.Every == nil, "Closed: Rand", "nil", "Think and Every need a generator for each user"); err != nil {
		return err
	}
	return c.Phases.Check()
}

// A loop is a running Closed.
type loop struct {
	Closed
	waiting context.Context // ends when no request may be begun any more
	stop    func()

	mu sync.Mutex
	*book
	complete bool // a user found the phases over
	going    int  // users who may begin another request
	ended    bool // Ended was called
	cut      bool // a user was stopped by the context
	timer    *time.Timer
	err      error
}

// user makes one user's requests.
func (l *loop) user(ctx context.Context, user int, do func(context.Context, Arrival)) {
	var r *rand.Rand
	if l.Rand != nil {
		r = l.Rand(user)
	}
	last := false // its last request has begun
	defer func() {
		if !last {
			l.leaves()
		}
	}()
	due := l.Join * time.Duration(user) / time.Duration(l.Users)
	for turn := 0; l.RequestsPerUser == 0 || turn < l.RequestsPerUser; turn++ {
		if l.over(due) {
			return
		}
		if l.Waiter.Wait(l.waiting, l.start.Add(due)) != nil && time.Since(l.start) < due {
			l.woken(ctx)
			return
		}
		a, ok := l.begin(ctx, user, turn, due)
		if !ok {
			return
		}
		last = l.RequestsPerUser > 0 && turn+1 == l.RequestsPerUser
		do(ctx, a)
		end := time.Since(l.start)
		if last {
			return // nothing is drawn that nobody waits for
		}
		think, ok := l.draw("Think", l.Think, user, turn, r)
		if !ok {
			return
		}
		every, ok := l.draw("Every", l.Every, user, turn, r)
		if !ok {
			return
		}
		due = max(plus(end, think), plus(due, every))
	}
}

// plus adds without overflow.
func plus(a, b time.Duration) time.Duration {
	if b > Forever-a {
		return Forever
	}
	return a + b
}

// over reports whether what is due then comes after the phases.
func (l *loop) over(due time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	over := l.labels.full() || l.labels.over(due)
	l.complete = l.complete || over
	return over
}

// woken notes why a user was woken before its time: the phases are over, a draw
// failed, or the context ended.
func (l *loop) woken(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = l.cut || ctx.Err() != nil
}

// begin hands a request over, unless the phases have become full while its user
// waited or the run has ended otherwise.
func (l *loop) begin(ctx context.Context, user, turn int, due time.Duration) (a Arrival, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.err != nil:
		return a, false
	case ctx.Err() != nil:
		l.cut = true
		return a, false
	case l.labels.full() || l.labels.over(due):
		l.complete = true
		return a, false
	}
	a = l.admit(user, turn, due)
	if l.Admitted != nil {
		l.Admitted(a)
	}
	if l.RequestsPerUser > 0 && turn+1 == l.RequestsPerUser {
		l.oneLess()
	}
	if l.labels.full() {
		l.finish()
	} else if end, known := l.labels.end(); known && l.timer == nil {
		// The end may have become known only now, by a count, when some users
		// already wait for a moment beyond it.
		l.timer = time.AfterFunc(time.Until(l.start.Add(end)), func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.finish()
		})
	}
	return a, true
}

// finish wakes those who wait: the phases are over.
func (l *loop) finish() {
	l.complete = true
	l.stop()
	l.tellEnded()
}

// leaves notes that a user begins no further request.
func (l *loop) leaves() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.oneLess()
}

func (l *loop) oneLess() {
	if l.going--; l.going == 0 && !l.cut && l.err == nil {
		l.tellEnded()
	}
}

// tellEnded tells, once, that no further request begins.
func (l *loop) tellEnded() {
	if !l.ended && l.Ended != nil {
		l.ended = true
		l.Ended()
	}
}

// end says why the run ended at the offset. All users have left.
func (l *loop) end(at time.Duration) End {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	switch {
	case l.cut || l.err != nil:
		return Stopped
	case l.complete:
		return Complete
	}
	return l.exhausted(at)
}

// draw draws a time for a user, and stops the loop if it is none.
func (l *loop) draw(field string, d Dist, user, turn int, r *rand.Rand) (time.Duration, bool) {
	if d == nil {
		return 0, true
	}
	t := d(r)
	if t >= 0 {
		return t, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = &OptionError{fmt.Sprintf("Closed: %s of user %d after request %d", field, user, turn), t, "a time must not be negative"}
	}
	l.stop()
	return 0, false
}
