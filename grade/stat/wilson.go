package stat

import (
	"fmt"
	"math"
	"strconv"
)

// An Interval is where a number lies with some confidence: a share, 0..1, or a
// difference of shares, -1..1, or a mean of scores in their unit. Lo <= Hi.
type Interval struct {
	Lo, Hi float64
	// Level is the confidence, such as 0.95 for 95%.
	Level float64
}

// Contains reports whether x lies in the interval, its ends included.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// String is the interval in percent: "71.1% to 86.7%". An end has as many
// decimals as it takes not to be shown as 0% or 100% if it is not: all of a
// million correct is "99.9996% to 100.0%".
func (i Interval) String() string { return percent(i.Lo) + " to " + percent(i.Hi) }

func percent(share float64) string {
	if share < 0 {
		return "-" + percent(-share)
	}
	if !(share <= 1) { // no share: nothing to keep apart from 100%
		return strconv.FormatFloat(100*share, 'f', 1, 64) + "%"
	}
	for decimals := 1; ; decimals++ {
		text := strconv.FormatFloat(100*share, 'f', decimals, 64)
		shown, _ := strconv.ParseFloat(text, 64)
		if decimals == 20 || (shown > 0 || share == 0) && (shown < 100 || share == 1) {
			return text + "%"
		}
	}
}

// Wilson returns the score interval for correct successes out of n independent
// trials, without continuity correction:
//
//	(p + z²/2n ± z·√(p(1-p)/n + z²/4n²)) / (1 + z²/n),  p = correct/n
//
// where z is the normal quantile of level, 1.96 for 0.95. Unlike p ± z·√(p(1-p)/n)
// it stays within 0..1 and has a width at 0 and n correct, where evals often
// are. Source: E. B. Wilson, "Probable Inference, the Law of Succession, and
// Statistical Inference", Journal of the American Statistical Association 22
// (1927), 209-212.
//
// Its coverage at a level of 0.95, summed exactly at n = 10, 50 and 1319, is 94%
// to 98% at p = 0.5, 91% to 96% at 0.95, and 90%, 91% and 95% at 0.99.
//
// With n = 0 nothing is known: the interval is 0..1. Wilson panics if correct
// is negative or more than n, or if level is not between 0 and 1.
func Wilson(correct, n int, level float64) Interval { return WilsonItems(correct, n, n, level) }

// WilsonItems is [Wilson] for items that were answered several times: correct
// out of answers, given to items different items. The answers to one item are
// not independent, and how alike they are is not known here, so the interval
// is the one that items trials with the same share would have: as wide as if
// every further answer to an item told nothing new. It is thus never too
// narrow for want of independence, and equals Wilson if items is answers.
//
// It panics as Wilson does, and if items is negative, more than answers, or 0
// with answers that are not.
func WilsonItems(correct, answers, items int, level float64) Interval {
	if correct < 0 || correct > answers {
		panic(fmt.Sprintf("stat.Wilson: %d correct of %d", correct, answers))
	}
	if items < 0 || items > answers || items == 0 && answers > 0 {
		panic(fmt.Sprintf("stat.WilsonItems: %d answers to %d items", answers, items))
	}
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("stat.Wilson: level %v is not between 0 and 1; 95%% is 0.95", level))
	}
	if items == 0 {
		return Interval{Lo: 0, Hi: 1, Level: level}
	}
	p, n := float64(correct)/float64(answers), float64(items)
	z := math.Sqrt2 * math.Erfinv(level)
	mid := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	i := Interval{Lo: (mid - half) / scale, Hi: (mid + half) / scale, Level: level}
	// The ends are exact where the formula is: rounding must not say that 0
	// correct excludes a share of 0, or all correct a share of 1.
	i.Lo, i.Hi = max(0, min(i.Lo, p)), min(1, max(i.Hi, p))
	return i
}
