package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
)

// A Sink takes what has happened. Run calls it from one goroutine, in the order
// in which things ended, and no longer after it has returned. An error ends
// the run: what is not kept was measured in vain.
type Sink interface {
	// Request takes a finished request: answered, failed, canceled in flight,
	// or not built (its failure is then record.Build, and it was not sent).
	Request(r *record.Request) error
	// Trajectory takes a trajectory that has ended.
	Trajectory(e *Event) error
}

// JSONL returns a Sink that writes a line of JSON for each request and each
// trajectory, in one Write each. Either writer may be nil.
func JSONL(requests, trajectories io.Writer) Sink { return jsonl{requests, trajectories} }

type jsonl struct{ requests, trajectories io.Writer }

func (j jsonl) Request(r *record.Request) error { return writeLine(j.requests, r) }
func (j jsonl) Trajectory(e *Event) error       { return writeLine(j.trajectories, e) }

func writeLine(w io.Writer, v any) error {
	if w == nil {
		return nil
	}
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// sinkQueue is how many finished requests may wait for a slow sink. When it is
// full, sessions wait for it, and their next requests are late: better than
// memory without end.
const sinkQueue = 4096

// A feeder hands things to a sink off the sessions' goroutines.
type feeder struct {
	in   chan any
	done chan struct{}
	err  error // good after done
	// waited is the time in which sessions were held back by the sink, in ns.
	waited atomic.Int64
}

// hand gives the sink something, and notes how long that held a session back.
func (f *feeder) hand(v any) {
	select {
	case f.in <- v:
		return
	default:
	}
	from := time.Now()
	f.in <- v
	f.waited.Add(int64(time.Since(from)))
}

func feed(s Sink, stop context.CancelCauseFunc) *feeder {
	f := &feeder{in: make(chan any, sinkQueue), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		for v := range f.in {
			if f.err != nil || s == nil {
				continue // sessions must not hang on a sink that is broken
			}
			if f.err = give(s, v); f.err != nil {
				f.err = fmt.Errorf("agent: the sink failed: %w", f.err)
				stop(f.err)
			}
		}
	}()
	return f
}

func give(s Sink, v any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if r, ok := v.(*record.Request); ok {
		return s.Request(r)
	}
	return s.Trajectory(v.(*Event))
}

// close waits until the sink has everything.
func (f *feeder) close() error {
	close(f.in)
	<-f.done
	return f.err
}
