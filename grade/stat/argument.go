package stat

import (
	"fmt"
	"math"
)

// largest is the largest score that is taken: the square of a sum of 100
// million of them is still a number.
const largest = 1e140

func checkLevel(method string, level float64) {
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("stat.%s: level %v is not between 0 and 1; 95%% is 0.95", method, level))
	}
}

func isScore(x float64) bool { return math.Abs(x) <= largest }

func refuseScore(method, name string, x float64) {
	panic(fmt.Sprintf("stat.%s: %s is %v; a score is a number within ±%g", method, name, x, largest))
}

func checkScores(method, name string, xs []float64) {
	for i, x := range xs {
		if !isScore(x) {
			refuseScore(method, fmt.Sprintf("%s[%d]", name, i), x)
		}
	}
}

// most is the largest count that is taken: more than any run has, and the
// iterations and products behind a count of this size still hold.
const most = 1_000_000_000

func checkCount(method, name string, n int) {
	if n < 0 || n > most {
		panic(fmt.Sprintf("stat.%s: %s is %d; a count is within 0..%d", method, name, n, most))
	}
}

func checkOpen(method, name string, x float64) {
	if !(x > 0 && x < 1) {
		panic(fmt.Sprintf("stat.%s: %s %v is not between 0 and 1", method, name, x))
	}
}
