package evaltest

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/bakeoff"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// Race measures a run against plain ways to do the same: one iteration of
// b.Loop is one pass, in which each leg and this library answer and grade every
// item once. It reports, for each leg and for ours,
//
//	LEG-ns      the time for all items, as ours-ns: the mean over the passes
//	vs-LEG-%    that in percent of ours, 100 is as fast, 1000 ten times as slow:
//	            the median of the ratios of two laps of the same pass
//	items/s     of ours, by the mean
//
// so that over several passes vs-LEG-% is not the quotient of the times. There
// is no ns/op, which would be the sum of them all.
//
// All legs do the same work: one attempt an item, with the same strategy and
// grader, and no judge; an answer that was cut, blocked or refused is an answer
// and not graded. Ours also keeps its journal. All start alike: before the first
// pass as many calls as may run at once ([Parallel]) open the connections, and
// the garbage is collected before each lap. The leg that begins a pass is another
// one each time, in the passes of one process, -count included. Where each pass
// is a process of its own, EVALTEST_PASS is the number of passes before it (an
// integer from 0), as .ci/compare sets it. Plain legs do not wait where a
// provider is busy. What a leg lost, ours too, is in its laps' Errors, and said.
// The race fails if ours lost more than [MaxErrored] says in all passes together,
// which is none by default.
//
// A pass over a live model costs money, once a leg and once for ours, and so does
// the warm-up: see [Benchmark], whose rules hold, [MaxCost] among them. A failed
// or interrupted race fails b and prints no numbers, and so does a leg that does
// not do each item exactly once, does more at once than it may, panics, or
// returns before its calls have.
func Race(b *testing.B, ds *dataset.Dataset, s Strategy, legs []Leg, opts ...Option) *bakeoff.Race {
	b.Helper()
	race, rep, err := raceWith(realHooks(), b, caller(1), ds, s, legs, opts)
	if err != nil {
		b.Fatalf("evaltest.Race: %v", err)
	}
	if rep.Failed() {
		b.Fatal(rep.text())
	}
	for _, line := range append(lost(race), rep.Warnings...) {
		b.Log(report.Escape(line, 0))
	}
	for _, leg := range legs {
		b.ReportMetric(mean(race.Walls(leg.Name)), leg.Name+"-ns")
		b.ReportMetric(100*race.Ratio(leg.Name), "vs-"+leg.Name+"-%")
	}
	ours := mean(race.Walls(bakeoff.Ours))
	b.ReportMetric(ours, bakeoff.Ours+"-ns")
	b.ReportMetric(float64(race.Items)/(ours/1e9), "items/s")
	b.ReportMetric(0, "ns/op") // hides it
	return race
}

// lost says of each leg what it lost in all its passes: a line a leg, since
// testing shows only ten.
func lost(race *bakeoff.Race) (lines []string) {
	for _, leg := range slices.Sorted(slices.Values(race.Legs())) {
		errored, limited := 0, 0
		for _, pass := range race.Passes {
			for _, lap := range pass {
				if lap.Leg == leg {
					errored, limited = errored+lap.Errors, limited+lap.RateLimits
				}
			}
		}
		if errored > 0 {
			lines = append(lines, fmt.Sprintf("leg %s lost %d of %d items, so its time is not that of all: %d calls met a rate limit", leg, errored, race.Items*len(race.Passes), limited))
		}
	}
	return lines
}

// mean is that of durations, in nanoseconds, and at least 1: a metric is never
// NaN, and a clock may be too coarse for a lap of nothing.
func mean(walls []time.Duration) float64 {
	var sum float64
	for _, w := range walls {
		sum += float64(w)
	}
	return max(1, sum/float64(max(1, len(walls))))
}

// firsts is how many passes each benchmark has begun, by name: a pass's first
// leg is another one than that of the pass before, whatever -count and
// -benchtime divide them into.
var firsts = struct {
	sync.Mutex
	begun map[string]int
}{begun: map[string]int{}}

func nextFirst(name string) int {
	firsts.Lock()
	defer firsts.Unlock()
	firsts.begun[name]++
	return firsts.begun[name] - 1
}

func raceWith(h *hooks, b *testing.B, p place, ds *dataset.Dataset, s Strategy, legs []Leg, opts []Option) (*bakeoff.Race, *Report, error) {
	set, err := prepare(h, ds, s, opts)
	if err == nil {
		err = checkLegs(legs)
	}
	if err == nil && set.samples != 1 {
		err = fmt.Errorf("%d samples: a race is over one answer an item", set.samples)
	}
	if err != nil {
		return nil, nil, err
	}
	begun, err := passesBefore(h.getenv("EVALTEST_PASS"))
	if err != nil {
		return nil, nil, err
	}
	set.attempts, set.judge, set.judgeIncorrect = 1, nil, false // what plain legs do
	r, err := openBench(h, b, p, ds, s, set)
	if err != nil {
		return nil, nil, err
	}
	printLegUnits(b.Name(), legs)
	unwatch := h.watch(r.gov)
	r.prepare()
	race := &bakeoff.Race{Workers: set.parallel, Items: r.plan.total}
	warm := min(set.parallel, r.plan.total)
	var first, fault error
	race.Warmup, first, _ = r.lap(PoolLeg(), warm)
	race.Warmup.Leg = "warm-up"
	if race.Warmup.Answered == 0 && first != nil {
		r.warn("none of the %d calls that open the connections was answered, the first one for: %v", warm, first)
	}
	m := &measured{}
	for b.Loop() {
		var pass []bakeoff.Lap
		pass, fault = r.racePass(legs, begun+nextFirst(b.Name()))
		race.Passes = append(race.Passes, pass)
		m.passes++
		if r.gov.cause() != nil || fault != nil {
			b.Fail() // lest testing complain of the break
			break
		}
	}
	for _, w := range race.Walls(bakeoff.Ours) {
		m.wall += w
	}
	rep := r.concludePasses(m)
	race.Journal = rep.Journal
	unwatch()
	r.gov.release()
	return race, rep, fault
}

