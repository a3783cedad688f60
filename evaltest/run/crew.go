package run

import (
	"context"
	"sync"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm/call"
)

// A Crew runs items as [Config.Item] does, in goroutines that it keeps from one
// item to the next: a new one's stack is small and would grow for every item
// anew, which costs as much as all the rest. Make one with [Config.Crew] and
// Close it when all items are done. It has as many goroutines as there are
// calls of Item at once, in which it is safe for concurrent use.
type Crew struct {
	c    *Config
	ctx  context.Context
	then func(*result.Record) error

	mu   sync.Mutex
	idle []*hand // the last one used comes first: its stack is warm
}

// Crew returns a crew for items that end with ctx. then is called with every
// record, once, in the goroutine that made it, before Item returns: there a
// journal is best written. nil for nothing. c must have passed Check.
func (c *Config) Crew(ctx context.Context, then func(*result.Record) error) *Crew {
	if then == nil {
		then = func(*result.Record) error { return nil }
	}
	return &Crew{c: c, ctx: ctx, then: then}
}

// Item runs one sample of an item to its end and returns its record, see
// [Config.Item], and what then said of it.
func (cr *Crew) Item(item dataset.Item, sample int) (*result.Record, error) {
	if cr.ctx.Err() != nil {
		rec := NotRun(item, sample, "not started: "+context.Cause(cr.ctx).Error())
		return &rec, cr.then(&rec)
	}
	now := time.Now()
	h := cr.take()
	o := newOne(cr, h, item, sample, now)
	o.ctx = h.ctx
	var end time.Time
	if d := cr.c.itemTimeout(); d > 0 {
		end = now.Add(d)
		bound := call.Until(h.ctx, end)
		defer bound.Cancel()
		o.ctx = bound
		h.ring(end, now)
	}
	h.work <- o
	if rec := h.wait(o, end); rec != nil {
		cr.dismiss(h)
		return rec, cr.then(rec)
	}
	if h.spent {
		cr.dismiss(h)
	} else {
		cr.put(h)
	}
	return o.rec, o.err
}

// Close ends the goroutines, those left behind excepted.
func (cr *Crew) Close() {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	for _, h := range cr.idle {
		close(h.work)
		cr.dismiss(h)
	}
	cr.idle = nil
}

// take returns a hand with nothing to do.
func (cr *Crew) take() *hand {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	if n := len(cr.idle); n > 0 {
		h := cr.idle[n-1]
		cr.idle = cr.idle[:n-1]
		return h
	}
	h := &hand{work: make(chan *one), wake: make(chan struct{}, 1)}
	// A context of its own: else items would all wait for the one lock of
	// their common parent.
	h.ctx, h.cancel = context.WithCancel(cr.ctx)
	h.unwatch = context.AfterFunc(h.ctx, h.poke)
	go h.serve()
	return h
}

func (cr *Crew) put(h *hand) {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	cr.idle = append(cr.idle, h)
}

// dismiss releases what a hand holds that gets no more work.
func (cr *Crew) dismiss(h *hand) {
	h.unwatch()
	h.cancel()
	if h.bell != nil {
		h.bell.Stop()
	}
}

// A hand is a goroutine that runs one item after another, and what its caller
// needs to wait for one of them: everything but serve is the caller's.
type hand struct {
	ctx     context.Context
	cancel  context.CancelFunc
	unwatch func() bool // ends the watch of ctx
	work    chan *one
	// wake says that there may be news: the item is done, ctx has ended, or
	// the bell rang. One channel for all, with room for one: to wait in select
	// for three, a timer's among them, costs more than the goroutine.
	wake  chan struct{}
	bell  *time.Timer
	rings time.Time // when the bell rings next; zero if it does not
	spent bool      // the goroutine has ended, or is about to
}

func (h *hand) poke() {
	select {
	case h.wake <- struct{}{}:
	default: // there is news already
	}
}

// ring sees to it that the bell rings at t at the latest. It often rings
// earlier, as earlier items needed it: then wait sets it anew. So it is set
// once in an item's timeout and not twice an item.
func (h *hand) ring(t, now time.Time) {
	pending := !h.rings.IsZero() && now.Before(h.rings)
	if pending && !h.rings.After(t) {
		return
	}
	h.rings = t
	if h.bell == nil {
		h.bell = time.AfterFunc(t.Sub(now), h.poke)
	} else {
		h.bell.Reset(t.Sub(now))
	}
}

// wait returns nil when the item is done. If it does not return in time, it is
// abandoned and wait returns its record as it stands. end is when the item's
// time is up, or zero.
func (h *hand) wait(o *one, end time.Time) *result.Record {
	var last time.Time // when it is abandoned, once its time is up
	for {
		<-h.wake
		if o.done.Load() {
			return nil
		}
		now := time.Now()
		if last.IsZero() && (h.ctx.Err() != nil || !end.IsZero() && !now.Before(end)) {
			last = now.Add(o.c.grace())
		}
		switch {
		case last.IsZero() && end.IsZero():
		case last.IsZero():
			h.ring(end, now)
		case now.Before(last):
			h.ring(last, now)
		default:
			if rec := o.abandon(); rec != nil {
				return rec
			} // else it has ended, and its record is being dealt with
		}
	}
}

// serve is the goroutine.
func (h *hand) serve() {
	for o := range h.work {
		if !o.main() {
			return
		}
	}
}
