package workload

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func draws(d Dist, n int) []int {
	r, list := Rand(7, 0, InputLength), make([]int, n)
	for i := range list {
		list[i] = d.Draw(r)
	}
	return list
}

func TestDraw(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		dist         Dist
		low, high    int // all of them occur, and nothing else
	}{
		{"none", "the zero value is no length", Dist{}, 0, 0},
		{"fixed", "nothing varies", Must(Fixed(64, 0)), 64, 64},
		{"vary", "both ends are included", Must(Fixed(20, 3)), 17, 23},
		{"vary below 1", "G18: 5 ± 10 is never below 1", Must(Fixed(5, 10)), 1, 15},
		{"uniform", "both ends are included", Must(Uniform(3, 6)), 3, 6},
		{"uniform of one", "a range of one value is legal", Must(Uniform(9, 9)), 9, 9},
		{"lognormal", "G18: all in 1..40", Must(LogNormal(100, .9, 40)), 1, 40},
		{"lognormal at 1", "floor and max are the same", Must(LogNormal(100, .9, 1)), 1, 1},
		{"lognormal small", "what rounds to 0 becomes 1", Must(LogNormal(.01, .1, 0)), 1, 1},
		{"lognormal infinite", "an overflow of the exponential is the max, too", Must(LogNormalMu(1e9, 1, 500)), 500, 500},
		{"empirical", "each value as often as it was given", Must(Empirical([]int{4, 4, 5})), 4, 5},
		{"largest", "the end of the range has no overflow", Must(Fixed(math.MaxInt32, 0)), math.MaxInt32, math.MaxInt32},
	} {
		t.Run(row.name, func(t *testing.T) {
			list := draws(row.dist, 5000)
			low, high := list[0], list[0]
			for _, n := range list {
				low, high = min(low, n), max(high, n)
			}
			if row.name == "lognormal" { // its low end is rare
				assert.GreaterOrEqual(t, low, row.low, row.reason)
				low = row.low
			}
			assert.Equal(t, [2]int{row.low, row.high}, [2]int{low, high}, row.reason)
			assert.Equal(t, list, draws(row.dist, 5000), "equal seeds, equal lengths")
		})
	}
}

// The mean of n draws is within 4 standard errors of Mean, the share at the cap
// of AtCap, and the share up to the median is half. Rounding moves the mean by
// less than 0.01 at these medians.
func TestStatistics(t *testing.T) {
	const n = 40_000
	for _, row := range []struct {
		name, reason string
		dist         Dist
	}{
		{"fixed", "no variance", Must(Fixed(64, 0))},
		{"vary", "the cut range is not symmetric around the length", Must(Fixed(50, 80))},
		{"uniform", "", Must(Uniform(100, 200))},
		{"empirical", "", Must(Empirical([]int{100, 200, 900}))},
		{"free", "a mean far above the median", Must(LogNormal(500, 1, 0))},
		{"capped", "a tenth of the mass at the cap", Must(LogNormal(500, 1, 1800))},
		{"cut hard", "most of the mass at the cap", Must(LogNormal(100, .9, 40))},
		{"floor", "half of the mass at 1: rounding moves what is near 1", Must(LogNormal(300, 3, 4000))},
		{"wide", "what lies between the ends is a tiny share of a huge mean", Must(LogNormal(300, 10, 4000))},
	} {
		t.Run(row.name, func(t *testing.T) {
			list := draws(row.dist, n)
			sum, squares, capped, low, high := 0.0, 0.0, 0.0, 0.0, 0.0
			for _, v := range list {
				x := float64(v)
				sum, squares = sum+x, squares+x*x
				if row.dist.max > 0 && v == row.dist.max {
					capped++
				}
				if x < row.dist.Median()-.5 {
					low++
				}
				if x > row.dist.Median()+.5 {
					high++
				}
			}
			mean := sum / n
			sd := math.Sqrt(max(0, squares/n-mean*mean))
			assert.InDelta(t, row.dist.Mean(), mean, 4*sd/math.Sqrt(n)+.02, row.reason)
			p := row.dist.AtCap()
			assert.InDelta(t, p, capped/n, 4*math.Sqrt(p*(1-p)/n)+1e-12, row.reason)
			limit := .5 + 4*.5/math.Sqrt(n)
			assert.LessOrEqual(t, low/n, limit, "at most half is below the median")
			assert.LessOrEqual(t, high/n, limit, "at most half is above the median")
		})
	}
}

func TestMeanWithoutCapIsTheFormula(t *testing.T) {
	d := Must(LogNormal(500, .9, 0))
	assert.InDelta(t, 500*math.Exp(.9*.9/2), d.Mean(), .01, "e^(mu+sigma²/2): floor and end are far away")
	assert.InDelta(t, 500, d.Median(), 1e-9)
	assert.Zero(t, d.AtCap())
	huge := Must(LogNormalMu(5000, 1, 100))
	assert.Equal(t, 100.0, huge.Mean(), "no overflow and no NaN")
	assert.Equal(t, 1.0, huge.AtCap())
}

func TestDistText(t *testing.T) {
	var b strings.Builder
	for _, d := range []Dist{
		{}, Must(Fixed(64, 0)), Must(Fixed(5, 10)), Must(Uniform(3, 6)), Must(LogNormal(100, .9, 40)),
		Must(LogNormalMu(0, .5, 0)), Must(Empirical([]int{9, 3, 4, 100})),
	} {
		text, err := json.Marshal(d)
		require.NoError(t, err)
		fmt.Fprintf(&b, "%v\n\t%s\n", d, text)
	}
	golden(t, "dist.txt", rounded(b.String()))
}

func TestEmpiricalIgnoresOrder(t *testing.T) {
	values := []int{9, 3, 4}
	d := Must(Empirical(values))
	values[0] = 77
	assert.Equal(t, draws(Must(Empirical([]int{3, 4, 9})), 100), draws(d, 100), "a set of values, and a copy")
}

func TestMustPanics(t *testing.T) {
	assert.PanicsWithError(t, "workload: n is 0: want a whole number from 1 to 2147483647", func() { Must(Fixed(0, 0)) })
}
