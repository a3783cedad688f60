package evaltest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/price"
	"github.com/goevals/evals/llm/wire"
)

// Load loads a dataset for a test or a benchmark, which fails at the caller's
// line if it cannot be loaded whole. See [dataset.Load].
func Load(tb testing.TB, path string, opts ...dataset.Option) *dataset.Dataset {
	tb.Helper()
	ds, err := dataset.Load(path, opts...)
	if err != nil {
		tb.Fatalf("evaltest.Load: %v", err)
	}
	return ds
}

// Run answers every item of the dataset with s, each as a subtest of t, and
// grades the answers. It returns when all are done.
//
// Without an accuracy gate ([MinAccuracy], [MinGroups], [Baseline]), or when the run is narrowed (-run,
// -skip, [IDs], [Failed]), an item that is not correct fails its subtest. With
// one it ends as skipped, its outcome being the reason, and the gates decide.
// Either way t fails on answers that ended in errors or ungraded beyond what
// [MaxErrored] and [MaxUngraded] allow, on items that never ran, and on a run
// of nothing.
//
// With -evaltest.plan (EVALTEST_PLAN=1) nobody is asked: the test is skipped with
// a text that says what the run would ask for and spend, what drop it can show,
// and what the budget is. go test shows it with -v, and on a terminal without.
//
// Misuse fails t at the caller's line and does not return. t must not be used
// by another Run before or after: wrap each in a t.Run of its own. The strategy
// must not use t.
func Run(t *testing.T, ds *dataset.Dataset, s Strategy, opts ...Option) *Report {
	t.Helper()
	rep, err := runWith(realHooks(), t, caller(1), ds, s, opts)
	if err != nil {
		t.Fatalf("evaltest.Run: %v", err)
	}
	rep.print(t)
	return rep
}

// seen are the tests in which a Run has begun.
var seen sync.Map

// claim refuses a second Run on the same test: testing would rename its
// subtests, and -run would find the wrong ones.
func claim(t *testing.T) error {
	if _, twice := seen.LoadOrStore(t, true); twice {
		return fmt.Errorf("a second Run in %s: the subtests of both would have the same names; wrap each Run in a t.Run(\"name\", func(t *testing.T) { … }) of its own", t.Name())
	}
	t.Cleanup(func() { seen.Delete(t) })
	return nil
}

// runner is one run on its way.
type runner struct {
	h     *hooks
	set   settings
	place place
	site  string // the call's file:line, before each log line
	test  string // the test's full name
	cfg   *run.Config
	plan  plan
	queue *queue // what is asked now
	// resumable says that -evaltest.resume goes on with this run.
	resumable bool
	asserts   bool // an item that is not correct fails its subtest
	live      bool
	verbose   bool
	json      bool
	lines     *lines // nil without -v
	// closeBy is when nothing waits for the files any more; zero for never.
	closeBy time.Time
	gov     *governor
	ctx     context.Context // of the items, with the cassette
	tape    *tape
	journal *journal
	stile   turnstile
	fast    run.FailFast
	// unreachable stops the run when fast says so, once.
	unreachable sync.Once
	sum         *report.Summary

	header     result.Header
	bench      bool
	evidence   *evidence        // nil if no gate needs it
	baseline   *gate.Baseline   // to compare with; nil for none
	replaced   *gate.Baseline   // the one that an update replaces
	unread     bool             // there is one, and it cannot be read
	priced     *gate.Baseline   // the one that a plan takes the costs from
	elsewhere  bool             // the baseline is of other items
	comparison *gate.Comparison // once all is answered
	confirmed  confirmed
	// reconfirmed says that broken items have been asked again, if they were to be.
	reconfirmed bool
	labels      report.Labels
	distrusted  bool // what judges decided is ungraded
	// unconfirmed says that the run was stopped while it asked again.
	unconfirmed bool
	settling    sync.Mutex
	settled     atomic.Bool // no gate's decision can change any more

	told told // of failed calls

	mu       sync.Mutex
	warnings []string
	trouble  []string // further reasons to fail
}

// warn adds a warning about the run as a whole, once.
func (r *runner) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.warnings {
		if w == text {
			return
		}
	}
	r.warnings = append(r.warnings, text)
}

