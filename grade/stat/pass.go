package stat

import "fmt"

// PassAt returns pass@k of an item that was answered n times, correct of them
// correctly: the probability that at least one of k answers drawn from the n
// without replacement is correct,
//
//	1 - C(n-correct, k)/C(n, k)
//
// which is the unbiased estimate of "k tries, at least one right"; 1-(1-p)^k
// from the share p is not. Source: M. Chen et al., "Evaluating Large Language
// Models Trained on Code" (2021), arXiv:2107.03374, section 2.1. Average it
// over the items.
//
// Fewer than k answers are a [*NotEnough]. It panics if correct is negative or
// more than n, if n is above a billion, or if k is less than 1.
func PassAt(n, correct, k int) (float64, error) {
	if err := checkPass("PassAt", "pass@k", n, correct, k); err != nil {
		return 0, err
	}
	return 1 - drawn(n, n-correct, k), nil
}

// PassAll returns pass^k of an item that was answered n times, correct of them
// correctly: the probability that all of k answers drawn from the n without
// replacement are correct,
//
//	C(correct, k)/C(n, k)
//
// which says how far the subject can be relied upon. Source: S. Yao et al.,
// "τ-bench" (2024), arXiv:2406.12045, section 3. Average it over the items.
//
// Errors and panics are those of [PassAt].
func PassAll(n, correct, k int) (float64, error) {
	if err := checkPass("PassAll", "pass^k", n, correct, k); err != nil {
		return 0, err
	}
	return drawn(n, correct, k), nil
}

func checkPass(function, method string, n, correct, k int) error {
	if correct < 0 || correct > n {
		panic(fmt.Sprintf("stat.%s: %d correct of %d", function, correct, n))
	}
	checkCount(function, "n", n)
	if k < 1 {
		panic(fmt.Sprintf("stat.%s: k is %d; it is 1 or more", function, k))
	}
	if n < k {
		return &NotEnough{Method: method, Have: n, Need: k, What: "samples"}
	}
	return nil
}

// drawn is C(m, k)/C(n, k), the probability that k drawn from n are all among
// m of them. It multiplies min(k, n-m) fractions: factorials would overflow.
func drawn(n, m, k int) float64 {
	if k > m {
		return 0
	}
	// C(m,k)/C(n,k) is also C(n-k,n-m)/C(n,n-m): the shorter product.
	other := n - m
	if other < k {
		m, k = n-k, other
	}
	p := 1.0
	for i := 0; i < k && p > 0; i++ {
		p *= float64(m-i) / float64(n-i)
	}
	return p
}
