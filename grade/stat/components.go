package stat

import (
	"fmt"
	"math"
)

// Components split the variance of scores, several samples an item, into how
// much items differ and how much the samples of one item do.
type Components struct {
	// Mean is the mean of the items' means: each item counts once.
	Mean float64
	// SE is the standard error of Mean over the choice of items and the noise
	// of the samples, s/√items of the items' means.
	SE float64
	// Between is the variance of the items' true means, Within the mean
	// variance of the samples of one item, both in squared units of the score.
	Between, Within float64
	// Clamped is true if the estimate of Between came out negative, as it may
	// if items hardly differ, and was set to 0.
	Clamped bool
	// Items have at least one sample; Samples are theirs together.
	Items, Samples int
	// Empty items have no sample and count nowhere.
	Empty int
}

// Consistency is the share of the variance of a single sample that lies
// between items, 0..1: the intraclass correlation. 1 means that asking an item
// again tells nothing new, 0 that it is worth as much as another item. Where
// no score differs from any other it is 1.
func (c Components) Consistency() float64 {
	if c.Between+c.Within == 0 {
		return 1
	}
	return c.Between / (c.Between + c.Within)
}

// SEWith is the standard error that the mean would have with so many items and
// samples an item, √((Between + Within/samples)/items): what more samples would
// buy and what only more items can. It panics if either is less than 1.
func (c Components) SEWith(items, samples int) float64 {
	if items < 1 || samples < 1 {
		panic(fmt.Sprintf("stat.Components.SEWith: %d items of %d samples; both are 1 or more", items, samples))
	}
	return math.Sqrt((c.Between + c.Within/float64(samples)) / float64(items))
}

// Split estimates the [Components] of scores, where scores[i] are the samples
// of item i; items may have different numbers of them. Within is the pooled
// variance of the samples about their item's mean. Between is the
// analysis-of-variance estimate
//
//	(MS_between - Within)/n₀,  n₀ = (N - Σn_i²/N)/(I-1)
//
// for I items with n_i of N samples. Source: S. R. Searle, G. Casella and C.
// E. McCulloch, "Variance Components" (1992), section 3.6; that both parts make
// up the error of an eval, E. Miller, arXiv:2411.00640, section 3.
//
// Fewer than 2 items, or no item with a second sample, are a [*NotEnough].
// Split panics if a score is NaN or not within ±1e140.
func Split(scores [][]float64) (Components, error) {
	c := Components{}
	var means, sizes []float64
	within, total, squares := 0.0, 0.0, 0.0
	for i, xs := range scores {
		for j, x := range xs {
			if !isScore(x) {
				refuseScore("Split", fmt.Sprintf("scores[%d][%d]", i, j), x)
			}
		}
		if len(xs) == 0 {
			c.Empty++
			continue
		}
		mean, n := average(xs), float64(len(xs))
		for _, x := range xs {
			within += (x - mean) * (x - mean)
		}
		means, sizes = append(means, mean), append(sizes, n)
		total += n * mean
		squares += n * n
		c.Items++
		c.Samples += len(xs)
	}
	if c.Items < 2 {
		return Components{}, &NotEnough{Method: "variance split", Have: c.Items, Need: 2, What: "items"}
	}
	if c.Samples == c.Items {
		return Components{}, &NotEnough{Method: "variance split", Have: 1, Need: 2, What: "samples of an item"}
	}
	c.Mean, c.SE = meanClustered(means, nil)
	n := float64(c.Samples)
	c.Within = within / float64(c.Samples-c.Items)
	between := 0.0
	for i, mean := range means {
		between += sizes[i] * (mean - total/n) * (mean - total/n)
	}
	i := float64(c.Items - 1)
	c.Between = (between/i - c.Within) * i / (n - squares/n)
	if c.Between < 0 {
		c.Between, c.Clamped = 0, true
	}
	return c, nil
}
