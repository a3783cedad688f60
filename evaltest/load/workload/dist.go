package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Limits of lengths.
const (
	// MaxLength is the longest text that is made, in tokens.
	MaxLength = 1 << 24
	// maxDraw is the largest number that a Dist gives: lengths may be
	// milliseconds, too.
	maxDraw = math.MaxInt32
)

// A Dist is a distribution of whole numbers from 1 to 2147483647: lengths in
// tokens, or milliseconds. The zero value is no distribution: it draws 0, and
// stands for "not given". A Dist is immutable and safe for concurrent use.
type Dist struct {
	kind      kind
	n, vary   int // fixed, as asked for
	lo, hi    int // fixed and uniform
	mu, sigma float64
	max       int   // of a log-normal; 0 if there is none
	values    []int // sorted
}

type kind string

const (
	none      kind = ""
	fixed     kind = "fixed"
	logNormal kind = "lognormal"
	uniform   kind = "uniform"
	empirical kind = "empirical"
)

// Fixed is n; with vary above 0, each whole number from n-vary to n+vary that
// is at least 1, equally likely. An n below 1, or a negative vary, is an error.
//
// Where n-vary is below 1, BatchBench's input lengths are these too; its output
// lengths are not: they are drawn from the whole range, and what is below 1
// becomes 1.
func Fixed(n, vary int) (Dist, error) {
	return Settings{Names: fieldNames, Fixed: &n, Vary: &vary}.Dist()
}

// LogNormal is a log-normal distribution by its median: the exponential of a
// normal one with mean ln median and standard deviation sigma, rounded half
// away from zero, at least 1.
//
// What is longer than max becomes max, so that the lengths pile up there;
// [Dist.AtCap] says how much. They are not drawn again, which would change the
// distribution below max as well. 0 is no limit.
func LogNormal(median, sigma float64, max int) (Dist, error) {
	return Settings{Names: fieldNames, Median: &median, Sigma: &sigma, Max: unlessZero(max)}.Dist()
}

// LogNormalMu is [LogNormal] by mu, the mean of the logarithms.
func LogNormalMu(mu, sigma float64, max int) (Dist, error) {
	return Settings{Names: fieldNames, Mu: &mu, Sigma: &sigma, Max: unlessZero(max)}.Dist()
}

func unlessZero(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// Uniform is each whole number from lo to hi, equally likely. 1 ≤ lo ≤ hi.
func Uniform(lo, hi int) (Dist, error) {
	switch {
	case lo < 1 || lo > maxDraw:
		return Dist{}, badOption("lo", lo, wantLength)
	case hi < lo || hi > maxDraw:
		return Dist{}, badOption("hi", hi, fmt.Sprintf("want from lo, which is %d, to %d", lo, maxDraw))
	}
	return Dist{kind: uniform, lo: lo, hi: hi}, nil
}

// Empirical is one of the values, each equally likely: what was measured.
// [LoadLengths] reads them from a file. The list is copied.
func Empirical(values []int) (Dist, error) {
	if len(values) == 0 {
		return Dist{}, &OptionError{Option: "values", Reason: "are none: want at least one length"}
	}
	for i, n := range values {
		if n < 1 || n > maxDraw {
			return Dist{}, badOption(fmt.Sprintf("values[%d]", i), n, wantLength)
		}
	}
	// Sorted, so that a seed gives the same numbers for the same set.
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return Dist{kind: empirical, values: sorted}, nil
}

var wantLength = fmt.Sprintf("want a whole number from 1 to %d", maxDraw)

// Must returns d, or panics if err is not nil: for distributions that are
// written in code, as Must(LogNormal(500, 0.9, 8000)).
func Must(d Dist, err error) Dist {
	if err != nil {
		panic(err)
	}
	return d
}

// IsZero reports whether d is no distribution at all.
func (d Dist) IsZero() bool { return d.kind == none }

// Draw returns one length. A log-normal without max may give up to 2147483647,
// where it ends; a text is made of no more than [MaxLength] tokens. It draws
// nothing from r if there is but one possible value.
func (d Dist) Draw(r *rand.Rand) int {
	switch d.kind {
	case fixed, uniform:
		if d.lo == d.hi {
			return d.lo
		}
		return d.lo + r.IntN(d.hi-d.lo+1)
	case logNormal:
		// math.Round is half away from zero. The comparisons are of floats:
		// infinity has no int.
		x := math.Round(math.Exp(d.mu + d.sigma*r.NormFloat64()))
		return int(max(1, min(x, float64(d.top()))))
	case empirical:
		return d.values[r.IntN(len(d.values))]
	}
	return 0
}

// top is the largest number that can be drawn.
func (d Dist) top() int {
	switch d.kind {
	case fixed, uniform:
		return d.hi
	case logNormal:
		if d.max > 0 {
			return d.max
		}
		return maxDraw
	case empirical:
		return d.values[len(d.values)-1]
	}
	return 0
}