// passesBefore reads EVALTEST_PASS.
func passesBefore(v string) (int, error) {
	if v == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("EVALTEST_PASS=%q: want the number of this pass, from 0, where each pass is a process of its own", v)
	}
	return n, nil
}

// racePass runs every leg once, beginning with the first-th, until one does
// something wrong.
func (r *runner) racePass(legs []Leg, first int) (laps []bakeoff.Lap, fault error) {
	for k := range len(legs) + 1 {
		runtime.GC()
		i := (first + k) % (len(legs) + 1)
		if i == len(legs) {
			laps = append(laps, r.ownLap())
			continue
		}
		lap, _, fault := r.lap(legs[i], r.plan.total) // the lap counts its errors
		if laps = append(laps, lap); fault != nil {
			return laps, fault
		}
	}
	return laps, nil
}

// ownLap is a pass of this library.
func (r *runner) ownLap() bakeoff.Lap {
	r.evidence.owe(&r.plan)
	before := r.sum.Stats()
	begun := time.Now()
	r.pass()
	wall := time.Since(begun)
	after := r.sum.Stats()
	return bakeoff.Lap{
		Leg: bakeoff.Ours, Wall: wall, Answered: answeredIn(after) - answeredIn(before), Correct: after.Correct() - before.Correct(),
		Errors:     after.Outcomes[result.Errored] - before.Outcomes[result.Errored],
		RateLimits: after.Waits.RateLimits - before.Waits.RateLimits, Usage: after.Usage.Since(before.Usage),
	}
}

// answeredIn is how many answers came.
func answeredIn(s *report.Stats) int {
	return s.Recorded - s.Outcomes[result.Errored] - min(s.Recorded, s.Outcomes[result.NotRun])
}

// lap lets a plain leg work through the first items, and returns the first
// error of an item too. fault is what the leg itself did wrong: what it measured
// is worth nothing then.
func (r *runner) lap(leg Leg, items int) (lap bakeoff.Lap, first, fault error) {
	t := &tally{lap: bakeoff.Lap{Leg: leg.Name}, done: make([]int, items), limit: r.set.parallel}
	returned := make(chan error, 1)
	begun := time.Now()
	go func() {
		defer func() {
			if p := recover(); p != nil {
				returned <- fmt.Errorf("leg %q panicked: %v", leg.Name, p)
			}
			close(returned)
		}()
		leg.Go(items, r.set.parallel, func(i int) { r.plainItem(t, i) })
	}()
	select {
	case fault = <-returned:
	case <-r.ctx.Done(): // stopped: what is in flight ends by its context
		grace := time.NewTimer(legGrace)
		defer grace.Stop()
		select {
		case fault = <-returned:
		case <-grace.C:
			fault = fmt.Errorf("leg %q did not return within %v of the run's stop: its Go must return when every call of do has", leg.Name, legGrace)
		}
	}
	wall := time.Since(begun)
	lap, first, wrong := t.result(r.gov.cause() != nil)
	lap.Wall = wall
	return lap, first, cmp.Or(fault, wrong)
}

// legGrace is how long a leg may take to return once the run has stopped.
const legGrace = 10 * time.Second

// plainItem works on the i-th item, once a leg has called for it.
func (r *runner) plainItem(t *tally, i int) {
	if !t.begin(i) {
		return
	}
	defer t.end()
	if r.gov.admit() != nil || !r.afford() {
		return // not run, as in a run
	}
	t.add(r.plainly(r.plan.at(i).item))
}

// plainly answers and grades an item as a few lines without this library do,
// but for the money, which is counted. What is an answer, and which is graded,
// is as in a run: a text that was cut, blocked or refused is not.
func (r *runner) plainly(it dataset.Item) (mark grade.Mark, calls []llm.Call, err error) {
	var log llm.CallLog
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if calls = log.Calls(); r.cfg.Budget != nil {
			_ = r.cfg.Budget.Spend(calls...) // whoever asks next is told
		}
	}()
	limit := r.set.attemptTimeout
	if limit == 0 {
		limit = run.DefaultAttemptTimeout
	}
	ctx, cancel := context.WithTimeout(llm.WithCallLog(llm.WithItem(r.ctx, it.ID), &log), limit)
	defer cancel()
	resp, err := r.cfg.Strategy.Execute(ctx, it, Attempt{Number: 1, Of: 1, State: new(State)})
	if len(log.Calls()) == 0 { // a strategy that logs none
		llm.LogCall(ctx, llm.Call{Response: resp, Err: err})
	}
	switch kind := llm.KindOf(err); {
	case kind == llm.KindBlocked, kind == llm.KindUnusable:
		return "", nil, nil
	case err != nil:
		return "", nil, err
	case resp.Finish == llm.FinishContentFilter, resp.Finish == llm.FinishRefusal, resp.Refusal != "", resp.Finish == llm.FinishLength:
		return "", nil, nil
	}
	v, err := r.set.grader.Grade(ctx, it, resp)
	return v.Mark, nil, err
}
