package gate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
)

// TestSettled holds Settled against brute force: every completion of small
// runs is decided in full. Whatever Settled calls settled must not change, must
// be what a run that stopped there is told, and without errors and samples
// nothing that cannot change may be missed.
func TestSettled(t *testing.T) {
	four := []result.Outcome{result.Correct, result.Incorrect, result.Errored, result.Ungraded}
	two := four[:2]
	half, most, drop := 0.5, 0.8, 0.25
	base := gate.Config{MaxErrored: 9, MaxUngraded: 9}
	with := func(f func(*gate.Config)) gate.Config { c := base; f(&c); return c }
	for _, tt := range []struct {
		name     string
		cfg      gate.Config
		compare  bool
		samples  int
		groups   int
		outcomes []result.Outcome
		complete bool // nothing that cannot change is missed
	}{
		{name: "errored and ungraded", cfg: gate.Config{MaxErrored: 1, MaxUngraded: 1}, samples: 1, outcomes: four, complete: true},
		{name: "accuracy", cfg: with(func(c *gate.Config) { c.MinAccuracy = &half }), samples: 1, outcomes: four, complete: true},
		{name: "lower bound", cfg: with(func(c *gate.Config) { c.MinAccuracy = &half; c.LowerBound = true }), samples: 1, outcomes: two, complete: true},
		{name: "groups", cfg: with(func(c *gate.Config) { c.MinGroups = &half }), samples: 1, groups: 2, outcomes: two, complete: true},
		{name: "groups by lower bound", cfg: with(func(c *gate.Config) { c.MinGroups = &drop; c.LowerBound = true }), samples: 1, groups: 2, outcomes: two, complete: true},
		{name: "a group", cfg: with(func(c *gate.Config) { c.MinGroup = map[string]float64{"g0": most} }), samples: 1, groups: 2, outcomes: two, complete: true},
		{name: "drop by test", cfg: base, compare: true, samples: 1, outcomes: two, complete: true},
		{name: "drop by test, errors", cfg: base, compare: true, samples: 1, outcomes: four},
		{name: "drop by exact test", cfg: with(func(c *gate.Config) { c.Compare.Exact = true; c.Compare.Alpha = 0.2 }), compare: true, samples: 1, outcomes: two, complete: true},
		{name: "drop in points", cfg: with(func(c *gate.Config) { c.Compare.MaxDrop = &drop; c.Compare.Alpha = 1e-9 }), compare: true, samples: 1, outcomes: four},
		{name: "drop by group", cfg: with(func(c *gate.Config) { c.Compare.Alpha = 0.2 }), compare: true, samples: 1, groups: 4, outcomes: two, complete: true},
		{name: "drop in each group", cfg: with(func(c *gate.Config) { c.Compare = gate.CompareOptions{EachGroup: true, ByItem: true, Alpha: 0.3} }), compare: true, samples: 1, groups: 2, outcomes: two, complete: true},
		{name: "drop, two samples", cfg: with(func(c *gate.Config) { c.Compare.Alpha = 0.2; c.Compare.MaxDrop = &drop }), compare: true, samples: 2, outcomes: four[:3]},
		{name: "drop to detect", cfg: with(func(c *gate.Config) { c.Compare.Alpha = 0.2; c.Compare.Detect = 0.3 }), compare: true, samples: 1, outcomes: two},
		{name: "not enough fails", cfg: with(func(c *gate.Config) { c.FailNotEnough = true }), compare: true, samples: 1, outcomes: two},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, 7))
			settled, could := 0, 0
			draws := runs(50, 400)
			for range draws {
				old, now := small(rng, tt.samples, tt.groups, tt.outcomes)
				cfg := tt.cfg
				if tt.compare {
					cfg.Baseline = old
				}
				e := evidence(t, now)
				says := gate.Settled(e, cfg)
				same := constant(t, now, cfg, tt.outcomes)
				if says {
					settled++
					require.NotEmpty(t, same, "settled, and a completion changes it:\n%v\n%v", old.Items, now.Items)
					e.Curtailed = true
					assert.Equal(t, same, statuses(gate.Decide(e, cfg)), "a run that stops is told otherwise:\n%v\n%v", old.Items, now.Items)
				}
				if same != nil {
					could++
					if tt.complete && !allErrored(now) {
						require.True(t, says, "nothing can change it, and it is not settled:\n%v\n%v", old.Items, now.Items)
					}
				}
			}
			t.Logf("settled %d of %d that could not change", settled, could)
			assert.Positive(t, settled, "the test must meet runs that are settled")
			assert.Less(t, settled, draws, "and runs that are not")
		})
	}
}

