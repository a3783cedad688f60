package llmtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goevals/evals/llm"
)

// Run checks that a Model keeps what [llm.Model] promises. newModel returns a
// fresh one that answers any prompt, quickly; it is called once a check. It
// makes about fifty calls, a third of them canceled, so give it a fake or be
// ready to pay. See [Suite] for checks that need to know more of the Model.
func Run(t *testing.T, newModel func(t *testing.T) llm.Model) {
	t.Helper()
	Suite{New: newModel}.Run(t)
}

// RunFaults checks how a Model that is a provider's client takes what goes
// wrong: each check serves one fault and asks for the right [llm.Error].
// newModel returns a fresh Model that calls the server through its Client,
// with a key; it is called once a check, inside a testing/synctest bubble,
// where waiting costs no time and a socket would hang.
//
// Both wire formats are served, each in its own words, by the path that the
// Model calls; a fault that a format does not have is left out.
func RunFaults(t *testing.T, newModel func(t *testing.T, server *Server) llm.Model) {
	t.Helper()
	Suite{NewOn: newModel}.Run(t)
}

// A Suite is a conformance suite for a Model, told what it may ask of it. Set
// New or NewOn, or both.
type Suite struct {
	// New returns a fresh Model that answers any prompt, quickly.
	New func(t *testing.T) llm.Model
	// NewOn returns a fresh Model that is a client of this server: see
	// [RunFaults].
	NewOn func(t *testing.T, server *Server) llm.Model
	// Deterministic says that equal prompts get equal answers: streamed or
	// not, alone or among others. False skips those checks.
	Deterministic bool
	// Streams says that the Model streams where it is asked to: it must then
	// report the first token's time and the chunks'. False lets it answer
	// whole.
	Streams bool
	// Tries is the most HTTP calls that one Generate may make when it meets a
	// fault. Default 1: a client leaves trying again to the engine.
	Tries int
	// Grace is how long after its context's end a Generate may still run;
	// default 5 s. It is waited for only where a Model hangs.
	Grace time.Duration
}

// Run runs the checks as subtests of t. It panics if the Suite has neither New
// nor NewOn, or a negative number.
func (s Suite) Run(t *testing.T) {
	t.Helper()
	switch {
	case s.New == nil && s.NewOn == nil:
		panic("llmtest: a Suite needs New or NewOn: a function that returns the Model")
	case s.Tries < 0:
		panic(fmt.Sprintf("llmtest: Suite.Tries is %d; it must be at least 1, or 0 for the default of 1", s.Tries))
	case s.Grace < 0:
		panic(fmt.Sprintf("llmtest: Suite.Grace is %v; it must be positive, or 0 for the default of 5 s", s.Grace))
	}
	if s.New != nil {
		for _, c := range s.checks() {
			t.Run(c.name, func(t *testing.T) {
				t.Helper()
				report(t, c.check(s.prober(t.Context()), s.New(t)))
			})
		}
	}
	if s.NewOn != nil {
		for _, c := range faultRuns() {
			t.Run("fault/"+c.name, func(t *testing.T) {
				t.Helper()
				synctest.Test(t, func(t *testing.T) {
					t.Helper()
					report(t, c.run(s, t))
				})
			})
		}
	}
}

// report tells what a check found, each finding on its own.
func report(t *testing.T, err error) {
	t.Helper()
	switch many, ok := err.(interface{ Unwrap() []error }); {
	case err == nil:
	case ok:
		for _, e := range many.Unwrap() {
			t.Error(e)
		}
	default:
		t.Error(err)
	}
}

// A check returns what it found wrong, joined; nil for nothing. It takes no
// testing.T, so that the suite itself can be tested with Models that are wrong.
type check struct {
	name  string
	check func(p prober, m llm.Model) error
}

// checks are those that need no server.
func (s Suite) checks() []check {
	all := []check{
		{"answers", checkAnswers},
		{"streams", s.checkStreams},
		{"request-unchanged", checkUnchanged},
		{"concurrent", s.checkConcurrent},
		{"canceled", checkCanceled},
		{"deadline", checkDeadline},
		{"canceled-meanwhile", s.checkCanceledMeanwhile},
		{"logged-at-most-once", checkLogged},
		{"no-goroutine-left", checkGoroutines},
	}
	if s.Deterministic {
		all = append(all, check{"stream-equals-whole", checkSame})
	}
	return all
}

// findings collect what is wrong.
type findings []error

func (f *findings) addf(format string, args ...any) {
	*f = append(*f, fmt.Errorf(format, args...))
}

func (f findings) err() error { return errors.Join(f...) }

// suiteTimeout bounds a call that should answer quickly.
const suiteTimeout = 30 * time.Second

// prober makes the calls of a check.
type prober struct {
	ctx   context.Context
	grace time.Duration
}

func (s Suite) prober(ctx context.Context) prober {
	p := prober{ctx: ctx, grace: s.Grace}
	if p.grace == 0 {
		p.grace = 5 * time.Second
	}
	return p
}

// A result is what one Generate came to.
type result struct {
	resp llm.Response
	err  error
	// broken says that the call did not return at all, or panicked.
	broken  error
	start   time.Time
	elapsed time.Duration
}

// ask makes one call within suiteTimeout.
func (p prober) ask(m llm.Model, req llm.Request) result {
	ctx, cancel := context.WithTimeout(p.ctx, suiteTimeout)
	defer cancel()
	return p.call(ctx, m, req)
}

// call makes one call and waits for it, past ctx's end only for the grace.
func (p prober) call(ctx context.Context, m llm.Model, req llm.Request) result {
	done := make(chan result, 1)
	start := time.Now()
	go func() {
		r := result{start: start}
		returned := false
		defer func() {
			if v := recover(); v != nil {
				r.broken = fmt.Errorf("Generate panicked: %v; want an error", v)
			} else if !returned {
				r.broken = errors.New("Generate ended its goroutine (runtime.Goexit); want it to return")
			}
			done <- r
		}()
		r.resp, r.err = m.Generate(ctx, req)
		r.elapsed = time.Since(start)
		returned = true
	}()
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
	}
	t := time.NewTimer(p.grace)
	defer t.Stop()
	select {
	case r := <-done:
		return r
	case <-t.C:
		return result{start: start, broken: fmt.Errorf("Generate still runs %v after its context's end (%w); want it to return soon", p.grace, ctx.Err())}
	}
}
