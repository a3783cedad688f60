package stat_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade/stat"
)

// exactCoverage is the probability that the interval of a binomial count holds
// p: a sum, no simulation.
func exactCoverage(n int, p float64, interval func(correct int) stat.Interval) float64 {
	covered := 0.0
	for k := 0; k <= n; k++ {
		weight := stat.Binomial(k, n, p)
		if weight < 1e-14 {
			continue
		}
		if interval(k).Contains(p) {
			covered += weight
		}
	}
	return covered
}

// tOfCount is the t interval of k ones and n-k zeros, in closed form.
func tOfCount(k, n int) stat.Interval {
	p := float64(k) / float64(n)
	se := math.Sqrt(p * (1 - p) / float64(n-1))
	half := stat.StudentQuantile(0.025, float64(n-1)) * se
	return stat.Interval{Lo: p - half, Hi: p + half, Level: 0.95}
}

// simulated is the share of runs whose interval holds the truth; a run may be
// undefined, and then does not count.
func simulated(runs int, seed uint64, once func(*rand.Rand) (stat.Interval, float64, error)) float64 {
	random := rand.New(rand.NewPCG(seed, 11))
	covered, defined := 0, 0
	for range runs {
		i, truth, err := once(random)
		if err != nil {
			continue
		}
		defined++
		if i.Contains(truth) {
			covered++
		}
	}
	return float64(covered) / float64(defined)
}

func coin(random *rand.Rand, p float64) float64 {
	if random.Float64() < p {
		return 1
	}
	return 0
}

func count(random *rand.Rand, n int, p float64) int {
	k := 0
	for range n {
		if random.Float64() < p {
			k++
		}
	}
	return k
}

// clustered is n answers in clusters of five; in half of the clusters all five
// share one coin: an intraclass correlation of 0.5.
func clustered(random *rand.Rand, n int, p float64) (xs []float64, groups []string) {
	for g := 0; len(xs) < n; g++ {
		shared, together := coin(random, p), random.Float64() < 0.5
		for range 5 {
			x := shared
			if !together {
				x = coin(random, p)
			}
			xs, groups = append(xs, x), append(groups, fmt.Sprint(g))
		}
	}
	return xs[:n], groups[:n]
}

// flips are two runs of n items with a share of p correct before; of the items
// 4% break and as many are fixed as keeps the share, at most 4%.
func flips(random *rand.Rand, n int, p float64) (both, broke, fixed, neither int, truth float64) {
	pb, pf := 0.04, min(0.04, 1-p)
	for range n {
		switch u := random.Float64(); {
		case u < pb:
			broke++
		case u < p:
			both++
		case u < p+pf:
			fixed++
		default:
			neither++
		}
	}
	return both, broke, fixed, neither, pf - pb
}

func pairsOf(both, broke, fixed, neither int) []stat.Pair {
	var pairs []stat.Pair
	for _, c := range []struct {
		n        int
		old, new float64
	}{{both, 1, 1}, {broke, 1, 0}, {fixed, 0, 1}, {neither, 0, 0}} {
		for range c.n {
			pairs = append(pairs, stat.Pair{Old: c.old, New: c.new})
		}
	}
	return pairs
}

