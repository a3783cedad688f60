package stat

import "math"

// A McNemarResult says whether items broke more often than they were fixed, as
// chance alone would have it one time in 1/P.
type McNemarResult struct {
	// Broke items were correct before and are not now; Fixed the reverse.
	Broke, Fixed int
	// P is the exact one-sided p value for a drop: the probability of at least
	// Broke of Broke+Fixed fair coins.
	P float64
	// MidP is P less half the probability of exactly Broke.
	MidP float64
	// TwoSided and TwoSidedMid are those for a change in either direction:
	// twice the smaller side, at most 1.
	TwoSided, TwoSidedMid float64
}

// McNemar tests paired verdicts, the same items answered twice. Items that got
// the same mark both times say nothing about a difference. If nothing changed,
// an item that did flip broke or was fixed with probability ½ each, so the p
// values are binomial tails; they are exact for any counts. Source: Q. McNemar,
// "Note on the sampling error of the difference between correlated
// proportions", Psychometrika 12 (1947), 153-157; the mid-p, M. W. Fagerland,
// S. Lydersen and P. Laake, "The McNemar test for binary matched-pairs data",
// BMC Medical Research Methodology 13 (2013) 91.
//
// With nothing broken and nothing fixed all four are 1, the mid-p too: there is
// no evidence, and half a coin of it would be misread.
//
// Which to use: MidP. See [PairedTest] for the false alarms and the power of
// both. It panics if a count is negative or above a billion.
func McNemar(broke, fixed int) McNemarResult {
	checkCount("McNemar", "broke", broke)
	checkCount("McNemar", "fixed", fixed)
	r := McNemarResult{Broke: broke, Fixed: fixed, P: 1, MidP: 1, TwoSided: 1, TwoSidedMid: 1}
	n := broke + fixed
	if n == 0 {
		return r
	}
	r.P, r.MidP = upperHalf(broke, n)
	other, otherMid := upperHalf(fixed, n)
	r.TwoSided = math.Min(1, 2*math.Min(r.P, other))
	r.TwoSidedMid = math.Min(1, 2*math.Min(r.MidP, otherMid))
	return r
}

// upperHalf is the exact and the mid probability of at least k heads of n.
func upperHalf(k, n int) (exact, mid float64) {
	exact = binomialUpper(k, n, 0.5)
	return exact, exact - binomial(k, n, 0.5)/2
}
