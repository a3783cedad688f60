package stat_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade/stat"
)

func TestMean(t *testing.T) {
	// Student's own data: the extra hours of sleep of ten patients, Biometrika
	// 6 (1908), page 20; the differences of the two drugs have mean 1.58 and,
	// with n-1, standard deviation 1.2300.
	sleep := []float64{1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4}
	e, err := stat.Mean(sleep, 0.95)
	require.NoError(t, err)
	assert.InDelta(t, 1.58, e.Value, 1e-12)
	assert.InDelta(t, 1.2300/math.Sqrt(10), e.SE, 2e-5)
	assert.InDelta(t, 1.58-2.262157*0.388961, e.Interval.Lo, 2e-5, "t of 9 degrees from the table")
	assert.InDelta(t, 1.58+2.262157*0.388961, e.Interval.Hi, 2e-5)
	assert.Equal(t, 10, e.N)
	assert.Equal(t, 9.0, e.DF)
	assert.Zero(t, e.Clusters)
	assert.Equal(t, "1.580 (95% interval 0.700 to 2.460)", e.String())
}

func TestMeanClustered(t *testing.T) {
	// By hand: mean 0.5; the groups' sums of x-mean are 1, 0 and -1; so SE is
	// √(3/2 · 2)/6.
	xs := []float64{1, 1, 1, 0, 0, 0}
	groups := []string{"a", "a", "b", "b", "c", "c"}
	e, err := stat.MeanClustered(xs, groups, 0.95)
	require.NoError(t, err)
	assert.InDelta(t, 0.5, e.Value, 1e-15)
	assert.InDelta(t, math.Sqrt(3)/6, e.SE, 1e-15)
	assert.Equal(t, 3, e.Clusters)
	assert.Equal(t, 2.0, e.DF)
	assert.InDelta(t, 0.5-4.302652729749464*math.Sqrt(3)/6, e.Interval.Lo, 1e-10, "t of 2 degrees from the table")

	plain, err := stat.Mean(xs, 0.95)
	require.NoError(t, err)
	for name, groups := range map[string][]string{
		"one item a group":         strings.Split("abcdef", ""),
		"no group is its own":      make([]string, 6),
		"some named, some without": {"a", "", "b", "", "c", ""},
	} {
		own, err := stat.MeanClustered(xs, groups, 0.95)
		require.NoError(t, err)
		assert.InDelta(t, plain.SE, own.SE, 1e-15, name)
		assert.Equal(t, 6, own.Clusters, name)
		assert.InDelta(t, plain.Interval.Lo, own.Interval.Lo, 1e-12, name)
	}

	// The same answers twice over, as clusters: no more is known than before.
	twice, err := stat.MeanClustered(append(xs, xs...), append(strings.Split("abcdef", ""), strings.Split("abcdef", "")...), 0.95)
	require.NoError(t, err)
	assert.InDelta(t, plain.SE, twice.SE, 1e-15)
}

func TestMeanOfEqualScores(t *testing.T) {
	e, err := stat.Mean([]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 0.95)
	require.NoError(t, err)
	assert.Equal(t, 0.1, e.Value)
	assert.Zero(t, e.SE)
}

func TestSplit(t *testing.T) {
	// By hand: items' means 1, 3, 5; within sums of squares 2, 2, 2 over 3
	// degrees: 2. Mean square between 2·(4+0+4)/2 = 8; between (8-2)/2 = 3. SE
	// is 2/√3.
	c, err := stat.Split([][]float64{{0, 2}, {2, 4}, {}, {4, 6}})
	require.NoError(t, err)
	assert.InDelta(t, 3, c.Mean, 1e-15)
	assert.InDelta(t, 2, c.Within, 1e-15)
	assert.InDelta(t, 3, c.Between, 1e-15)
	assert.InDelta(t, 2/math.Sqrt(3), c.SE, 1e-15)
	assert.Equal(t, [3]int{3, 6, 1}, [3]int{c.Items, c.Samples, c.Empty})
	assert.False(t, c.Clamped)
	assert.InDelta(t, 0.6, c.Consistency(), 1e-15)
	assert.InDelta(t, c.SE, c.SEWith(3, 2), 1e-15, "the design it came from")
	assert.InDelta(t, math.Sqrt(3.2/12), c.SEWith(12, 10), 1e-15)

	// Unbalanced, by hand: sizes 1, 2, 3; means 0, 1, 3; N 6, grand mean 11/6.
	// Within (0 + 2 + 2)/3. SSB = Σn·m² - N·g² = 0+2+27-121/6 = 53/6, MSB 53/12,
	// n₀ = (6 - 14/6)/2 = 11/6; between (53/12 - 4/3)·6/11 = 37/22.
	c, err = stat.Split([][]float64{{0}, {0, 2}, {2, 3, 4}})
	require.NoError(t, err)
	assert.InDelta(t, 4./3, c.Mean, 1e-15, "each item counts once")
	assert.InDelta(t, 4./3, c.Within, 1e-14)
	assert.InDelta(t, 37./22, c.Between, 1e-14)

	c, err = stat.Split([][]float64{{0, 1}, {1, 0}})
	require.NoError(t, err)
	assert.True(t, c.Clamped, "items that differ less than their samples allow")
	assert.Zero(t, c.Between)
	c, err = stat.Split([][]float64{{1, 1}, {1, 1}})
	require.NoError(t, err)
	assert.Equal(t, 1.0, c.Consistency(), "nothing differs")
}

