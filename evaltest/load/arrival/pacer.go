package arrival

import (
	"context"
	"iter"
	"math/rand/v2"
	"runtime"
	"time"
)

// A Pacer hands over arrivals when they are due. The zero value works.
type Pacer struct {
	// Start is the run's start, from which all offsets count; the zero Time:
	// when the run begins. One in the past makes the first arrivals late, one in
	// the future is waited for.
	Start time.Time
	// Phases labels and ends the run; the zero value measures everything.
	Phases Phases
	// Waiter waits for each arrival. Nil: a [Spin], or [Sleep] where Go has a
	// single processor to run on, because a spinning goroutine would keep the
	// network from being polled there. Use Sleep where a busy processor is
	// not wanted.
	Waiter Waiter
	// LateAfter is the lag above which an arrival counts as late; 0 or below:
	// [DefaultLateAfter].
	LateAfter time.Duration
}

// End says why a run ended.
type End string

// Ends.
const (
	Complete  End = "complete"  // the phases were full
	Exhausted End = "exhausted" // the schedule, or every user's requests, came to an end before the phases
	Stopped   End = "stopped"   // the context ended
)

// A Window is a part of a run, as offsets from its start. It includes From and
// excludes To.
type Window struct {
	From time.Duration `json:"from_ns"`
	To   time.Duration `json:"to_ns"`
}

// Length is To - From.
func (w Window) Length() time.Duration { return w.To - w.From }

// A Report says what was handed over, and how well times were kept.
type Report struct {
	// Total is of all arrivals, Measured of those in the measured phase.
	Total    Pace `json:"total"`
	Measured Pace `json:"measured"`
	// Warmup and Cooldown count the arrivals that do not count.
	Warmup   int `json:"warm_up"`
	Cooldown int `json:"cool_down"`
	// Window is the measured phase, cut off where the run ended; zero if it
	// did not begin. Ended by its count, with nothing after, it ends with its
	// last arrival, which counts.
	Window Window `json:"window"`
	// Longest is the longest that the function took to which arrivals are
	// handed. It must return at once: where this is more than some µs, the
	// lag is its doing. 0 in a closed loop, where it is the request.
	Longest time.Duration `json:"longest_hand_over_ns"`
	// Spin is the spin window at the end; 0 if nothing was spun.
	Spin time.Duration `json:"spin_window_ns"`
	// End is why the run ended.
	End End `json:"end"`
}

// Run calls send at each of the schedule's times, in order, on the caller's
// goroutine, and returns when the phases are full, the schedule ends or ctx
// ends. It returns then, not when requests have been answered.
//
// The times are offsets from Start and are kept as they are: an arrival that is
// handed over late does not move the next. What has become overdue is handed
// over at once, one after the other, and none is left out. So send must not
// wait for anything: not for the answer, not for a free slot. A limit to what
// is in flight would make this a closed loop and hide the server's queue; a
// send that blocks nevertheless shows in the Report as lag and as Longest.
//
// The generator is [Schedule.Times]'s: it may be nil for an even schedule or a
// trace. Phases that [Phases.Check] refuses and a nil send panic.
func (p Pacer) Run(ctx context.Context, s Schedule, r *rand.Rand, send func(Arrival)) Report {
	if send == nil {
		panic("arrival.Pacer.Run: send is nil")
	}
	return p.run(ctx, s, r, func(a Arrival) bool { send(a); return true })
}

// Arrivals returns the arrivals as a sequence that yields each when it is due;
// the loop's body takes the place of Run's function, and all that is said there
// holds. With iter.Pull a loop that another rules, such as a benchmark's, can
// take them one at a time. Into, if not nil, gets the report when the sequence
// ends or is left; leaving it counts as [Stopped].
func (p Pacer) Arrivals(ctx context.Context, s Schedule, r *rand.Rand, into *Report) iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		report := p.run(ctx, s, r, yield)
		if into != nil {
			*into = report
		}
	}
}

func (p Pacer) run(ctx context.Context, s Schedule, r *rand.Rand, yield func(Arrival) bool) (report Report) {
	if err := p.Phases.Check(); err != nil {
		panic(err)
	}
	waiter := p.waiter()
	b := newBook(p.Phases, p.LateAfter, p.Start)
	for due := range s.Times(r) {
		// What comes after the phases by the schedule needs no waiting for.
		if b.labels.full() || b.labels.over(due) {
			report.End = Complete
			break
		}
		if waiter.Wait(ctx, b.start.Add(due)) != nil {
			report.End = Stopped
			break
		}
		a := b.admit(0, 0, due)
		on := yield(a)
		report.Longest = max(report.Longest, time.Since(b.start)-a.At)
		if !on {
			report.End = Stopped
			break
		}
	}
	end := time.Since(b.start)
	if report.End == "" {
		end, _ = s.Length() // an endless one ends with time.Duration
		report.End = b.exhausted(end)
	}
	b.fill(&report, end)
	if s, ok := waiter.(*Spin); ok {
		report.Spin = s.Window()
	}
	return report
}

func (p Pacer) waiter() Waiter {
	switch {
	case p.Waiter != nil:
		return p.Waiter
	case runtime.GOMAXPROCS(0) == 1:
		return Sleep{}
	}
	return &Spin{}
}

// A book numbers and labels arrivals and keeps their lags.
type book struct {
	start           time.Time
	labels          labeler
	seq             int
	total, measured Meter
}

func newBook(p Phases, lateAfter time.Duration, start time.Time) *book {
	if start.IsZero() {
		start = time.Now()
	}
	return &book{
		start: start, labels: labeler{limits: p.limits()},
		total: Meter{LateAfter: lateAfter}, measured: Meter{LateAfter: lateAfter},
	}
}

// admit hands over what is due now and is not over.
func (b *book) admit(user, turn int, due time.Duration) Arrival {
	phase, _ := b.labels.label(due)
	a := Arrival{Seq: b.seq, User: user, Turn: turn, Due: due, Phase: names[phase]}
	b.seq++
	a.At = time.Since(b.start)
	b.total.Add(due, a.At)
	if phase == 1 {
		b.measured.Add(due, a.At)
	}
	return a
}

// exhausted says what it means that no more arrivals come after end.
func (b *book) exhausted(end time.Duration) End {
	if b.labels.satisfied(end) {
		return Complete
	}
	return Exhausted
}

// fill writes what the book knows of a run that ended at end.
func (b *book) fill(r *Report, end time.Duration) {
	r.Total, r.Measured = b.total.Pace(), b.measured.Pace()
	r.Warmup, r.Cooldown = b.labels.counts[0], b.labels.counts[2]
	r.Window = b.labels.window(end)
}
