package fake

import (
	"container/heap"
	"sync"
	"time"
)

// An alarm is a clock of the system that rings once.
type alarm interface {
	// set makes it ring after d, and not when it was to ring before.
	set(d time.Duration)
	// wait returns true when it has rung, and false when it has been closed.
	wait() bool
	close()
}

// A wheel wakes goroutines when they are due, with one alarm for all of them.
// The runtime's timers round their waits up to milliseconds while no goroutine
// runs, so that on an idle machine half of all events would be late by half a
// millisecond, which is more than the writing of a hundred of them takes.
type wheel struct {
	alarm alarm

	mu     sync.Mutex
	due    sleepers
	closed bool
}

// A sleeper is one goroutine that waits, once at a time.
type sleeper struct {
	at   time.Time
	wake chan struct{} // cap 1
	in   int           // its place in the heap; -1: none. Guarded by wheel.mu.
}

func newSleeper() *sleeper { return &sleeper{wake: make(chan struct{}, 1), in: -1} }

// run wakes until the wheel is closed.
func (w *wheel) run() {
	for w.alarm.wait() {
		w.mu.Lock()
		now := time.Now()
		for len(w.due) > 0 && !w.due[0].at.After(now) {
			heap.Pop(&w.due).(*sleeper).wake <- struct{}{}
		}
		w.reset()
		w.mu.Unlock()
	}
}

// reset sets the alarm for the first that is due.
func (w *wheel) reset() {
	if len(w.due) > 0 && !w.closed {
		w.alarm.set(max(time.Until(w.due[0].at), 1))
	}
}

// add makes s be woken at a time.
func (w *wheel) add(s *sleeper, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.at = at
	heap.Push(&w.due, s)
	if s.in == 0 {
		w.reset()
	}
}

// drop takes back add. An alarm that rings for nobody does no harm.
func (w *wheel) drop(s *sleeper) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.in >= 0 {
		heap.Remove(&w.due, s.in)
	}
	select {
	case <-s.wake:
	default:
	}
}

func (w *wheel) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.alarm.close()
}

// sleepers are a heap.
type sleepers []*sleeper

func (h sleepers) Len() int           { return len(h) }
func (h sleepers) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h sleepers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].in, h[j].in = i, j
}

// Push and Pop are container/heap's.
func (h *sleepers) Push(x any) {
	s := x.(*sleeper)
	s.in = len(*h)
	*h = append(*h, s)
}

func (h *sleepers) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	s.in = -1
	return s
}
