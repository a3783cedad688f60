package evaltest

import (
	"cmp"
	"sync"
	"time"

	"github.com/goevals/evals/evaltest/run"
)

// A turnstile lets items begin no faster than the run's scope lets them call:
// else a slow limit and many items at once would make a line in which the items'
// own time is used up, and they would fail for nothing.
type turnstile struct {
	mu     sync.Mutex
	active int           // items that have begun and not ended
	ended  chan struct{} // one has, for one that waits
}

// turnShare is the part of an item's time that it may spend in line at first.
const turnShare = 4

// turn waits until another item may begin, and reports whether one may. Then
// leave must be called when it has ended.
func (r *runner) turn() (ok bool) {
	if r.set.scope == nil {
		return true
	}
	for {
		wait := r.enter()
		if wait == 0 {
			return true
		}
		select {
		case <-r.stile.ended:
		case <-time.After(max(10*time.Millisecond, min(wait, time.Second))):
		case <-r.ctx.Done():
			return false
		}
		if r.gov.admit() != nil || !r.afford() {
			return false
		}
	}
}

// enter begins an item, or returns how long to wait before it is tried again.
func (r *runner) enter() (wait time.Duration) {
	s, most := r.set.scope, cmp.Or(r.set.itemTimeout, run.DefaultItemTimeout)/turnShare
	r.stile.mu.Lock()
	defer r.stile.mu.Unlock()
	st := s.Stats()
	unseen := max(r.stile.active-st.InFlight-st.Waiting, 0) // have begun, and may be about to call
	if slots := st.Concurrency; slots > 0 && st.InFlight+st.Waiting+unseen >= 3*slots {
		return time.Second
	}
	if over := s.Backlog(unseen+1) - most; over > 0 && r.stile.active > 0 {
		return over
	}
	r.stile.active++
	return 0
}

func (r *runner) leave() {
	if r.set.scope == nil {
		return
	}
	r.stile.mu.Lock()
	r.stile.active--
	r.stile.mu.Unlock()
	select {
	case r.stile.ended <- struct{}{}:
	default: // nobody waits, or somebody is told already
	}
}
