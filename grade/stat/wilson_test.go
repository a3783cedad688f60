package stat_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/grade/stat"
)

func TestWilson(t *testing.T) {
	// The published rows are from R. G. Newcombe, "Two-sided confidence
	// intervals for the single proportion: comparison of seven methods",
	// Statistics in Medicine 17 (1998), 857-872, table I, method 3.
	for _, tt := range []struct {
		name, reason string
		correct, n   int
		level        float64
		lo, hi       float64
	}{
		{"81/263", "published", 81, 263, 0.95, 0.2553, 0.3662},
		{"15/148", "published", 15, 148, 0.95, 0.0624, 0.1605},
		{"0/20", "published: the simple interval would be 0..0", 0, 20, 0.95, 0, 0.1611},
		{"1/29", "published: the simple interval would start below 0", 1, 29, 0.95, 0.0061, 0.1718},
		{"20/20", "the mirror image of 0/20", 20, 20, 0.95, 0.8389, 1},
		// z²/(n+z²) with z² = 3.8415 and n = 1.
		{"0/1", "derived: Hi = z²/(n+z²)", 0, 1, 0.95, 0, 3.8415 / 4.8415},
		// At p = 1/2 the interval is 1/2 ± z/(2√(n+z²)); z = 1.6449 at 90%.
		{"50/100 at 90%", "derived: 1/2 ± z/(2√(n+z²))", 50, 100, 0.90, 0.5 - 1.6449/(2*math.Sqrt(102.7055)), 0.5 + 1.6449/(2*math.Sqrt(102.7055))},
		{"0/0", "nothing is known", 0, 0, 0.95, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := stat.Wilson(tt.correct, tt.n, tt.level)
			assert.InDelta(t, tt.lo, i.Lo, 0.00005, tt.reason)
			assert.InDelta(t, tt.hi, i.Hi, 0.00005, tt.reason)
			assert.Equal(t, tt.level, i.Level)
		})
	}
}

func TestWilsonEndsAreExact(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 49, 100, 1319, 1e6, 1e9} {
		assert.Zero(t, stat.Wilson(0, n, 0.95).Lo, "0 of %d does not exclude 0", n)
		assert.Equal(t, 1.0, stat.Wilson(n, n, 0.95).Hi, "%d of %d does not exclude 1", n, n)
	}
}

func TestWilsonProperties(t *testing.T) {
	for n := 1; n <= 60; n++ {
		before := stat.Interval{Lo: -1, Hi: -1}
		for k := 0; k <= n; k++ {
			i := stat.Wilson(k, n, 0.95)
			p := float64(k) / float64(n)
			mirror := stat.Wilson(n-k, n, 0.95)
			assert.True(t, 0 <= i.Lo && i.Lo <= p && p <= i.Hi && i.Hi <= 1, "%d/%d: %v", k, n, i)
			assert.True(t, i.Contains(p))
			assert.InDelta(t, 1-mirror.Hi, i.Lo, 1e-12, "%d/%d: symmetric", k, n)
			assert.True(t, i.Lo >= before.Lo && i.Hi > before.Hi, "%d/%d: one more correct answer moves it up", k, n)
			before = i
		}
	}
}

// TestWilsonInverts checks the definition: the ends are the shares q at which
// the score test of p just rejects, |p-q| = z·√(q(1-q)/n).
func TestWilsonInverts(t *testing.T) {
	z := math.Sqrt2 * math.Erfinv(0.95)
	for _, c := range []struct{ k, n int }{{1, 10}, {80, 100}, {286, 1319}, {742, 1319}} {
		i := stat.Wilson(c.k, c.n, 0.95)
		p := float64(c.k) / float64(c.n)
		for _, q := range []float64{i.Lo, i.Hi} {
			assert.InDelta(t, z*math.Sqrt(q*(1-q)/float64(c.n)), math.Abs(p-q), 1e-12, "%d/%d at %v", c.k, c.n, q)
		}
	}
}

