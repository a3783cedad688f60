package arrival_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
)

// cliff is a server whose every request is good up to the capacity, and half of
// them above.
func cliff(capacity float64) arrival.Try {
	return func(_ context.Context, rate float64) (float64, error) {
		if rate <= capacity {
			return 1, nil
		}
		return 0.5, nil
	}
}

func rates(f arrival.Found) (r []float64) {
	for _, p := range f.Points {
		r = append(r, p.Rate)
	}
	return r
}

func TestSearchWithoutNoise(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		search       arrival.Search
		capacity     float64
		rates        []float64 // in order; nil: not checked
		ended        arrival.SearchEnd
		tries        int
	}{
		{"upwards", "8 and 16 enclose 10; then the geometric middles", arrival.Search{Start: 1, Tolerance: 0.2}, 10,
			[]float64{1, 2, 4, 8, 16, 11.313708, 9.513657}, arrival.Enclosed, 14},
		{"downwards", "the start was too high", arrival.Search{Start: 64, Growth: 4, Tolerance: 1}, 10,
			[]float64{64, 16, 4, 8}, arrival.Enclosed, 8},
		{"at most", "the highest rate allowed is tried itself", arrival.Search{Start: 3, Max: 10}, 1000,
			[]float64{3, 6, 10}, arrival.AtMax, 6},
		{"at least", "the lowest rate allowed is tried itself", arrival.Search{Start: 10, Min: 3}, 1,
			[]float64{10, 5, 3}, arrival.AtMin, 6},
		{"a default lowest", "a server that serves nobody ends the search", arrival.Search{Start: 1024}, 0,
			[]float64{1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1}, arrival.AtMin, 22},
		{"out of tries", "what is known by then is returned", arrival.Search{Start: 1, MaxTries: 9}, 10,
			[]float64{1, 2, 4, 8, 16}, arrival.OutOfTries, 9},
		{"one run a rate", "a lead of 1", arrival.Search{Start: 1, Lead: 1, Tolerance: 0.01}, 10, nil, arrival.Enclosed, 12},
		{"a long way", "to a million", arrival.Search{Start: 1, Growth: 10, Tolerance: 0.001}, 123456.7, nil, arrival.Enclosed, 38},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := tt.search.Run(t.Context(), cliff(tt.capacity))
			require.NoError(t, err)
			assert.Equal(t, tt.ended, found.Ended)
			assert.Equal(t, tt.tries, found.Tries)
			assert.Empty(t, found.Violations)
			assert.Equal(t, arrival.DefaultTarget, found.Target)
			if tt.rates != nil {
				assert.InDeltaSlice(t, tt.rates, rates(found), 1e-5)
			}
			if found.Rate > 0 {
				assert.LessOrEqual(t, found.Rate, tt.capacity)
			}
			if tt.ended == arrival.Enclosed {
				tolerance := tt.search.Tolerance
				assert.Greater(t, found.Above, tt.capacity)
				assert.LessOrEqual(t, found.Above, found.Rate*(1+tolerance)*(1+1e-12))
			}
		})
	}
}

func TestSearchTargetIsReached(t *testing.T) {
	found, err := arrival.Search{Start: 1, Max: 1, Target: 0.9}.Run(t.Context(), func(context.Context, float64) (float64, error) { return 0.9, nil })
	require.NoError(t, err)
	assert.Equal(t, arrival.Sustained, found.Points[0].Verdict, "the target itself is enough")
}

func TestMisjudged(t *testing.T) {
	assert.Equal(t, 0.1, arrival.Misjudged(0.1, 1))
	assert.InDelta(t, 1.0/82, arrival.Misjudged(0.1, 2), 1e-12, "0.01 / (0.01 + 0.81)")
	assert.InDelta(t, 1.0/17, arrival.Misjudged(0.2, 2), 1e-12)
	assert.Equal(t, 0.5, arrival.Misjudged(0.5, 9))
	assert.Equal(t, 0.0, arrival.Misjudged(0, 3))
	assert.Equal(t, 1.0, arrival.Misjudged(1, 3))
	assert.Panics(t, func() { arrival.Misjudged(math.NaN(), 1) })
	assert.Panics(t, func() { arrival.Misjudged(0.1, 0) })
}