// small draws a run of a few items, some of whose answers are still to come,
// and its baseline.
func small(rng *rand.Rand, samples, groups int, outcomes []result.Outcome) (old, now *gate.Baseline) {
	old, now = &gate.Baseline{}, &gate.Baseline{}
	old.Header.Samples, now.Header.Samples = samples, samples
	left := 4
	if len(outcomes) > 2 {
		left = 3 // 4^4 completions take seconds
	}
	good, bad := rng.Float64(), rng.Float64()
	for i := range 6 + rng.IntN(6) {
		o := gate.BaselineItem{ID: ids[i]}
		if groups > 0 {
			o.Group = fmt.Sprint("g", i%groups)
		}
		n := o
		for range samples {
			was, is := result.Incorrect, outcomes[rng.IntN(len(outcomes))]
			if rng.Float64() < good {
				was = result.Correct
			}
			if rng.Float64() < bad {
				is = result.Incorrect
			}
			if left > 0 && rng.IntN(3) == 0 {
				is = result.NotRun
				left--
			}
			o.Outcomes, n.Outcomes = append(o.Outcomes, was), append(n.Outcomes, is)
		}
		old.Items, now.Items = append(old.Items, o), append(now.Items, n)
	}
	return old, now
}

func evidence(t *testing.T, run *gate.Baseline) gate.Evidence {
	e := gate.Evidence{Run: run}
	for _, c := range run.Groups() {
		e.Counts.Total, e.Counts.Items = e.Counts.Total+c.Total, e.Counts.Items+c.Items
		e.Counts.Correct, e.Counts.NotRun = e.Counts.Correct+c.Correct, e.Counts.NotRun+c.NotRun
		e.Counts.Errored, e.Counts.Ungraded = e.Counts.Errored+c.Errored, e.Counts.Ungraded+c.Ungraded
	}
	return e
}

func allErrored(run *gate.Baseline) bool {
	for _, it := range run.Items {
		for _, o := range it.Outcomes {
			if o != result.Errored && o != result.NotRun {
				return false
			}
		}
	}
	return true
}

// statuses are the decisions' by gate, in order.
func statuses(ds []gate.Decision) (list []string) {
	for _, d := range ds {
		list = append(list, d.Gate+" "+string(d.Status))
	}
	return list
}

// constant returns the statuses that every completion comes to, nil if they are
// not all the same.
func constant(t *testing.T, run *gate.Baseline, cfg gate.Config, outcomes []result.Outcome) (same []string) {
	type slot struct{ item, sample int }
	var open []slot
	full := &gate.Baseline{Header: run.Header}
	for i, it := range run.Items {
		it.Outcomes = slices.Clone(it.Outcomes)
		for k, o := range it.Outcomes {
			if o == result.NotRun {
				open = append(open, slot{i, k})
			}
		}
		full.Items = append(full.Items, it)
	}
	total := 1
	for range open {
		total *= len(outcomes)
	}
	for code := range total {
		for _, s := range open {
			full.Items[s.item].Outcomes[s.sample] = outcomes[code%len(outcomes)]
			code /= len(outcomes)
		}
		got := statuses(gate.Decide(evidence(t, full), cfg))
		if same == nil {
			same = got
		} else if !slices.Equal(same, got) {
			return nil
		}
	}
	return same
}

// TestSettledLatency: the same for percentiles, where an answer may come with a
// latency over the limit, within it, or none.
func TestSettledLatency(t *testing.T) {
	settled := 0
	for _, p := range []float64{0.5, 0.8, 0.9, 1} {
		cfg := gate.Config{MaxErrored: 99, MaxUngraded: 99, MaxLatency: []gate.Percentile{{P: p, Max: time.Second}}}
		for fast := range 8 {
			for slow := range 8 {
				for left := range 5 {
					status := func(fast, slow int) gate.Status {
						e := gate.Evidence{Counts: gate.Counts{Total: 1, Correct: 1}}
						e.Latencies = append(slices.Repeat([]time.Duration{time.Second}, fast), slices.Repeat([]time.Duration{2 * time.Second}, slow)...)
						return find(t, gate.Decide(e, cfg), gate.MaxLatency).Status
					}
					var all []gate.Status
					for f := range left + 1 {
						for s := range left + 1 - f {
							all = append(all, status(fast+f, slow+s))
						}
					}
					slices.Sort(all)
					e := gate.Evidence{Counts: gate.Counts{Total: 20, Correct: 20 - left, NotRun: left}}
					e.Latencies = append(slices.Repeat([]time.Duration{time.Second}, fast), slices.Repeat([]time.Duration{2 * time.Second}, slow)...)
					if gate.Settled(e, cfg) {
						settled++
						assert.Len(t, slices.Compact(all), 1, "p %v, %d fast, %d slow, %d left", p, fast, slow, left)
					}
				}
			}
		}
	}
	assert.Greater(t, settled, 400, "more than the 256 without anything left")
}
