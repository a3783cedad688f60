package agent

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"time"
)

// A slotPool gives out the lowest free slot, so that trajectories that are
// active together have neighboring ones and spread evenly over ranks.
type slotPool struct {
	free  intHeap
	given int // slots that exist
}

func (p *slotPool) acquire() int {
	if len(p.free) > 0 {
		return heap.Pop(&p.free).(int)
	}
	p.given++
	return p.given - 1
}

func (p *slotPool) release(slot int) { heap.Push(&p.free, slot) }

type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// runOpen admits each trajectory when it is due. What is active never holds up
// the clock: a trajectory that finds all slots taken waits in a line of its own.
func (e *engine) runOpen(ctx context.Context) {
	e.order = slices.Clone(e.order)
	slices.SortStableFunc(e.order, func(a, b *Plan) int { return cmp.Compare(a.StartAfter, b.StartAfter) })
	e.ahead(ctx, 1)
	e.start = time.Now()
	e.result.Start = e.start
	arrivals, paced := e.pace(ctx)
	defer func() { <-paced }()
	var slots slotPool
	var line []int // places that wait for a slot
	over := ctx.Done()
	for arrivals != nil || e.active > 0 || len(line) > 0 {
		select {
		case place, ok := <-arrivals:
			switch {
			case !ok:
				arrivals = nil
			case over == nil: // it came just when the run ended
			case e.cfg.MaxActive > 0 && e.active >= e.cfg.MaxActive:
				e.result.Late++
				line = append(line, place)
			default:
				e.admit(ctx, place, slots.acquire())
			}
		case s := <-e.ended:
			slots.release(s.ev.Slot)
			e.collect(s)
			if len(line) > 0 {
				e.admit(ctx, line[0], slots.acquire())
				line = line[1:]
			}
		case <-over:
			over, line = nil, nil
		}
	}
	e.result.MaxActive = slots.given
}

// pace sends each place of the order when it is due, on an absolute schedule,
// and closes the channel behind the last or when the context ends.
func (e *engine) pace(ctx context.Context) (arrivals <-chan int, done <-chan struct{}) {
	out, end := make(chan int), make(chan struct{})
	go func() {
		defer close(end)
		defer close(out)
		for place, p := range e.order {
			if e.cfg.Wait(ctx, e.start.Add(p.StartAfter)) != nil {
				return
			}
			select {
			case out <- place:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, end
}
