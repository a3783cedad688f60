package call

import (
	"context"
	"sync"
	"time"
)

// A Bound is a context that ends at a given time, or with its parent. It means
// what context.WithDeadline's means, and costs a tenth of it where the work is
// over before anybody looks: only the first Done or Value sets a timer and
// registers with the parent, which at many workers is a lock that all want. One
// difference: if it is cancelled before anybody looked, it says Canceled, even
// if its time was up. Safe for concurrent use.
//
// There are two. [Until] bounds an item: its time always runs. The one of a try
// ([Policy].Timeout, [Config].Timeout) stands still while a call in it waits for
// its turn. Contexts derived from either cost no goroutine.
type Bound struct {
	parent context.Context
	kind   bounding

	// mu guards all below, but for the end of one that cannot be held, which
	// never changes.
	mu     sync.Mutex
	end    time.Time          // when its time is up; means nothing while it is held
	holds  int                // how many hold it
	left   time.Duration      // of its time, while it is held
	over   bool               // Cancel ended it before anybody looked
	inner  context.Context    // what the standard library makes of it; nil until somebody looks
	cancel context.CancelFunc // ends inner

	// Of a holdable one with an inner: see [ending].
	err    error       // why it has ended, if not by Cancel
	fire   func()      // ends inner with err; once, and not under mu
	timer  *time.Timer // runs while nobody holds it
	unhook func() bool // ends the watch of the parent
}

var _ context.Context = (*Bound)(nil)

// What a [Bound] bounds.
type bounding uint8

const (
	ofNothing bounding = iota // no time of its own
	ofItem
	ofAttempt // the one that can be held
)

// Until returns a context for an item: it ends at end. Cancel it when the work
// is done.
func Until(parent context.Context, end time.Time) *Bound {
	return &Bound{parent: parent, end: end, kind: ofItem}
}

// within makes b, which is zero, that of a try which has begun now: it ends when
// it has run for d, the times in which somebody held it not counted. Without a d
// it has no time of its own.
func (b *Bound) within(parent context.Context, now time.Time, d time.Duration) {
	b.parent = parent
	if d > 0 {
		b.kind, b.end = ofAttempt, now.Add(d)
	}
}

// boundKey finds the nearest Bound that a context derives from.
type boundKey struct{}

func nearest(ctx context.Context) *Bound {
	b, _ := ctx.Value(boundKey{}).(*Bound)
	return b
}

// hold makes the times of the tries that ctx belongs to stand still until unhold,
// which must follow, once, if there was anything to hold: a call that waits for
// its turn must not use up the time that it has for its work. It finds every one
// above ctx, however ctx was derived, and leaves items' times alone. Holds nest.
// Safe for concurrent use.
//
// The time runs only while nobody holds it. So if of several parallel calls in
// one try one waits while another hangs, it is the item's time that ends the
// try. While it is held, the context's Deadline is its parent's.
func hold(ctx context.Context) (any bool) {
	for b := nearest(ctx); b != nil; b = nearest(b.parent) {
		if b.kind == ofAttempt {
			b.hold()
			any = true
		}
	}
	return any
}

func unhold(ctx context.Context) {
	for b := nearest(ctx); b != nil; b = nearest(b.parent) {
		if b.kind == ofAttempt {
			b.unhold()
		}
	}
}

func (b *Bound) hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.holds++; b.holds > 1 {
		return
	}
	b.left = time.Until(b.end)
	if b.timer != nil && b.left > 0 { // else it is up, and the timer says so
		b.timer.Stop()
	}
}

func (b *Bound) unhold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.holds--; b.holds > 0 || b.left <= 0 {
		return
	}
	b.end = time.Now().Add(b.left)
	if b.timer != nil && b.inner.Err() == nil {
		b.timer.Reset(b.left)
	}
}

// up reports whether the time is up. The caller holds mu.
func (b *Bound) up() bool {
	switch {
	case b.kind == ofNothing:
		return false
	case b.holds > 0:
		return b.left <= 0
	}
	return time.Until(b.end) <= 0
}

