package stat_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade/stat"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// TestRefuses: what a program gets wrong panics, and the text names the
// argument and its value.
func TestRefuses(t *testing.T) {
	prop := func(k, n int) stat.Proportion { return stat.Proportion{Successes: k, N: n} }
	two := []stat.Pair{{}, {}}
	for _, tt := range []struct {
		name, text string
		call       func()
	}{
		{"ClopperPearson counts", "stat.ClopperPearson: 4 correct of 3", func() { stat.ClopperPearson(4, 3, 0.95) }},
		{"ClopperPearson negative", "stat.ClopperPearson: -1 correct of 3", func() { stat.ClopperPearson(-1, 3, 0.95) }},
		{"ClopperPearson level", "stat.ClopperPearson: level 95 is not between 0 and 1; 95% is 0.95", func() { stat.ClopperPearson(1, 3, 95) }},
		{"Mean NaN", "stat.Mean: xs[1] is NaN; a score is a number within ±1e+140", func() { stat.Mean([]float64{1, nan}, 0.95) }},
		{"Mean Inf", "stat.Mean: xs[0] is +Inf; a score is a number within ±1e+140", func() { stat.Mean([]float64{inf}, 0.95) }},
		{"Mean level", "stat.Mean: level NaN is not between 0 and 1; 95% is 0.95", func() { stat.Mean(nil, nan) }},
		{"MeanClustered length", "stat.MeanClustered: 1 groups for 2 scores", func() { stat.MeanClustered([]float64{1, 2}, []string{"a"}, 0.95) }},
		{"MeanClustered level", "stat.MeanClustered: level 0 is not between 0 and 1; 95% is 0.95", func() { stat.MeanClustered(nil, nil, 0) }},
		{"Split NaN", "stat.Split: scores[1][2] is NaN; a score is a number within ±1e+140", func() { stat.Split([][]float64{{1}, {1, 2, nan}}) }},
		{"SEWith items", "stat.Components.SEWith: 0 items of 1 samples; both are 1 or more", func() { stat.Components{}.SEWith(0, 1) }},
		{"SEWith samples", "stat.Components.SEWith: 1 items of -1 samples; both are 1 or more", func() { stat.Components{}.SEWith(1, -1) }},
		{"PassAt counts", "stat.PassAt: 3 correct of 2", func() { stat.PassAt(2, 3, 1) }},
		{"PassAt k", "stat.PassAt: k is 0; it is 1 or more", func() { stat.PassAt(2, 1, 0) }},
		{"PassAll negative", "stat.PassAll: -1 correct of 2", func() { stat.PassAll(2, -1, 1) }},
		{"McNemar broke", "stat.McNemar: broke is -1; a count is within 0..1000000000", func() { stat.McNemar(-1, 0) }},
		{"McNemar fixed", "stat.McNemar: fixed is -2; a count is within 0..1000000000", func() { stat.McNemar(0, -2) }},
		{"PairedDiff Old", "stat.PairedDiff: pairs[1].Old is NaN; a score is a number within ±1e+140", func() { stat.PairedDiff([]stat.Pair{{}, {Old: nan}}, 0.95) }},
		{"PairedDiff New", "stat.PairedDiff: pairs[0].New is -Inf; a score is a number within ±1e+140", func() { stat.PairedDiff([]stat.Pair{{New: -inf}}, 0.95) }},
		{"PairedDiff level", "stat.PairedDiff: level 1 is not between 0 and 1; 95% is 0.95", func() { stat.PairedDiff(two, 1) }},
		{"PairedBootstrap few", "stat.PairedBootstrap: resamples 99 for level 0.95; it takes at least 100 and 2/(1-level)", func() { stat.PairedBootstrap(two, 99, 1, 0.95) }},
		{"PairedBootstrap for the level", "stat.PairedBootstrap: resamples 1000 for level 0.999; it takes at least 100 and 2/(1-level)", func() { stat.PairedBootstrap(two, 1000, 1, 0.999) }},
		{"PairedProportions both", "stat.PairedProportions: both is -1; a count is within 0..1000000000", func() { stat.PairedProportions(-1, 0, 0, 0, 0.95) }},
		{"PairedProportions neither", "stat.PairedProportions: neither is -1; a count is within 0..1000000000", func() { stat.PairedProportions(0, 0, 0, -1, 0.95) }},
		{"PairedProportions level", "stat.PairedProportions: level -1 is not between 0 and 1; 95% is 0.95", func() { stat.PairedProportions(0, 0, 0, 1, -1) }},
		{"MannWhitney", "stat.MannWhitney: b[0] is NaN; a score is a number within ±1e+140", func() { stat.MannWhitney([]float64{1}, []float64{nan}) }},
		{"Kappa one category", "stat.Kappa: matrix has 1 categories; it takes at least 2", func() { stat.Kappa([][]int{{1}}, 0.95) }},
		{"Kappa ragged", "stat.Kappa: matrix[1] has 1 counts; a square matrix has 2", func() { stat.Kappa([][]int{{1, 2}, {3}}, 0.95) }},
		{"Kappa negative", "stat.Kappa: matrix[1][0] is -3; a count is within 0..1000000000", func() { stat.Kappa([][]int{{1, 2}, {-3, 4}}, 0.95) }},
		{"Kappa level", "stat.Kappa: level 2 is not between 0 and 1; 95% is 0.95", func() { stat.Kappa([][]int{{1, 2}, {3, 4}}, 2) }},
		{"RoganGladen", "stat.RoganGladen: sens is 3 of 2", func() { stat.RoganGladen(prop(1, 2), prop(3, 2), prop(1, 2), 0.95) }},
		{"ClopperPearson many", "stat.ClopperPearson: n is 1000000001; a count is within 0..1000000000", func() { stat.ClopperPearson(1, 1e9+1, 0.95) }},
		{"RoganGladen many", "stat.RoganGladen: N of spec is 5000000000; a count is within 0..1000000000", func() { stat.RoganGladen(prop(1, 2), prop(1, 2), prop(1, 5e9), 0.95) }},
		{"RoganGladen negative", "stat.RoganGladen: spec is -1 of 2", func() { stat.RoganGladen(prop(1, 2), prop(1, 2), prop(-1, 2), 0.95) }},
		{"RoganGladen level", "stat.RoganGladen: level 0 is not between 0 and 1; 95% is 0.95", func() { stat.RoganGladen(prop(1, 2), prop(1, 2), prop(1, 2), 0) }},
		{"Holm NaN", "stat.Holm: ps[1] is NaN; a p value lies within 0..1", func() { stat.Holm([]float64{0, nan}) }},
		{"Holm above 1", "stat.Holm: ps[0] is 1.5; a p value lies within 0..1", func() { stat.Holm([]float64{1.5}) }},
		{"MinDrop alpha", "stat.PairedTest.MinDrop: Alpha 5 is not between 0 and 1", func() { stat.MinDrop(10, 0.1, 5, 0.8) }},
		{"MinDrop discordant", "stat.PairedTest.MinDrop: Discordant 0.6 is not within 0..0.5, the share that flips in each direction", func() { stat.MinDrop(10, 0.6, 0.05, 0.8) }},
		{"MinDrop discordant NaN", "stat.PairedTest.MinDrop: Discordant NaN is not within 0..0.5, the share that flips in each direction", func() { stat.MinDrop(10, nan, 0.05, 0.8) }},
		{"MinDrop power", "stat.PairedTest.MinDrop: power 0.05 is not above Alpha 0.05 and at most 1-1e-9", func() { stat.MinDrop(10, 0.1, 0.05, 0.05) }},
		{"MinDrop n", "stat.PairedTest.MinDrop: n is -1; a count is within 0..1000000000", func() { stat.MinDrop(-1, 0.1, 0.05, 0.8) }},
		{"Power n", "stat.PairedTest.Power: n is 2000000000; a count is within 0..1000000000", func() { stat.PairedTest{Alpha: 0.05}.Power(2e9, 0) }},
		{"Power drop", "stat.PairedTest.Power: drop 0.9 is not within 0..0.8, what Discordant 0.1 leaves", func() { stat.PairedTest{Alpha: 0.05, Discordant: 0.1}.Power(10, 0.9) }},
		{"Fires", "stat.PairedTest.Fires: Alpha 0 is not between 0 and 1", func() { stat.PairedTest{}.Fires(1, 0) }},
		{"Fires broke", "stat.PairedTest.Fires: broke is -1; a count is within 0..1000000000", func() { stat.PairedTest{Alpha: 0.05}.Fires(-1, 3) }},
		{"ItemsFor drop", "stat.PairedTest.ItemsFor: drop 0 is not above 0 and at most 0.8, what Discordant 0.1 leaves", func() { stat.ItemsFor(0, 0.1, 0.05, 0.8) }},
		{"ItemsFor power", "stat.PairedTest.ItemsFor: power 80 is not above Alpha 0.05 and at most 1-1e-9", func() { stat.ItemsFor(0.1, 0.1, 0.05, 80) }},
		{"Difference.MinDrop alpha", "stat.Difference.MinDrop: alpha 5 is not between 0 and 1", func() { stat.Difference{}.MinDrop(5, 0.8) }},
		{"Difference.MinDrop power", "stat.Difference.MinDrop: power NaN is not between 0 and 1", func() { stat.Difference{}.MinDrop(0.05, nan) }},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.PanicsWithValue(t, tt.text, tt.call) })
	}
}

