package call

import "time"

// A waiter is one call that waits for its turn.
type waiter struct {
	tokens   int64
	deadline time.Duration // of its context; forever if it has none
	before   [stages]time.Duration

	ready chan struct{} // closed when it may start or has failed
	grant *grant        // nil if it has failed
	err   error
	waits Waits

	ticket     uint64 // of its place: the smaller, the further ahead
	prev, next *waiter
	inLine     bool
}

const forever = 1<<61*time.Nanosecond - 1

// A line is who waits, first come first served. Everything but putting
// somebody back takes the same time however long it is.
type line struct {
	front, back *waiter
	n           int
	tokens      int64 // of all
	tickets     uint64
}

// ticket is the next place.
func (l *line) ticket() uint64 {
	l.tickets++
	return l.tickets
}

// insert puts w where its ticket says: at the end if it is new, and before all
// who came later if it was sent back.
func (l *line) insert(w *waiter) {
	after := l.back
	if after != nil && after.ticket > w.ticket {
		after = nil
		for at := l.front; at.ticket < w.ticket; at = at.next {
			after = at // few: only those sent back in the same moment
		}
	}
	w.prev, w.next, w.inLine = after, l.front, true
	if after != nil {
		w.next = after.next
		after.next = w
	} else {
		l.front = w
	}
	if w.next != nil {
		w.next.prev = w
	} else {
		l.back = w
	}
	l.n++
	l.tokens += w.tokens
}

func (l *line) leave(w *waiter) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.front = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.back = w.prev
	}
	w.prev, w.next, w.inLine = nil, nil, false
	l.n--
	l.tokens -= w.tokens
}

// A stage is what the first in line waits for.
type stage int

const (
	ready stage = iota
	forPause
	forLimit
	forSlot
	stages
)

// A watch adds up what the line has waited for. All in it wait for what the
// first one waits for, so one clock serves all, whenever they came.
type watch struct {
	spent [stages]time.Duration
	stage stage
	since time.Duration
}

// turn ends what was waited for until now.
func (w *watch) turn(now time.Duration, to stage) {
	w.spent[w.stage] += max(now-w.since, 0)
	w.stage, w.since = to, now
}

// waits is what somebody has waited since before was read.
func (w *watch) waits(before [stages]time.Duration) Waits {
	return Waits{
		Pause: w.spent[forPause] - before[forPause],
		Limit: w.spent[forLimit] - before[forLimit],
		Slot:  w.spent[forSlot] - before[forSlot],
	}
}
