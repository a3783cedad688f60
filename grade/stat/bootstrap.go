package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// PairedBootstrap compares scores of the same items without assuming a shape:
// it draws as many items as there are, with replacement, resamples times, and
// takes the mean difference of each draw. If any pair has a Group, whole
// clusters are drawn. Interval is the percentile interval, SE the standard
// deviation of the draws' means, and P the share of draws that show no drop,
// (1+#{mean >= 0})/(1+resamples): no smaller than 1/(1+resamples) and 1 if
// nothing changed. Source: B. Efron and R. J. Tibshirani, "An Introduction to
// the Bootstrap" (1993), sections 13.3 and 16.4.
//
// The same pairs in the same order with the same seed give the same result.
//
// Found coverage at a level of 0.95: 95% at n = 50 and 1319, unless so few items
// flip that many samples have none; see the package documentation.
//
// Fewer than 2 pairs or 2 clusters are a [*NotEnough]; below about 20 its
// interval is too short and [PairedDiff] is to be preferred. It panics if a
// score is NaN or not within ±1e140, if level is not between 0 and 1, or if
// resamples is below 100 or below 2/(1-level), too few for the interval's ends.
func PairedBootstrap(pairs []Pair, resamples int, seed uint64, level float64) (Difference, error) {
	checkLevel("PairedBootstrap", level)
	if resamples < 100 || float64(resamples)*(1-level) < 2-1e-9 {
		panic(fmt.Sprintf("stat.PairedBootstrap: resamples %d for level %v; it takes at least 100 and 2/(1-level)", resamples, level))
	}
	d, xs, of, err := pairedStart("PairedBootstrap", "paired bootstrap", pairs)
	if err != nil {
		return Difference{}, err
	}
	means := bootstrapMeans(xs, of, d.Clusters, resamples, seed)
	d.Method = "paired bootstrap"
	if d.Clusters > 0 {
		d.Method = "paired bootstrap, clustered"
	}
	down, up := 0, 0
	squares, center := 0.0, average(means)
	for _, m := range means {
		squares += (m - center) * (m - center)
		if m >= 0 {
			up++
		}
		if m <= 0 {
			down++
		}
	}
	b := float64(resamples)
	d.SE = math.Sqrt(squares / (b - 1))
	d.P = float64(1+up) / (1 + b)
	d.TwoSided = math.Min(1, 2*float64(1+min(up, down))/(1+b))
	slices.Sort(means)
	d.Interval = Interval{Lo: percentile(means, (1-level)/2), Hi: percentile(means, (1+level)/2), Level: level}
	return d, nil
}

func bootstrapMeans(xs []float64, of []int, clusters, resamples int, seed uint64) []float64 {
	sums, sizes := xs, []float64(nil)
	if of != nil {
		sums, sizes = make([]float64, clusters), make([]float64, clusters)
		for i, x := range xs {
			sums[of[i]] += x
			sizes[of[i]]++
		}
	}
	random := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	means := make([]float64, resamples)
	for r := range means {
		sum, size := 0.0, float64(len(sums))
		if sizes != nil {
			size = 0
		}
		for range sums {
			c := random.IntN(len(sums))
			sum += sums[c]
			if sizes != nil {
				size += sizes[c]
			}
		}
		means[r] = sum / size
	}
	return means
}

// percentile interpolates between the order statistics at p·(B+1), which are
// those that the bootstrap's p value counts.
func percentile(sorted []float64, p float64) float64 {
	at := p*float64(len(sorted)+1) - 1
	i := int(math.Floor(at))
	switch {
	case i < 0:
		return sorted[0]
	case i >= len(sorted)-1:
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
