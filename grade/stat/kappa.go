package stat

import (
	"fmt"
	"math"
)

// Kappa returns Cohen's kappa of two raters who sorted the same items into the
// same categories, matrix[i][j] being how many items the first put into i and
// the second into j:
//
//	κ = (p_o - p_e)/(1 - p_e)
//
// with p_o the share of agreement and p_e the share that chance alone gives
// raters with these habits. 1 is agreement, 0 no more than chance. Source: J.
// Cohen, "A coefficient of agreement for nominal scales", Educational and
// Psychological Measurement 20 (1960), 37-46. SE is the large-sample one of J.
// L. Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa
// and weighted kappa", Psychological Bulletin 72 (1969), 323-327.
//
// Kappa of raters who always say the same one word does not exist: an
// [*Undefined]. No items are a [*NotEnough]. It panics if the matrix is not
// square or has fewer than 2 categories, if a count is negative, or if level is
// not between 0 and 1.
func Kappa(matrix [][]int, level float64) (Estimate, error) {
	checkLevel("Kappa", level)
	t := tableOf(matrix)
	if t.n == 0 {
		return Estimate{}, &NotEnough{Method: "kappa", Have: 0, Need: 2, What: "items"}
	}
	agreed, chance := t.agreement()
	if t.constant() {
		return Estimate{}, &Undefined{Method: "kappa", Why: fmt.Sprintf(
			"both raters put all %d items into the same one category; label items of another category too", t.n)}
	}
	e := Estimate{Value: (agreed - chance) / (1 - chance), N: t.n}
	e.SE = math.Sqrt(t.fleissVariance(agreed, chance))
	half := normalQuantile((1-level)/2) * e.SE
	e.Interval = Interval{Lo: max(-1, e.Value-half), Hi: min(1, e.Value+half), Level: level}
	return e, nil
}

// A table is a square matrix of counts with its margins as shares.
type table struct {
	cells    [][]int
	n        int
	row, col []float64
}

func tableOf(matrix [][]int) table {
	size := len(matrix)
	if size < 2 {
		panic(fmt.Sprintf("stat.Kappa: matrix has %d categories; it takes at least 2", size))
	}
	t := table{cells: matrix, row: make([]float64, size), col: make([]float64, size)}
	for i, cells := range matrix {
		if len(cells) != size {
			panic(fmt.Sprintf("stat.Kappa: matrix[%d] has %d counts; a square matrix has %d", i, len(cells), size))
		}
		for j, c := range cells {
			checkCount("Kappa", fmt.Sprintf("matrix[%d][%d]", i, j), c)
			t.n += c
			t.row[i] += float64(c)
			t.col[j] += float64(c)
		}
	}
	for i := range size {
		t.row[i] /= float64(max(1, t.n))
		t.col[i] /= float64(max(1, t.n))
	}
	return t
}

func (t table) share(i, j int) float64 { return float64(t.cells[i][j]) / float64(t.n) }

func (t table) agreement() (agreed, chance float64) {
	for i := range t.cells {
		agreed += t.share(i, i)
		chance += t.row[i] * t.col[i]
	}
	return agreed, chance
}

// constant reports whether one category has all items.
func (t table) constant() bool {
	for i := range t.cells {
		if t.cells[i][i] == t.n {
			return true
		}
	}
	return false
}

// fleissVariance is formula 13 of Fleiss, Cohen and Everitt.
func (t table) fleissVariance(agreed, chance float64) float64 {
	sum := 0.0
	for i := range t.cells {
		for j := range t.cells {
			// The margins are those crossed: column of i and row of j.
			habits := (t.col[i] + t.row[j]) * (1 - agreed)
			if i == j {
				habits = 1 - chance - habits
			}
			sum += t.share(i, j) * habits * habits
		}
	}
	rest := agreed*chance - 2*chance + agreed
	return max(0, sum-rest*rest) / (float64(t.n) * math.Pow(1-chance, 4))
}