// fail adds a reason for which the test fails.
func (r *runner) fail(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = append(r.trouble, fmt.Sprintf(format, args...))
}

// runWith is Run with everything that it takes from its process. An error is
// one that keeps the run from beginning.
func runWith(h *hooks, t *testing.T, p place, ds *dataset.Dataset, s Strategy, opts []Option) (*Report, error) {
	set, err := prepare(h, ds, s, opts)
	if err != nil {
		return nil, err
	}
	if ds, err = selection(&set, p, t.Name(), ds); err != nil {
		return nil, err
	}
	if err := checkTargets(set.grader, ds); err != nil {
		return nil, err
	}
	if err := claim(t); err != nil {
		return nil, err
	}
	deadline, err := deadlineOf(h, t)
	if err != nil {
		return nil, err
	}
	r := newRunner(h, p, t.Name(), ds, s, set)
	r.plan = newPlan(r.test, ds, set.samples, newNameFilter(h.testFlag("run"), h.testFlag("skip")))
	r.plan.begin(set.first)
	r.asserts = !set.gated() || r.narrowed()
	if r.plan.selected == 0 {
		return nil, fmt.Errorf("%s leaves none of the %d items: an item's subtest is named like %s", h.narrowing(), ds.Len(), r.example())
	}
	r.header = header(&r.set, p, r.test, ds, s)
	switch err := r.base(r.header); {
	case err != nil && set.planning:
		r.warn("%s", strings.ReplaceAll(err.Error(), "\n", " ")) // it costs nothing to plan
	case err != nil:
		return nil, err
	}
	r.planned(t)
	if r.live || r.set.baseline != "" && !tracked(r.set.baseline) {
		uncache(flag.CommandLine)
	}
	if r.live {
		// A benchmark is told how often to ask: -benchtime and -count are how
		// benchstat wants it.
		if n := times(h); n > 1 {
			r.warn("-count and -cpu run this test %d times, and each time asks and pays anew", n)
		}
	}
	if err := r.open(ds, s, true); err != nil {
		return nil, err
	}
	return r.all(t, deadline), nil
}

// deadlineOf returns when testing ends the process; zero for never. The T of a
// synctest bubble has none and panics, as it does when a subtest is run.
func deadlineOf(h *hooks, t *testing.T) (deadline time.Time, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v: the T of a synctest bubble runs no subtests; call Run outside of it, and synctest.Test in the strategy if it needs one", p)
		}
	}()
	deadline, _ = h.deadline(t)
	return deadline, nil
}

// prepare refuses what cannot be run, before anything is billed.
func prepare(h *hooks, ds *dataset.Dataset, s Strategy, opts []Option) (settings, error) {
	set, err := resolve(opts, h.getenv, h.flags)
	err = errors.Join(err, misspelt(h.environ()))
	if set.price == nil {
		set.price = price.Default().Response
	}
	switch {
	case ds == nil:
		err = errors.Join(errors.New("the dataset is nil: load one with evaltest.Load or make one with dataset.New"), err)
	case s == nil:
		err = errors.Join(errors.New("the strategy is nil: give an evaltest.StrategyFunc, evaltest.Ask or evaltest.App"), err)
	case ds.Len() == 0:
		err = errors.Join(fmt.Errorf("the dataset %s has no items: a run of nothing shows nothing", ds.Name()), err)
	}
	if set.grader == nil {
		err = errors.Join(err, errors.New("no grader: choose one, such as evaltest.Grader(grade.Numeric()) or evaltest.Grader(grade.Exact())"))
	}
	if why := h.process.cause(); why != nil && err == nil {
		err = fmt.Errorf("not started: %s", why.text)
	}
	return set, err
}

// selection narrows the dataset as options and flags say.
func selection(set *settings, p place, test string, ds *dataset.Dataset) (*dataset.Dataset, error) {
	var opts []dataset.Option
	switch {
	case set.failed:
		dir, err := journalDir(set, p, test)
		if err != nil {
			return nil, err
		}
		var ids []string
		ids, set.first, err = failedIDs(dir, ds)
		if err != nil {
			return nil, err
		}
		opts = append(opts, dataset.IDs(ids...))
	case len(set.ids) > 0:
		opts = append(opts, dataset.IDs(set.ids...))
	}
	if set.part.n > 0 {
		opts = append(opts, dataset.Shard(set.part.i, set.part.n))
	}
	if set.limit > 0 {
		opts = append(opts, dataset.Limit(set.limit))
	}
	if set.sample.n > 0 {
		opts = append(opts, dataset.Sample(set.sample.n, set.sample.seed))
	}
	if len(opts) == 0 {
		return ds, nil
	}
	return ds.Select(opts...)
}