// expired reports whether its own time was up, and nothing else ended it. Its
// timer may be about to fire in this very moment.
func (b *Bound) expired() bool {
	if err := b.Err(); err != nil && err != context.DeadlineExceeded {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up()
}

// Cancel ends the context, if it has not ended.
func (b *Bound) Cancel() {
	b.mu.Lock()
	switch {
	case b.cancel != nil:
		if b.timer != nil {
			b.timer.Stop()
		}
		if b.unhook != nil {
			b.unhook()
		}
		cancel := b.cancel
		b.mu.Unlock()
		cancel()
		return
	case b.parent.Err() == nil: // else the parent's end came first
		b.over = true
	}
	b.mu.Unlock()
}

// look returns the context of the standard library that tells the truth from
// now on. What derives from a Bound derives from that one: Value hands out its
// innards.
func (b *Bound) look() context.Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.inner != nil:
	case b.over: // whatever has happened to the parent since
		b.inner, b.cancel = context.WithCancel(context.WithoutCancel(b.parent))
		b.cancel()
	case b.kind == ofNothing:
		b.inner, b.cancel = context.WithCancel(b.parent)
	case b.kind == ofItem, b.parent.Err() != nil, b.up():
		b.inner, b.cancel = context.WithDeadline(b.parent, b.end)
	default:
		b.inner, b.cancel = context.WithCancel((*ending)(b))
		b.unhook = context.AfterFunc(b.parent, b.parentEnded)
		b.timer = time.AfterFunc(time.Until(b.end), b.ring)
		if b.holds > 0 {
			b.timer.Stop()
		}
	}
	return b.inner
}

// An ending is a holdable [Bound] as the standard library's context in it sees
// it: as the parent, which ends when and how the Bound says. The standard
// library has no deadline that can be moved, and ends a context with
// DeadlineExceeded only because its parent did.
type ending Bound

// unclosed is the channel of a parent that tells its end by AfterFunc.
var unclosed = make(chan struct{})

func (e *ending) Done() <-chan struct{}       { return unclosed }
func (e *ending) Deadline() (time.Time, bool) { return (*Bound)(e).Deadline() }
func (e *ending) Value(key any) any           { return e.parent.Value(key) }

// AfterFunc is how the standard library asks to be told. It does so once, in
// look, which holds mu.
func (e *ending) AfterFunc(fire func()) (stop func() bool) {
	e.fire = fire
	return func() bool { return true }
}

func (e *ending) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// ring ends it if its time is up. A timer that was stopped too late finds it
// held, or with time left.
func (b *Bound) ring() {
	b.mu.Lock()
	if b.holds > 0 && b.left > 0 || !b.up() {
		b.mu.Unlock()
		return
	}
	b.finish(context.DeadlineExceeded)
}

func (b *Bound) parentEnded() {
	b.mu.Lock()
	b.finish(b.parent.Err())
}

// finish ends inner with err, unless it has ended. The caller holds mu, which
// is released.
func (b *Bound) finish(err error) {
	first := b.err == nil
	if first {
		b.err = err
	}
	if b.timer != nil {
		b.timer.Stop()
	}
	fire := b.fire
	b.mu.Unlock()
	if first {
		fire()
	}
}

// Deadline returns the parent's or the Bound's own, whichever comes first. The
// own one moves when a hold ends, and does not count during one.
func (b *Bound) Deadline() (time.Time, bool) {
	end, ok := b.parent.Deadline()
	if b.kind == ofNothing {
		return end, ok
	}
	if b.kind == ofAttempt {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.holds > 0 && b.left > 0 {
			return end, ok
		}
	}
	if ok && end.Before(b.end) {
		return end, true
	}
	return b.end, true
}

// Done implements context.Context.
func (b *Bound) Done() <-chan struct{} { return b.look().Done() }

// Err implements context.Context.
func (b *Bound) Err() error {
	b.mu.Lock()
	unseen := b.inner == nil && !b.over
	still := unseen && !b.up()
	hooked := b.unhook != nil
	b.mu.Unlock()
	if still && b.parent.Err() == nil {
		return nil
	}
	inner := b.look()
	if hooked && inner.Err() == nil && b.parent.Err() != nil {
		b.parentEnded() // the watch of the parent is a goroutine: it comes later
	}
	return inner.Err()
}

// Value returns the parent's value. It looks, because context.Cause and
// derived contexts find the one that they derive from by a value.
func (b *Bound) Value(key any) any {
	switch key {
	case boundKey{}:
		return b
	case tryKey{}, triesKey{}:
		return b.parent.Value(key)
	}
	return b.look().Value(key)
}