// simulations are the intervals whose coverage is not a plain binomial sum.
var simulations = map[string]func(random *rand.Rand, n int, p float64) (stat.Interval, float64, error){
	"MeanClustered": func(random *rand.Rand, n int, p float64) (stat.Interval, float64, error) {
		xs, groups := clustered(random, n, p)
		e, err := stat.MeanClustered(xs, groups, 0.95)
		return e.Interval, p, err
	},
	"Mean of clusters": func(random *rand.Rand, n int, p float64) (stat.Interval, float64, error) {
		xs, _ := clustered(random, n, p)
		e, err := stat.Mean(xs, 0.95)
		return e.Interval, p, err
	},
	"PairedProportions": func(random *rand.Rand, n int, p float64) (stat.Interval, float64, error) {
		a, b, c, d, truth := flips(random, n, p)
		return stat.PairedProportions(a, b, c, d, 0.95).Interval, truth, nil
	},
	"PairedDiff": func(random *rand.Rand, n int, p float64) (stat.Interval, float64, error) {
		a, b, c, d, truth := flips(random, n, p)
		e, err := stat.PairedDiff(pairsOf(a, b, c, d), 0.95)
		return e.Interval, truth, err
	},
	"PairedBootstrap": func(random *rand.Rand, n int, p float64) (stat.Interval, float64, error) {
		a, b, c, d, truth := flips(random, n, p)
		e, err := stat.PairedBootstrap(pairsOf(a, b, c, d), 200, random.Uint64(), 0.95)
		return e.Interval, truth, err
	},
	"RoganGladen": func(random *rand.Rand, n int, p float64) (stat.Interval, float64, error) {
		const sens, spec, labels = 0.9, 0.85, 50
		e, err := stat.RoganGladen(
			stat.Proportion{Successes: count(random, n, p*sens+(1-p)*(1-spec)), N: n},
			stat.Proportion{Successes: count(random, labels, sens), N: labels},
			stat.Proportion{Successes: count(random, labels, spec), N: labels}, 0.95)
		return e.Interval, p, err
	},
	"Kappa": func(random *rand.Rand, n int, p float64) (stat.Interval, float64, error) {
		const same = 0.9 // the second rater says what the first does
		m := [][]int{{0, 0}, {0, 0}}
		for range n {
			i := int(1 - coin(random, p))
			j := i
			if random.Float64() >= same {
				j = 1 - i
			}
			m[i][j]++
		}
		column := p*same + (1-p)*(1-same)
		chance := p*column + (1-p)*(1-column)
		e, err := stat.Kappa(m, 0.95)
		return e.Interval, (same - chance) / (1 - chance), err
	},
}

// cells are the order of the figures below.
var (
	coverageN = []int{10, 50, 1319}
	coverageP = []float64{0.5, 0.95, 0.99}
)

// TestExactCoverage pins the coverage, at a level of 0.95, of the intervals of
// one binomial count, to the last of three digits.
func TestExactCoverage(t *testing.T) {
	for _, tt := range []struct {
		name     string
		interval func(k, n int) stat.Interval
		want     [9]float64
	}{
		{"Wilson", func(k, n int) stat.Interval { return stat.Wilson(k, n, 0.95) },
			[9]float64{0.979, 0.914, 0.904, 0.935, 0.962, 0.911, 0.953, 0.950, 0.949}},
		{"ClopperPearson", func(k, n int) stat.Interval { return stat.ClopperPearson(k, n, 0.95) },
			[9]float64{0.979, 0.988, 0.996, 0.967, 0.988, 0.986, 0.953, 0.957, 0.962}},
		{"Mean", tOfCount,
			[9]float64{0.979, 0.401, 0.096, 0.935, 0.920, 0.395, 0.953, 0.943, 0.943}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i, want := range tt.want {
				n, p := coverageN[i/3], coverageP[i%3]
				got := exactCoverage(n, p, func(k int) stat.Interval { return tt.interval(k, n) })
				assert.InDelta(t, want, got, 0.00051, "n %d, p %v", n, p)
			}
		})
	}
}

// TestTOfCountIsMean ties the closed form of the table to the function.
func TestTOfCountIsMean(t *testing.T) {
	e, err := stat.Mean([]float64{1, 1, 0, 1, 1, 1, 0, 1}, 0.95)
	require.NoError(t, err)
	want := tOfCount(6, 8)
	assert.InDelta(t, want.Lo, e.Interval.Lo, 1e-12)
	assert.InDelta(t, want.Hi, e.Interval.Hi, 1e-12)
}

// TestClopperPearsonNeverBelow: the promise of the method, over a grid.
func TestClopperPearsonNeverBelow(t *testing.T) {
	for _, n := range []int{1, 4, 13, 40} {
		for p := 0.013; p < 1; p += 0.0371 {
			got := exactCoverage(n, p, func(k int) stat.Interval { return stat.ClopperPearson(k, n, 0.95) })
			assert.GreaterOrEqual(t, got, 0.95, "n %d, p %v", n, p)
		}
	}
}

