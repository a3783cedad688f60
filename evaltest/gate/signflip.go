package gate

import (
	"math"

	"github.com/goevals/evals/grade/stat"
)

// signFlip tests whether two runs are of one model. Its units are independent
// of each other: items, or groups of items; sums are their changes (how many
// more samples are correct), 0 left out. If the model is the same, old and new
// could be swapped in each unit: every sum is as likely with the other sign.
// So with R = Σ ±|sum| over all 2^m choices of signs, equally likely, the
// one-sided p value of a drop to T = Σ sum is P(R <= T), and the mid-p value is
// P(R < T) + P(R = T)/2. This is exact for any number of units; with sums of
// ±1 it is McNemar's test. Without any change p is 1.
//
// Source: R. A. Fisher, The Design of Experiments (1935), section 21; for
// clusters: M. H. Gail et al., "On design considerations and
// randomization-based inference for community intervention trials",
// Statistics in Medicine 15 (1996), 1069-1092. The t test of clustered
// differences was rejected here: with few groups that change it fires too
// often (3 broken items in 3 of 100 groups give p = 0.04 where the exact value
// is 0.125), and its p value can rise when one item more breaks, so a run
// could not be stopped early by arithmetic.
//
// A drop is never less likely to be found if one item more fails: let s be one
// unit's sum, and T' and R' those of the others. Then
//
//	P(R <= T) = ½P(R' <= T' + s - |s|) + ½P(R' <= T' + s + |s|)
//	          = ½P(R' <= T') + ½P(R' <= T' + 2s)
//
// for s of either sign, which does not fall as s grows, and the same holds for
// the mid-p value, where the distribution function of R' is replaced by its
// mean from both sides. That is what [Settled] rests on. (p = 1 without any
// change is above what the formula gives for mid-p, ½; alpha is below both.)
func signFlip(sums []int, exact bool) pvalues {
	if len(sums) == 0 {
		return pvalues{1, 1}
	}
	total, squares, unit := 0, 0.0, 0
	for _, s := range sums {
		total += s
		squares += float64(s) * float64(s)
		unit = gcd(unit, abs(s))
	}
	below, at := flipTail(sums, unit, total, squares)
	drop, rise := below+at, 1-below
	if !exact {
		drop, rise = below+at/2, 1-below-at/2
	}
	return pvalues{clamp(drop), clamp(rise)}
}

// significance is signFlip, by McNemar's test where that is the same.
func significance(sums []int, exact bool) pvalues {
	broke, fixed := 0, 0
	for _, s := range sums {
		switch s {
		case -1:
			broke++
		case 1:
			fixed++
		default:
			return signFlip(sums, exact)
		}
	}
	drop, rise := stat.McNemar(broke, fixed), stat.McNemar(fixed, broke)
	if exact {
		return pvalues{drop.P, rise.P}
	}
	return pvalues{drop.MidP, rise.MidP}
}

func clamp(p float64) float64 { return math.Max(0, math.Min(1, p)) }

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// tailSigmas is where the distribution is cut: by Hoeffding's inequality
// P(|R| >= 12·√Σs²) <= 2·exp(-72) < 2e-31, far below what a float of the sum
// keeps.
const tailSigmas = 12

// flipTail returns P(R < total) and P(R = total). It adds unit after unit to the
// distribution of R, on a grid of whole units that is cut at tailSigmas. The
// smaller tail is computed and mirrored, so that it keeps its accuracy.
func flipTail(sums []int, unit, total int, squares float64) (below, at float64) {
	width := int(tailSigmas*math.Sqrt(squares)/float64(unit)) + 1
	size := 0
	for _, s := range sums {
		size += abs(s) / unit
	}
	width = min(width, size)
	dist, next := make([]float64, 2*width+1), make([]float64, 2*width+1)
	dist[width] = 1
	reach := 0
	for _, s := range sums {
		d := abs(s) / unit
		clear(next)
		for k := max(-width, -reach); k <= min(width, reach); k++ {
			half := dist[k+width] / 2
			if half == 0 {
				continue
			}
			next[max(-width, k-d)+width] += half
			next[min(width, k+d)+width] += half
		}
		reach += d
		dist, next = next, dist
	}
	t := abs(total) / unit // R is symmetric: P(R < -t) is P(R > t)
	if t > width {
		t = width + 1
	} else {
		at = dist[width-t]
	}
	tail := 0.0
	for k := -width; k < -t; k++ {
		tail += dist[k+width]
	}
	if total <= 0 {
		return tail, at
	}
	return 1 - tail - at, at
}
