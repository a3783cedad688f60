package stat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade/stat"
)

func TestMannWhitney(t *testing.T) {
	var a30, b35 []float64
	for i := range 30 {
		a30 = append(a30, float64(i*37%41))
	}
	for i := range 35 {
		b35 = append(b35, float64(i*23%47+5))
	}
	for _, tt := range []struct {
		name, reason string
		a, b         []float64
		u, p         float64
	}{
		{"apart", "2 of C(8,4) = 70 ways", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 0, 2. / 70},
		{"apart, the other way", "the same p", []float64{5, 6, 7, 8}, []float64{1, 2, 3, 4}, 16, 2. / 70},
		{"5 and 4", "the example of scipy.stats.mannwhitneyu", []float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}, 17, 1. / 9},
		{"7 and 8", "scipy.stats.mannwhitneyu, exact", []float64{1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7}, []float64{0.5, 1.5, 2.5, 3.5, 8.8, 9.9, 10.1, 11.2}, 22, 0.5358197358197359},
		{"ties, exact", "60 of 462 ways, counted one by one", []float64{1, 2, 2, 3, 5}, []float64{2, 3, 4, 4, 6, 6}, 6.5, 60. / 462},
		{"30 and 35 with ties", "scipy.stats.mannwhitneyu, asymptotic with continuity", a30, b35, 292.5, 0.002262165381727278},
		{"all the same, few", "no evidence", []float64{3, 3, 3, 3}, []float64{3, 3, 3, 3, 3}, 10, 1},
		{"all the same, many", "no variance at all", make([]float64, 40), make([]float64, 40), 800, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, p, err := stat.MannWhitney(tt.a, tt.b)
			require.NoError(t, err)
			assert.Equal(t, tt.u, u, tt.reason)
			assert.InEpsilon(t, tt.p, p, 1e-12, tt.reason)
		})
	}
}

// TestMannWhitneyIsContinuous: where the exact count ends the approximation
// says nearly the same.
func TestMannWhitneyIsContinuous(t *testing.T) {
	sample := func(n int, shift float64) (xs []float64) {
		for i := range n {
			xs = append(xs, float64(i*29%97)+shift)
		}
		return xs
	}
	_, exact, err := stat.MannWhitney(sample(25, 0), sample(25, 17.5))
	require.NoError(t, err)
	_, normal, err := stat.MannWhitney(sample(25, 0), sample(26, 17.5))
	require.NoError(t, err)
	assert.InDelta(t, exact, normal, 0.02)
}
