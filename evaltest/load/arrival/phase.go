package arrival

import (
	"fmt"
	"iter"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
)

// A Limit ends a phase: after a time, after a count, or after whichever comes
// first. The zero Limit sets none.
type Limit struct {
	For   time.Duration `json:"for_ns,omitempty"` // since the phase began; 0: no limit
	Count int           `json:"count,omitempty"`  // of arrivals; 0: no limit
}

// Phases cuts a run into warm-up, measured part and cool-down. The load is the
// same in all three and goes through them without a gap: connections, caches and
// queues are as they will be before the first request counts, and stay so while
// the last that counts are answered. A warm-up that drains first, or a measured
// part that ends in silence, would measure another server.
//
// The schedule does not know of phases. A ramp that should not count is a first
// stage with a warm-up of the same length.
//
// A request belongs to the phase in which it is due. A phase that ends after a
// time includes its beginning and excludes its end. One that ends after a count
// is followed by the next at that one's first arrival.
type Phases struct {
	// Warmup comes first; the zero Limit: none.
	Warmup Limit `json:"warm_up,omitzero"`
	// Measured is what counts; the zero Limit: all the rest.
	Measured Limit `json:"measured,omitzero"`
	// Cooldown comes last; the zero Limit: none. With a For of [Forever] the
	// load is kept on until the run's context ends, which lets a caller end it
	// when the last measured request has been answered.
	Cooldown Limit `json:"cool_down,omitzero"`
}

// An Arrival is one request that is due.
type Arrival struct {
	// Seq numbers the arrivals of a run, from 0.
	Seq int
	// User is the closed-loop user, from 0, and Turn counts its requests, from
	// 0. Both are 0 in an open loop.
	User, Turn int
	// Due is when it should be sent, and At when it was handed over, both as
	// offsets from the run's start. At is 0 where nothing was paced.
	Due, At time.Duration
	// Phase is the part of the run in which it is due.
	Phase record.Phase
}

var names = [3]record.Phase{record.Warmup, record.Measured, record.Cooldown}

func (p Phases) limits() [3]Limit { return [3]Limit{p.Warmup, p.Measured, p.Cooldown} }

// Check returns an *[OptionError] for a negative limit, an endless warm-up, and
// a cool-down after a measured part that does not end.
func (p Phases) Check() error {
	for i, l := range p.limits() {
		if err := refuse(l.For >= 0, fmt.Sprintf("the %s phase's For", names[i]), l.For, "it must not be negative"); err != nil {
			return err
		}
		if err := refuse(l.Count >= 0, fmt.Sprintf("the %s phase's Count", names[i]), l.Count, "it must not be negative"); err != nil {
			return err
		}
	}
	if err := refuse(p.Warmup == Limit{} || !p.Warmup.open(), "the warm-up phase's For", "forever", "nothing would be measured"); err != nil {
		return err
	}
	return refuse(!p.Measured.open() || p.Cooldown == Limit{}, "the measured phase", "without an end", "limit it, or leave the cool-down out")
}

// Fits returns an error if the schedule cannot fill the phases: it ends before
// they do, or is expected to have fewer arrivals than they count. An endless
// cool-down is filled by what is left. A random schedule that fits may still
// have too few arrivals in one run; [Report] says then that they were exhausted.
func (p Phases) Fits(s Schedule) error {
	if err := p.Check(); err != nil {
		return err
	}
	length, finite := s.Length()
	if !finite {
		return nil
	}
	end := length
	if s.offsets != nil {
		end++ // a trace's last arrival is due at its length
	}
	has := s.Expected(0, end)
	from, used := time.Duration(0), 0.0 // where the phase begins, and the arrivals expected before
	for i, l := range p.limits() {
		switch {
		case l == (Limit{}) && i != 1:
			continue
		case l.open(): // it takes what is left
			return refuse(i == 2 || from < end, "the measured phase", "without a limit", fmt.Sprintf("the warm-up takes until %v, and the schedule (%v) ends at %v", from, s, length))
		}
		// Half an arrival: 10/s for 1 s may be a bit under 10 as a float.
		byCount := l.Count > 0 && used+float64(l.Count) <= has+0.5
		byTime := l.For > 0 && l.For <= end-from
		next := end
		switch {
		case !byCount && !byTime && l.Count > 0:
			return &OptionError{fmt.Sprintf("the %s phase's Count", names[i]), l.Count, fmt.Sprintf("the schedule (%v) is expected to have %.1f arrivals from its beginning at %v on", s, has-used, from)}
		case !byTime && l.Count == 0:
			return &OptionError{fmt.Sprintf("the %s phase's For", names[i]), l.For, fmt.Sprintf("it begins at %v, and the schedule (%v) ends at %v", from, s, length)}
		}
		if byCount {
			next = s.when(used + float64(l.Count))
		}
		if byTime {
			next = min(next, from+l.For)
		}
		from, used = next, s.Expected(0, next)
	}
	return nil
}

