package evaltest

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/goevals/evals/evaltest/batch"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm"
)

// An ending is what became of a unit, for the loop that counts.
type ending struct {
	what    endingKind
	outcome result.Outcome
	fresh   bool // asked for now, not carried over from an earlier run
}

type endingKind uint8

const (
	ended    endingKind = iota // it has a record
	filtered                   // -run or -skip left it out
	notRun                     // nobody ran it
)

// all runs the plan. Workers call t.Run themselves: an item's time, log and
// failure belong to its own subtest, and their number has nothing to do with
// -test.parallel. With t.Parallel an item would cost five times as much time
// and thirteen times the memory.
func (r *runner) all(t *testing.T, deadline time.Time) *Report {
	var res reserve
	if !deadline.IsZero() {
		res = r.bound(deadline)
	}
	r.gov.within(r.set.runTimeout)
	unwatch := r.h.watch(r.gov)
	p := newProgress(r, t, res)
	r.evidence.owe(&r.plan)
	r.prepare()
	// The subtest's own goroutine would be as good, were its stack not small
	// and new: it would grow for each item.
	crew := r.cfg.Crew(r.ctx, r.answered)
	r.queue = &queue{at: r.plan.at, total: r.plan.total}
	r.each(t, crew, p.add)
	r.distrust()
	r.compare()
	r.confirm(t, crew)
	if r.distrust() {
		r.compare()
	}
	crew.Close()
	p.end()
	rep := r.conclude(t, p)
	unwatch()
	r.gov.release()
	return rep
}

// each runs the queue's units as subtests, and hands each ending to add.
func (r *runner) each(t *testing.T, crew *run.Crew, add func(ending)) {
	// Not the governor's context: an item that a worker has taken must come to
	// its subtest or be counted as not run, and admission sees to that.
	for done := range batch.Run(context.Background(), r.workers(), func(_ context.Context, w *worker) (struct{}, error) {
		for w.unit = r.take(); w.unit != nil; w.unit = r.take() {
			add(r.subtest(t, crew, w.unit))
		}
		return struct{}{}, nil
	}, batch.Options{Parallel: r.set.parallel}) {
		if done.Err != nil {
			r.fail("item %q: %v", done.In.unit.item.ID, done.Err)
			add(ending{})
		}
	}
}

// A worker runs one unit after another. To hand each of them over, and what
// became of it back, would cost two switches of goroutines a unit.
type worker struct {
	unit *unit // under way
}

// workers yields workers while units are left: one that a panic has ended has a
// successor.
func (r *runner) workers() iter.Seq[*worker] {
	return func(yield func(*worker) bool) {
		for r.left() && yield(new(worker)) {
		}
	}
}

// left reports whether another unit is to be begun.
func (r *runner) left() bool { return r.gov.cause() == nil && r.queue.left() }

// take returns the next unit of the queue; nil if there is none, or once the
// run has stopped.
func (r *runner) take() *unit {
	if r.gov.cause() != nil {
		return nil
	}
	return r.queue.take()
}

// subtest runs a unit as a subtest of t. t.Run returns true without running
// the body under -run, -skip and -failfast alike, so the body says that it ran.
func (r *runner) subtest(t *testing.T, crew *run.Crew, u *unit) (e ending) {
	name := u.name()
	carried := r.journal.carried[result.Key{ID: u.item.ID, Sample: u.sample}]
	if carried == nil {
		if r.gov.admit() != nil || !r.afford() {
			return ending{what: notRun}
		}
		if !r.turn() {
			return ending{what: notRun}
		}
		defer r.leave()
	}
	e.what = filtered
	r.lines.run(t, name, func(st *testing.T) {
		e.what = ended
		if got := st.Name(); got[len(r.test)+1:] != name {
			e.what = notRun
			write(st, r.site, fmt.Sprintf("%s has a subtest %q of its own: this item was not run; wrap the Run in a t.Run", r.test, name))
			st.Fail()
			return
		}
		rec := carried
		if rec != nil {
			r.sum.AddResumed(rec)
			r.counted(rec)
		} else {
			var err error
			if rec, err = crew.Item(u.item, u.sample); err != nil {
				write(st, r.site, "not recorded: "+report.Escape(cause(err).Error(), 0))
				st.Fail()
			}
		}
		e.outcome, e.fresh = rec.Outcome, carried == nil
		r.show(st, rec, name)
	})
	if e.what == filtered && r.h.testFlag("failfast") == "true" && !r.plan.filters(t.Name()+"/"+name) {
		e.what = notRun
		r.gov.stop(&halt{reason: "fail-fast", text: "a failure ended the run (-failfast)"}, -1)
	}
	return e
}

