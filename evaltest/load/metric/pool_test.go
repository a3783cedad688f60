package metric

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func filled(exact int, values ...float64) *Pool {
	p := &Pool{Exact: exact}
	for _, v := range values {
		p.Add(v, 1)
	}
	return p
}

func TestType7(t *testing.T) {
	// numpy.percentile([15, 20, 35, 40, 50], 40) is 29: rank .4*4 = 1.6, 20+.6*15.
	p := filled(0, 40, 15, 50, 35, 20)
	for _, c := range []struct {
		name, reason string
		q, want      float64
	}{
		{"numpy's 40th", "20 + 0.6*(35-20)", 0.4, 29},
		{"median", "rank 2", 0.5, 35},
		{"p90", "rank 3.6: 40 + .6*10", 0.9, 46},
		{"p99", "rank 3.96", 0.99, 49.6},
		{"lowest", "rank 0", 0, 15},
		{"highest", "rank 4", 1, 50},
	} {
		assert.InDelta(t, c.want, must(t, p.Quantile(c.q, Linear)), 1e-12, "%s: %s", c.name, c.reason)
	}
	d := p.Dist()
	assert.Equal(t, Some(32), d.Mean, "160/5")
	assert.InDelta(t, math.Sqrt(830.0/4), must(t, d.SD), 1e-12, "17²+12²+3²+8²+18² = 830, over n-1")
	assert.Equal(t, Some(15), d.Min)
	assert.Equal(t, Some(50), d.Max)
	assert.Zero(t, d.RelativeError)
}

func TestWeights(t *testing.T) {
	// 10, 10, 10, 40: median 10, p90 rank 2.7: 10 + .7*30.
	p := &Pool{}
	p.Add(40, 1)
	p.Add(10, 3)
	assert.Equal(t, int64(4), p.N())
	assert.InDelta(t, 31, must(t, p.Quantile(0.9, Linear)), 1e-12)
	assert.InDelta(t, 17.5, must(t, p.Dist().Mean), 1e-12)
	assert.InDelta(t, 15, must(t, p.Dist().SD), 1e-12, "3*7.5² + 22.5² = 675, over 3: 225")
}

// G1: batchbench's index is the half-away-from-zero rounding of (n-1)·q.
func TestG1BatchbenchPercentiles(t *testing.T) {
	for _, c := range []struct {
		n    int
		want [3]float64
	}{
		{1, [3]float64{0, 0, 0}}, {2, [3]float64{1, 1, 1}}, {3, [3]float64{1, 2, 2}}, {4, [3]float64{2, 3, 3}}, {5, [3]float64{2, 4, 4}},
		{10, [3]float64{5, 8, 9}}, {11, [3]float64{5, 9, 10}}, {20, [3]float64{10, 17, 19}}, {21, [3]float64{10, 18, 20}},
		{50, [3]float64{25, 44, 49}}, {100, [3]float64{50, 89, 98}}, {101, [3]float64{50, 90, 99}},
	} {
		p := &Pool{}
		for i := range c.n {
			p.Add(float64(i), 1)
		}
		for i, q := range []float64{0.5, 0.9, 0.99} {
			assert.Equal(t, Some(c.want[i]), p.Quantile(q, Batchbench), "n=%d q=%v", c.n, q)
		}
	}
	assert.Equal(t, Figure{}, new(Pool).Quantile(0.5, Batchbench), "none of none")
}

func TestFew(t *testing.T) {
	for _, c := range []struct {
		p    float64
		need int64
	}{{0.5, 2}, {0.9, 10}, {0.95, 20}, {0.99, 100}, {0.999, 1000}} {
		assert.Equal(t, c.need, Needed(c.p), "1/(1-%v)", c.p)
		p := &Pool{}
		p.Add(1, c.need-1)
		assert.True(t, p.Dist().At(c.p).Few, "p%v of %d", c.p, c.need-1)
		p.Add(1, 1)
		assert.False(t, p.Dist().At(c.p).Few, "p%v of %d", c.p, c.need)
	}
}

