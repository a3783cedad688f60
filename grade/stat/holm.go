package stat

import (
	"fmt"
	"slices"
)

// Holm corrects the p values of several tests of one run: it returns, in the
// given order, the adjusted p values, which may be compared with alpha one by
// one while the chance of any false alarm at all stays within alpha, however
// the tests depend on each other. Ordered from the smallest, the i-th of m is
//
//	max over j <= i of min(1, (m-j+1)·p_j)
//
// Source: S. Holm, "A simple sequentially rejective multiple test procedure",
// Scandinavian Journal of Statistics 6 (1979), 65-70. Equal p values get equal
// adjusted ones. None gets smaller. The argument is left as it is.
//
// It panics if a p value is NaN or not within 0..1.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i, p := range ps {
		if !(p >= 0 && p <= 1) {
			panic(fmt.Sprintf("stat.Holm: ps[%d] is %v; a p value lies within 0..1", i, p))
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a] < ps[b]:
			return -1
		case ps[a] > ps[b]:
			return 1
		}
		return 0
	})
	adjusted := make([]float64, len(ps))
	before := 0.0
	for rank, i := range order {
		before = max(before, min(1, float64(len(ps)-rank)*ps[i]))
		adjusted[i] = before
	}
	return adjusted
}
