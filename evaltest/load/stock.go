package load

import (
	"context"
	"runtime"
	"sync"

	"github.com/goevals/evals/evaltest/load/workload"
)

// A good is a request that is ready to be sent, or why it cannot be.
type good struct {
	req   workload.Request
	body  []byte
	whole bool
	err   error
}

// A stock makes requests before they are due, so that making them is in no time
// that is measured. It keeps so many ahead in each lane: a lane is a user's own
// requests, or all requests in one.
//
// What is taken before it was made is waited for by the one who sends it, never
// by the schedule: that shows as lag.
type stock struct {
	make  func(seq int) good
	entry func(lane, i int) int  // the number of a lane's i-th request in the source
	end   func(lane, i int) bool // a lane has no i-th request

	lanes []lane
	ahead int // how many are made in each before they are taken
	jobs  chan job
	done  sync.WaitGroup
}

type lane struct {
	mu   sync.Mutex
	made map[int]chan good // ordered and not taken
	next int               // the first that was not ordered
}

type job struct {
	seq  int
	into chan good // has room for it
}

// open starts the makers and returns when each lane has its first requests, or
// the context ends.
func (s *stock) open(ctx context.Context, lanes, ahead int) {
	s.lanes, s.ahead = make([]lane, lanes), ahead
	s.jobs = make(chan job, lanes*ahead)
	for range runtime.GOMAXPROCS(0) {
		s.done.Go(func() {
			for j := range s.jobs {
				j.into <- s.make(j.seq)
			}
		})
	}
	for l := range s.lanes {
		s.lanes[l].made = make(map[int]chan good, ahead+1)
	}
	for range ahead { // all first ones before any second one
		for l := range s.lanes {
			s.further(l)
		}
	}
	for l := range s.lanes {
		for _, ch := range s.lanes[l].made {
			select {
			case g := <-ch:
				ch <- g
			case <-ctx.Done():
				return
			}
		}
	}
}

// further has the next request of a lane made, if there is one and the makers
// have not enough to do.
func (s *stock) further(l int) {
	ln := &s.lanes[l]
	if s.end(l, ln.next) {
		return
	}
	ch := make(chan good, 1)
	select {
	case s.jobs <- job{s.entry(l, ln.next), ch}:
		ln.made[ln.next] = ch
		ln.next++
	default:
	}
}

// take returns a lane's i-th request, each of which is taken or skipped once. ok
// is false if there is none, or the context ended first.
func (s *stock) take(ctx context.Context, l, i int) (g good, ok bool) {
	if s.end(l, i) {
		return good{}, false
	}
	ln := &s.lanes[l]
	ln.mu.Lock()
	ch, made := ln.made[i]
	delete(ln.made, i)
	ln.next = max(ln.next, i+1)
	for range 2 { // one in its place, and one to catch up where some were skipped
		if len(ln.made) < s.ahead {
			s.further(l)
		}
	}
	ln.mu.Unlock()
	if !made {
		ch = make(chan good, 1)
		select {
		case s.jobs <- job{s.entry(l, i), ch}:
		case <-ctx.Done():
			return good{}, false
		}
	}
	select {
	case g = <-ch:
		return g, true
	case <-ctx.Done():
		return good{}, false
	}
}

// skip gives up a lane's i-th request. It waits for nothing, and has nothing
// made: where most are skipped, their texts would be all that the client does.
func (s *stock) skip(l, i int) {
	ln := &s.lanes[l]
	ln.mu.Lock()
	defer ln.mu.Unlock()
	delete(ln.made, i)
	ln.next = max(ln.next, i+1)
}

// close ends the makers. Nothing may be taken any more.
func (s *stock) close() {
	close(s.jobs)
	for range s.jobs { // nobody wants them now
	}
	s.done.Wait()
}