// A coin at each rate errs with probability q. A wrong decision has exactly the
// probability that the rule states, and a wrong answer at most that times the
// number of rates.
//
// Of a rate that is sustained (p = 1-q), with a lead of 2: two runs decide it
// with p²+q², otherwise all begins anew; after 3 such pairs and a seventh run it
// is undecided, with (2pq)³. So it is judged wrongly with
// (1-(2pq)³)·q²/(p²+q²) + (2pq)³ if it is sustained, and without the last term
// if not.
func TestSearchErrsAsStated(t *testing.T) {
	const runs, capacity, tolerance = 4_000, 100.0, 0.1
	for _, q := range []float64{0, 0.05, 0.1, 0.2} {
		t.Run(fmt.Sprint(q), func(t *testing.T) {
			open := math.Pow(2*q*(1-q), 3)
			low := (1 - open) * arrival.Misjudged(q, 2)
			high := low + open

			var wrong, sustained, sustainedWrong, not, notWrong int
			var bound, undecided float64
			for seed := range uint64(runs) {
				r := rand.New(rand.NewPCG(seed, 3))
				found, err := arrival.Search{Start: 30, Tolerance: tolerance}.Run(t.Context(), func(_ context.Context, rate float64) (float64, error) {
					if (rate <= capacity) != (r.Float64() < q) {
						return 1, nil
					}
					return 0, nil
				})
				require.NoError(t, err)
				if found.Rate < capacity/(1+tolerance) || found.Rate > capacity {
					wrong++
				}
				for _, p := range found.Points {
					require.LessOrEqual(t, len(p.Good), 7)
					if p.Verdict == arrival.Undecided {
						undecided++
					}
					good := p.Verdict == arrival.Sustained
					if p.Rate <= capacity {
						sustained++
						bound += high
						if !good {
							sustainedWrong++
						}
					} else {
						not++
						bound += low
						if good {
							notWrong++
						}
					}
				}
			}
			// Shares of n decisions have the standard deviation √(p(1-p)/n); 5
			// of them, and the search is not one more in ten million.
			near := func(want float64, k, n int, what string) {
				assert.InDelta(t, want, float64(k)/float64(n), 5*math.Sqrt(want*(1-want)/float64(n))+1e-12, what)
			}
			near(high, sustainedWrong, sustained, "sustained rates judged wrongly")
			near(low, notWrong, not, "unsustained rates judged wrongly")
			near(open, int(undecided), sustained+not, "undecided")
			assert.LessOrEqual(t, float64(wrong), bound+5*math.Sqrt(bound)+1e-9, "answers outside")
			if q >= 0.1 {
				assert.Greater(t, float64(wrong), bound/4, "the bound is not empty")
			}
		})
	}
}

// The share of good requests falls smoothly with the rate and is measured with
// noise. A run errs less the farther its rate is from the capacity; outside the
// tolerance by at most q, which is worked out from the curve. The answer lies in
// the stated interval as often as that promises.
func TestSearchOnANoisyCurve(t *testing.T) {
	const runs, capacity, tolerance, target, sigma = 2_000, 40.0, 0.05, 0.9, 0.01
	curve := func(rate float64) float64 { // 0.9 at the capacity
		return 1 / (1 + math.Pow(rate/capacity, 10)/9)
	}
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	q := max(phi((target-curve(capacity/(1+tolerance)))/sigma), phi((curve(capacity*(1+tolerance))-target)/sigma))
	require.InDelta(t, 0.001, q, 0.001, "the curve and the noise of this test")

	wrong, points := 0, 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 4))
		found, err := arrival.Search{Start: 7, Target: target, Tolerance: tolerance}.Run(t.Context(), func(_ context.Context, rate float64) (float64, error) {
			return min(1, max(0, curve(rate)+sigma*r.NormFloat64())), nil
		})
		require.NoError(t, err)
		require.Equal(t, arrival.Enclosed, found.Ended)
		points += len(found.Points)
		if found.Rate < capacity/(1+tolerance)/(1+tolerance) || found.Rate > capacity*(1+tolerance) {
			wrong++
		}
	}
	bound := float64(points) * (arrival.Misjudged(q, 2) + math.Pow(2*q*(1-q), 3))
	assert.LessOrEqual(t, float64(wrong), bound+5*math.Sqrt(bound)+1)
	assert.Less(t, float64(points)/runs, 10.0, "rates a search")
}

