package gate_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
)

func share(v float64) *float64 { return &v }

// find returns the decision of one gate.
func find(t *testing.T, ds []gate.Decision, name string) gate.Decision {
	t.Helper()
	for _, d := range ds {
		if d.Gate == name {
			return d
		}
	}
	t.Fatalf("no decision of %s in %v", name, ds)
	return gate.Decision{}
}

func TestMinAccuracy(t *testing.T) {
	a, b := 0.1, 0.2 // variables: constants are added exactly
	hundred, third := 100.0, 3.0
	for _, tt := range []struct {
		name, reason string
		correct, n   int
		min          float64
		pass         bool
		says         string
	}{
		{"above", "more than enough", 80, 100, 0.75, true, "5 correct answers to spare"},
		{"equal", "at least means equal too", 75, 100, 0.75, true, "0 correct answers to spare"},
		{"one short", "the text says how many are missing", 74, 100, 0.75, false, "1 more correct answer would pass"},
		{"two short", "plural", 73, 100, 0.75, false, "2 more correct answers would pass"},
		{"0.29", "0.29*100 is 28.999999999999996 in floats", 29, 100, 0.29, true, "0 correct"},
		{"0.29 short", "29/100 is exact, 28 is below", 28, 100, 0.29, false, "1 more"},
		{"0.57", "0.57*100 is 56.99999999999999 in floats", 56, 100, 0.57, false, "1 more"},
		{"0.1+0.2", "0.30000000000000004 is meant as 0.3", 30, 100, a + b, true, "the 30% required"},
		{"0.1+0.2 short", "the slack is far below one answer", 29, 100, a + b, false, "1 more"},
		{"29/100 computed", "division gives the nearest float64, as the literal does", 29, 100, 29 / hundred, true, ""},
		{"1/3", "a third of three is one: no float64 is exactly 1/3", 1, 3, 1 / third, true, ""},
		{"2/3", "the nearest float64 is below 2/3, the 15-digit decimal above", 2, 3, 2 / third, true, ""},
		{"2/3 of a million", "666,667 are the first above two thirds", 666_666, 1_000_000, 2 / third, false, "1 more"},
		{"next above 0.75", "an artefact of arithmetic", 75, 100, math.Nextafter(0.75, 1), true, "the 75% required"},
		{"next below 0.75", "the same on the other side", 75, 100, math.Nextafter(0.75, 0), true, "the 75% required"},
		{"0.7500001", "seven digits were written on purpose", 75, 100, 0.7500001, false, "1 more"},
		{"all", "1 is everything", 100, 100, 1, true, ""},
		{"all but one", "99 of 100 is not everything", 99, 100, 1, false, "1 more"},
		{"none needed", "0 accepts any accuracy", 0, 100, 0, true, ""},
		{"tiny", "one of a million is needed", 0, 1_000_000, 1e-6, false, "1 more"},
		{"smallest float", "any correct answer at all", 0, 10, math.SmallestNonzeroFloat64, false, "1 more"},
		{"largest n", "no overflow on the way", math.MaxInt, math.MaxInt, 1, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := gate.Counts{Total: tt.n, Correct: tt.correct}
			d := find(t, gate.Evaluate(c, gate.Config{MinAccuracy: &tt.min}, false), gate.MinAccuracy)
			assert.Equal(t, tt.pass, d.Status == gate.Passed, "%s: %s", tt.reason, d)
			assert.Contains(t, d.Text, tt.says, tt.reason)
		})
	}
}

func TestMinAccuracyText(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		counts       gate.Counts
		min          float64
		want         string
	}{
		{
			"J16", "errored answers stay in the denominator: 80/100, not 80/90",
			gate.Counts{Total: 100, Correct: 80, Errored: 10}, 0.85,
			"accuracy 80.0% (80 of 100 items correct; 95% interval 71.1% to 86.7%) is below the 85% required; 5 more correct answers would pass",
		},
		{
			"rounding", "never that 75.0% is below 75%",
			gate.Counts{Total: 10_000, Correct: 7499}, 0.75,
			"accuracy 74.99% (7499 of 10000 items correct; 95% interval 74.1% to 75.8%) is below the 75% required; 1 more correct answer would pass",
		},
		{
			"rounding up", "never that 66.6% is at least 66.65%",
			gate.Counts{Total: 10_000, Correct: 6665}, 0.6665,
			"accuracy 66.7% (6665 of 10000 items correct; 95% interval 65.7% to 67.6%) is at least the 66.65% required; 0 correct answers to spare",
		},
		{
			"samples", "the interval is as wide as the items make it, and the text says how many there are",
			gate.Counts{Total: 100, Items: 25, Correct: 80}, 0.75,
			"accuracy 80.0% (80 of 100 answers to 25 items correct; 95% interval 60.9% to 91.1%) is at least the 75% required; 5 correct answers to spare",
		},
		{"one", "singular", gate.Counts{Total: 1, Correct: 1}, 1, "accuracy 100.0% (1 of 1 item correct; 95% interval 20.7% to 100.0%) is at least the 100% required; 0 correct answers to spare"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := find(t, gate.Evaluate(tt.counts, gate.Config{MinAccuracy: &tt.min}, false), gate.MinAccuracy)
			assert.Equal(t, tt.want, d.Text, tt.reason)
		})
	}
}

