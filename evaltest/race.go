package evaltest

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
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
// b.Loop is one pass, in which each leg, and then this library, answers and
// grades every item once. With L legs it reports
//
//	LEG-ns      the time that the leg took for all items, as ours-ns
//	vs-LEG-%    that in percent of ours: 100 is as fast, 1000 ten times as slow
//	items/s     of ours
//
// and no ns/op, which would be the sum of them all.
//
// All legs do the same work: one attempt an item, with the same strategy and
// grader, and no judge. Ours also keeps its journal. All start alike: before
// the first pass as many calls as may run at once ([Parallel]) open the
// connections, and the garbage is collected before each lap. The leg that
// begins a pass is another one each time, in the passes of one process, -count
// included. Plain legs do not wait where a provider is busy: what they lost is
// in the laps' Errors, and said.
//
// A pass over a live model costs money, once a leg: see [Benchmark], whose
// rules hold, [MaxCost] among them. A failed or interrupted race fails b and
// prints no numbers.
func Race(b *testing.B, ds *dataset.Dataset, s Strategy, legs []Leg, opts ...Option) *bakeoff.Race {
	b.Helper()
	race, rep, err := raceWith(realHooks(), b, caller(1), ds, s, legs, opts)
	if err != nil {
		b.Fatalf("evaltest.Race: %v", err)
	}
	if rep.Failed() {
		b.Fatal(rep.text())
	}
	for _, leg := range legs {
		for _, pass := range race.Passes {
			for _, lap := range pass {
				if lap.Leg == leg.Name && lap.Errors > 0 {
					b.Logf("leg %s lost %d of %d items, so its time is not that of all: %d calls met a rate limit", lap.Leg, lap.Errors, race.Items, lap.RateLimits)
				}
			}
		}
		b.ReportMetric(mean(race.Walls(leg.Name)), leg.Name+"-ns")
		b.ReportMetric(100*race.Ratio(leg.Name), "vs-"+leg.Name+"-%")
	}
	ours := mean(race.Walls(bakeoff.Ours))
	b.ReportMetric(ours, bakeoff.Ours+"-ns")
	b.ReportMetric(float64(race.Items)/(ours/1e9), "items/s")
	b.ReportMetric(0, "ns/op") // hides it
	return race
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
	set.attempts, set.judge, set.judgeIncorrect = 1, nil, false // what plain legs do
	r, err := openBench(h, b, p, ds, s, set)
	if err != nil {
		return nil, nil, err
	}
	unwatch := h.watch(r.gov)
	r.prepare()
	race := &bakeoff.Race{Workers: set.parallel, Items: r.plan.total}
	warm := min(set.parallel, r.plan.total)
	race.Warmup, err = r.lap(PoolLeg(), warm)
	race.Warmup.Leg = "warm-up"
	if race.Warmup.Answered == 0 && err != nil {
		r.warn("none of the %d calls that open the connections was answered, the first one for: %v", warm, err)
	}
	m := &measured{}
	for b.Loop() {
		pass := r.racePass(legs, nextFirst(b.Name()))
		race.Passes = append(race.Passes, pass)
		m.passes++
		if r.gov.cause() != nil {
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
	return race, rep, nil
}

// racePass runs every leg once, beginning with the first-th.
func (r *runner) racePass(legs []Leg, first int) []bakeoff.Lap {
	laps := make([]bakeoff.Lap, 0, len(legs)+1)
	for k := range len(legs) + 1 {
		runtime.GC()
		if i := (first + k) % (len(legs) + 1); i < len(legs) {
			lap, _ := r.lap(legs[i], r.plan.total) // the lap counts its errors
			laps = append(laps, lap)
		} else {
			laps = append(laps, r.ownLap())
		}
	}
	return laps
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
		RateLimits: after.Waits.RateLimits - before.Waits.RateLimits, Usage: since(before.Usage, after.Usage),
	}
}

// answeredIn is how many answers came.
func answeredIn(s *report.Stats) int {
	return s.Recorded - s.Outcomes[result.Errored] - min(s.Recorded, s.Outcomes[result.NotRun])
}

// since is what has been added to a total.
func since(was, is llm.UsageTotal) llm.UsageTotal {
	is.Input -= was.Input
	is.CachedInput -= was.CachedInput
	is.Output -= was.Output
	is.Reasoning -= was.Reasoning
	is.CacheWrite -= was.CacheWrite
	is.CacheWriteHour -= was.CacheWriteHour
	is.Calls -= was.Calls
	is.Unknown -= was.Unknown
	is.Known = is.Calls > is.Unknown
	return is
}

// lap lets a plain leg work through the first items, and returns the first
// error too.
func (r *runner) lap(leg Leg, items int) (lap bakeoff.Lap, first error) {
	var mu sync.Mutex
	lap.Leg = leg.Name
	begun := time.Now()
	leg.Go(items, r.set.parallel, func(i int) {
		if r.gov.admit() != nil || !r.afford() {
			return // not run, as in a run
		}
		mark, calls, err := r.plainly(r.plan.at(i).item)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			lap.Errors++
			first = cmp.Or(first, err)
		} else {
			lap.Answered++
		}
		if mark == grade.Correct {
			lap.Correct++
		}
		for _, c := range calls {
			lap.Usage.Count(c.Usage())
			if llm.KindOf(c.Err) == llm.KindRateLimit {
				lap.RateLimits++
			}
		}
	})
	lap.Wall = time.Since(begun)
	return lap, first
}

// plainly answers and grades an item as a few lines without this library do,
// but for the money, which is counted.
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
	if err != nil {
		return "", nil, err
	}
	v, err := r.set.grader.Grade(ctx, it, resp)
	return v.Mark, nil, err
}
