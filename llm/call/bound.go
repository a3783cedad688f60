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
// if its time was up. Safe for concurrent use. Make one with [Until].
type Bound struct {
	parent context.Context
	end    time.Time

	mu     sync.Mutex
	over   bool            // Cancel ended it before anybody looked
	inner  context.Context // what the standard library makes of it; nil until somebody looks
	cancel context.CancelFunc
}

var _ context.Context = (*Bound)(nil)

// Until returns a context that ends at end. Cancel it when the work is done.
func Until(parent context.Context, end time.Time) *Bound {
	return &Bound{parent: parent, end: end}
}

// Cancel ends the context, if it has not ended.
func (b *Bound) Cancel() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancel != nil {
		b.cancel()
	} else if b.parent.Err() == nil { // else the parent's end came first
		b.over = true
	}
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
	default:
		b.inner, b.cancel = context.WithDeadline(b.parent, b.end)
	}
	return b.inner
}

// Deadline returns the parent's or the Bound's own, whichever comes first.
func (b *Bound) Deadline() (time.Time, bool) {
	if end, ok := b.parent.Deadline(); ok && end.Before(b.end) {
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
	b.mu.Unlock()
	if unseen && b.parent.Err() == nil && time.Until(b.end) > 0 {
		return nil
	}
	return b.look().Err()
}

// Value returns the parent's value. It looks, because context.Cause and
// derived contexts find the one that they derive from by a value.
func (b *Bound) Value(key any) any { return b.look().Value(key) }