// answered records an item in the goroutine that ran it: the kernel has the
// record before the subtest ends, so that a kill loses no more than the items
// in flight.
func (r *runner) answered(rec *result.Record) error {
	if rec.Outcome != result.NotRun {
		r.gov.took(rec.Duration)
	}
	rec.Confirms = rec.Sample >= r.set.samples
	return r.record(rec)
}

// counted tells the gates of a record.
func (r *runner) counted(rec *result.Record) {
	if rec.Confirms {
		r.confirmed.add(rec)
		return
	}
	r.settle(r.evidence.add(rec))
}

// record writes a record to the journal, counts it, and stops a run that can
// no longer record or no longer reaches its model.
func (r *runner) record(rec *result.Record) error {
	var err error
	if r.journal.w != nil {
		if err = r.journal.w.Write(rec); err != nil {
			// What is in flight is paid for and still counts in the summary.
			r.gov.stop(&halt{reason: "journal", text: err.Error()}, -1)
		}
	}
	r.sum.Add(rec)
	r.counted(rec)
	if rec.Outcome == result.NotRun && rec.Error.Kind == llm.KindBudget {
		r.afford() // says why, if it is the run's own budget
		r.gov.stop(&halt{reason: "budget", text: rec.Error.Message}, -1)
	}
	if rec.Outcome == result.NotRun && rec.Error.Kind.Fatal() { // the scope has stopped, perhaps in another test
		r.gov.stop(&halt{reason: "fail-fast", text: rec.Error.Message}, -1)
	}
	if dead := r.fast.Observe(rec); dead != nil {
		r.unreachable.Do(func() {
			wait := time.Duration(0)
			if rec.Error != nil && rec.Error.Kind == llm.KindRateLimit {
				wait = answerGrace
			}
			r.gov.stop(&halt{reason: "fail-fast", text: dead.Error()}, wait)
		})
	}
	return err
}

// show ends a subtest as its item ended: passed, failed, or skipped with the
// outcome as the reason.
func (r *runner) show(st *testing.T, rec *result.Record, name string) {
	fatal := r.fatal(rec.Outcome)
	text := ""
	switch {
	case rec.Outcome == result.Correct:
		if r.verbose {
			text = line(rec)
		}
	case fatal || r.verbose: // without -v nobody sees what a skipped subtest says
		text = details(r.brief(rec, name), r.again(name))
	}
	if text != "" {
		r.lines.together(func() {
			if r.json {
				st.Attr("evaltest", attr(rec))
			}
			write(st, r.site, text)
		})
	}
	switch {
	case rec.Outcome == result.Correct:
	case fatal:
		st.Fail()
	default:
		st.SkipNow()
	}
}

// fatal reports whether an item that ended so fails its subtest.
func (r *runner) fatal(o result.Outcome) bool {
	switch o {
	case result.Errored:
		return r.asserts && r.set.gate.MaxErrored == 0
	case result.Ungraded:
		return r.asserts && r.set.gate.MaxUngraded == 0
	case result.NotRun:
		return false // the whole run fails
	}
	return r.asserts
}

// again is the command that runs one subtest.
func (r *runner) again(name string) string {
	return "go test -run " + runPattern(r.test, name) + " " + r.place.pkg
}