func TestErrorsAsInfinite(t *testing.T) {
	p := filled(0, 1, 2, 3, 4, 5, 6, 7, 8) // and 2 failures: n = 10
	d := p.dist(2)
	assert.Equal(t, int64(10), d.N)
	assert.Equal(t, Some(5.5), d.At(0.5).Value, "rank 4.5")
	assert.Equal(t, Some(math.Inf(1)), d.At(0.9).Value, "rank 8.1 is among the failures")
	assert.Equal(t, Some(math.Inf(1)), d.Max)
	assert.False(t, d.Mean.Known())
	assert.Equal(t, Some(8), p.quantile(7.0/9, Linear, 2), "rank 7 exactly: an infinite neighbour of weight 0 is not NaN")
	assert.Equal(t, Some(math.Inf(1)), new(Pool).dist(3).At(0.5).Value)
}

func TestHistogramError(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	exact, rough := &Pool{Exact: 1 << 20}, &Pool{Exact: 16}
	for range 20_000 {
		v := math.Exp(rng.NormFloat64()*3 + 10)
		if rng.IntN(4) == 0 {
			v = -v
		}
		w := 1 + rng.Int64N(3)
		exact.Add(v, w)
		rough.Add(v, w)
	}
	a, b := exact.Dist(), rough.Dist()
	assert.Equal(t, HistogramError, b.RelativeError)
	assert.Equal(t, []Figure{a.Mean, a.SD, a.Min, a.Max}, []Figure{b.Mean, b.SD, b.Min, b.Max}, "always exact")
	for i := range 200 {
		q := float64(i) / 199
		want, got := must(t, exact.Quantile(q, Batchbench)), must(t, rough.Quantile(q, Batchbench))
		require.LessOrEqual(t, math.Abs(got-want), HistogramError*math.Abs(want)*1.000001, "q=%v: %v, want %v", q, got, want)
	}
	zeros := filled(2, 0, 0, 0, 0, 5)
	assert.Equal(t, Some(0), zeros.Quantile(0.5, Linear))
}

func TestPoolProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		p := &Pool{Exact: 1 + rng.IntN(50)}
		var all []float64
		for range 1 + rng.IntN(60) {
			v, w := float64(rng.IntN(1000)), 1+rng.IntN(3)
			p.Add(v, int64(w))
			all = append(all, slices.Repeat([]float64{v}, w)...)
		}
		slices.Sort(all)
		before := math.Inf(-1)
		for i := range 21 {
			got := must(t, p.Quantile(float64(i)/20, Linear))
			require.GreaterOrEqual(t, got, before, "quantiles do not fall")
			require.True(t, all[0] <= got && got <= all[len(all)-1])
			before = got
			if !p.folded {
				low, high, part := Linear.rank(float64(i)/20, int64(len(all)))
				require.InDelta(t, all[low]+part*(all[high]-all[low]), got, 1e-9)
			}
		}
	}
}

func TestPoolRefuses(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		assert.Panics(t, func() { new(Pool).Add(v, 1) })
	}
	assert.Panics(t, func() { new(Pool).Add(1, 0) })
}

func TestFigureJSON(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		f            Figure
		want         string
	}{
		{"absent", "not 0", Figure{}, "null"},
		{"zero", "not absent", Some(0), "0"},
		{"tiny", "B10: nothing is rounded", Some(0.00001234), "0.00001234"},
		{"NaN", "is nothing", Some(math.NaN()), "null"},
		{"infinite", "JSON has no number for it", Some(math.Inf(1)), `"+Inf"`},
		{"minus infinite", "nor for this", Some(math.Inf(-1)), `"-Inf"`},
	} {
		b, err := json.Marshal(c.f)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(b), "%s: %s", c.name, c.reason)
		back := Some(99)
		require.NoError(t, json.Unmarshal(b, &back))
		assert.Equal(t, c.f, back, c.name)
	}
	assert.Error(t, json.Unmarshal([]byte(`"x"`), new(Figure)))
}
