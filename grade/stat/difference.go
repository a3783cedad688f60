package stat

import (
	"fmt"
	"math"
)

// A Pair is one item scored twice.
type Pair struct {
	// Old and New are the item's scores before and now, each the mean over the
	// item's samples if there are several.
	Old, New float64
	// Group names the item's cluster; an item with the empty name is a cluster
	// of its own.
	Group string
}

// A Difference is how much paired scores changed, and how sure that is.
type Difference struct {
	// Value is the mean of New-Old: negative is a drop.
	Value float64
	// SE is its standard error.
	SE float64
	// N items, in Clusters clusters; Clusters is 0 if no item has a group.
	N, Clusters int
	// DF are the degrees of freedom of Student's t, 0 for another method.
	DF float64
	// P is the one-sided p value for a drop: how often a change this low or
	// lower turns up if there is none. TwoSided is that for any change. Both
	// are 1 if no item changed.
	P, TwoSided float64
	// Interval is where the true difference lies, in the unit of Value.
	Interval Interval
	// Method names how P and Interval were found.
	Method string
}

// String is the difference with its interval and p value: "-0.030 (95%
// interval -0.051 to -0.009), p = 0.0026 for a drop".
func (d Difference) String() string {
	p := fmt.Sprintf("= %.2g", d.P)
	if d.P < 1e-4 {
		p = "< 0.0001"
	}
	return fmt.Sprintf("%+.3f (%s), p %s for a drop", d.Value, d.Interval.plain(), p)
}

// MinDrop is the smallest true drop that a comparison with this standard error
// finds at alpha with the given power, (t(1-alpha) + t(power))·SE: to say beside
// "no evidence of a drop" what would have been seen. Of shares with one sample
// an item and no groups, [MinDrop] is exact. It is infinite if no drop is found
// at so small an alpha. It panics if alpha or power is not between 0 and 1.
func (d Difference) MinDrop(alpha, power float64) float64 {
	checkOpen("Difference.MinDrop", "alpha", alpha)
	checkOpen("Difference.MinDrop", "power", power)
	if d.SE == 0 {
		return 0
	}
	if d.DF > 0 {
		return max(0, studentQuantile(alpha, d.DF)+studentQuantile(1-power, d.DF)) * d.SE
	}
	return max(0, normalQuantile(alpha)+normalQuantile(1-power)) * d.SE
}

// PairedDiff compares scores of the same items by the paired t test: the mean
// of New-Old with its t interval, and the one-sided p value for a drop. If any
// pair has a Group, the standard error is the clustered one of [MeanClustered]
// and t has one degree of freedom less than there are clusters. Source: as
// there; paired, E. Miller, arXiv:2411.00640, section 4.
//
// In simulations of clusters of five items that all flip together in half of the
// clusters, at an alpha of 5%, it had 2.8% false alarms with 10 clusters and
// 5.1% and 5.0% with 20 and 60; McNemar, which takes items as independent, had
// 16% to 18%.
//
// If all items changed by the same amount, t has no scale. P is then that of
// the sign test, ½ to the power of the clusters, and 1 if that amount is 0.
//
// Fewer than 2 pairs or 2 clusters are a [*NotEnough]. It panics if a score is
// NaN or not within ±1e140, or if level is not between 0 and 1.
func PairedDiff(pairs []Pair, level float64) (Difference, error) {
	checkLevel("PairedDiff", level)
	d, xs, of, err := pairedStart("PairedDiff", "paired difference", pairs)
	if err != nil {
		return Difference{}, err
	}
	_, d.SE = meanClustered(xs, of)
	units := len(xs)
	d.Method = "paired t"
	if d.Clusters > 0 {
		units, d.Method = d.Clusters, "paired t, clustered"
	}
	d.DF = float64(units - 1)
	if negligible(d.SE, xs) {
		d.SE = 0
		d.P, d.TwoSided = signTest(d.Value, units)
	} else {
		t := d.Value / d.SE
		d.P = studentUpper(-t, d.DF)
		d.TwoSided = 2 * studentUpper(math.Abs(t), d.DF)
	}
	half := studentQuantile((1-level)/2, d.DF) * d.SE
	d.Interval = Interval{Lo: d.Value - half, Hi: d.Value + half, Level: level}
	return d, nil
}

// pairedStart checks the pairs and fills in what does not depend on the method.
func pairedStart(function, method string, pairs []Pair) (d Difference, xs []float64, of []int, err error) {
	xs = make([]float64, len(pairs))
	groups := make([]string, len(pairs))
	grouped := false
	for i, p := range pairs {
		if !isScore(p.Old) {
			refuseScore(function, fmt.Sprintf("pairs[%d].Old", i), p.Old)
		}
		if !isScore(p.New) {
			refuseScore(function, fmt.Sprintf("pairs[%d].New", i), p.New)
		}
		xs[i], groups[i] = p.New-p.Old, p.Group
		grouped = grouped || p.Group != ""
	}
	if len(xs) < 2 {
		return d, nil, nil, &NotEnough{Method: method, Have: len(xs), Need: 2, What: "pairs"}
	}
	d.N = len(xs)
	d.Value = average(xs)
	if grouped {
		of, d.Clusters = clusterIndex(groups)
		if d.Clusters < 2 {
			return d, nil, nil, &NotEnough{Method: method + ", clustered", Have: d.Clusters, Need: 2, What: "groups"}
		}
	}
	return d, xs, of, nil
}

// signTest is the p value of units that all changed by the same value.
func signTest(value float64, units int) (drop, any float64) {
	p := math.Pow(0.5, float64(units))
	switch {
	case value < 0:
		return p, 2 * p
	case value > 0:
		return 1, 2 * p
	}
	return 1, 1
}