func TestEvaluate(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		counts       gate.Counts
		cfg          gate.Config
		narrowed     bool
		want         string // the decisions' gates and statuses
	}{
		{
			"all well", "configured gates say so when they pass",
			gate.Counts{Total: 4, Correct: 3}, gate.Config{MinAccuracy: share(0.5)}, false,
			"MinAccuracy passed, MaxErrored passed, MaxUngraded passed",
		},
		{
			"no accuracy gate", "without one accuracy does not decide here",
			gate.Counts{Total: 4, Correct: 0}, gate.Config{}, false,
			"MaxErrored passed, MaxUngraded passed",
		},
		{
			"errored beyond", "the default allows none",
			gate.Counts{Total: 4, Correct: 3, Errored: 1}, gate.Config{MinAccuracy: share(0.5)}, false,
			"MinAccuracy passed, MaxErrored failed, MaxUngraded passed",
		},
		{
			"errored within", "at most means equal too",
			gate.Counts{Total: 4, Correct: 2, Errored: 2}, gate.Config{MaxErrored: 2}, false,
			"MaxErrored passed, MaxUngraded passed",
		},
		{
			"ungraded beyond", "a judge's failure is not an error of the model",
			gate.Counts{Total: 4, Correct: 2, Ungraded: 2}, gate.Config{MaxUngraded: 1}, false,
			"MaxErrored passed, MaxUngraded failed",
		},
		{
			"empty", "no green run on nothing, even if nothing is required",
			gate.Counts{}, gate.Config{MinAccuracy: share(0)}, false,
			"Items failed, MinAccuracy failed, MaxErrored passed, MaxUngraded passed",
		},
		{
			"empty and narrowed", "a filter that matches nothing shows nothing",
			gate.Counts{}, gate.Config{MinAccuracy: share(0)}, true,
			"Items failed, MinAccuracy not_evaluated, MaxErrored passed, MaxUngraded passed",
		},
		{
			"not run", "an incomplete run fails whatever it reached",
			gate.Counts{Total: 4, Correct: 3, NotRun: 1}, gate.Config{MinAccuracy: share(0.5)}, false,
			"Complete failed, MinAccuracy passed, MaxErrored passed, MaxUngraded passed",
		},
		{
			"not run and narrowed", "a narrowed run must be complete too",
			gate.Counts{Total: 4, Correct: 3, NotRun: 1}, gate.Config{}, true,
			"Complete failed, MaxErrored passed, MaxUngraded passed",
		},
		{
			"narrowed", "part of the dataset says nothing of the whole, but errors are errors",
			gate.Counts{Total: 2, Correct: 0, Errored: 1}, gate.Config{MinAccuracy: share(0.5)}, true,
			"MinAccuracy not_evaluated, MaxErrored failed, MaxUngraded passed",
		},
		{
			"dead endpoint", "no limit on errors is meant to accept a run of nothing but errors",
			gate.Counts{Total: 100, Errored: 90, NotRun: 10}, gate.Config{MaxErrored: 1000}, false,
			"Complete failed, Answered failed, MaxErrored passed, MaxUngraded passed",
		},
		{
			"nothing started", "that is Complete's to say: nothing errored",
			gate.Counts{Total: 100, NotRun: 100}, gate.Config{}, false,
			"Complete failed, MaxErrored passed, MaxUngraded passed",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ds := gate.Evaluate(tt.counts, tt.cfg, tt.narrowed)
			var got []string
			for _, d := range ds {
				got = append(got, d.Gate+" "+string(d.Status))
				assert.NotEmpty(t, d.Text)
				assert.NotContains(t, d.Text, "\n")
			}
			assert.Equal(t, tt.want, strings.Join(got, ", "), tt.reason)
			assert.Equal(t, strings.Contains(tt.want, "failed"), gate.AnyFailed(ds))
		})
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		cfg          gate.Config
		says         string
	}{
		{"percent", "75 is the usual mistake", gate.Config{MinAccuracy: share(75)}, "MinAccuracy 75 is more than 1: it is a share, not a percentage; for 75% write 0.75"},
		{"percent with decimals", "the hint is exact", gate.Config{MinAccuracy: share(99.5)}, "for 99.5% write 0.995"},
		{"1.5", "could be 1.5%", gate.Config{MinAccuracy: share(1.5)}, "for 1.5% write 0.015"},
		{"next above 1", "no accuracy reaches it", gate.Config{MinAccuracy: share(math.Nextafter(1, 2))}, "MinAccuracy 1.0000000000000002"},
		{"above 100", "no percentage either", gate.Config{MinAccuracy: share(101)}, "MinAccuracy 101"},
		{"negative", "a gate that cannot fail", gate.Config{MinAccuracy: share(-0.1)}, "MinAccuracy -0.1"},
		{"NaN", "every comparison with it is false", gate.Config{MinAccuracy: share(math.NaN())}, "MinAccuracy NaN"},
		{"infinite", "", gate.Config{MinAccuracy: share(math.Inf(1))}, "MinAccuracy +Inf"},
		{"negative errored", "", gate.Config{MaxErrored: -1}, "MaxErrored -1"},
		{"negative ungraded", "", gate.Config{MaxUngraded: -2}, "MaxUngraded -2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.cfg.Check()
			require.ErrorIs(t, err, gate.ErrConfig, tt.reason)
			assert.Contains(t, err.Error(), tt.says, tt.reason)
			assert.Panics(t, func() { gate.Evaluate(gate.Counts{Total: 1}, tt.cfg, false) })
		})
	}
	for _, ok := range []float64{0, 0.75, 1, math.Copysign(0, -1)} {
		assert.NoError(t, gate.Config{MinAccuracy: &ok, MaxErrored: 5, MaxUngraded: 5}.Check(), "%v", ok)
	}
}

