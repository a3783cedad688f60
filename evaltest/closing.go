package evaltest

import (
	"flag"
	"time"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/wire"
)

// A run's files are closed when all its items have ended, which may be shortly
// before testing kills the process, and a busy disk takes seconds to sync. What
// was recorded is with the kernel already, and a file whose closing was cut off
// is whole: so nothing waits for it beyond the time for that, or the summary
// would be lost.

// inTime calls f and waits for it to end, but not beyond a time; a zero one is
// none. Then done is false, and f goes on.
func inTime(end time.Time, f func() error) (done bool, err error) {
	if end.IsZero() {
		return true, f()
	}
	closed := make(chan error, 1)
	go func() { closed <- f() }()
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	select {
	case err = <-closed:
		return true, err
	case <-timer.C:
		return false, nil
	}
}

// prepare calls the strategy's hooks. Where one fails, nothing is run. One that
// ignores the end of the run is not waited for.
func (r *runner) prepare() {
	prepared := make(chan error, 1)
	go func() { prepared <- run.Prepare(r.ctx, r.cfg.Strategy) }()
	over := r.ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case err := <-prepared:
			if err != nil {
				r.gov.stop(&halt{reason: "prepare", text: report.Escape(wire.Mask(err.Error()), 0)}, 0)
			}
			return
		case <-over:
			over, late = nil, time.After(r.cfg.Grace)
		case <-late:
			r.fail("a strategy's Prepare had not returned %v after the run was stopped: it must return when its context is done", r.cfg.Grace)
			return
		}
	}
}

// closeStrategy calls the strategy's hooks, whatever else happened. After a
// signal they have only as much time as a strategy has that ignores its context:
// who sent it kills soon.
func (r *runner) closeStrategy() {
	closed := make(chan []error, 1)
	go func() { closed <- run.Close(r.cfg.Strategy) }()
	over := r.ctx.Done()
	var late, soon <-chan time.Time
	if !r.closeBy.IsZero() {
		late = time.After(time.Until(r.closeBy))
	}
	for {
		select {
		case errs := <-closed:
			for _, err := range errs {
				r.fail("%s", report.Escape(wire.Mask(err.Error()), 0))
			}
			return
		case <-over:
			over = nil
			if h := r.gov.cause(); h != nil && (h.reason == "interrupt" || h.reason == "orphan") {
				soon = time.After(r.cfg.Grace)
			}
		case <-soon:
			r.fail("a strategy's Close had not returned %v after the run was stopped", r.cfg.Grace)
			return
		case <-late:
			r.fail("a strategy's Close had not returned when the test's time was up")
			return
		}
	}
}

func (r *runner) closeTape(s *report.Stats, narrowed bool) {
	if r.tape == nil {
		return
	}
	st := r.tape.c.Stats()
	switch used := st.Replayed+st.Recorded+st.Missed+st.Skipped > 0; {
	case !used && r.tape.mode != cassette.Off && s.Recorded > s.Resumed:
		// A pass would say that recorded answers are right, and none was seen.
		r.fail("no call went through cassette %s, so whatever was asked was asked live: pass the context that the strategy gets on to its calls, and make them through llm/wire (wire.Transport below your SDK's http.Client)", r.set.cassette)
		uncache(flag.CommandLine)
	case !r.bench && !narrowed && r.plan.ds.Selection() == "" && s.Outcomes[result.NotRun] == 0 && s.Resumed == 0:
		if text := r.tape.unused(); text != "" {
			r.warn("%s", text)
		}
	}
	var warning string
	done, err := inTime(r.closeBy, func() (err error) {
		warning, err = r.tape.close(r.gov.cause() != nil)
		return err
	})
	if !done {
		r.fail("cassette %s was still being written when the test's time was up: if it is unchanged, its new recordings are beside it, and the next recording goes on from there", r.set.cassette)
		return
	}
	if err != nil {
		r.fail("%v", err)
	}
	if warning != "" {
		r.warn("%s", warning)
	}
	for _, w := range r.tape.c.Warnings() {
		r.warn("%v", w)
	}
}

// closeJournal returns where the journal lies then.
func (r *runner) closeJournal(s *report.Stats, stopped *halt) (path string) {
	w := r.journal.w
	if w == nil {
		return ""
	}
	end := result.End{
		Complete: s.Outcomes[result.NotRun] == 0 && !r.plan.narrowed() && !r.unconfirmed, Counts: s.Outcomes,
		Fingerprint: lateFingerprint(s),
	}
	switch {
	case stopped != nil:
		end.Reason = stopped.reason
	case s.Curtailed:
		end.Reason = "curtailed"
	}
	path = w.Path()
	done, err := inTime(r.closeBy, func() error { return w.Close(end) })
	if !done {
		r.warn("the journal was still being written to disk when the test's time was up: its records are in it, compressed or not")
		return path
	}
	if err != nil && (stopped == nil || stopped.reason != "journal") { // else it is told already
		r.fail("journal: %v", err)
	}
	for _, warning := range w.Warnings() {
		r.warn("%v", warning)
	}
	return w.Path()
}
