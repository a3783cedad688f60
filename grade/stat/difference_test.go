package stat_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade/stat"
)

func TestPairedDiff(t *testing.T) {
	// Student's sleep again, now with both drugs: t = 4.0621 at 9 degrees, p =
	// 0.002833 for a difference in either direction.
	one := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2.0}
	two := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	var pairs, reverse []stat.Pair
	for i := range one {
		pairs = append(pairs, stat.Pair{Old: one[i], New: two[i]})
		reverse = append(reverse, stat.Pair{Old: two[i], New: one[i]})
	}
	d, err := stat.PairedDiff(pairs, 0.95)
	require.NoError(t, err)
	assert.InDelta(t, 1.58, d.Value, 1e-12)
	assert.InDelta(t, 4.0621, d.Value/d.SE, 5e-5)
	assert.InDelta(t, 0.002833, d.TwoSided, 5e-7)
	assert.InDelta(t, 1-0.002833/2, d.P, 5e-7, "a rise is no drop")
	assert.InDelta(t, 0.7001142, d.Interval.Lo, 5e-7)
	assert.InDelta(t, 2.4598858, d.Interval.Hi, 5e-7)
	back, err := stat.PairedDiff(reverse, 0.95)
	require.NoError(t, err)
	assert.InDelta(t, 0.002833/2, back.P, 5e-7)
	assert.InDelta(t, -d.Interval.Hi, back.Interval.Lo, 1e-12)
	assert.Equal(t, "-1.580 (95% interval -2.460 to -0.700), p = 0.0014 for a drop", back.String())
	// (1.833113 + 0.883404)·SE, from the t table at 9 degrees.
	assert.InDelta(t, (1.833113+0.883404)*d.SE, d.MinDrop(0.05, 0.8), 1e-5)
}

func TestPairedDiffClustered(t *testing.T) {
	// By hand: differences -1 -1 | 0 0 | 0 -1: mean -1/2, sums about it -1, 1,
	// 0; SE √(3/2·2)/6; t = -√3 at 2 degrees, for which P(T > t) = ½ -
	// t/(2√(2+t²)) = ½ - √3/(2√5).
	pairs := []stat.Pair{{1, 0, "a"}, {1, 0, "a"}, {0, 0, "b"}, {1, 1, "b"}, {0, 0, "c"}, {1, 0, "c"}}
	d, err := stat.PairedDiff(pairs, 0.95)
	require.NoError(t, err)
	assert.InDelta(t, -0.5, d.Value, 1e-15)
	assert.InDelta(t, math.Sqrt(3)/6, d.SE, 1e-15)
	assert.Equal(t, 3, d.Clusters)
	assert.Equal(t, 2.0, d.DF)
	assert.InDelta(t, 0.5-math.Sqrt(3)/(2*math.Sqrt(5)), d.P, 1e-12)
	assert.Equal(t, "paired t, clustered", d.Method)
}

func TestPairedDiffWithoutSpread(t *testing.T) {
	same := make([]stat.Pair, 8)
	for i := range same {
		same[i] = stat.Pair{Old: 0.3, New: 0.3}
	}
	for _, tt := range []struct {
		name      string
		by        float64
		drop, any float64
	}{
		{"identical runs", 0, 1, 1},
		{"all fell", -0.1, 1. / 256, 2. / 256},
		{"all rose", 0.1, 1, 2. / 256},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pairs := append([]stat.Pair{}, same...)
			for i := range pairs {
				// Old differs, so that New-Old is not the same float everywhere.
				pairs[i].Old = 0.3 + float64(i)/10
				pairs[i].New = pairs[i].Old + tt.by
			}
			d, err := stat.PairedDiff(pairs, 0.95)
			require.NoError(t, err)
			assert.InDelta(t, tt.drop, d.P, 1e-15)
			assert.InDelta(t, tt.any, d.TwoSided, 1e-15)
			assert.InDelta(t, tt.by, d.Value, 1e-15)
		})
	}
}

