package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
)

// drain is how long the end of the body is waited for after [DONE], so that the
// connection can be used again.
const drain = 250 * time.Millisecond

// A watchdog ends a try that takes too long. It has one timer, which is set anew
// only when it fires: a fragment costs it one store, however many come.
type watchdog struct {
	start    time.Time // of the run
	sent     time.Duration
	limits   Timeouts
	cancel   context.CancelFunc
	fragment atomic.Int64 // when the last one came, plus 1; 0 for none
	done     atomic.Int64 // when [DONE] came, plus 1; 0 if it has not
	verdict  atomic.Pointer[expiry]

	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

// An expiry is why a try was ended; Class is "" after [DONE], when it did not
// fail.
type expiry struct {
	class record.Class
	limit time.Duration
}

// watch starts w for a try that is sent now.
func (w *watchdog) watch() {
	at, _, ok := w.next(w.sent)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(at-w.sent, w.check)
}

// progress notes a fragment.
func (w *watchdog) progress(at time.Duration) { w.fragment.Store(int64(at) + 1) }

// finished notes the end of the answer, before that of the body.
func (w *watchdog) finished(at time.Duration) {
	if !w.done.CompareAndSwap(0, int64(at)+1) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		w.timer = time.AfterFunc(drain, w.check)
		return
	}
	w.timer.Reset(drain)
}

// stop ends the watch.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// check runs when the timer fires.
func (w *watchdog) check() {
	now := time.Since(w.start)
	at, why, ok := w.next(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over || !ok:
	case now >= at:
		w.verdict.Store(&why)
		w.cancel()
	default:
		w.timer.Reset(at - now)
	}
}

// next is when to look again, and why the try is over if that moment has come;
// ok is false if there is no limit.
func (w *watchdog) next(now time.Duration) (at time.Duration, why expiry, ok bool) {
	if done := w.done.Load(); done > 0 {
		return time.Duration(done-1) + drain, expiry{}, true
	}
	earlier := func(t time.Duration, class record.Class, limit time.Duration) {
		if !ok || t < at {
			at, why, ok = t, expiry{class, limit}, true
		}
	}
	if d := w.limits.Total; d > 0 {
		earlier(w.sent+d, record.TimeoutTotal, d)
	}
	last := w.fragment.Load()
	if d := w.limits.First; d > 0 && last == 0 {
		earlier(w.sent+d, record.TimeoutFirst, d)
	}
	if d := w.limits.Idle; d > 0 && last > 0 {
		earlier(time.Duration(last-1)+d, record.TimeoutIdle, d)
	} else if d > 0 {
		// A fragment that comes from now on is good for d: no need to look before.
		earlier(now+d, record.TimeoutIdle, d)
	}
	return at, why, ok
}
