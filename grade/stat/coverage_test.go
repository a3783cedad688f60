package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/goevals/evals/grade/stat"
)

// exactCoverage is the probability that the interval of a binomial count holds
// p: a sum, no simulation.
func exactCoverage(n int, p float64, interval func(correct int) (stat.Interval, bool)) float64 {
	covered := 0.0
	for k := 0; k <= n; k++ {
		weight := stat.Binomial(k, n, p)
		if weight < 1e-14 {
			continue
		}
		if i, ok := interval(k); ok && i.Contains(p) {
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

func TestCovX(t *testing.T) {
	if os.Getenv("X") == "" {
		t.Skip()
	}
	ns, ps := []int{10, 50, 1319}, []float64{0.5, 0.95, 0.99}
	for name, f := range map[string]func(n int) func(k int) (stat.Interval, bool){
		"Wilson": func(n int) func(k int) (stat.Interval, bool) {
			return func(k int) (stat.Interval, bool) { return stat.Wilson(k, n, 0.95), true }
		},
		"ClopperPearson": func(n int) func(k int) (stat.Interval, bool) {
			return func(k int) (stat.Interval, bool) { return stat.ClopperPearson(k, n, 0.95), true }
		},
		"Mean": func(n int) func(k int) (stat.Interval, bool) {
			return func(k int) (stat.Interval, bool) { return tOfCount(k, n), true }
		},
	} {
		fmt.Printf("%s:", name)
		for _, n := range ns {
			for _, p := range ps {
				fmt.Printf(" %.3f", exactCoverage(n, p, f(n)))
			}
		}
		fmt.Println()
	}
	for name, f := range simulations {
		fmt.Printf("%s:", name)
		for _, n := range ns {
			for _, p := range ps {
				runs := 4000
				if n > 1000 {
					runs = 1000
				}
				fmt.Printf(" %.3f", simulated(runs, 1, func(r *rand.Rand) (stat.Interval, float64, error) { return f(r, n, p) }))
			}
		}
		fmt.Println()
	}
}
