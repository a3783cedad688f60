package stat

import (
	"fmt"
	"math"
)

// An Estimate is a number with how sure it is.
type Estimate struct {
	// Value is the estimate itself: a mean, a share, a kappa.
	Value float64
	// SE is its standard error, in the unit of Value.
	SE float64
	// N is how many items it rests on.
	N int
	// Clusters is how many clusters the items fell into; 0 if the items were
	// taken as independent.
	Clusters int
	// DF are the degrees of freedom of Student's t behind Interval; 0 if the
	// interval does not come from t.
	DF float64
	// Interval is where the truth lies with the confidence Interval.Level.
	Interval Interval
}

// String is the value with its interval: "0.824 (95% interval 0.794 to 0.854)".
func (e Estimate) String() string {
	return fmt.Sprintf("%.3f (%s)", e.Value, e.Interval.plain())
}

func (i Interval) plain() string {
	level := fmt.Sprintf("%.4g%%", 100*i.Level)
	if i.Level > 0.9999 { // and not "100%"
		level = percent(i.Level)
	}
	return fmt.Sprintf("%s interval %.3f to %.3f", level, i.Lo, i.Hi)
}

// Mean returns the mean of xs with its t interval,
//
//	x̄ ± t(n-1)·s/√n
//
// where s is the sample's standard deviation with n-1. Source: Student, "The
// probable error of a mean", Biometrika 6 (1908), 1-25.
//
// The interval is not cut to 0..1: scores need not be shares. Scores of only 0
// and 1 are better served by [Wilson]: with them its coverage at a level of 0.95
// is 92% to 94% at n = 50 and p = 0.5 or 0.95, and 40% at p = 0.99, where three
// samples in five have no spread.
//
// Fewer than 2 scores are a [*NotEnough]. Mean panics if a score is NaN or not
// within ±1e140, or if level is not between 0 and 1.
func Mean(xs []float64, level float64) (Estimate, error) {
	checkLevel("Mean", level)
	checkScores("Mean", "xs", xs)
	if len(xs) < 2 {
		return Estimate{}, &NotEnough{Method: "t interval", Have: len(xs), Need: 2, What: "scores"}
	}
	mean, se := meanClustered(xs, nil)
	return studentEstimate(mean, se, len(xs), 0, float64(len(xs)-1), level), nil
}

func studentEstimate(mean, se float64, n, clusters int, df, level float64) Estimate {
	half := studentQuantile((1-level)/2, df) * se
	return Estimate{
		Value: mean, SE: se, N: n, Clusters: clusters, DF: df,
		Interval: Interval{Lo: mean - half, Hi: mean + half, Level: level},
	}
}

// average is the mean of xs. It is exact for equal values: a second pass takes
// back what the first one rounded.
func average(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	mean := sum / float64(len(xs))
	rest := 0.0
	for _, x := range xs {
		rest += x - mean
	}
	return mean + rest/float64(len(xs))
}

// negligible reports whether a standard error is nothing but rounding.
func negligible(se float64, xs []float64) bool {
	size := 0.0
	for _, x := range xs {
		size = max(size, math.Abs(x))
	}
	return se <= 1e-13*size
}
