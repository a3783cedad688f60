package call

import (
	"sort"
	"time"
)

// A window is what has started within the last minute (half-open: what started
// a minute ago is out), so that a limit holds in every rolling minute and not
// only on average. Starts closer together than grain are kept as one, at the
// last one's time: errors are on the safe side, and there are at most
// minute/grain charges, whatever the limit.
type window struct {
	grain            time.Duration
	drift            time.Duration // how far a charge may lie from where it was made
	ring             []charge      // its length is a power of two
	head, n          int
	requests, tokens int64 // sums
}

// A charge is what started from..at.
type charge struct {
	from, at         time.Duration
	requests, tokens int64
}

func (w *window) get(i int) *charge { return &w.ring[(w.head+i)&(len(w.ring)-1)] }

// expire drops what has left the minute that ends now.
func (w *window) expire(now time.Duration) {
	for w.n > 0 {
		c := w.get(0)
		if c.at > now-time.Minute && (c.requests != 0 || c.tokens != 0) {
			return
		}
		w.requests -= c.requests
		w.tokens -= c.tokens
		w.head = (w.head + 1) & (len(w.ring) - 1)
		w.n--
	}
}

// leaves is when the oldest charge leaves.
func (w *window) leaves() time.Duration {
	if w.n == 0 {
		return never
	}
	return w.get(0).at + time.Minute
}

func (w *window) add(now time.Duration, tokens int64) {
	tokens = min(tokens, maxCost)
	w.requests++
	w.tokens += tokens
	if w.n > 0 {
		if last := w.get(w.n - 1); now-last.from <= w.grain {
			last.at = max(last.at, now)
			last.requests++
			last.tokens += tokens
			return
		}
	}
	w.push(charge{from: now, at: now, requests: 1, tokens: tokens})
}

func (w *window) push(c charge) {
	if w.n == len(w.ring) {
		ring := make([]charge, max(2*w.n, 16))
		for i := range w.n {
			ring[i] = *w.get(i)
		}
		w.ring, w.head = ring, 0
	}
	w.n++
	*w.get(w.n - 1) = c
}

// find is the charge that holds what started at start; nil if that is out.
func (w *window) find(start time.Duration) *charge {
	i := sort.Search(w.n, func(i int) bool { return w.get(i).at >= start })
	var found *charge
	off := w.drift
	if i < w.n {
		if c := w.get(i); c.from-start <= off {
			found, off = c, max(c.from-start, 0)
		}
	}
	if i > 0 {
		if c := w.get(i - 1); start-c.at <= off && off > 0 {
			found = c
		}
	}
	return found
}

// correct adds to the charge of what started at start, if that is still in.
func (w *window) correct(start time.Duration, requests, tokens int64) {
	c := w.find(start)
	if c == nil {
		return
	}
	requests, tokens = max(requests, -c.requests), max(tokens, -c.tokens)
	c.requests += requests
	c.tokens += tokens
	w.requests += requests
	w.tokens += tokens
	for w.n > 0 { // a recording's answers leave nothing behind
		if last := w.get(w.n - 1); last.requests != 0 || last.tokens != 0 {
			return
		}
		w.n--
	}
}
