package evaltest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/batch"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
)

// Benchmark measures whole passes over the dataset: one iteration of b.Loop
// answers and grades every item, the end of the last one included. It reports
//
//	items/s              items a second, those that errored too
//	accuracy-%           correct answers, 0 to 100
//	input-tok/item       tokens, if the provider reports them all;
//	cached-tok/item      cached ones are part of the input's
//	output-tok/item
//	µUSD/item            cost in millionths of a US dollar, if all of it is known
//	p50-ns p90-ns p99-ns time that the model took for an answer; a p99 only of
//	                     100 answers or more, over all passes: else it is the maximum
//	retries/item         attempts after the first
//
// and, as ns/op, the time of a pass. What is not known is left out, never 0.
//
// A pass over a live model costs money, so -benchtime must then say how many
// (-benchtime=1x -count=10 for benchstat); with time as the limit testing
// would ask for at least 100. Errors, gates and interrupts fail b as they do
// in [Run], but for [Baseline], which is not evaluated; [Confirm] and [Curtail]
// do nothing. [Resume] and [Failed] are refused: they would measure a part.
func Benchmark(b *testing.B, ds *dataset.Dataset, s Strategy, opts ...Option) *Report {
	b.Helper()
	m, err := benchWith(realHooks(), b, caller(1), ds, s, opts)
	if err != nil {
		b.Fatalf("evaltest.Benchmark: %v", err)
	}
	switch {
	case m.report.Failed():
		b.Fatal(m.report.text()) // a failed benchmark prints no numbers
	case testing.Verbose():
		b.Log(m.report.text())
	case len(m.report.Warnings) > 0: // all else would be cut: testing shows ten lines
		b.Log(report.Escape(strings.Join(m.report.Warnings, "; "), 0))
	}
	for _, v := range m.metrics() {
		b.ReportMetric(v.value, v.unit)
	}
	return m.report
}

// processStart is about when the test binary began: benchmarks have no
// Deadline to ask.
var processStart = time.Now()

// measured is what a benchmark came to.
type measured struct {
	passes int
	wall   time.Duration
	report *Report
}

func benchWith(h *hooks, b *testing.B, p place, ds *dataset.Dataset, s Strategy, opts []Option) (*measured, error) {
	set, err := prepare(h, ds, s, opts)
	if err != nil {
		return nil, err
	}
	r, err := openBench(h, b, p, ds, s, set)
	if err != nil {
		return nil, err
	}
	unwatch := h.watch(r.gov)
	r.prepare()
	m := &measured{}
	begun := time.Now()
	for b.Loop() {
		r.evidence.owe(&r.plan)
		r.pass()
		m.passes++
		if r.gov.cause() != nil {
			b.Fail() // lest testing complain of the break
			break
		}
	}
	m.wall = time.Since(begun)
	r.distrust()
	m.report = r.concludePasses(m)
	unwatch()
	r.gov.release()
	return m, nil
}

// openBench makes the run of a benchmark, up to its first pass.
func openBench(h *hooks, b *testing.B, p place, ds *dataset.Dataset, s Strategy, set settings) (*runner, error) {
	if set.resume != "" || set.failed || set.update {
		return nil, errors.New("a benchmark measures whole passes: Resume, Failed and update (EVALTEST_RESUME, EVALTEST_FAILED, EVALTEST_UPDATE) are for Run")
	}
	ds, err := selection(&set, p, b.Name(), ds)
	if err != nil {
		return nil, err
	}
	if err := checkTargets(set.grader, ds); err != nil {
		return nil, err
	}
	r := newRunner(h, p, b.Name(), ds, s, set)
	if set.planning {
		r.plan, r.header = newPlan(r.test, ds, set.samples, nameFilter{}), header(&r.set, p, r.test, ds, s)
		r.planned(b)
	}
	if times := h.testFlag("benchtime"); r.live && !strings.HasSuffix(times, "x") {
		return nil, fmt.Errorf("-benchtime=%s against a live model would pay for as many passes as fit into it; say how many: -benchtime=1x (-count=10 for benchstat); if nobody is paid, add evaltest.Offline()", times)
	}
	printUnits()
	r.plan = newPlan(r.test, ds, set.samples, nameFilter{})
	r.bench, r.header = true, header(&r.set, p, r.test, ds, s)
	if err := r.open(ds, s, r.live); err != nil {
		return nil, err
	}
	if timeout, _ := time.ParseDuration(h.testFlag("timeout")); timeout > 0 {
		r.bound(processStart.Add(timeout))
	}
	r.gov.within(r.set.runTimeout)
	return r, nil
}

