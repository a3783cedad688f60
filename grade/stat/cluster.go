package stat

import (
	"fmt"
	"math"
)

// MeanClustered is [Mean] for items that come in clusters: several questions
// about one document, several rows made from one template. Items of a cluster
// succeed and fail together, so they tell less than as many independent ones.
// groups[i] names the cluster of xs[i]; an item with the empty name is a
// cluster of its own. The standard error is
//
//	√( G/(G-1) · Σ_g (Σ_{i∈g} (x_i-x̄))² ) / n
//
// over G clusters and n items, and the interval takes t with G-1 degrees of
// freedom. With one item a cluster it is that of Mean. Source: E. Miller,
// "Adding Error Bars to Evals" (2024), arXiv:2411.00640, section 2.2, with the
// factor G/(G-1) for few clusters.
//
// Found coverage at a level of 0.95, with 10 clusters of five items that are all
// right or all wrong in half of the clusters: 94% at p = 0.5 where [Mean] has
// 70%; 77% at p = 0.95, where few clusters hold a wrong answer. With 264
// clusters: 95% and 93%.
//
// Fewer than 2 clusters are a [*NotEnough]. It panics as Mean does, and if
// groups is not as long as xs.
func MeanClustered(xs []float64, groups []string, level float64) (Estimate, error) {
	checkLevel("MeanClustered", level)
	checkScores("MeanClustered", "xs", xs)
	if len(groups) != len(xs) {
		panic(fmt.Sprintf("stat.MeanClustered: %d groups for %d scores", len(groups), len(xs)))
	}
	of, clusters := clusterIndex(groups)
	if clusters < 2 {
		return Estimate{}, &NotEnough{Method: "clustered standard error", Have: clusters, Need: 2, What: "groups"}
	}
	mean, se := meanClustered(xs, of)
	return studentEstimate(mean, se, len(xs), clusters, float64(clusters-1), level), nil
}

// clusterIndex numbers the clusters in the order of their first item.
func clusterIndex(groups []string) (of []int, clusters int) {
	of = make([]int, len(groups))
	seen := make(map[string]int)
	for i, g := range groups {
		number, ok := seen[g]
		if !ok || g == "" {
			number = clusters
			clusters++
			seen[g] = number
		}
		of[i] = number
	}
	return of, clusters
}

// meanClustered is the mean and its clustered standard error; nil for of makes
// each item a cluster. There are at least two clusters.
func meanClustered(xs []float64, of []int) (mean, se float64) {
	mean = average(xs)
	sums := make([]float64, len(xs))
	clusters := 0
	for i, x := range xs {
		c := i
		if of != nil {
			c = of[i]
		}
		sums[c] += x - mean
		clusters = max(clusters, c+1)
	}
	squares := 0.0
	for _, s := range sums[:clusters] {
		squares += s * s
	}
	g := float64(clusters)
	return mean, math.Sqrt(g/(g-1)*squares) / float64(len(xs))
}
