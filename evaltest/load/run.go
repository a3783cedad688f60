package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/workload"
)

// errGate ends the arrivals of a benchmark.
var errGate = errors.New("load: the benchmark has its iterations")

// errDrained ends requests that Load.Drain does not wait for.
var errDrained = errors.New("load: the time to wait for answers is over")

// Run sends the load and returns when every request has ended. A load without a
// limit (RequestsPerUser, a measured phase, a source or schedule that ends) runs
// until ctx ends. When ctx ends, nothing more is sent and what is in flight is
// given up; the report then has all that was finished, and the error wraps the
// context's cause. So it is when the sink fails.
//
// Errors before anything is sent are ErrConfig, with a nil report. That requests
// fail, or that the run is not valid, is no error: see [Report.Problem].
func Run(ctx context.Context, l Load) (*Report, error) {
	if err := l.fill(); err != nil {
		return nil, err
	}
	return runGated(ctx, &l, nil)
}

func runGated(ctx context.Context, l *Load, gate func() bool) (*Report, error) {
	r, err := newRunner(l)
	if err != nil {
		return nil, err
	}
	defer r.client.Close()
	r.gate = gate
	return r.run(ctx)
}

// A runner is a Load that runs.
type runner struct {
	*Load
	client *client.Client
	meter  *metric.Meter
	stock  *stock
	rec    *recorder
	watch  monitor
	shared bool // users of a closed loop take the next request that is left
	// gate, if it is not nil, is asked before each measured request is sent, by
	// one goroutine at a time; false ends the arrivals. A benchmark's b.Loop.
	gate   func() bool
	gating sync.Mutex
	// closedGate says that it said no: b.Loop must not be asked again.
	closedGate bool

	start    time.Time
	requests context.Context // ends requests in flight
	giveUp   context.CancelCauseFunc
	arrivals context.Context // ends arrivals
	noMore   context.CancelCauseFunc

	inFlight, measured atomic.Int64
	draining           sync.Once
	cooling            atomic.Bool
	drop               atomic.Int64
	exhausted          atomic.Bool
	sent               sync.WaitGroup
}

func newRunner(l *Load) (*runner, error) {
	cfg := l.Metric
	cfg.Loop, cfg.Users, cfg.Rate = metric.Closed, l.Users, l.rate()
	cfg.Expected, cfg.Shape = nil, 0
	if l.open() {
		cfg.Loop = metric.Open
		if process, ok := l.Schedule.Process(); ok {
			cfg.Expected, cfg.Shape = l.Schedule.Expected, float64(process)
		}
	}
	meter, err := metric.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("load: %w: %w", ErrConfig, err)
	}
	c, err := l.newClient()
	if err != nil {
		return nil, err
	}
	r := &runner{Load: l, client: c, meter: meter}
	r.shared = r.open() || l.RequestsPerUser == 0 && l.Source.Len() > 0
	bodies := bodyMaker{client: c, api: l.Client.API, lengths: l.Client.Lengths, ask: l.ModifyPrompt}
	r.stock = &stock{
		make: func(seq int) (g good) {
			if g.req, g.err = l.Source.Request(seq); g.err == nil {
				g.body, g.whole, g.err = bodies.make(&g.req)
			}
			return g
		},
		entry: r.entry,
		end:   func(lane, i int) bool { return r.ended(lane, i) },
	}
	return r, nil
}

// entry is the number in the source of a lane's i-th request.
func (r *runner) entry(lane, i int) int {
	if r.shared {
		return i
	}
	return workload.Entry(r.Users, lane, i)
}

// ended reports whether a lane has no i-th request.
func (r *runner) ended(lane, i int) bool {
	if r.RequestsPerUser > 0 {
		return i >= r.RequestsPerUser
	}
	n := r.Source.Len()
	return n > 0 && r.entry(lane, i) >= n
}

func (r *runner) run(ctx context.Context) (*Report, error) {
	r.requests, r.giveUp = context.WithCancelCause(ctx)
	defer r.giveUp(nil)
	r.arrivals, r.noMore = context.WithCancelCause(r.requests)
	defer r.noMore(nil)

	lanes, ahead := r.room()
	r.stock.open(ctx, lanes, ahead)
	r.rec = newRecorder(r.meter, r.Sink, &r.watch, r.giveUp)
	told := tell(r.Progress, r.Tick, r.meter, &r.inFlight)

	r.watch.begin()
	r.start = time.Now()
	arrivals, err := r.drive()
	r.drain()
	r.sent.Wait()
	health := r.watch.health()
	if wall := time.Since(r.start); !r.open() && wall > 0 {
		health.Held = metric.Some(float64(r.rec.waited.Load()) / (float64(r.Users) * float64(wall)))
	}
	told()
	r.stock.close()
	kept := r.rec.close()
	report := r.report(arrivals, health)
	switch {
	case kept != nil:
		return report, kept
	case err != nil: // Check has passed: a Think or Every drew what is no time
		return report, fmt.Errorf("load: the run ended early: %w", err)
	case ctx.Err() != nil:
		report.Interrupted = true
		return report, fmt.Errorf("load: the run was interrupted: %w", context.Cause(ctx))
	}
	return report, nil
}

// drive sends all requests and returns when no more is due: in an open loop some
// are still in flight then.
func (r *runner) drive() (report arrival.Report, err error) {
	if r.open() {
		p := arrival.Pacer{Start: r.start, Phases: r.Phases, Waiter: r.Waiter}
		for a := range p.Arrivals(r.arrivals, r.Schedule, r.random(0, workload.Arrivals), &report) {
			if !r.launch(a) {
				break
			}
		}
		return r.ending(report), nil
	}
	c := r.loop()
	c.Start, c.Admitted, c.Ended = r.start, r.enter, r.drain
	report, err = c.Run(r.arrivals, func(_ context.Context, a arrival.Arrival) { r.closed(a) })
	return r.ending(report), err
}

