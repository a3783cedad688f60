package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
)

// An opening is a trajectory's first prompt, made ahead of time.
type opening struct {
	conv conversation
	took time.Duration
	err  error
	done chan struct{}
}

// A session runs one trajectory.
type session struct {
	e       *engine
	plan    *Plan
	conv    conversation
	tag     string
	headers []Header
	ev      *Event
	// admitted says that it began.
	admitted bool
	making   *staging      // the last that was begun; nil if none was
	longest  time.Duration // the longest wait for one preparation
	cached   int64         // prompt tokens of the request before, as reported
}

// run drives the trajectory until it ends. If the context ends before its first
// prompt is at hand, it was never admitted.
func (s *session) run(ctx context.Context, o *opening) {
	select {
	case <-o.done:
	case <-ctx.Done():
		return
	}
	s.conv = o.conv
	s.admitted = true
	s.ev.Preparation = o.took
	s.ev.Admitted = s.e.since()
	s.ev.End, s.ev.Err = Failed, errGoexit // what holds if a Caller ends this goroutine
	defer func() {
		if s.making != nil {
			<-s.making.done
		}
		s.ev.NotAttempted = s.ev.Planned - s.ev.Succeeded - s.ev.Failed - s.ev.Canceled - s.ev.Unbuilt
		s.ev.Fallbacks = s.conv.fallbacks()
		s.ev.Finished = s.e.since()
	}()
	due := s.ev.Admitted
	if s.e.cfg.Admission == OpenLoop {
		due = s.ev.Scheduled
	}
	s.ev.End, s.ev.Err = s.turns(ctx, due, o.err)
}

var errGoexit = errors.New("the Caller ended its goroutine with runtime.Goexit")

// turns makes the turns, the first of which is due at due. Built says whether
// its text could be made.
func (s *session) turns(ctx context.Context, due time.Duration, built error) (End, error) {
	var message []byte
	for t := range s.plan.Turns {
		if built != nil && !errors.Is(built, ErrText) && ctx.Err() != nil {
			return Interrupted, nil // the text was not made because nobody wants it any more
		}
		body, err := s.ready(t, due, message, built)
		if errors.Is(err, ErrReply) { // the request before it was answered, but not usably
			return Failed, fmt.Errorf("request %d: %w", t, err)
		}
		if s.pause(ctx, t, due) != nil {
			return Interrupted, nil
		}
		if err != nil {
			return Failed, s.unbuilt(t, due, err)
		}
		if !s.e.enter(ctx) {
			return Interrupted, nil
		}
		staged := s.stage(t + 1)
		rec := s.call(ctx, t, due, body, &message)
		built = s.staged(staged)
		if failure := rec.Failure; failure != nil {
			return s.failed(rec, *failure)
		}
		due = rec.Done + s.plan.Turns[t].Delay
		s.answered(t, rec)
	}
	// The last tool call holds the session too, though nothing follows it.
	if err := s.pause(ctx, len(s.plan.Turns), due); err != nil {
		return Interrupted, nil
	}
	return Completed, nil
}

// pause waits until turn t is due, and so for the tool of the turn before it.
func (s *session) pause(ctx context.Context, t int, due time.Duration) error {
	if err := s.e.cfg.Wait(ctx, s.e.start.Add(due)); err != nil {
		return err
	}
	if t > 0 {
		s.ev.ToolLatency += s.plan.Turns[t-1].Delay
	}
	return nil
}

// ready puts the body of turn t together and counts how late that was.
func (s *session) ready(t int, due time.Duration, message []byte, built error) (body []byte, err error) {
	if built != nil {
		return nil, built
	}
	begun := time.Now()
	if t > 0 { // the first was put together ahead of time
		if err := s.conv.advance(t, message); err != nil {
			return nil, err
		}
	}
	messages, tools := s.conv.prompt()
	body = s.e.bodies.body(&s.plan.Turns[t], messages, tools, s.tag)
	s.ev.Preparation += time.Since(begun)
	if t > 0 {
		late := max(0, s.e.since()-due)
		s.ev.PreparationWait += late
		s.longest = max(s.longest, late)
	}
	return body, nil
}

