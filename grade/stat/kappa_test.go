package stat_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade/stat"
)

func TestKappa(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		matrix       [][]int
		kappa, se    float64
	}{
		// J. L. Fleiss, "Statistical Methods for Rates and Proportions" (2nd ed.
		// 1981), chapter 13: 100 diagnoses in three categories, kappa 0.68, SE 0.087.
		{"diagnoses", "published", [][]int{{75, 1, 4}, {5, 4, 1}, {0, 0, 10}}, 0.676, 0.0877},
		{"grants", "statsmodels, the textbook 50 proposals", [][]int{{20, 5}, {10, 15}}, 0.4, 0.12699606293110033},
		{"three categories", "statsmodels", [][]int{{88, 10, 2}, {14, 40, 6}, {18, 10, 12}}, 0.49152542372881347, 0.05100181557607786},
		{"three more", "statsmodels", [][]int{{53, 5, 2}, {11, 14, 5}, {1, 6, 3}}, 0.4285714285714285, 0.0759588315346638},
		{"all agree", "no error that these items show", [][]int{{5, 0}, {0, 5}}, 1, 0},
		{"all disagree", "the least there is", [][]int{{0, 5}, {5, 0}}, -1, 0},
		{"one rater constant", "chance is all there is", [][]int{{5, 0}, {5, 0}}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := stat.Kappa(tt.matrix, 0.95)
			require.NoError(t, err)
			tolerance := 1e-12
			if tt.reason == "published" {
				tolerance = 6e-4
			}
			assert.InDelta(t, tt.kappa, e.Value, tolerance, tt.reason)
			assert.InDelta(t, tt.se, e.SE, tolerance, tt.reason)
			assert.True(t, e.Interval.Contains(e.Value), "%v", e)
			assert.Greater(t, e.Interval.Hi-e.Interval.Lo, 0.0)
			assert.True(t, -1 <= e.Interval.Lo && e.Interval.Hi <= 1)
		})
	}
}

func TestKappaUndefined(t *testing.T) {
	var undefined *stat.Undefined
	_, err := stat.Kappa([][]int{{12, 0}, {0, 0}}, 0.95)
	require.ErrorAs(t, err, &undefined)
	assert.Equal(t, "stat: kappa is undefined: both raters put all 12 items into the same one category; label items of another category too", err.Error())
	var few *stat.NotEnough
	_, err = stat.Kappa([][]int{{0, 0}, {0, 0}}, 0.95)
	require.ErrorAs(t, err, &few)
}

func TestRoganGladen(t *testing.T) {
	// W. J. Rogan and B. Gladen's arithmetic by hand: (0.5+0.9-1)/(0.8+0.9-1).
	e, err := stat.RoganGladen(stat.Proportion{Successes: 500, N: 1000}, stat.Proportion{Successes: 80, N: 100}, stat.Proportion{Successes: 90, N: 100}, 0.95)
	require.NoError(t, err)
	assert.InDelta(t, 4./7, e.Value, 1e-12)
	// Delta method by hand at the same numbers.
	v := 4. / 7
	assert.InDelta(t, math.Sqrt(0.25/1000+v*v*0.16/100+(1-v)*(1-v)*0.09/100)/0.7, e.SE, 1e-12)
	assert.True(t, e.Interval.Contains(v))
	assert.InDelta(t, 2*1.96*e.SE, e.Interval.Hi-e.Interval.Lo, 0.02, "with many labels the two intervals agree")

	perfect := stat.Proportion{Successes: 1_000_000_000, N: 1_000_000_000}
	e, err = stat.RoganGladen(stat.Proportion{Successes: 80, N: 100}, perfect, perfect, 0.95)
	require.NoError(t, err)
	assert.InDelta(t, 0.8, e.Value, 1e-12, "a perfect judge is left alone")
	wilson := stat.Wilson(80, 100, 0.95)
	assert.InDelta(t, wilson.Lo, e.Interval.Lo, 0.005)
	assert.InDelta(t, wilson.Hi, e.Interval.Hi, 0.005)

	e, err = stat.RoganGladen(stat.Proportion{Successes: 1, N: 100}, stat.Proportion{Successes: 9, N: 10}, stat.Proportion{Successes: 8, N: 10}, 0.95)
	require.NoError(t, err)
	assert.Zero(t, e.Value, "fewer passed than the judge passes by mistake")
	assert.Zero(t, e.Interval.Lo)
	assert.Greater(t, e.Interval.Hi, 0.0)

	e, err = stat.RoganGladen(stat.Proportion{Successes: 5, N: 10}, stat.Proportion{Successes: 300, N: 1000}, stat.Proportion{Successes: 1, N: 1}, 0.95)
	require.NoError(t, err)
	assert.Equal(t, stat.Interval{Lo: 0, Hi: 1, Level: 0.95}, e.Interval, "one label cannot say that the judge knows anything")

	var undefined *stat.Undefined
	_, err = stat.RoganGladen(stat.Proportion{Successes: 5, N: 10}, stat.Proportion{Successes: 3, N: 10}, stat.Proportion{Successes: 7, N: 10}, 0.95)
	require.ErrorAs(t, err, &undefined, "a coin, whatever 0.3+0.7-1 is in floats")
	assert.Contains(t, err.Error(), "sensitivity 30.0% and specificity 70.0%")
	var few *stat.NotEnough
	_, err = stat.RoganGladen(stat.Proportion{Successes: 5, N: 10}, stat.Proportion{}, stat.Proportion{Successes: 7, N: 10}, 0.95)
	require.ErrorAs(t, err, &few)
	assert.Equal(t, "labelled correct answers", few.What)
}