func newRunner(h *hooks, p place, test string, ds *dataset.Dataset, s Strategy, set settings) *runner {
	r := &runner{
		stile: turnstile{ended: make(chan struct{}, set.parallel)},
		h:     h, set: set, place: p, test: test,
		site: fmt.Sprintf("%s:%d", p.file, p.line),
		cfg: &run.Config{
			Strategy: s, Grader: set.grader, Judge: set.judge, JudgeIncorrect: set.judgeIncorrect,
			Attempts: set.attempts, AttemptTimeout: set.attemptTimeout, ItemTimeout: set.itemTimeout,
			Grace: strayGrace, Price: set.price, Scope: set.scope, Budget: set.budget(),
		},
		verbose: h.verbose(), json: h.json(),
		gov: newGovernor(context.Background()),
	}
	if r.verbose {
		r.lines = new(lines)
	}
	r.ctx = r.gov.ctx
	r.live = !(replays(&set) && (ds.Path() == "" || tracked(ds.Path())))
	for _, w := range ds.Warnings() {
		r.warn("%v", w)
	}
	if err := wire.CheckDescriptors(set.parallel); err != nil && r.live {
		r.warn("%v", err)
	}
	return r
}

// replays reports whether the answers come from code and from files that go
// test keeps an eye on. Journals are none of these.
func replays(s *settings) bool {
	if s.resume != "" || s.failed {
		return false
	}
	if s.cassette != "" {
		return s.cassetteMode == cassette.Replay && tracked(s.cassette)
	}
	return s.offline
}

// narrowed reports whether only part of the dataset is asked for, so that
// gates about the whole mean nothing.
func (r *runner) narrowed() bool {
	return r.plan.narrowed() || len(r.set.ids) > 0 || r.set.failed
}

// example is the full name of the first item's subtest.
func (r *runner) example() string {
	return r.test + "/" + r.plan.at(0).name()
}

// open opens what the run reads from and, if it is to keep a journal, writes
// to.
func (r *runner) open(ds *dataset.Dataset, s Strategy, keep bool) error {
	if err := r.cfg.Check(); err != nil {
		return err
	}
	dir, err := journalDir(&r.set, r.place, r.test)
	if err != nil {
		return err
	}
	if r.set.cassette != "" && r.set.cassetteMode != cassette.Off {
		if r.tape, err = openTape(&r.set, r.test); err != nil {
			return err
		}
		r.ctx = r.tape.context(r.ctx)
	}
	r.journal = &journal{}
	h := r.header
	if keep {
		// A look at a few items must not make the last whole run forgotten.
		remember := !r.plan.narrowed() && len(r.set.ids) == 0
		r.resumable = remember && !r.set.failed && !r.bench
		if r.journal, err = openJournal(&r.set, dir, h, remember); err != nil {
			r.tape.close(true)
			return err
		}
	}
	for _, w := range r.journal.repaired {
		r.warn("%v", w)
	}
	labels := report.LabelsOf(h)
	labels.Planned, labels.Overrides = r.plan.selected, overrides(ds)
	r.labels, r.sum = labels, report.New(labels)
	for i := range r.journal.spent {
		rec := &r.journal.spent[i]
		if !r.plan.filters(r.test + "/" + subtestName(rec.Item.ID, rec.Sample)) {
			r.sum.AddSpent(rec)
		}
	}
	r.journal.spent = nil
	r.evidence = newEvidence(&r.set)
	return nil
}

// bound watches the test's deadline.
func (r *runner) bound(deadline time.Time) reserve {
	timeout, _ := time.ParseDuration(r.h.testFlag("timeout"))
	res := reserveFor(time.Now(), deadline, timeout)
	r.cfg.Grace = max(time.Millisecond, res.stray)
	r.gov.limit(res, timeout)
	r.closeBy = res.files
	return res
}
