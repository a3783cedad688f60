package agent

import (
	"context"
	"time"
)

// A seat is a plan, by its place in the order, that has been given a slot.
type seat struct{ place, slot int }

// rolling gives slots to plans in their order. A plan keeps its slot for life;
// the next in line inherits it.
type rolling struct{ next, plans int }

// first gives the slots from 0 to the first plans.
func (r *rolling) first(slots int) (seats []seat) {
	for range min(slots, r.plans) {
		seats = append(seats, seat{r.next, r.next})
		r.next++
	}
	return seats
}

// inherit gives a slot that became free to the next plan.
func (r *rolling) inherit(slot int) (seat, bool) {
	if r.next >= r.plans {
		return seat{}, false
	}
	s := seat{r.next, slot}
	r.next++
	return s, true
}

// runClosed keeps MaxActive trajectories active. Seats are admitted strictly
// in the order in which they were given, so that the order of requests does
// not hang on how fast a text is made; the lookahead makes waiting rare.
func (e *engine) runClosed(ctx context.Context) {
	e.ahead(ctx, e.cfg.MaxActive)
	e.start = time.Now()
	e.result.Start, e.result.MaxActive = e.start, e.cfg.MaxActive
	r := &rolling{plans: len(e.order)}
	waiting := r.first(e.cfg.MaxActive)
	over := ctx.Done()
	for e.active > 0 || len(waiting) > 0 {
		var head <-chan struct{}
		if len(waiting) > 0 {
			head = e.open(waiting[0].place).done
		}
		select {
		case <-over:
			over, waiting = nil, nil
			continue
		default:
		}
		select {
		case <-head:
			e.admit(ctx, waiting[0].place, waiting[0].slot)
			waiting = waiting[1:]
		case s := <-e.ended:
			e.collect(s)
			if over == nil {
				break
			}
			if next, ok := r.inherit(s.ev.Slot); ok {
				waiting = append(waiting, next)
			}
		case <-over:
			over, waiting = nil, nil
		}
	}
}
