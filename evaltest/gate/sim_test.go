package gate_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade/stat"
)

// A world draws runs of one model before and after a change.
type world struct {
	n, samples int
	was        int     // samples of the baseline, 0: as many
	perGroup   int     // items a group; 0: no groups
	noise      float64 // share that flips in each direction
	drop       float64 // true drop of accuracy
}

// draw returns both runs and the chance that each item is correct now. A share
// of 4·noise items is answered by the toss of a coin, the rest is always
// correct or always not; the drop turns some that were always correct. In a
// group all items are of one kind.
func (w world) draw(rng *rand.Rand) (old, now *gate.Baseline, chance map[string]float64) {
	chance = map[string]float64{}
	old, now = &gate.Baseline{}, &gate.Baseline{}
	was := cmp.Or(w.was, w.samples)
	old.Header.Samples, now.Header.Samples = was, w.samples
	coins := 4 * w.noise
	sure := 1 - coins - 0.1
	kind, broken := 0.0, false
	for i := range w.n {
		if w.perGroup == 0 || i%w.perGroup == 0 {
			kind, broken = rng.Float64(), rng.Float64() < w.drop/sure
		}
		p := 0.0
		switch {
		case kind < coins:
			p = 0.5
		case kind < coins+sure:
			p = 1
		}
		q := p
		if p == 1 && broken {
			q = 0
		}
		id, group := ids[i], ""
		if w.perGroup > 0 {
			group = fmt.Sprint("g", i/w.perGroup)
		}
		chance[id] = q
		old.Items = append(old.Items, gate.BaselineItem{ID: id, Group: group, Outcomes: toss(rng, p, was)})
		now.Items = append(now.Items, gate.BaselineItem{ID: id, Group: group, Outcomes: toss(rng, q, w.samples)})
	}
	return old, now, chance
}

// ids are sorted, and made once: the simulations draw millions of items.
var ids = func() (list []string) {
	for i := range 2000 {
		list = append(list, fmt.Sprintf("%05d", i))
	}
	return list
}()

func toss(rng *rand.Rand, p float64, samples int) (list []result.Outcome) {
	for range samples {
		o := result.Incorrect
		if rng.Float64() < p {
			o = result.Correct
		}
		list = append(list, o)
	}
	return list
}

// rate is how often runs are called regressed, at first and after asking the
// broken items twice more.
func (w world) rate(t *testing.T, runs int, o gate.CompareOptions, seed uint64) (first, confirmed float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range runs {
		old, now, chance := w.draw(rng)
		c, err := gate.Compare(old, now, o)
		require.NoError(t, err)
		if c.Verdict != gate.Regressed {
			continue
		}
		first++
		answers := map[string][]bool{}
		for _, b := range c.Broke {
			answers[b.ID] = []bool{rng.Float64() < chance[b.ID], rng.Float64() < chance[b.ID]}
		}
		if c.Confirm(answers).Verdict == gate.Regressed {
			confirmed++
		}
	}
	return first / float64(runs), confirmed / float64(runs)
}

// long says that simulations take their full length.
func long() bool { return os.Getenv("EVALS_STAT_LONG") != "" }

// runs is how many runs of a simulation there are: short by default.
func runs(short, full int) int {
	if long() {
		return full
	}
	return short
}

// TestFalseAlarms: two runs of the same noisy model are called regressed at
// most alpha of the time, plus three standard errors of the simulation.
func TestFalseAlarms(t *testing.T) {
	const alpha = 0.05
	for _, tt := range []struct {
		name, reason string
		w            world
		o            gate.CompareOptions
	}{
		{"items", "McNemar, mid-p", world{n: 100, samples: 1, noise: 0.05}, gate.CompareOptions{}},
		{"few items", "the p value is coarse", world{n: 30, samples: 1, noise: 0.1}, gate.CompareOptions{}},
		{"exact", "below alpha by construction", world{n: 150, samples: 1, noise: 0.05}, gate.CompareOptions{Exact: true}},
		{"groups", "alike items", world{n: 150, samples: 1, noise: 0.05, perGroup: 5}, gate.CompareOptions{}},
		{"few groups", "the t test fires too often here", world{n: 60, samples: 1, noise: 0.05, perGroup: 5}, gate.CompareOptions{}},
		{"samples", "means of three", world{n: 60, samples: 3, noise: 0.05}, gate.CompareOptions{}},
		{"more samples now", "shares of one and of five samples would have 18 %", world{n: 60, was: 1, samples: 5, noise: 0.05}, gate.CompareOptions{}},
		{"each group", "11 tests, corrected", world{n: 100, samples: 1, noise: 0.1, perGroup: 10}, gate.CompareOptions{EachGroup: true}},
		{"scores too", "two tests, corrected", world{n: 60, samples: 1, noise: 0.05}, gate.CompareOptions{Scores: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := runs(400, 2000)
			if tt.name == "items" { // the one that most runs are
				n = 2000
			}
			first, confirmed := tt.w.rate(t, n, tt.o, 42)
			limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/float64(n))
			t.Logf("false alarms %.4f, confirmed %.4f", first, confirmed)
			assert.LessOrEqual(t, first, limit, tt.reason)
			assert.LessOrEqual(t, confirmed, first, "both tests must fire")
		})
	}
}

// TestPower: a drop of the size that MinDrop names is found in 80 % of runs.
func TestPower(t *testing.T) {
	for _, tt := range []struct {
		name  string
		n     int
		noise float64
		exact bool
	}{{"100", 100, 0.02, false}, {"100 exact", 100, 0.02, true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			test := stat.PairedTest{Alpha: 0.05, Discordant: tt.noise, Exact: tt.exact}
			drop, err := test.MinDrop(tt.n, gate.Power)
			require.NoError(t, err)
			w := world{n: tt.n, samples: 1, noise: tt.noise, drop: drop}
			n := runs(700, 2000)
			first, _ := w.rate(t, n, gate.CompareOptions{Exact: tt.exact}, 43)
			t.Logf("a drop of %.4f was found in %.4f", drop, first)
			assert.InDelta(t, 0.80, first, 3*math.Sqrt(0.8*0.2/float64(n))+0.003)
		})
	}
}

// TestConfirmPower pins the figures in Confirm's documentation.
func TestConfirmPower(t *testing.T) {
	const n, noise = 1319, 0.05
	drop, err := stat.MinDrop(n, noise, 0.05, gate.Power)
	require.NoError(t, err)
	for _, tt := range []struct{ times, first, confirmed float64 }{
		{0, 0.05, 0.025}, {1, 0.80, 0.74}, {1.5, 0.98, 0.97},
	} {
		t.Run(fmt.Sprint(tt.times), func(t *testing.T) {
			t.Parallel()
			w := world{n: n, samples: 1, noise: noise, drop: tt.times * drop}
			draws := runs(80, 2000)
			first, confirmed := w.rate(t, draws, gate.CompareOptions{}, 44)
			t.Logf("first %.4f, confirmed %.4f", first, confirmed)
			within := func(p float64) float64 { return 3*math.Sqrt(p*(1-p)/float64(draws)) + 0.005 }
			assert.InDelta(t, tt.first, first, within(tt.first))
			assert.InDelta(t, tt.confirmed, confirmed, within(tt.confirmed))
		})
	}
}