// pass answers every unit once.
func (r *runner) pass() {
	crew := r.cfg.Crew(r.ctx, r.answered)
	defer crew.Close()
	r.queue = &queue{at: r.plan.at, total: r.plan.total}
	for done := range batch.Run(context.Background(), r.workers(), func(_ context.Context, w *worker) (struct{}, error) {
		for w.unit = r.take(); w.unit != nil; w.unit = r.take() {
			r.answer(crew, w.unit)
		}
		return struct{}{}, nil
	}, batch.Options{Parallel: r.set.parallel}) {
		if done.Err != nil {
			r.fail("item %q: %v", done.In.unit.item.ID, done.Err)
		}
	}
}

// answer answers a unit, unless the run may not begin another.
func (r *runner) answer(crew *run.Crew, u *unit) {
	if r.gov.admit() == nil && r.afford() && r.turn() {
		defer r.leave()
		_, _ = crew.Item(u.item, u.sample) // an error has stopped the run
	}
}

// concludePasses is conclude for a benchmark. Every pass owes every answer.
func (r *runner) concludePasses(m *measured) *Report {
	s := r.sum.Stats()
	s.Wall, s.Spanned = m.wall, false
	if missing := m.passes*r.plan.total - s.Total; missing > 0 {
		s.Total += missing
		s.Outcomes[result.NotRun] += missing
	}
	s.Items = min(r.plan.ds.Len(), s.Total)
	return r.finish(nil, s, r.set.ids != nil)
}

// metric is a number with its unit.
type metric struct {
	value float64
	unit  string
}

// metrics are the numbers that are known.
func (m *measured) metrics() []metric {
	s := m.report.Stats
	list := []metric{{float64(m.wall) / float64(m.passes), "ns/op"}}
	per := func(total float64, unit string) { list = append(list, metric{total / float64(s.Total), unit}) }
	if seconds := m.wall.Seconds(); seconds > 0 {
		list = append(list, metric{float64(s.Total) / seconds, "items/s"})
	}
	per(100*float64(s.Correct()), "accuracy-%")
	if u := s.Usage; u.Known && u.Unknown == 0 {
		per(float64(u.Input), "input-tok/item")
		per(float64(u.CachedInput), "cached-tok/item")
		per(float64(u.Output), "output-tok/item")
	}
	if c := s.Cost; c.Billed.Priced+c.Recorded.Priced > 0 && c.Billed.Unpriced+c.Recorded.Unpriced == 0 {
		usd, _ := c.Billed.USD.Add(c.Recorded.USD).Float64()
		per(usd*1e6, "µUSD/item")
	}
	if l := s.Latency; l.N > 0 {
		list = append(list, metric{float64(l.P50), "p50-ns"}, metric{float64(l.P90), "p90-ns"})
		if l.HasP99() {
			list = append(list, metric{float64(l.P99), "p99-ns"})
		}
	}
	if tries, known := attempts(s); known {
		per(float64(tries-s.Total), "retries/item")
	}
	return list
}

// attempts is how many attempts there were in all, in vain or not; false if some
// item has none.
func attempts(s *report.Stats) (n int, known bool) {
	answers := 0
	for _, counts := range []map[int]int{s.Attempts, s.Failed} {
		for k, count := range counts {
			n += k * count
			answers += count
		}
	}
	return n, answers == s.Total
}
