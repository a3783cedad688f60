package evaltest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
)

// conclude takes stock of a run's subtests.
func (r *runner) conclude(t *testing.T, p *progress) *Report {
	narrowed := r.narrowed() || p.filtered > r.plan.total-r.plan.selected
	return r.finish(t, r.stats(p), narrowed)
}

// finish closes the files, lets the gates decide, and writes the summary. t is
// nil in a benchmark.
func (r *runner) finish(t *testing.T, stats *report.Stats, narrowed bool) *Report {
	stopped := r.gov.cause()
	stats.Curtailed = r.settled.Load() && stopped == nil && stats.Outcomes[result.NotRun] > 0
	rep := &Report{Stats: stats, Narrowed: narrowed, Comparison: r.comparison, ds: r.plan.ds}
	if stopped != nil {
		rep.Stopped = stopped.text
		r.fail("the run stopped early: %s", stopped.text)
	}
	if n := run.Abandoned(); n > 0 { // of the whole process
		calls := "1 call was"
		if n > 1 {
			calls = fmt.Sprintf("%d calls were", n)
		}
		r.warn("%s abandoned and may still be running and spending: a strategy, grader or judge must return when its context is done", calls)
	}
	r.closeStrategy()
	r.closeTape(stats, narrowed)
	rep.Journal = r.closeJournal(stats, stopped)
	var now *gate.Baseline
	rep.Decisions, now = r.decided(stats, narrowed)
	if r.set.update && r.set.baseline == "" {
		r.warn("-evaltest.update wrote nothing, because this test has no Baseline")
	} else if r.set.update {
		r.accept(rep, now)
	}
	rep.broken = r.brokenItems(rep)
	r.mu.Lock()
	defer r.mu.Unlock()
	rep.Warnings, rep.trouble = r.warnings, r.trouble
	rep.Summary = r.summary(rep)
	r.publish(t, rep, stopped)
	return rep
}

// stats are the numbers, corrected by what testing left out otherwise than
// expected.
func (r *runner) stats(p *progress) *report.Stats {
	s := r.sum.Stats()
	s.Wall, s.Spanned = time.Since(p.begun), false
	if extra := p.filtered - (r.plan.total - r.plan.selected); extra > 0 {
		extra = min(extra, s.Outcomes[result.NotRun])
		s.Total -= extra
		s.Items = min(s.Items, s.Total)
		if s.Outcomes[result.NotRun] -= extra; s.Outcomes[result.NotRun] == 0 {
			delete(s.Outcomes, result.NotRun)
		}
	}
	return s
}

// summary is the text of a report. r.mu is held.
func (r *runner) summary(rep *Report) string {
	var b strings.Builder
	o := report.Options{
		Gates: rep.Decisions, Warnings: rep.Warnings, Journal: rep.Journal, Accepted: rep.accepted, Broken: rep.broken,
		Corrected: r.set.corrected(rep.Stats),
	}
	left := rep.Stats.Outcomes[result.NotRun] + rep.Stats.Outcomes[result.Errored]
	switch {
	case !r.resumable:
	case rep.Stats.Curtailed:
		o.Resume = r.goOn() + " -evaltest.curtail=0 -evaltest.resume"
	case left > 0 || r.unconfirmed:
		o.Resume = r.goOn() + " -evaltest.resume"
	case !r.set.update && rep.Comparison == nil && failed(rep.Decisions, gate.NoDrop):
		o.Accept = r.acceptCommand(rep)
	}
	report.Text(&b, rep.Stats, o)
	return strings.TrimSuffix(b.String(), "\n")
}

// publish writes the summary beside the journal, copies both where go test
// -artifacts wants them, and shows an interrupted run's on the terminal: go
// test may drop the output of a binary that it has interrupted.
func (r *runner) publish(t *testing.T, rep *Report, stopped *halt) {
	text := rep.text() + "\n"
	err := r.file(t, rep, text)
	if err != nil {
		rep.Warnings = append(rep.Warnings, err.Error())
		rep.Summary += "\nwarning   " + report.Escape(err.Error(), 0)
	}
	switch {
	case stopped != nil && (stopped.reason == "interrupt" || stopped.reason == "orphan"):
		r.display(text)
	case !rep.Failed() && !r.verbose && !r.bench && r.h.getenv("CI") == "":
		// go test shows nothing of a test that passes.
		if aside := rep.aside(); aside != "" {
			r.display(report.Escape(r.test, 0) + ": " + aside)
		}
	}
}

// display writes text on the terminal, if there is one.
func (r *runner) display(text string) {
	if tty := r.h.terminal(); tty != nil {
		fmt.Fprint(tty, strings.ReplaceAll(text, "\n", "\r\n"))
		tty.Close()
	}
}

// file writes the summary beside the journal and copies both to the artifacts.
func (r *runner) file(t *testing.T, rep *Report, text string) (err error) {
	if rep.Journal == "" {
		return nil
	}
	path := beside(rep.Journal, ".txt")
	if e := os.WriteFile(path, []byte(text), 0o600); e != nil {
		os.Remove(path) // the part of it that a full disk took
		err = fmt.Errorf("summary not written: %w", e)
	}
	if r.h.testFlag("artifacts") == "true" && t != nil {
		dir := t.ArtifactDir()
		for _, f := range []string{rep.Journal, path} {
			if e := copyTo(dir, f); e != nil {
				err = errors.Join(err, fmt.Errorf("artifact not written: %w", e))
			}
		}
	}
	return err
}

// overrides are the dataset's, as the summary shows them.
func overrides(ds *dataset.Dataset) []report.Override {
	var list []report.Override
	for _, o := range ds.Overrides() {
		action := "target"
		if o.Skip {
			action = "skip"
		}
		list = append(list, report.Override{ID: o.ID, Action: action, Reason: o.Reason})
	}
	return list
}

// times is how often -count and -cpu run each test.
func times(h *hooks) int {
	n := 1
	fmt.Sscan(h.testFlag("count"), &n)
	return max(1, n) * (1 + strings.Count(h.testFlag("cpu"), ","))
}