// coverageFigures are what the long version of the test below found.
var coverageFigures = map[string][9]float64{
	"Kappa":             {0.972, 0.983, 0.952, 0.938, 0.920, 0.983, 0.948, 0.948, 0.947},
	"Mean of clusters":  {0.780, 0.206, 0.046, 0.697, 0.724, 0.215, 0.756, 0.731, 0.723},
	"MeanClustered":     {0.799, 0.245, 0.056, 0.943, 0.773, 0.264, 0.953, 0.933, 0.828},
	"PairedBootstrap":   {0.995, 0.995, 0.339, 0.954, 0.952, 0.854, 0.953, 0.947, 0.948},
	"PairedDiff":        {0.999, 0.999, 0.404, 0.958, 0.959, 0.866, 0.957, 0.944, 0.947},
	"PairedProportions": {0.999, 0.999, 1.000, 0.958, 0.959, 0.989, 0.957, 0.944, 0.948},
	"RoganGladen":       {0.961, 0.964, 0.970, 0.950, 0.963, 0.964, 0.952, 0.956, 0.954},
}

// TestSimulatedCoverage holds the simulated coverage against the figures of the
// documentation. EVALS_STAT_LONG=1 runs as many as they were found with, 20,000
// runs a cell and 4,000 at n = 1319, which takes minutes.
func TestSimulatedCoverage(t *testing.T) {
	long := os.Getenv("EVALS_STAT_LONG") != ""
	for _, name := range slices.Sorted(maps.Keys(simulations)) {
		t.Run(name, func(t *testing.T) {
			var found [9]float64
			for i := range found {
				n, p := coverageN[i/3], coverageP[i%3]
				runs, slack := 400, 0.0
				switch {
				case long && n < 1000:
					runs = 20_000
				case long:
					runs = 4000
				case n > 1000:
					runs, slack = 60, 0.01
				}
				want := coverageFigures[name][i]
				found[i] = simulated(runs, uint64(i), func(random *rand.Rand) (stat.Interval, float64, error) {
					return simulations[name](random, n, p)
				})
				// Four standard errors, and the rounding of the figure.
				allowed := 4*math.Sqrt(want*(1-want)/float64(runs)) + 0.001 + slack
				assert.InDelta(t, want, found[i], allowed, "n %d, p %v", n, p)
			}
			t.Logf("%.3f", found)
		})
	}
}

// TestClusteredFalseAlarms: groups of five items that flip together in half of
// the groups, and no true change. The clustered test keeps alpha; McNemar, which
// takes the items as independent, does not.
func TestClusteredFalseAlarms(t *testing.T) {
	for _, groups := range []int{10, 20, 60} {
		t.Run(fmt.Sprint(groups), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(groups), 3))
			fired, naive := 0, 0
			const runs = 2000
			for range runs {
				pairs, broke, fixed := groupedFlips(random, groups)
				d, err := stat.PairedDiff(pairs, 0.95)
				require.NoError(t, err)
				if d.P <= 0.05 {
					fired++
				}
				if stat.McNemar(broke, fixed).MidP <= 0.05 {
					naive++
				}
			}
			t.Logf("%d groups: clustered %.3f, McNemar %.3f", groups, float64(fired)/runs, float64(naive)/runs)
			assert.LessOrEqual(t, float64(fired)/runs, 0.05+3*math.Sqrt(0.05*0.95/runs))
			assert.InDelta(t, 0.165, float64(naive)/runs, 0.02, "what ignoring the groups costs")
		})
	}
}

// groupedFlips breaks and fixes a tenth of the items each.
func groupedFlips(random *rand.Rand, groups int) (pairs []stat.Pair, broke, fixed int) {
	flip := func() float64 {
		switch u := random.Float64(); {
		case u < 0.1:
			return -1
		case u < 0.2:
			return 1
		}
		return 0
	}
	for g := range groups {
		shared, together := flip(), random.Float64() < 0.5
		for range 5 {
			x := shared
			if !together {
				x = flip()
			}
			pair := stat.Pair{Old: max(0, -x), New: max(0, x), Group: fmt.Sprint(g)}
			pairs = append(pairs, pair)
			broke += int(pair.Old)
			fixed += int(pair.New)
		}
	}
	return pairs, broke, fixed
}