func TestIntervalString(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		i            stat.Interval
		want         string
	}{
		{"80/100", "one decimal", stat.Wilson(80, 100, 0.95), "71.1% to 86.7%"},
		{"all of a million", "not certain", stat.Wilson(1e6, 1e6, 0.95), "99.9996% to 100.0%"},
		{"none of a million", "not excluded either", stat.Wilson(0, 1e6, 0.95), "0.0% to 0.0004%"},
		{"1 of a million", "0 is excluded", stat.Wilson(1, 1e6, 0.95), "0.00002% to 0.001%"},
		{"nothing known", "", stat.Wilson(0, 0, 0.95), "0.0% to 100.0%"},
		{"a difference", "of shares", stat.Interval{Lo: -0.0512, Hi: 0.003}, "-5.1% to 0.3%"},
		{"scores", "not shares", stat.Interval{Lo: -1.5, Hi: 2}, "-150.0% to 200.0%"},
		{"no numbers", "still text", stat.Interval{Lo: math.NaN(), Hi: math.Inf(1)}, "NaN% to +Inf%"},
		{"next to the ends", "it ends", stat.Interval{Lo: 5e-324, Hi: math.Nextafter(1, 0)}, "0.00000000000000000000% to 99.99999999999999%"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, tt.i.String(), tt.reason) })
	}
}

func TestWilsonItems(t *testing.T) {
	assert.Equal(t, stat.Wilson(80, 100, 0.95), stat.WilsonItems(80, 100, 100, 0.95), "one answer an item")
	assert.Equal(t, stat.Wilson(20, 25, 0.95), stat.WilsonItems(80, 100, 25, 0.95),
		"four answers to each of 25 items tell no more than one")
	narrow, wide := stat.Wilson(80, 100, 0.95), stat.WilsonItems(80, 100, 25, 0.95)
	assert.Greater(t, wide.Hi-wide.Lo, narrow.Hi-narrow.Lo)
}

func TestWilsonRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		call func()
	}{
		{"negative correct", func() { stat.Wilson(-1, 3, 0.95) }},
		{"more correct than answers", func() { stat.Wilson(4, 3, 0.95) }},
		{"negative n", func() { stat.Wilson(0, -1, 0.95) }},
		{"level 95 for 95%", func() { stat.Wilson(1, 3, 95) }},
		{"level 0", func() { stat.Wilson(1, 3, 0) }},
		{"level 1 needs an infinite interval", func() { stat.Wilson(1, 3, 1) }},
		{"level NaN", func() { stat.Wilson(1, 3, math.NaN()) }},
		{"more items than answers", func() { stat.WilsonItems(1, 3, 4, 0.95) }},
		{"answers to no items", func() { stat.WilsonItems(1, 3, 0, 0.95) }},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Panics(t, tt.call) })
	}
}

func TestPercent(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		part, whole  int
		want         string
	}{
		{"80/100", "one decimal", 80, 100, "80.0%"},
		{"1/3", "rounded down", 1, 3, "33.3%"},
		{"2/3", "rounded up", 2, 3, "66.7%"},
		{"1/2000", "0.05 rounds half up", 1, 2000, "0.1%"},
		{"none", "an exact 0", 0, 1319, "0.0%"},
		{"all", "an exact 100", 1319, 1319, "100.0%"},
		{"1 of 100000", "something is never 0%", 1, 100_000, "0.001%"},
		{"9999 of 10000", "less than all is never 100%", 9999, 10_000, "99.99%"},
		{"all but 1 of a million", "99.9999 is the first that is not 100", 999_999, 1_000_000, "99.9999%"},
		{"largest", "no float in between", math.MaxInt - 1, math.MaxInt, "99.99999999999999999%"},
		{"0/0", "no whole, no share", 0, 0, "n/a"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, stat.Percent(tt.part, tt.whole), tt.reason) })
	}
	assert.Panics(t, func() { stat.Percent(2, 1) })
	assert.Panics(t, func() { stat.Percent(-1, 1) })
}

func Example() {
	correct, n := 80, 100 // of them 10 wrong and 10 errored: all 100 count
	i := stat.Wilson(correct, n, 0.95)
	fmt.Printf("%s, %.0f%% interval %s\n", stat.Percent(correct, n), 100*i.Level, i)
	// Output: 80.0%, 95% interval 71.1% to 86.7%
}
