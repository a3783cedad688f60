package trace

import (
	"strconv"
	"time"
)

// A linker makes turns of rows that come in order of time.
type linker struct {
	rep   *Report
	lanes bool // calls of a session that overlap get sessions of their own
	last  map[string]*turnState
	// apart counts the further lanes of a session.
	apart map[string]int
}

// turnState is the last turn of a session.
type turnState struct {
	turn    int
	at      time.Duration
	elapsed time.Duration
}

func (t *turnState) end() time.Duration { return t.at + t.elapsed }

func newLinker(rep *Report) *linker {
	return &linker{rep: rep, lanes: rep.Kind == OTel, last: map[string]*turnState{}, apart: map[string]int{}}
}

// link sets the turn and delay of a row whose At is known, and counts.
func (l *linker) link(r *raw) {
	l.rep.Input += int64(r.Input)
	l.rep.Output += int64(r.Output)
	if r.Session == "" {
		l.rep.Alone++
		r.Delay = 0
		l.rep.Turns = max(l.rep.Turns, 1)
		return
	}
	if l.lanes {
		r.Session = l.lane(r.Session, r.At)
	}
	before := l.last[r.Session]
	now := &turnState{at: r.At, elapsed: r.Elapsed}
	l.last[r.Session] = now
	switch {
	case before == nil:
		l.rep.Sessions++
		r.Delay = 0
	default:
		now.turn = before.turn + 1
		if !r.stated && r.Timed {
			r.Delay = max(0, r.At-before.end())
			if before.elapsed == 0 && r.Delay > 0 {
				l.rep.GapDelays++
			}
		}
	}
	r.Turn = now.turn
	l.rep.Turns = max(l.rep.Turns, now.turn+1)
}

// lane returns the session itself, or that of its lanes whose last call ended
// last before this one began.
func (l *linker) lane(session string, at time.Duration) string {
	best, found := "", false
	for i := 0; i <= l.apart[session]; i++ {
		name := laneName(session, i)
		if t := l.last[name]; t == nil || t.end() <= at {
			if !found || t != nil && t.end() > l.last[best].end() {
				best, found = name, true
			}
		}
	}
	if !found {
		l.rep.Lanes++
		l.apart[session]++
		best = laneName(session, l.apart[session])
	}
	return best
}

func laneName(session string, i int) string {
	if i == 0 {
		return session
	}
	return session + "~lane" + strconv.Itoa(i+1)
}
