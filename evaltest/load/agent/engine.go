package agent

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
)

// Run drives all plans and returns when every trajectory that was admitted has
// ended and the sink has everything.
//
// When ctx ends, nothing more is admitted or sent; requests in flight end as
// the Caller ends them. Run then returns the Result so far and the context's
// cause. A sink that fails ends the run likewise, with its error. The failure
// of a request, of a reply or of a text ends its own trajectory and is no error
// of Run. A bad Config or no plans at all is [ErrConfig] or [ErrEmpty], with a
// nil Result. A nil Caller panics.
func Run(ctx context.Context, plans *Plans, cfg Config, caller Caller) (*Result, error) {
	if caller == nil {
		panic("agent.Run: caller is nil")
	}
	e, err := newEngine(plans, cfg)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.ctx, e.caller = ctx, caller
	e.feeder = feed(e.cfg.Sink, cancel)
	if e.cfg.Admission == OpenLoop {
		e.runOpen(ctx)
	} else {
		e.runClosed(ctx)
	}
	e.making.Wait()
	e.result.finish(plans, e.cfg.Admission)
	err = e.feeder.close()
	e.result.SinkWait = time.Duration(e.feeder.waited.Load())
	if err != nil {
		return e.result, err
	}
	return e.result, context.Cause(ctx)
}

// An engine is one run.
type engine struct {
	// ctx is the run's; texts that nobody will send any more are not made.
	ctx    context.Context
	order  []*Plan // in which they are admitted
	cfg    Config
	maker  maker
	bodies *bodyMaker
	caller Caller
	feeder *feeder
	result *Result
	seen   *sent

	start    time.Time
	seq      atomic.Int64
	inFlight chan struct{} // nil: no limit
	workers  chan struct{}
	openings map[int]*opening // by place in order; used by the scheduler alone
	opened   int              // places whose opening was begun
	ended    chan *session
	active   int
	making   sync.WaitGroup // goroutines that make texts
}

func newEngine(plans *Plans, cfg Config) (*engine, error) {
	if plans == nil || len(plans.List) == 0 {
		return nil, problemf(ErrEmpty, "there are no plans to run")
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	bodies, err := newBodyMaker(cfg.Body)
	if err != nil {
		return nil, err
	}
	for i, p := range plans.List {
		if p == nil || len(p.Turns) == 0 {
			return nil, problemf(ErrEmpty, "plan %d has no turns", i)
		}
	}
	cfg = cfg.filled(len(plans.List))
	e := &engine{
		order: plans.List, cfg: cfg, bodies: bodies,
		maker: maker{cfg.Text, cfg.Seed}, seen: newSent(), result: &Result{},
		workers: make(chan struct{}, cfg.Workers), openings: map[int]*opening{}, ended: make(chan *session),
	}
	if cfg.MaxInFlight > 0 {
		e.inFlight = make(chan struct{}, cfg.MaxInFlight)
	}
	return e, nil
}

func (e *engine) since() time.Duration { return time.Since(e.start) }

// next numbers a request.
func (e *engine) next() int { return int(e.seq.Add(1) - 1) }

func (e *engine) hand(rec *record.Request) { e.feeder.hand(rec) }

// enter takes a concurrency slot; false if the context ended first.
func (e *engine) enter(ctx context.Context) bool {
	if e.inFlight == nil {
		return ctx.Err() == nil
	}
	select {
	case e.inFlight <- struct{}{}:
		if ctx.Err() == nil {
			return true
		}
		e.leave()
	case <-ctx.Done():
	}
	return false
}

func (e *engine) leave() {
	if e.inFlight != nil {
		<-e.inFlight
	}
}

var errTextGoexit = fmt.Errorf("%w: the Text ended its goroutine with runtime.Goexit", ErrText)

// work runs f on a goroutine of its own when one of the workers is free, and
// then calls done with how long it took and how it ended.
func (e *engine) work(f func() error, done func(took time.Duration, err error)) {
	e.making.Go(func() {
		took, err := time.Duration(0), errTextGoexit
		defer func() { done(took, err) }()
		select {
		case e.workers <- struct{}{}:
		case <-e.ctx.Done():
			err = context.Cause(e.ctx)
			return
		}
		begun := time.Now()
		defer func() {
			took = time.Since(begun)
			<-e.workers
			if p := recover(); p != nil {
				err = fmt.Errorf("%w: panic: %v\n%s", ErrText, p, debug.Stack())
			}
		}()
		err = f()
	})
}

// open returns the opening of the plan at a place in the order, which may still
// be in the making, and begins those that are ahead of it.
func (e *engine) open(place int) *opening {
	for ; e.opened < len(e.order) && e.opened <= place+e.cfg.Lookahead; e.opened++ {
		o := &opening{conv: newConversation(e.order[e.opened], e.maker, e.cfg.Replies, e.seen), done: make(chan struct{})}
		e.openings[e.opened] = o
		e.work(func() error {
			if err := o.conv.stage(0); err != nil {
				return err
			}
			return o.conv.advance(0, nil)
		}, func(took time.Duration, err error) {
			o.took, o.err = took, err
			close(o.done)
		})
	}
	return e.openings[place]
}

// ahead makes the first prompts of n places and of the lookahead before the
// clock starts. It stops waiting when the context ends.
func (e *engine) ahead(ctx context.Context, n int) {
	e.open(n - 1)
	for i := range e.opened {
		select {
		case <-e.openings[i].done:
		case <-ctx.Done():
			return
		}
	}
}

// admit begins the session of the plan at a place, in a slot.
func (e *engine) admit(ctx context.Context, place, slot int) {
	o := e.open(place)
	delete(e.openings, place)
	p := e.order[place]
	s := &session{e: e, plan: p, tag: e.cfg.Tags.of(e.cfg.Seed, p.Agent)}
	s.headers = routing(s.tag, slot, e.cfg.Ranks)
	s.ev = &Event{Agent: p.Agent, Trajectory: p.ID, Slot: slot, Planned: len(p.Turns)}
	if e.cfg.Ranks > 0 {
		rank := slot % e.cfg.Ranks
		s.ev.Rank = &rank
	}
	if e.cfg.Admission == OpenLoop {
		s.ev.Scheduled = p.StartAfter
	}
	e.active++
	go func() {
		defer func() { e.ended <- s }()
		s.run(ctx, o)
	}()
}

// collect takes a session that has ended.
func (e *engine) collect(s *session) {
	e.active--
	if !s.admitted {
		return
	}
	e.result.MaxPreparationWait = max(e.result.MaxPreparationWait, s.longest)
	e.result.absorb(s.ev, &e.cfg)
	e.feeder.hand(s.ev)
}