// loop is the closed loop of a load.
func (l *Load) loop() arrival.Closed {
	return arrival.Closed{
		Users: l.Users, RequestsPerUser: l.RequestsPerUser, Think: l.Think, Every: l.Every, Join: l.Join, Phases: l.Phases, Waiter: l.Waiter,
		Rand: func(user int) *rand.Rand { return l.random(uint64(user), workload.ThinkTime) },
	}
}

// ending puts right why a run ended: arrivals cannot know that it was for want
// of requests, or because all that counts was answered.
func (r *runner) ending(report arrival.Report) arrival.Report {
	switch cause := context.Cause(r.requests); {
	case report.End != arrival.Stopped:
	case cause == nil && r.exhausted.Load():
		report.End = arrival.Exhausted
	case errors.Is(cause, errDrained), r.closedGate:
		report.End = arrival.Complete
	}
	return report
}

// launch sends an arrival of an open loop and does not wait for anything. It
// reports false where the source has no more.
func (r *runner) launch(a arrival.Arrival) bool {
	if r.ended(0, a.Seq) {
		r.exhausted.Store(true)
		return false
	}
	if !r.pass(a) {
		return false
	}
	if int(r.inFlight.Add(1)) > r.MaxInFlight {
		r.inFlight.Add(-1)
		r.drop.Add(1)
		if a.Phase == record.Measured {
			r.meter.Drop(a.Due)
		}
		r.stock.skip(0, a.Seq)
		return true
	}
	r.enter(a)
	r.sent.Go(func() { r.send(a, 0, a.Seq) })
	return true
}

// pass reports whether an arrival may be sent.
func (r *runner) pass(a arrival.Arrival) bool {
	if r.gate == nil || a.Phase != record.Measured {
		return true
	}
	r.gating.Lock()
	defer r.gating.Unlock()
	if !r.closedGate && !r.gate() {
		r.closedGate = true
	}
	return !r.closedGate
}

// closed sends a request of a user and waits for its answer. It was entered when
// it was admitted.
func (r *runner) closed(a arrival.Arrival) {
	lane, i := a.User, a.Turn
	if i == 0 && r.Join == 0 {
		// All users begin at once, and nobody said when: that some of many thousand
		// goroutines run a little later than others is no lateness.
		a.Due = time.Since(r.start)
	}
	if r.shared {
		lane, i = 0, a.Seq
	}
	switch {
	case r.ended(lane, i):
		r.exhausted.Store(true)
		r.end(workload.ErrEnd)
		r.leave(a)
	case !r.pass(a):
		r.end(errGate)
		r.leave(a)
	default:
		if r.shared && r.ended(0, a.Seq+1) {
			r.drain() // it is the last one
		}
		r.inFlight.Add(1)
		r.send(a, lane, i)
	}
}

// end ends the arrivals of a closed loop: what is in flight is what is left.
func (r *runner) end(cause error) {
	r.noMore(cause)
	r.drain()
}

// drain gives up what is in flight when Drain has passed from now on, which is
// when nothing more is due.
func (r *runner) drain() {
	if r.Drain == 0 {
		return
	}
	r.draining.Do(func() {
		timer := time.AfterFunc(r.Drain, func() { r.giveUp(errDrained) })
		context.AfterFunc(r.requests, func() { timer.Stop() })
	})
}

// enter and leave count what is measured and in flight, so that an endless
// cool-down ends with the last of it. Enter is called in the order of admission:
// when a cool-down begins, all that is measured has been entered.
func (r *runner) enter(a arrival.Arrival) {
	switch a.Phase {
	case record.Measured:
		r.measured.Add(1)
	case record.Cooldown:
		r.cooling.Store(true)
		r.cooled()
	}
}

func (r *runner) leave(a arrival.Arrival) {
	if a.Phase == record.Measured {
		r.measured.Add(-1)
		r.cooled()
	}
}

func (r *runner) cooled() {
	if r.Phases.Cooldown.For == arrival.Forever && r.cooling.Load() && r.measured.Load() == 0 {
		r.noMore(nil)
		r.giveUp(errDrained) // what is left only kept the load on
	}
}

// send makes the call of an arrival, which is a lane's i-th request.
func (r *runner) send(a arrival.Arrival, lane, i int) {
	defer r.leave(a)
	rec := r.rec.blank()
	rec.Seq, rec.User, rec.Phase, rec.Due = a.Seq, a.User, a.Phase, a.Due
	g, ok := r.stock.take(r.requests, lane, i)
	switch {
	case !ok:
		rec.Failure = &record.Failure{Class: record.Canceled, Message: fmt.Sprint("before it could be sent: ", context.Cause(r.requests))}
		now := time.Since(r.start)
		rec.FirstSent, rec.Sent, rec.Done = now, now, now
	case g.err != nil:
		rec.AskedInput, rec.AskedOutput = g.req.AskedInput, g.req.Output.Max
		rec.Failure = &record.Failure{Class: record.Build, Message: g.err.Error()}
		rec.Done = time.Since(r.start)
	default:
		rec.AskedInput, rec.AskedOutput, rec.PossibleCached = g.req.AskedInput, g.req.Output.Max, g.req.PossibleCached
		call := client.Call{Start: r.start, Body: g.body, Whole: g.whole}
		if r.Verbose != nil {
			call.Reply = new(client.Reply)
		}
		r.client.Do(r.requests, &call, rec)
		if r.Verbose != nil {
			r.Verbose(rec, g.body, call.Reply)
		}
	}
	r.inFlight.Add(-1) // before it may have to wait for the sink
	r.rec.add(rec)
}
