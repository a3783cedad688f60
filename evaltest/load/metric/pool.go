package metric

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// A Pool collects the values of one metric. The zero value is ready and keeps
// [DefaultExact] values before it turns to a histogram. It is not safe for
// concurrent use.
type Pool struct {
	// Exact is how many values are kept; 0 is [DefaultExact]. Set it before
	// the first Add.
	Exact int

	n        int64 // weights added up
	mean, m2 float64
	min, max float64

	kept   []weighted
	sorted bool

	folded             bool
	positive, negative histogram
}

// DefaultExact is how many values of a metric are kept before percentiles come
// from a histogram: 2 MiB a metric.
const DefaultExact = 1 << 17

type weighted struct {
	value  float64
	weight int64
}

// Add adds a value that counts weight times. Infinite and NaN values and
// weights below 1 are programmer errors and panic.
func (p *Pool) Add(v float64, weight int64) {
	if weight < 1 || math.IsNaN(v) || math.IsInf(v, 0) {
		panic("metric: Pool.Add: want a finite value and a weight of at least 1")
	}
	if p.n == 0 || v < p.min {
		p.min = v
	}
	if p.n == 0 || v > p.max {
		p.max = v
	}
	p.n += weight
	// West's update of mean and squared deviations: sums of squares of
	// nanoseconds would lose the variance of a long run.
	delta := v - p.mean
	p.mean += delta * float64(weight) / float64(p.n)
	p.m2 += float64(weight) * delta * (v - p.mean)
	if p.folded {
		p.bucket(v, weight)
		return
	}
	p.kept, p.sorted = append(p.kept, weighted{v, weight}), false
	if limit := cmp.Or(p.Exact, DefaultExact); len(p.kept) > limit {
		for _, k := range p.kept {
			p.bucket(k.value, k.weight)
		}
		p.kept, p.folded = nil, true
	}
}

func (p *Pool) bucket(v float64, weight int64) {
	if v < 0 {
		p.negative.add(v, weight)
	} else {
		p.positive.add(v, weight)
	}
}

// N returns how many values there are, each as often as it counts.
func (p *Pool) N() int64 { return p.n }

// Quantile returns the quantile q, 0 to 1, absent if there are no values.
func (p *Pool) Quantile(q float64, rule Rule) Figure { return p.quantile(q, rule, 0) }

// quantile is Quantile with infinite further values of +Inf.
func (p *Pool) quantile(q float64, rule Rule, infinite int64) Figure {
	n := p.n + infinite
	if n == 0 {
		return Figure{}
	}
	low, high, part := rule.rank(q, n)
	return Some(between(p.at(low), p.at(high), part))
}

// at returns the order statistic i, from 0; +Inf behind the last.
func (p *Pool) at(i int64) float64 {
	switch {
	case i >= p.n:
		return math.Inf(1)
	case i == 0:
		return p.min
	case i == p.n-1:
		return p.max
	}
	v := 0.0
	p.ascend(func(value float64, weight int64) bool {
		v = value
		i -= weight
		return i >= 0
	})
	return min(max(v, p.min), p.max)
}

// ascend yields the values in order until f returns false.
func (p *Pool) ascend(f func(value float64, weight int64) bool) {
	if !p.folded {
		if !p.sorted {
			slices.SortFunc(p.kept, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
			p.sorted = true
		}
		for _, k := range p.kept {
			if !f(k.value, k.weight) {
				return
			}
		}
		return
	}
	exponents := slices.Sorted(maps.Keys(p.negative.octaves))
	for _, e := range slices.Backward(exponents) {
		for sub, count := range slices.Backward(p.negative.octaves[e][:]) {
			if count > 0 && !f(-middle(e, sub), count) {
				return
			}
		}
	}
	if p.positive.zero > 0 && !f(0, p.positive.zero) {
		return
	}
	for _, e := range slices.Sorted(maps.Keys(p.positive.octaves)) {
		for sub, count := range p.positive.octaves[e] {
			if count > 0 && !f(middle(e, sub), count) {
				return
			}
		}
	}
}

// Quantiles that a distribution holds.
var quantiles = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

// A Dist is what a metric's values come to.
type Dist struct {
	// N is how many values there are; of a token-weighted pool, tokens.
	N int64 `json:"n"`
	// RelativeError is the largest error of the quantiles relative to
	// themselves: 0 if they are exact, else [HistogramError].
	RelativeError float64 `json:"relative_error"`
	Mean          Figure  `json:"mean"`
	// SD is the standard deviation over n-1; absent for n < 2.
	SD        Figure     `json:"sd"`
	Min       Figure     `json:"min"`
	Quantiles []Quantile `json:"quantiles"`
	Max       Figure     `json:"max"`
}

// A Quantile is one point of a distribution, by rule [Linear].
type Quantile struct {
	P     float64 `json:"p"` // such as 0.99
	Value Figure  `json:"value"`
	// Few marks a quantile of fewer than 1/(1-P) values: about their maximum.
	Few bool `json:"few,omitempty"`
}

// At returns the quantile p that the distribution holds, absent if it does not.
func (d Dist) At(p float64) Quantile {
	for _, q := range d.Quantiles {
		if q.P == p {
			return q
		}
	}
	return Quantile{P: p}
}

// Dist summarizes the pool.
func (p *Pool) Dist() Dist { return p.dist(0) }

// dist summarizes the pool with infinite further values of +Inf, which have no
// mean and no deviation.
func (p *Pool) dist(infinite int64) Dist {
	d := Dist{N: p.n + infinite}
	if p.folded {
		d.RelativeError = HistogramError
	}
	if p.n > 0 {
		d.Min, d.Max = Some(p.min), Some(p.max)
	}
	switch {
	case infinite > 0:
		d.Max = Some(math.Inf(1))
		if p.n == 0 {
			d.Min = d.Max
		}
	case p.n > 1:
		d.SD = Some(math.Sqrt(p.m2 / float64(p.n-1)))
		fallthrough
	case p.n == 1:
		d.Mean = Some(p.mean)
	}
	for _, q := range quantiles {
		d.Quantiles = append(d.Quantiles, Quantile{P: q, Value: p.quantile(q, Linear, infinite), Few: d.N < Needed(q)})
	}
	return d
}
