package metric

import "math"

// A Rule is how a percentile is read off sorted values.
type Rule int

// Rules.
const (
	// Linear interpolates between order statistics, rank p·(n-1): type 7,
	// numpy's default. Everything here uses it but batchbench's own summary.
	Linear Rule = iota
	// Batchbench takes the value at index (n-1)·p, rounded half away from
	// zero. Its p50 of an even n is the upper middle.
	Batchbench
)

// rank returns the two order statistics (from 0) that the percentile lies
// between, and how far from the first to the second.
func (rule Rule) rank(p float64, n int64) (low, high int64, part float64) {
	at := p * float64(n-1)
	if rule == Batchbench {
		i := min(int64(math.Round(at)), n-1)
		return i, i, 0
	}
	low = min(int64(at), n-1)
	return low, min(low+1, n-1), at - float64(low)
}

// between interpolates without making NaN of infinities.
func between(a, b, part float64) float64 {
	switch {
	case part == 0 || a == b:
		return a
	case math.IsInf(b, 1):
		return b
	}
	return a + part*(b-a)
}

// Needed returns how many values a percentile needs to be more than about the
// largest of them: 1/(1-p). p is in [0, 1).
func Needed(p float64) int64 {
	return int64(math.Ceil(1/(1-p) - 1e-6)) // 1/(1-0.9) is 10.000000000000002
}
