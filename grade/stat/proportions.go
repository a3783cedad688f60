package stat

import "math"

// PairedProportions compares the shares of correct verdicts on the same items:
// both were correct before and now, broke only before, fixed only now, neither
// at no time. Value is (fixed-broke)/n. P and TwoSided are the mid-p of
// [McNemar]. Interval is Tango's score interval: all differences δ with
//
//	|fixed - broke - nδ| <= z·√(n(2q + |δ| - δ²))
//
// where q is the probability to flip against δ that is likeliest under δ. Source: T.
// Tango, "Equivalence test and confidence interval for the difference in
// proportions for the paired-sample design", Statistics in Medicine 17 (1998),
// 891-908.
//
// Tango's was chosen from three by simulated coverage, at n = 10, 50 and 1319
// with five patterns of flips: it held the truth in 94.2% or more everywhere,
// and so did R. G. Newcombe's (method 10, 94.5%), which is a little wider at
// high shares; the paired t interval has no width if nothing flipped, and at n =
// 10 fell to 45%.
//
// With no items nothing is known: the interval is -1..1 and P is 1. It panics
// if a count is negative or above a billion, or level is not between 0 and 1.
func PairedProportions(both, broke, fixed, neither int, level float64) Difference {
	checkLevel("PairedProportions", level)
	checkCount("PairedProportions", "both", both)
	checkCount("PairedProportions", "broke", broke)
	checkCount("PairedProportions", "fixed", fixed)
	checkCount("PairedProportions", "neither", neither)
	n := both + broke + fixed + neither
	test := McNemar(broke, fixed)
	d := Difference{
		N: n, P: test.MidP, TwoSided: test.TwoSidedMid, Method: "McNemar mid-p, Tango interval",
		Interval: Interval{Lo: -1, Hi: 1, Level: level},
	}
	if n == 0 {
		return d
	}
	b, f, m := float64(broke), float64(fixed), float64(n)
	d.Value = (f - b) / m
	d.SE = math.Sqrt(max(0, b+f-(f-b)*(f-b)/m)) / m
	d.Interval.Lo, d.Interval.Hi = tango(b, f, m, normalQuantile((1-level)/2))
	return d
}

// tango is the score interval of (f-b)/n.
func tango(b, f, n, z float64) (lo, hi float64) {
	value := (f - b) / n
	// The score falls from above z to below -z as δ goes from -1 to 1, so
	// each end is found by halving.
	lo, hi = -1, 1
	if value > -1 {
		lo = bisect(-1, value, func(delta float64) bool { return tangoScore(b, f, n, delta) > z })
	}
	if value < 1 {
		hi = bisect(value, 1, func(delta float64) bool { return tangoScore(b, f, n, delta) > -z })
	}
	return lo, hi
}

// bisect is the point in lo..hi at which before turns false.
func bisect(lo, hi float64, before func(float64) bool) float64 {
	for range 100 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if before(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}

// tangoScore is the score statistic of a true difference of delta. q, the
// probability of breaking, solves 2n·q² + B·q + C = 0; fixed has q + delta.
func tangoScore(b, f, n, delta float64) float64 {
	coefficient := -(b + f) + (2*n-f+b)*delta
	constant := -b * delta * (1 - delta)
	root := math.Sqrt(max(0, coefficient*coefficient-8*n*constant))
	q := (root - coefficient) / (4 * n)
	if coefficient > 0 {
		q = -2 * constant / (root + coefficient)
	}
	q = max(q, 0, -delta)
	variance := n * (2*q + delta*(1-delta))
	miss := f - b - n*delta
	switch {
	case miss == 0:
		return 0
	case variance <= 0:
		return math.Copysign(math.Inf(1), miss)
	}
	return miss / math.Sqrt(variance)
}
