package stat

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExtremes: arguments at the ends of what is taken give numbers, and end.
func TestExtremes(t *testing.T) {
	number := func(xs ...float64) {
		t.Helper()
		for _, x := range xs {
			assert.False(t, math.IsNaN(x), "%v", xs)
		}
	}
	for _, level := range []float64{5e-324, 1e-12, 0.95, 1 - 1e-12, math.Nextafter(1, 0)} {
		for _, n := range []int{1, 2, 1_000_000, most} {
			for _, k := range []int{0, 1, n / 2, n - 1, n} {
				for _, i := range []Interval{
					Wilson(k, n, level), ClopperPearson(k, n, level),
					PairedProportions(n-k, 0, k, 0, level).Interval, PairedProportions(0, k, n-k, 0, level).Interval,
				} {
					number(i.Lo, i.Hi)
					assert.LessOrEqual(t, i.Lo, i.Hi, "%d of %d at %v", k, n, level)
				}
				any, err := PassAt(n, k, max(1, n/2))
				require.NoError(t, err)
				all, err := PassAll(n, k, max(1, n/2))
				require.NoError(t, err)
				number(any, all)
			}
		}
		for _, xs := range [][]float64{{0, 0}, {0, 1}, {1, 1, 1}, {5e-324, 0}, {1e140, -1e140}} {
			var pairs []Pair
			for i, x := range xs {
				pairs = append(pairs, Pair{x, -x, fmt.Sprint(i % 2)})
			}
			d, err := PairedDiff(pairs, level)
			require.NoError(t, err)
			number(d.Value, d.SE, d.P, d.TwoSided, d.Interval.Lo, d.Interval.Hi)
			number(d.MinDrop(0.05, 0.8), d.MinDrop(1e-12, 0.8), d.MinDrop(1e-300, 0.8), d.MinDrop(5e-324, math.Nextafter(1, 0)))
		}
	}
	for _, alpha := range []float64{5e-324, 1e-12, 0.05, 0.999} {
		for _, discordant := range []float64{0, 5e-324, 0.25, 0.5} {
			for _, n := range []int{0, 1, 2, 1000} {
				test := PairedTest{Alpha: alpha, Discordant: discordant}
				number(test.Power(n, 0), test.Power(n, 1-2*discordant))
				drop, err := test.MinDrop(n, mostPower)
				number(drop)
				if err != nil {
					assert.Zero(t, drop)
				}
			}
		}
	}
}

// TestTextsRound: a number is not rounded to what it is not.
func TestTextsRound(t *testing.T) {
	d := Difference{Value: -0.5, P: 1e-30, Interval: Interval{Lo: -0.6, Hi: -0.4, Level: 0.999999}}
	assert.Equal(t, "-0.500 (99.9999% interval -0.600 to -0.400), p < 0.0001 for a drop", d.String())
	assert.PanicsWithValue(t, "stat.PassAt: n is 4611686018427387904; a count is within 0..1000000000", func() { PassAt(1<<62, 1<<61, 1<<60) })
	assert.Panics(t, func() { MinDrop(1000, 0.01, 0.05, math.Nextafter(1, 0)) }, "a power that no number of items has")
}