// A queue with one server, Poisson arrivals and exponential service of rate μ
// answers within s with probability 1-exp(-(μ-λ)s), so the share g is kept up to
// λ = μ + ln(1-g)/s. The search finds that by simulation, with arrivals from a
// Schedule.
func TestSearchOnAQueue(t *testing.T) {
	const mu, limit, target, tolerance = 100.0, 0.2, 0.9, 0.05
	capacity := mu + math.Log(1-target)/limit // 88.5
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 5))
		found, err := arrival.Search{Start: 10, Target: target, Tolerance: tolerance}.Run(t.Context(), func(_ context.Context, rate float64) (float64, error) {
			const skip, n = 2_000, 20_000 // warm-up and measured
			good, k, free := 0, 0, 0.0
			for due := range arrival.Poisson(rate).Times(r) {
				free = max(free, due.Seconds()) + r.ExpFloat64()/mu
				if k >= skip && free-due.Seconds() <= limit {
					good++
				}
				if k++; k == skip+n {
					break
				}
			}
			return float64(good) / n, nil
		})
		require.NoError(t, err)
		assert.Equal(t, arrival.Enclosed, found.Ended)
		assert.GreaterOrEqual(t, found.Rate, capacity/(1+tolerance)/(1+tolerance))
		assert.LessOrEqual(t, found.Rate, capacity*(1+tolerance))
		assert.Empty(t, found.Violations)
	}
}

func TestSearchViolations(t *testing.T) {
	// Below 20/s a server waits for a batch to fill and misses its limits.
	hump := func(noise float64) arrival.Try {
		r := seeded(1)
		return func(_ context.Context, rate float64) (float64, error) {
			good := 0.96
			switch {
			case rate > 90:
				good = 0.3
			case rate > 20:
				good = 0.99
			}
			return good - noise*r.Float64(), nil
		}
	}
	search := arrival.Search{Start: 10, Target: 0.9, Tolerance: 0.5}
	found, err := search.Run(t.Context(), hump(0))
	require.NoError(t, err)
	require.Len(t, found.Violations, 1)
	assert.Equal(t, 20.0, found.Violations[0].Lower)
	assert.Equal(t, 40.0, found.Violations[0].Higher)
	assert.Equal(t, "at 40 requests/s the share of good requests is 0.0300 higher than at 20", found.Violations[0].String())

	found, err = search.Run(t.Context(), hump(0.05))
	require.NoError(t, err)
	assert.Empty(t, found.Violations, "chance explains it")

	search.Slack = 0.05
	found, err = search.Run(t.Context(), hump(0))
	require.NoError(t, err)
	assert.Empty(t, found.Violations, "less than the slack")
}

// Where the client cannot offer a rate, the search goes no higher and says so.
func TestSearchClientBound(t *testing.T) {
	try := func(_ context.Context, rate float64) (float64, error) {
		if rate > 300 {
			return 0, fmt.Errorf("lag p99 40ms: %w", arrival.ErrNotOffered)
		}
		return cliff(1000)(t.Context(), rate)
	}
	found, err := arrival.Search{Start: 100}.Run(t.Context(), try)
	require.NoError(t, err)
	assert.Equal(t, arrival.ClientBound, found.Ended)
	assert.InEpsilon(t, 300, found.Rate, 0.05)
	p := found.Points[2]
	assert.Equal(t, arrival.Point{Rate: 400, Verdict: arrival.NotOffered, Why: "lag p99 40ms: arrival: the asked rate was not offered"}, p, "after two runs")

	found, err = arrival.Search{Start: 100}.Run(t.Context(), func(context.Context, float64) (float64, error) { return 0, arrival.ErrNotOffered })
	require.NoError(t, err)
	assert.Equal(t, arrival.ClientBound, found.Ended)
	assert.Zero(t, found.Rate)

	// One hiccup of the client at every rate.
	last := 0.0
	found, err = arrival.Search{Start: 100}.Run(t.Context(), func(ctx context.Context, rate float64) (float64, error) {
		if rate != last {
			last = rate
			return 0, arrival.ErrNotOffered
		}
		return cliff(250)(ctx, rate)
	})
	require.NoError(t, err)
	assert.Equal(t, arrival.Enclosed, found.Ended)
	assert.InEpsilon(t, 250, found.Rate, 0.05)

	// A server that gives way below what the client can offer.
	found, err = arrival.Search{Start: 100}.Run(t.Context(), func(ctx context.Context, rate float64) (float64, error) {
		if rate > 300 {
			return 0, arrival.ErrNotOffered
		}
		return cliff(250)(ctx, rate)
	})
	require.NoError(t, err)
	assert.Equal(t, arrival.Enclosed, found.Ended)
	assert.InEpsilon(t, 250, found.Rate, 0.05)
}

