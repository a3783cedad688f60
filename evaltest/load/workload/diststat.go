package workload

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Mean is what draws are on average, with the limits of the distribution taken
// into account; rounding to whole numbers is not, which for a log-normal makes
// a difference below 0.5. BatchBench prints the mean without its max.
func (d Dist) Mean() float64 {
	switch d.kind {
	case fixed, uniform:
		return (float64(d.lo) + float64(d.hi)) / 2
	case logNormal:
		return d.logNormalMean()
	case empirical:
		sum := 0.0
		for _, n := range d.values {
			sum += float64(n)
		}
		return sum / float64(len(d.values))
	}
	return 0
}

// logNormalMean is the mean of min(max(X, 1), top):
//
//	E = P(X<1)·1 + e^(mu+sigma²/2)·P(1<Y<top) + top·P(X>top)
//
// where ln Y is normal with mean mu+sigma² and the same sigma.
func (d Dist) logNormalMean() float64 {
	top := float64(d.top())
	z := func(x float64) float64 { return (math.Log(x) - d.mu) / d.sigma }
	low, high := z(1)-d.sigma, z(top)-d.sigma
	middle := tail(low) - tail(high)
	if high < 0 { // by the tails that are small: of those near 1 nothing would be left
		middle = tail(-high) - tail(-low)
	}
	part := 0.0
	if middle > 0 {
		// In logarithms: the exponential may overflow where middle is next to 0.
		part = min(top, math.Exp(d.mu+d.sigma*d.sigma/2+math.Log(middle)))
	}
	return max(1, min(top, tail(-z(1))+part+top*tail(z(top))))
}

// tail is the probability that a standard normal number is above z.
func tail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// Median is the middle of the draws: half are no longer. Of an even number of
// values it is the mean of the two in the middle.
func (d Dist) Median() float64 {
	switch d.kind {
	case fixed, uniform:
		return (float64(d.lo) + float64(d.hi)) / 2
	case logNormal:
		return max(1, min(math.Exp(d.mu), float64(d.top())))
	case empirical:
		n := len(d.values)
		return (float64(d.values[(n-1)/2]) + float64(d.values[n/2])) / 2
	}
	return 0
}

// AtCap is the share of draws that are exactly the max of a log-normal, from 0
// to 1: nearly all of them would have been longer. 0 without a max.
func (d Dist) AtCap() float64 {
	switch {
	case d.max == 0:
		return 0
	case d.max == 1:
		return 1 // also the floor
	}
	// What rounds to max or more.
	return tail((math.Log(float64(d.max)-0.5) - d.mu) / d.sigma)
}

// String describes the distribution in words, with mean and median.
func (d Dist) String() string {
	switch d.kind {
	case fixed:
		if d.vary == 0 {
			return strconv.Itoa(d.n)
		}
		return fmt.Sprintf("%d ± %d (uniform, %d to %d)", d.n, d.vary, d.lo, d.hi)
	case uniform:
		return fmt.Sprintf("uniform, %d to %d (mean %s)", d.lo, d.hi, short(d.Mean()))
	case logNormal:
		s := fmt.Sprintf("log-normal, mu %s, sigma %s", short(d.mu), short(d.sigma))
		if d.max > 0 {
			s += fmt.Sprintf(", at most %d", d.max)
		}
		s += fmt.Sprintf(" (mean %s, median %s", short(d.Mean()), short(d.Median()))
		if d.max > 0 {
			s += fmt.Sprintf("; %s %% at %d", short(100*d.AtCap()), d.max)
		}
		return s + ")"
	case empirical:
		return fmt.Sprintf("%d given values (mean %s, median %s, %d to %d)",
			len(d.values), short(d.Mean()), short(d.Median()), d.values[0], d.top())
	}
	return "none"
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// MarshalJSON writes what was asked for and the mean, median and share at the
// cap that follow from it. Of an empirical distribution it writes the number of
// values and not the values. The zero Dist is null.
func (d Dist) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	type shape struct {
		Kind   kind     `json:"kind"`
		Tokens int      `json:"n,omitempty"`
		Vary   int      `json:"vary,omitempty"`
		Low    int      `json:"low,omitempty"`
		High   int      `json:"high,omitempty"`
		Mu     *float64 `json:"mu,omitempty"`
		Sigma  float64  `json:"sigma,omitempty"`
		Max    int      `json:"max,omitempty"`
		Values int      `json:"values,omitempty"`
		Mean   float64  `json:"mean"`
		Median float64  `json:"median"`
		AtCap  float64  `json:"share_at_max,omitempty"`
	}
	s := shape{
		Kind: d.kind, Tokens: d.n, Vary: d.vary, Low: d.lo, High: d.hi, Sigma: d.sigma, Max: d.max,
		Values: len(d.values), Mean: d.Mean(), Median: d.Median(), AtCap: d.AtCap(),
	}
	if d.kind == logNormal {
		s.Mu = &d.mu
	}
	return json.Marshal(s)
}
