package evaltest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A halt is why a run stopped before all its items had run.
type halt struct {
	// reason is the word for the journal: deadline, interrupt, orphan,
	// fail-fast, journal, prepare, budget.
	reason string
	text   string // a sentence for people
}

func (h *halt) Error() string { return h.text }

// A governor says when no further item may begin, and ends those in flight.
type governor struct {
	ctx    context.Context // the items'; done when items in flight must end
	cancel context.CancelCauseFunc

	// Every item asks, from many goroutines: what it needs is atomic.
	halted  atomic.Pointer[halt]
	busy    atomic.Int64 // nanoseconds that ended items took
	done    atomic.Int64 // how many they are
	bounded atomic.Bool  // admits and closing are set, for good

	admits  time.Time // items must be expected to end by then
	closing *halt     // what to halt with when that time comes

	mu     sync.Mutex
	timers []*time.Timer
}

func newGovernor(parent context.Context) *governor {
	ctx, cancel := context.WithCancelCause(parent)
	return &governor{ctx: ctx, cancel: cancel}
}

// grace is how long items in flight may go on after an interrupt. What stops a
// container or a CI job kills 7 to 10 seconds after it asked.
const grace = 2 * time.Second

// answerGrace is how long items in flight may go on where the provider lets
// nobody in any more: what it let in before may be answered, and is paid for.
const answerGrace = time.Minute

// strayGrace is how long a strategy that ignores its cancelled context is
// waited for.
const strayGrace = 5 * time.Second

// A reserve is how a test's remaining time is divided.
type reserve struct {
	last     time.Time     // when the items must have ended: no more than expected to
	cut      time.Time     // when items in flight are cancelled
	stray    time.Duration // then, how long a strategy that ignores that is waited for
	files    time.Time     // when the files are not waited for any more
	deadline time.Time     // when testing kills the process
}

// reserveFor keeps 10% of the test binary's whole time, at most 30 seconds, to
// end the run in order: half of it for items in flight, half for the files and
// the summary. Of a short time it keeps more, a quarter up to a second: a busy
// machine needs that. A test that begins late has less and keeps at most half.
func reserveFor(now, deadline time.Time, timeout time.Duration) reserve {
	left := deadline.Sub(now)
	if timeout <= 0 {
		timeout = left
	}
	keep := max(timeout/10, min(timeout/4, time.Second))
	keep = max(0, min(keep, 30*time.Second, left/2))
	return reserve{
		last: deadline.Add(-keep), cut: deadline.Add(-keep / 2),
		stray: min(strayGrace, keep/4), files: deadline.Add(-keep / 8), deadline: deadline,
	}
}

// limit sets the times after which items are not begun and are cancelled.
func (g *governor) limit(r reserve, timeout time.Duration) {
	text := "the test's time is nearly up"
	if timeout > 0 {
		text = fmt.Sprintf("the test's time (-timeout %v) is nearly up", timeout)
	}
	h := &halt{reason: "deadline", text: text}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admits, g.closing = r.last, h
	g.bounded.Store(true)
	g.timers = append(g.timers,
		time.AfterFunc(time.Until(r.last), func() { g.stop(h, -1) }),
		time.AfterFunc(time.Until(r.cut), func() { g.stop(h, 0) }))
}

// within sets the run's own time, from now; 0 for none. Of it and the test's
// deadline the earlier one counts.
func (g *governor) within(d time.Duration) {
	if d <= 0 {
		return
	}
	h := &halt{reason: "deadline", text: fmt.Sprintf("the run's time of %v (RunTimeout) is up", d)}
	end := time.Now().Add(d)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.bounded.Load() || end.Before(g.admits) {
		g.admits, g.closing = end, h
	}
	g.bounded.Store(true)
	g.timers = append(g.timers, time.AfterFunc(d, func() { g.stop(h, 0) }))
}

// stop lets no further item begin, and cancels those in flight after wait: at
// once for 0, never for less. The first cause stays.
func (g *governor) stop(h *halt, wait time.Duration) {
	g.halted.CompareAndSwap(nil, h)
	cause := g.halted.Load()
	switch {
	case wait == 0:
		g.cancel(cause)
	case wait > 0:
		g.mu.Lock()
		defer g.mu.Unlock()
		g.timers = append(g.timers, time.AfterFunc(wait, func() { g.cancel(cause) }))
	}
}

// admit reports whether another item may begin: nil, or why not. An item that
// takes as long as those before it must end in time: one that is cancelled was
// paid for in vain.
func (g *governor) admit() *halt {
	if g.bounded.Load() && time.Until(g.admits) < g.mean() {
		g.halted.CompareAndSwap(nil, g.closing)
	}
	return g.halted.Load()
}

// took takes note of how long an item took.
func (g *governor) took(d time.Duration) {
	g.busy.Add(int64(d))
	g.done.Add(1)
}

func (g *governor) mean() time.Duration {
	return time.Duration(g.busy.Load() / max(1, g.done.Load()))
}

// cause returns why the run stopped, or nil.
func (g *governor) cause() *halt { return g.halted.Load() }

// release stops the timers. The run is over.
func (g *governor) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.timers {
		t.Stop()
	}
	g.cancel(nil)
}