func TestPairedBootstrap(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	pairs := make([]stat.Pair, 200)
	for i := range pairs {
		pairs[i] = stat.Pair{Old: random.Float64(), New: random.Float64() - 0.03}
	}
	boot, err := stat.PairedBootstrap(pairs, 4000, 1, 0.95)
	require.NoError(t, err)
	exact, err := stat.PairedDiff(pairs, 0.95)
	require.NoError(t, err)
	assert.Equal(t, exact.Value, boot.Value)
	assert.InEpsilon(t, exact.SE, boot.SE, 0.05, "at 200 items the two agree")
	assert.InDelta(t, exact.Interval.Lo, boot.Interval.Lo, 0.1*exact.SE*2)
	assert.InDelta(t, exact.Interval.Hi, boot.Interval.Hi, 0.1*exact.SE*2)
	assert.InDelta(t, exact.P, boot.P, 0.02)

	again, err := stat.PairedBootstrap(pairs, 4000, 1, 0.95)
	require.NoError(t, err)
	assert.Equal(t, boot, again, "same seed, same result")
	other, err := stat.PairedBootstrap(pairs, 4000, 2, 0.95)
	require.NoError(t, err)
	assert.NotEqual(t, boot.Interval, other.Interval)

	// Copies of an item in one cluster tell no more than the item.
	clustered := make([]stat.Pair, 0, 600)
	for i, p := range pairs {
		p.Group = strconv.Itoa(i)
		clustered = append(clustered, p, p, p)
	}
	three, err := stat.PairedBootstrap(clustered, 4000, 1, 0.95)
	require.NoError(t, err)
	assert.InDelta(t, boot.SE, three.SE, 1e-12)
	assert.Equal(t, 200, three.Clusters)

	for i := range pairs {
		pairs[i].New = pairs[i].Old
	}
	none, err := stat.PairedBootstrap(pairs, 1000, 1, 0.95)
	require.NoError(t, err)
	assert.Equal(t, [2]float64{1, 1}, [2]float64{none.P, none.TwoSided}, "identical runs")
	for i := range pairs {
		pairs[i].New--
	}
	all, err := stat.PairedBootstrap(pairs, 1000, 1, 0.95)
	require.NoError(t, err)
	assert.Equal(t, 1./1001, all.P, "never 0")
}

func TestPairedProportions(t *testing.T) {
	d := stat.PairedProportions(43, 1, 0, 0, 0.95)
	assert.InDelta(t, -1./44, d.Value, 1e-15)
	assert.InDelta(t, 0.25, d.P, 1e-15, "half of a coin")
	assert.InDelta(t, math.Sqrt(1-1./44)/44, d.SE, 1e-15)
	assert.Equal(t, 44, d.N)

	same := stat.PairedProportions(10, 0, 0, 10, 0.95)
	assert.Equal(t, [3]float64{0, 1, 1}, [3]float64{same.Value, same.P, same.TwoSided})
	// By hand: with nothing discordant q is 0 at δ > 0, so the score is
	// nδ/√(nδ(1-δ)) = z, so δ = z²/(n+z²), z² = 3.841459.
	assert.InDelta(t, 3.841459/(20+3.841459), same.Interval.Hi, 1e-6)
	assert.InDelta(t, -same.Interval.Hi, same.Interval.Lo, 1e-12)

	none := stat.PairedProportions(0, 0, 0, 0, 0.95)
	assert.Equal(t, stat.Interval{Lo: -1, Hi: 1, Level: 0.95}, none.Interval)
	assert.Equal(t, 1.0, none.P)
	all := stat.PairedProportions(0, 12, 0, 0, 0.95)
	assert.Equal(t, -1.0, all.Value)
	assert.Equal(t, -1.0, all.Interval.Lo)
	assert.Less(t, all.Interval.Hi, -0.4)
	assert.Equal(t, 0.0, all.SE)
}

// TestTangoInverts checks the definition by another way: the probability of
// breaking under δ maximises the trinomial likelihood, here found by search.
func TestTangoInverts(t *testing.T) {
	for _, c := range []struct{ both, broke, fixed, neither int }{
		{43, 1, 0, 0}, {20, 12, 2, 16}, {0, 5, 3, 0}, {742, 60, 41, 476}, {8, 0, 2, 0},
	} {
		d := stat.PairedProportions(c.both, c.broke, c.fixed, c.neither, 0.95)
		n := float64(d.N)
		for i, delta := range []float64{d.Interval.Lo, d.Interval.Hi} {
			likelihood := func(q float64) float64 {
				return xlogy(c.broke, q) + xlogy(c.fixed, q+delta) + xlogy(c.both+c.neither, 1-2*q-delta)
			}
			lo, hi := math.Max(0, -delta), (1-delta)/2
			for range 200 { // ternary search of a concave function
				a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
				if likelihood(a) < likelihood(b) {
					lo = a
				} else {
					hi = b
				}
			}
			score := (float64(c.fixed-c.broke) - n*delta) / math.Sqrt(n*(2*lo+delta-delta*delta))
			assert.InDelta(t, 1.959964*float64(1-2*i), score, 1e-4, "%+v at %v", c, delta)
		}
	}
}

func xlogy(x int, y float64) float64 {
	if x == 0 {
		return 0
	}
	return float64(x) * math.Log(y)
}
