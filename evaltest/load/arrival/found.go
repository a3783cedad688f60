package arrival

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Found is what a [Search] found.
type Found struct {
	// Target is the share of good requests that was asked for.
	Target float64 `json:"target"`
	// Rate is the highest rate that was sustained, in requests a second; 0 if
	// none was. It is the answer.
	Rate float64 `json:"rate_per_s"`
	// Above is the lowest rate that was not, or not shown to be; 0 if there is
	// none. The capacity is at least Rate and below Above.
	Above float64 `json:"above_per_s"`
	// Ended says why the search ended, and so what Rate and Above mean; "" if
	// by an error.
	Ended SearchEnd `json:"ended"`
	// Tries is how many runs were made.
	Tries int `json:"tries"`
	// Points are the rates that were tried, in that order.
	Points []Point `json:"points"`
	// Violations are the pairs of rates next to each other of which the higher
	// one did better than chance explains.
	Violations []Violation `json:"violations,omitempty"`
}

// SearchEnd says why a search ended.
type SearchEnd string

// Ends of a search.
const (
	Enclosed    SearchEnd = "enclosed"     // Rate and Above are within the tolerance
	AtMax       SearchEnd = "at-max"       // the highest rate allowed is sustained; the capacity may be higher
	AtMin       SearchEnd = "at-min"       // the lowest rate allowed is not sustained
	ClientBound SearchEnd = "client-bound" // Above is a rate that the client could not offer; the capacity may be higher
	OutOfTries  SearchEnd = "out-of-tries" // the runs allowed did not suffice; Rate and Above are as far as they got
)

// A Point is a rate that was tried.
type Point struct {
	Rate    float64   `json:"rate_per_s"`
	Good    []float64 `json:"good"` // a run's share of good requests, in the order of the runs
	Verdict Verdict   `json:"verdict"`
	Why     string    `json:"why,omitempty"` // the error that said that the rate was not offered
}

// Verdict is what was decided of a rate.
type Verdict string

// Verdicts.
const (
	Sustained    Verdict = "sustained"
	NotSustained Verdict = "not-sustained"
	Undecided    Verdict = "undecided"   // neither side led in time; counts as not sustained
	NotOffered   Verdict = "not-offered" // the client did not get there
	Unfinished   Verdict = "unfinished"  // the search ended before it was decided
)

// Mean returns the mean share of good requests; ok is false without a run.
func (p Point) Mean() (mean float64, ok bool) {
	if len(p.Good) == 0 {
		return 0, false
	}
	for _, g := range p.Good {
		mean += g
	}
	return mean / float64(len(p.Good)), true
}

// A Violation is a pair of neighbouring rates that contradicts the supposition
// of the search: the higher one has the higher mean share of good requests, by
// more than the slack and by more than three standard errors. The standard error
// is pooled over the repeats of all points, so it is rough where there are few.
type Violation struct {
	Lower  float64 `json:"lower_per_s"`  // the lower rate
	Higher float64 `json:"higher_per_s"` // the higher rate
	By     float64 `json:"by"`           // the difference of the means, above 0
}

// String says it in a sentence.
func (v Violation) String() string {
	return fmt.Sprintf("at %.4g requests/s the share of good requests is %.4f higher than at %.4g", v.Higher, v.By, v.Lower)
}

// violations compares the points with their neighbours by rate.
func violations(points []Point, slack float64) (found []Violation) {
	sum, degrees := 0.0, 0
	var tried []Point
	for _, p := range points {
		mean, ok := p.Mean()
		if !ok {
			continue
		}
		tried = append(tried, p)
		for _, g := range p.Good {
			sum += (g - mean) * (g - mean)
		}
		degrees += len(p.Good) - 1
	}
	variance := 0.0
	if degrees > 0 {
		variance = sum / float64(degrees)
	}
	slices.SortFunc(tried, func(a, b Point) int { return cmp.Compare(a.Rate, b.Rate) })
	for i := 1; i < len(tried); i++ {
		a, b := tried[i-1], tried[i]
		ma, _ := a.Mean()
		mb, _ := b.Mean()
		se := math.Sqrt(variance * (1/float64(len(a.Good)) + 1/float64(len(b.Good))))
		if by := mb - ma; by > slack && by > 3*se {
			found = append(found, Violation{a.Rate, b.Rate, by})
		}
	}
	return found
}

// A ShareError is a share of good requests that is none.
type ShareError struct {
	Rate float64 // at which it was returned
	Good float64
}

// Error names the rate and the share.
func (e *ShareError) Error() string {
	return fmt.Sprintf("arrival: the try at %v requests/s returned %v as the share of good requests; it must be from 0 to 1, and a run without due requests is an error of its own", e.Rate, e.Good)
}
