package fake

import (
	"slices"
	"sync"
	"time"
)

// slots are the places of a batch. They are given in the order of asking.
type slots struct {
	mu    sync.Mutex
	free  int
	queue []*waiter // those from head on wait
	head  int
}

// A waiter waits for a slot.
type waiter struct {
	ready chan time.Time // when it was given, cap 1
	left  bool           // guarded by slots.mu
}

// ask takes a slot and returns nil, or returns who waits for one.
func (s *slots) ask() *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 {
		s.free--
		return nil
	}
	w := &waiter{ready: make(chan time.Time, 1)}
	s.queue = append(s.queue, w)
	return w
}

// leave ends the wait of one who does not want the slot any more.
func (s *slots) leave(w *waiter) {
	s.mu.Lock()
	w.left = true
	given := len(w.ready) > 0
	s.mu.Unlock()
	if given {
		s.release()
	}
}

// release gives a slot back.
func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.head < len(s.queue) {
		w := s.queue[s.head]
		s.queue[s.head] = nil
		s.head++
		if s.head > len(s.queue)/2 { // keep the queue as short as what waits
			s.queue = slices.Delete(s.queue, 0, s.head)
			s.head = 0
		}
		if !w.left {
			w.ready <- time.Now()
			return
		}
	}
	s.free++
}