func TestPass(t *testing.T) {
	for _, tt := range []struct {
		name          string
		n, correct, k int
		at, all       float64
	}{
		{"one sample right", 1, 1, 1, 1, 1},
		{"one sample wrong", 1, 0, 1, 0, 0},
		{"1 of 4, k 2: C(3,2)/C(4,2) = 3/6", 4, 1, 2, 0.5, 0},
		{"3 of 4, k 2: 3/6 all", 4, 3, 2, 1, 0.5},
		{"2 of 5, k 3: 1/10 none", 5, 2, 3, 0.9, 0},
		{"k is n", 5, 4, 5, 1, 0},
		{"k is 1: the share", 200, 37, 1, 0.185, 0.185},
		{"all right", 7, 7, 3, 1, 1},
		// C(199999,100000)/C(200000,100000) = 1/2, where factorials overflow.
		{"200000 samples", 200_000, 1, 100_000, 0.5, 0},
		{"199999 of 200000", 200_000, 199_999, 100_000, 1, 0.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, err := stat.PassAt(tt.n, tt.correct, tt.k)
			require.NoError(t, err)
			assert.InDelta(t, tt.at, at, 1e-12)
			all, err := stat.PassAll(tt.n, tt.correct, tt.k)
			require.NoError(t, err)
			assert.InDelta(t, tt.all, all, 1e-12)
		})
	}
}

// TestPassIsUnbiased: averaged over the binomial, pass@k of n samples is the
// chance that k fresh samples have one right, and pass^k that all are.
func TestPassIsUnbiased(t *testing.T) {
	const n, k, p = 9, 4, 0.3
	at, all := 0.0, 0.0
	for c := 0; c <= n; c++ {
		a, err := stat.PassAt(n, c, k)
		require.NoError(t, err)
		b, err := stat.PassAll(n, c, k)
		require.NoError(t, err)
		at += a * stat.Binomial(c, n, p)
		all += b * stat.Binomial(c, n, p)
	}
	assert.InDelta(t, 1-math.Pow(1-p, k), at, 1e-12)
	assert.InDelta(t, math.Pow(p, k), all, 1e-12)
}

func TestMajority(t *testing.T) {
	for _, tt := range []struct {
		name, answers, winner string
		votes                 int
		tie                   bool
	}{
		{"none", "", "", 0, false},
		{"one", "a", "a", 1, false},
		{"most, not half", "abcad", "a", 2, false},
		{"a tie: the first", "bab a", "b", 2, true},
		{"a tie that is broken later", "aabbb", "b", 3, false},
		{"a tie below the winner", "abcc", "c", 2, false},
		{"three ways", "cab", "c", 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := strings.Split(strings.ReplaceAll(tt.answers, " ", ""), "")
			winner, votes, tie := stat.Majority(answers)
			assert.Equal(t, tt.winner, winner)
			assert.Equal(t, tt.votes, votes)
			assert.Equal(t, tt.tie, tie)
		})
	}
}

func TestMajorityOfNaN(t *testing.T) {
	winner, votes, tie := stat.Majority([]float64{math.NaN(), 2, math.NaN()})
	assert.Equal(t, 2.0, winner)
	assert.Equal(t, 1, votes)
	assert.False(t, tie)
	_, votes, tie = stat.Majority([]float64{math.NaN()})
	assert.Zero(t, votes)
	assert.False(t, tie)
}

func TestHolm(t *testing.T) {
	for _, tt := range []struct {
		name     string
		ps, want []float64
	}{
		{"none", []float64{}, []float64{}},
		{"one", []float64{0.03}, []float64{0.03}},
		// Worked by hand: sorted .005 .01 .03 .04, times 4 3 2 1.
		{"four", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"ties are equal", []float64{0.02, 0.01, 0.02}, []float64{0.04, 0.03, 0.04}},
		{"never above 1", []float64{0.9, 0.8}, []float64{1, 1}},
		{"zeros", []float64{0, 1, 0}, []float64{0, 1, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			given := append([]float64{}, tt.ps...)
			assert.InDeltaSlice(t, tt.want, stat.Holm(tt.ps), 1e-15)
			assert.Equal(t, given, tt.ps, "the argument stays")
		})
	}
}
