package stat

import (
	"math"
	"slices"
)

// exactRanks is the number of values up to which [MannWhitney] counts all
// arrangements.
const exactRanks = 50

// MannWhitney compares two independent samples, such as latencies, by rank:
// outliers weigh no more than any other value. u is the number of pairs in
// which the value of a is the larger one, a tie counting half; u/(len(a)·len(b))
// is the chance that a random a is above a random b. p is the two-sided p value
// of "they are alike".
//
// Up to 50 values in all p is exact, ties included: it counts every way to deal
// the ranks that are there. Beyond, it is the normal approximation with the
// correction for ties and for continuity. Source: H. B. Mann and D. R. Whitney,
// "On a test of whether one of two random variables is stochastically larger
// than the other", Annals of Mathematical Statistics 18 (1947), 50-60; ties, E.
// L. Lehmann, "Nonparametrics" (1975), section 1.4.
//
// If all values are the same p is 1. Fewer than 4 values on a side are a
// [*NotEnough]: with 3 and 3 no data whatever reach 0.05. It panics if a value
// is NaN or not within ±1e140.
func MannWhitney(a, b []float64) (u, p float64, err error) {
	checkScores("MannWhitney", "a", a)
	checkScores("MannWhitney", "b", b)
	if fewer := min(len(a), len(b)); fewer < 4 {
		return 0, 0, &NotEnough{Method: "Mann-Whitney test", Have: fewer, Need: 4, What: "values on each side"}
	}
	ranks, sum, ties := doubledRanks(a, b)
	n, m := len(a), len(b)
	// Ranks are doubled so that the mean rank of a tie is whole.
	u = float64(sum-n*(n+1)) / 2
	if n+m <= exactRanks {
		return u, exactRankP(ranks, n, sum), nil
	}
	all := float64(n + m)
	product := float64(n) * float64(m)
	variance := product / 12 * (all + 1 - ties/(all*(all-1)))
	if variance <= 0 {
		return u, 1, nil
	}
	distance := math.Max(0, math.Abs(u-product/2)-0.5)
	return u, math.Min(1, 2*normalUpper(distance/math.Sqrt(variance))), nil
}

// doubledRanks returns twice the mid-rank of every value, their sum over a, and
// Σ(t³-t) over the ties.
func doubledRanks(a, b []float64) (ranks []int, sum int, ties float64) {
	type value struct {
		x   float64
		ofA bool
	}
	values := make([]value, 0, len(a)+len(b))
	for _, x := range a {
		values = append(values, value{x, true})
	}
	for _, x := range b {
		values = append(values, value{x, false})
	}
	slices.SortFunc(values, func(v, w value) int {
		switch {
		case v.x < w.x:
			return -1
		case v.x > w.x:
			return 1
		}
		return 0
	})
	ranks = make([]int, len(values))
	for from := 0; from < len(values); {
		to := from
		for to < len(values) && values[to].x == values[from].x {
			to++
		}
		for i := from; i < to; i++ {
			ranks[i] = from + 1 + to
			if values[i].ofA {
				sum += ranks[i]
			}
		}
		t := float64(to - from)
		ties += t*t*t - t
		from = to
	}
	return ranks, sum, ties
}

// exactRankP is the share of all ways to choose n of the ranks whose sum is at
// least as far from its mean as sum.
func exactRankP(ranks []int, n, sum int) float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	// ways[k][s] is in how many ways k ranks have the sum s. There are at most
	// C(50,25) = 1.3e14 of them, so floats hold the counts exactly.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for k := min(n, i+1); k > 0; k-- {
			for s := total; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	// The mean of the sum is n·total/len: compared in whole numbers.
	distance := func(s int) int { return max(s*len(ranks)-n*total, n*total-s*len(ranks)) }
	far, all, observed := 0.0, 0.0, distance(sum)
	for s, w := range ways[n] {
		all += w
		if distance(s) >= observed {
			far += w
		}
	}
	return far / all
}