// A staging is a turn's texts being made while the request before it is in
// flight.
type staging struct {
	done chan struct{}
	took time.Duration
	err  error
}

func (s *session) stage(t int) *staging {
	if t >= len(s.plan.Turns) {
		return nil
	}
	g := &staging{done: make(chan struct{})}
	s.making = g
	s.e.work(func() error { return s.conv.stage(t) }, func(took time.Duration, err error) {
		g.took, g.err = took, err
		close(g.done)
	})
	return g
}

func (s *session) staged(g *staging) error {
	if g == nil {
		return nil
	}
	<-g.done
	s.ev.Preparation += g.took
	return g.err
}

// call makes the record of turn t and has it filled in. It gives the
// concurrency slot back.
func (s *session) call(ctx context.Context, t int, due time.Duration, body []byte, message *[]byte) *record.Request {
	turn := &s.plan.Turns[t]
	rec := s.record(t, due)
	rec.PossibleCached = s.conv.cacheable(t)
	c := &Call{
		Start: s.e.start, Agent: s.plan.Agent, Slot: s.ev.Slot, Turn: t,
		Body: body, Headers: s.headers, Stream: rec.Streamed, Min: turn.Min, Max: turn.Max,
	}
	defer s.e.leave()
	rec.Seq = s.e.next()
	*message = s.safeCall(ctx, c, rec)
	if rec.Failure == nil && (rec.Done < rec.Sent || rec.Sent < 0 || rec.Done > s.e.since()) {
		rec.Failure = &record.Failure{Class: record.Malformed, Message: fmt.Sprintf(
			"the Caller says that it sent at %v and was done at %v, while the run's clock is at %v; it must count from Call.Start", rec.Sent, rec.Done, s.e.since())}
	}
	return rec
}

func (s *session) record(t int, due time.Duration) *record.Request {
	turn := &s.plan.Turns[t]
	return &record.Request{
		User: s.ev.Slot, Trajectory: s.plan.ID, Turn: t, Phase: s.e.cfg.Phase(due), Due: due,
		Streamed: s.e.bodies.streamed(turn), AskedInput: turn.Prompt, AskedOutput: turn.Output,
	}
}

// safeCall takes a panic of the Caller for the failure of its request: one bad
// reply must not end all sessions.
func (s *session) safeCall(ctx context.Context, c *Call, rec *record.Request) []byte {
	defer func() {
		if p := recover(); p != nil {
			rec.Done = s.e.since()
			rec.Failure = &record.Failure{Class: record.Malformed, Message: fmt.Sprintf("the Caller panicked: %v\n%s", p, debug.Stack())}
		}
	}()
	return s.e.caller.Call(ctx, c, rec)
}

// unbuilt records a turn that was due and could not be made. Its times of
// sending stay 0, because it was not sent.
func (s *session) unbuilt(t int, due time.Duration, err error) error {
	s.ev.Unbuilt++
	rec := s.record(t, due)
	rec.Seq = s.e.next()
	rec.Done = s.e.since()
	rec.Failure = &record.Failure{Class: record.Build, Message: err.Error()}
	s.e.hand(rec)
	return err
}

// failed counts the failure of a request and hands it on.
func (s *session) failed(rec *record.Request, f record.Failure) (End, error) {
	turn := rec.Turn
	if f.Class == record.Canceled {
		s.ev.Canceled++
		s.e.hand(rec)
		return Interrupted, nil
	}
	s.ev.Failed++
	s.e.hand(rec)
	return Failed, fmt.Errorf("request %d: %w", turn+1, &f)
}

// answered counts an answer and hands it on: from then on it is the sink's.
func (s *session) answered(t int, rec *record.Request) {
	s.ev.Succeeded++
	s.ev.Model += rec.Done - rec.Sent
	if s.plan.Turns[t].Reset {
		s.cached = 0
	}
	s.ev.Input += rec.Usage.Input
	s.ev.Output += rec.Usage.Output
	s.ev.EstimatedCached += EstimateCached(s.cached, rec.Usage.Input)
	s.cached = rec.Usage.Input
	s.e.hand(rec)
}