// TestFinal: what cannot be resumed is not advised to be.
func TestFinal(t *testing.T) {
	for _, row := range []struct {
		name, reason, want string
		final              bool
	}{
		{"a run", "it goes on where it stopped", "1 of 4 items never ran; resume the run to finish it", false},
		{"a benchmark", "it measures whole passes", "1 of 4 items never ran; it has to run anew", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			ds := gate.Decide(gate.Evidence{Counts: gate.Counts{Total: 4, Correct: 3, NotRun: 1}, Final: row.final}, gate.Config{})
			assert.Equal(t, gate.Complete, ds[0].Gate)
			assert.Equal(t, row.want, ds[0].Text, row.reason)
		})
	}
}

func TestImpossibleCounts(t *testing.T) {
	for _, c := range []gate.Counts{
		{Total: -1}, {Total: 1, Correct: 2}, {Total: 2, Correct: 1, Errored: 1, NotRun: 1},
		{Total: 1, Items: 2}, {Total: 3, Errored: -1},
	} {
		assert.Panics(t, func() { gate.Evaluate(c, gate.Config{}, false) }, "%+v", c)
	}
}

// FuzzMinAccuracy: the decision agrees with the number of missing answers it
// names, and one answer more never turns a pass into a failure.
func FuzzMinAccuracy(f *testing.F) {
	f.Add(75, 100, 0.75)
	f.Add(2, 3, 2.0/3)
	f.Add(0, 1, 5e-324)
	f.Fuzz(func(t *testing.T, correct, n int, v float64) {
		cfg := gate.Config{MinAccuracy: &v}
		if cfg.Check() != nil || n < 1 || correct < 0 || correct >= n {
			t.Skip()
		}
		decide := func(k int) gate.Decision {
			return find(t, gate.Evaluate(gate.Counts{Total: n, Correct: k}, cfg, false), gate.MinAccuracy)
		}
		now, next := decide(correct), decide(correct+1)
		if now.Status == gate.Passed {
			assert.Equal(t, gate.Passed, next.Status, "%s; then %s", now, next)
		} else {
			one := strings.Contains(now.Text, "; 1 more correct answer would pass")
			assert.Equal(t, one, next.Status == gate.Passed, "%s; then %s", now, next)
		}
		if exactly := float64(correct) / float64(n); v == exactly && n < 1<<40 {
			assert.Equal(t, gate.Passed, now.Status, "an accuracy meets itself: %s", now)
		}
	})
}

func Example() {
	least := 0.85
	cfg := gate.Config{MinAccuracy: &least, MaxErrored: 10}
	if err := cfg.Check(); err != nil {
		fmt.Println(err)
		return
	}
	ds := gate.Evaluate(gate.Counts{Total: 100, Correct: 80, Errored: 10}, cfg, false)
	for _, d := range ds {
		fmt.Println(d)
	}
	fmt.Println("the run fails:", gate.AnyFailed(ds))
	// Output:
	// MinAccuracy failed: accuracy 80.0% (80 of 100 items correct; 95% interval 71.1% to 86.7%) is below the 85% required; 5 more correct answers would pass
	// MaxErrored passed: 10 of 100 items errored, at most 10 allowed
	// MaxUngraded passed: 0 of 100 items ungraded, at most 0 allowed
	// the run fails: true
}