func TestSearchErrors(t *testing.T) {
	broken := errors.New("broken")
	n := 0
	found, err := arrival.Search{Start: 1}.Run(t.Context(), func(ctx context.Context, rate float64) (float64, error) {
		if n++; n == 4 {
			return 0, broken
		}
		return cliff(10)(ctx, rate)
	})
	require.ErrorIs(t, err, broken)
	assert.EqualError(t, err, "arrival: run 4 of the search, at 2 requests/s: broken")
	assert.Equal(t, 1.0, found.Rate, "what was found until then")
	assert.Equal(t, []arrival.Point{{Rate: 1, Good: []float64{1, 1}, Verdict: arrival.Sustained}, {Rate: 2, Good: []float64{1}, Verdict: arrival.Unfinished}}, found.Points)
	assert.Empty(t, found.Ended)

	for _, bad := range []float64{math.NaN(), -0.1, math.Nextafter(1, 2)} {
		_, err = arrival.Search{Start: 1}.Run(t.Context(), func(context.Context, float64) (float64, error) { return bad, nil })
		var e *arrival.ShareError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, 1.0, e.Rate)
		assert.ErrorContains(t, err, "as the share of good requests; it must be from 0 to 1")
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = arrival.Search{Start: 1}.Run(ctx, func(context.Context, float64) (float64, error) {
		cancel(broken)
		return 1, nil
	})
	require.ErrorIs(t, err, broken)

	for _, tt := range []struct {
		search arrival.Search
		want   string
	}{
		{arrival.Search{}, "Search: Start is 0"},
		{arrival.Search{Start: math.NaN()}, "Search: Start is NaN"},
		{arrival.Search{Start: 5, Max: 4}, "Search: Start is 5; it must be above 0 and from Min (0.0048828125) to Max (4)"},
		{arrival.Search{Start: 1, Target: 99}, "Search: Target is 99; it must be above 0 and at most 1: 0.99 for 99 %"},
		{arrival.Search{Start: 1, Growth: 1}, "Search: Growth is 1"},
		{arrival.Search{Start: 1, Tolerance: -1}, "Search: Tolerance is -1"},
		{arrival.Search{Start: 1, Slack: math.NaN()}, "Search: Slack is NaN"},
		{arrival.Search{Start: 1, Min: -1}, "Search: Min is -1"},
		{arrival.Search{Start: 1, Max: 1e10}, "Search: Max is 1e+10"},
		{arrival.Search{Start: 1, Lead: -1}, "Search: Lead is -1"},
		{arrival.Search{Start: 1, Lead: 3, MaxRepeats: 2}, "Search: MaxRepeats is 2; it must be at least Lead (3), or nothing is ever decided"},
		{arrival.Search{Start: 1, MaxTries: -1}, "Search: MaxTries is -1"},
	} {
		_, err := tt.search.Run(t.Context(), cliff(1))
		require.ErrorContains(t, err, tt.want)
		var e *arrival.OptionError
		require.ErrorAs(t, err, &e)
	}
	assert.Panics(t, func() { _, _ = arrival.Search{Start: 1}.Run(t.Context(), nil) })
}

func TestFoundJSON(t *testing.T) {
	found, err := arrival.Search{Start: 10, Max: 10, Lead: 1}.Run(t.Context(), cliff(100))
	require.NoError(t, err)
	text, err := json.Marshal(found)
	require.NoError(t, err)
	assert.JSONEq(t, `{"target":0.99,"rate_per_s":10,"above_per_s":0,"ended":"at-max","tries":1,"points":[{"rate_per_s":10,"good":[1],"verdict":"sustained"}]}`, string(text))
}