// TestNotEnough: what the data lack is an error that says how many would do,
// and that many do.
func TestNotEnough(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		call       func(n int) error
		have, need int
	}{
		{"Mean of none", "stat: t interval: not enough data: it needs at least 2 scores, and there are 0",
			func(n int) error { _, err := stat.Mean(make([]float64, n), 0.95); return err }, 0, 2},
		{"Mean of one", "stat: t interval: not enough data: it needs at least 2 scores, and there is 1",
			func(n int) error { _, err := stat.Mean(make([]float64, n), 0.95); return err }, 1, 2},
		{"one group", "stat: clustered standard error: not enough data: it needs at least 2 groups, and there is 1",
			func(n int) error {
				_, err := stat.MeanClustered([]float64{1, 2}, []string{"a", "ab"[:n]}, 0.95)
				return err
			}, 1, 2},
		{"one item", "stat: variance split: not enough data: it needs at least 2 items, and there is 1",
			func(n int) error {
				_, err := stat.Split([][]float64{{1, 2}, {3}}[:n])
				return err
			}, 1, 2},
		{"one sample an item", "stat: variance split: not enough data: it needs at least 2 samples of an item, and there is 1",
			func(n int) error {
				_, err := stat.Split([][]float64{[]float64{1, 2}[:n], {3}})
				return err
			}, 1, 2},
		{"pass@k", "stat: pass@k: not enough data: it needs at least 5 samples, and there are 3",
			func(n int) error { _, err := stat.PassAt(n, 1, 5); return err }, 3, 5},
		{"pass^k", "stat: pass^k: not enough data: it needs at least 5 samples, and there are 4",
			func(n int) error { _, err := stat.PassAll(n, 1, 5); return err }, 4, 5},
		{"one pair", "stat: paired difference: not enough data: it needs at least 2 pairs, and there is 1",
			func(n int) error { _, err := stat.PairedDiff(make([]stat.Pair, n), 0.95); return err }, 1, 2},
		{"pairs of one group", "stat: paired difference, clustered: not enough data: it needs at least 2 groups, and there is 1",
			func(n int) error {
				_, err := stat.PairedDiff([]stat.Pair{{Group: "a"}, {Group: "ab"[:n]}}, 0.95)
				return err
			}, 1, 2},
		{"bootstrap of one pair", "stat: paired bootstrap: not enough data: it needs at least 2 pairs, and there is 1",
			func(n int) error { _, err := stat.PairedBootstrap(make([]stat.Pair, n), 100, 1, 0.95); return err }, 1, 2},
		{"three latencies", "stat: Mann-Whitney test: not enough data: it needs at least 4 values on each side, and there are 3",
			func(n int) error { _, _, err := stat.MannWhitney(make([]float64, 9), make([]float64, n)); return err }, 3, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var few *stat.NotEnough
			err := tt.call(tt.have)
			require.True(t, errors.As(err, &few), "%v", err)
			assert.Equal(t, [2]int{tt.have, tt.need}, [2]int{few.Have, few.Need})
			assert.EqualError(t, err, tt.text)
			assert.NoError(t, tt.call(tt.need), "the number that would do")
		})
	}
}