// Label numbers the times and says in which phase each is. It ends with the
// times or when the phases are full; for a dry run this is all that is needed.
// Phases that [Phases.Check] refuses panic.
func (p Phases) Label(times iter.Seq[time.Duration]) iter.Seq[Arrival] {
	if err := p.Check(); err != nil {
		panic(err)
	}
	return func(yield func(Arrival) bool) {
		l := labeler{limits: p.limits()}
		seq := 0
		for due := range times {
			phase, ok := l.label(due)
			if !ok || !yield(Arrival{Seq: seq, Due: due, Phase: names[phase]}) {
				return
			}
			seq++
		}
	}
}

// A labeler assigns arrivals to phases. Arrivals may come a little out of order,
// as they do from many users: each goes by its own due time, where no count has
// closed the phase.
type labeler struct {
	limits [3]Limit
	counts [3]int
	last   [3]time.Duration // due time of a phase's last arrival
	begun  [4]bool          // whether begin is known; of the fourth, the plan's end
	begin  [4]time.Duration
}

// label returns the index of the phase of an arrival that is due then and
// counts it; ok is false if it comes after the last phase.
func (l *labeler) label(due time.Duration) (phase int, ok bool) {
	l.begun[0] = true
	for p, limit := range l.limits {
		switch {
		case l.absent(p):
			l.start(p+1, l.begin[p])
		case limit.For > 0 && due-l.begin[p] >= limit.For:
			l.start(p+1, l.begin[p]+limit.For)
		case limit.Count > 0 && l.counts[p] >= limit.Count:
			l.start(p+1, due)
		default:
			l.counts[p]++
			l.last[p] = max(l.last[p], due)
			return p, true
		}
	}
	return 0, false
}

// over reports whether an arrival due then comes after the last phase. What is
// over stays so, whatever arrives in between. If it is, the ends of the phases
// are written down as label does.
func (l *labeler) over(due time.Duration) bool {
	peek := *l
	if _, ok := peek.label(due); ok {
		return false
	}
	*l = peek
	return true
}

// satisfied reports whether a run whose arrivals ended by themselves at end has
// filled the phases: each has had its time or its count, or has no limit.
func (l *labeler) satisfied(end time.Duration) bool {
	if l.full() || l.over(end) {
		return true
	}
	peek := *l
	p, _ := peek.label(end)
	return l.limits[p].open()
}

// open reports whether the limit never ends a phase.
func (l Limit) open() bool { return l.Count == 0 && (l.For == 0 || l.For == Forever) }

// absent reports whether phase p is left out.
func (l *labeler) absent(p int) bool { return p != 1 && l.limits[p] == Limit{} }

func (l *labeler) start(p int, at time.Duration) {
	if !l.begun[p] {
		l.begun[p], l.begin[p] = true, at
	}
}

// full reports whether the counts alone leave no room for another arrival.
func (l *labeler) full() bool {
	for p, limit := range l.limits {
		if !l.absent(p) && (limit.Count == 0 || l.counts[p] < limit.Count) {
			return false
		}
	}
	return true
}

// end returns when the last phase ends, once that is known by its beginning and
// length; a count may still end it sooner.
func (l *labeler) end() (at time.Duration, known bool) {
	for p := 2; p >= 0; p-- {
		if l.absent(p) {
			continue
		}
		length := l.limits[p].For
		if !l.begun[p] || length == 0 || length > Forever-l.begin[p] {
			return 0, false
		}
		return l.begin[p] + length, true
	}
	return 0, false
}

// window returns the measured phase's times in a run that ended at end.
func (l *labeler) window(end time.Duration) Window {
	from, limit := l.begin[1], l.limits[1]
	switch {
	case !l.begun[1]:
		return Window{}
	case limit.Count > 0 && l.counts[1] >= limit.Count && l.counts[2] == 0:
		return Window{from, l.last[1]}
	case l.begun[2]:
		return Window{from, l.begin[2]}
	case limit.For > 0 && end-from >= limit.For:
		return Window{from, from + limit.For}
	}
	return Window{from, max(end, from)}
}
