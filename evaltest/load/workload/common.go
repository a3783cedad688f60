package workload

import (
	"cmp"
	"slices"
)

// commonBefore returns for each text how many bytes it has in common, from its
// beginning, with the text before it in the list that is most like it.
//
// Among sorted texts the one that has most in common stands next. So the texts
// are sorted once, and taken out from the last to the first: then the
// neighbours of each are the nearest of those before it.
func commonBefore(texts []string) []int {
	n := len(texts)
	sorted := make([]int, n)
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(a, b int) int {
		return cmp.Or(cmp.Compare(texts[a], texts[b]), cmp.Compare(a, b))
	})
	left, right := make([]int, n), make([]int, n) // neighbours; -1 for none
	for k, i := range sorted {
		left[i], right[i] = -1, -1
		if k > 0 {
			left[i] = sorted[k-1]
		}
		if k < n-1 {
			right[i] = sorted[k+1]
		}
	}
	common := make([]int, n)
	for i := n - 1; i >= 0; i-- {
		if l := left[i]; l >= 0 {
			common[i] = commonBytes(texts[l], texts[i])
			right[l] = right[i]
		}
		if r := right[i]; r >= 0 {
			common[i] = max(common[i], commonBytes(texts[r], texts[i]))
			left[r] = left[i]
		}
	}
	return common
}

func commonBytes(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
