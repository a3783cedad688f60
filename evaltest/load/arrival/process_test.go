package arrival_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// take returns the first n times of a schedule in seconds.
func take(s arrival.Schedule, r *rand.Rand, n int) (secs []float64) {
	for t := range s.Times(r) {
		if secs = append(secs, t.Seconds()); len(secs) == n {
			break
		}
	}
	return secs
}

// before counts the arrivals due before the moment.
func before(s arrival.Schedule, r *rand.Rand, end time.Duration) (n int) {
	for t := range s.Times(r) {
		if t >= end {
			break
		}
		n++
	}
	return n
}

// gammaCDF is the regularized lower incomplete gamma function by its series,
// x^a·e^-x·Σ x^n/Γ(a+n+1).
func gammaCDF(a, x float64) float64 {
	if x <= 0 {
		return 0
	}
	lg, _ := math.Lgamma(a + 1)
	term := math.Exp(a*math.Log(x) - x - lg)
	sum := term
	for n := 1.0; term > sum*1e-16; n++ {
		term *= x / (a + n)
		sum += term
	}
	return min(1, sum)
}

// ks returns the Kolmogorov-Smirnov distance between a sample and a
// distribution.
func ks(sample []float64, cdf func(float64) float64) (d float64) {
	x := slices.Sorted(slices.Values(sample))
	n := float64(len(x))
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return d
}

// ksLimit is exceeded by a right sample of n with probability 1e-6: for large n
// P(√n·D > λ) is below 2·exp(-2λ²), which is 1e-6 at λ = √(ln(2e6)/2) = 2.694.
func ksLimit(n int) float64 { return 2.694 / math.Sqrt(float64(n)) }

func TestGammaCDF(t *testing.T) {
	for _, x := range []float64{0.01, 0.3, 1, 4, 12} {
		assert.InDelta(t, 1-math.Exp(-x), gammaCDF(1, x), 1e-12, "shape 1 is exponential")
		assert.InDelta(t, math.Erf(math.Sqrt(x)), gammaCDF(0.5, x), 1e-12, "shape 1/2 is the error function of the root")
		assert.InDelta(t, 1-math.Exp(-x)*(1+x), gammaCDF(2, x), 1e-12, "shape 2 is Erlang's")
	}
}

// The gaps have the mean, the variation and the distribution that they are said
// to have. Seeds are fixed, so a test that passes keeps passing; the limits are
// those that a right generator of another seed breaks about once in a million.
func TestGaps(t *testing.T) {
	const n, rate = 40_000, 50.0
	for _, tt := range []struct {
		name, reason string
		schedule     arrival.Schedule
		shape        float64
	}{
		{"poisson", "exponential gaps", arrival.Poisson(rate), 1},
		{"gamma 0.1", "very bursty; the draw below shape 1", arrival.Gamma(rate, 0.1), 0.1},
		{"gamma 0.25", "bursty", arrival.Gamma(rate, 0.25), 0.25},
		{"gamma 0.5", "bursty", arrival.Gamma(rate, 0.5), 0.5},
		{"gamma 1", "the boundary", arrival.Gamma(rate, 1), 1},
		{"gamma 2", "smoother than Poisson", arrival.Gamma(rate, 2), 2},
		{"gamma 30", "much smoother", arrival.Gamma(rate, 30), 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			times := take(tt.schedule, seeded(1), n+1)
			gaps := make([]float64, n) // in units of the mean; the first, special one is left out
			mean := 0.0
			for i := range gaps {
				gaps[i] = (times[i+1] - times[i]) * rate
				mean += gaps[i] / n
			}
			variance := 0.0
			for _, g := range gaps {
				variance += (g - mean) * (g - mean) / (n - 1)
			}
			// The mean of n gaps has the standard deviation 1/√(shape·n); 5 of
			// them are broken with probability 6e-7.
			assert.InDelta(t, 1, mean, 5/math.Sqrt(tt.shape*n))
			// The variance's relative standard deviation is √((2+κ)/n) with the
			// excess kurtosis κ = 6/shape of a gamma distribution.
			assert.InDelta(t, 1, variance*tt.shape, 5*math.Sqrt((2+6/tt.shape)/n))
			// The times are rounded to nanoseconds, by which a seventh of the
			// gaps of shape 0.1 become 0; the distribution is tested before.
			r := seeded(11)
			for i := range gaps {
				gaps[i] = arrival.Process(tt.shape).Gap(r)
			}
			d := ks(gaps, func(x float64) float64 { return gammaCDF(tt.shape, x*tt.shape) })
			assert.Less(t, d, ksLimit(n))
		})
	}
}

func TestGapsAreIndependent(t *testing.T) {
	// The lag-1 autocorrelation of n independent gaps has the standard
	// deviation 1/√n.
	const n = 40_000
	for _, s := range []arrival.Schedule{arrival.Poisson(1), arrival.Gamma(1, 0.25), arrival.Gamma(1, 4)} {
		times := take(s, seeded(2), n+2)
		var xy, xx float64
		for i := 1; i <= n; i++ {
			x, y := times[i]-times[i-1]-1, times[i+1]-times[i]-1
			xy, xx = xy+x*y, xx+x*x
		}
		assert.InDelta(t, 0, xy/xx, 5/math.Sqrt(n), s.String())
	}
}

// The time of the first arrival of a gamma process is a uniform share of a gap
// of one shape more: P(X ≤ x) = ∫₀ˣ (1-F(y)) dy for gaps of mean 1.
func TestFirstArrival(t *testing.T) {
	const n = 5_000
	for _, shape := range []float64{0.25, 1, 4} {
		s := arrival.Gamma(1, shape)
		first := make([]float64, n)
		r := seeded(3)
		for i := range first {
			first[i] = take(s, r, 1)[0]
		}
		// In closed form: x·(1-F(x)) + the gamma CDF of shape+1.
		d := ks(first, func(x float64) float64 {
			return x*(1-gammaCDF(shape, x*shape)) + gammaCDF(shape+1, x*shape)
		})
		assert.Less(t, d, ksLimit(n), "shape %v", shape)
	}
}

// The count in a window is random around rate × length from the very start, and
// not stretched to meet it.
func TestCounts(t *testing.T) {
	const runs = 4_000
	for _, tt := range []struct {
		name, reason string
		schedule     arrival.Schedule
		length       time.Duration
		mean         float64
		dispersion   float64 // variance over mean; 0: not known in closed form
	}{
		{"poisson", "variance equals mean", arrival.Poisson(20), 2 * time.Second, 40, 1},
		{"poisson under stages", "an inhomogeneous Poisson count is a Poisson count", staged(t, arrival.Memoryless, "2s:0..20,1s:20,1s:20..0"), 4 * time.Second, 50, 1},
		{"bursty, short", "with a whole gap at the start the mean would be near 9.5", arrival.Gamma(5, 0.1), time.Second, 5, 0},
		{"smooth, short", "with a whole gap at the start the mean would be near 2.6", arrival.Gamma(3, 8), time.Second, 3, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := seeded(4)
			var sum, squares float64
			for range runs {
				n := float64(before(tt.schedule, r, tt.length))
				sum, squares = sum+n, squares+n*n
			}
			mean := sum / runs
			variance := (squares - sum*mean) / (runs - 1)
			assert.InDelta(t, tt.mean, mean, 5*math.Sqrt(variance/runs))
			assert.InDelta(t, tt.mean, tt.schedule.Expected(0, tt.length), 1e-9)
			assert.Positive(t, variance, "every run has the same count")
			if tt.dispersion > 0 {
				// The variance of a Poisson count of mean m, from n runs, has
				// the relative standard deviation √((2+1/m)/n).
				assert.InDelta(t, tt.dispersion, variance/mean, 5*math.Sqrt((2+1/tt.mean)/runs))
			}
		})
	}
}

// Given how many they are, Poisson arrivals under stages are independent draws
// from the rate's integral.
func TestRampShape(t *testing.T) {
	s := staged(t, arrival.Memoryless, "10s:0..100,5s:20")
	r := seeded(5)
	var times []float64
	for range 40 {
		times = append(times, take(s, r, 1<<30)...)
	}
	d := ks(times, func(t float64) float64 {
		if t < 10 {
			return 5 * t * t / 600 // ∫ 10·t
		}
		return (500 + 20*(t-10)) / 600
	})
	assert.Less(t, d, ksLimit(len(times)))
	assert.Greater(t, len(times), 20_000)
}

func TestGammaShapeOneIsPoisson(t *testing.T) {
	assert.Equal(t, take(arrival.Poisson(3), seeded(6), 100), take(arrival.Gamma(3, 1), seeded(6), 100))
}

func TestSeeds(t *testing.T) {
	s := arrival.Poisson(100)
	assert.Equal(t, take(s, seeded(1), 50), take(s, seeded(1), 50))
	assert.NotEqual(t, take(s, seeded(1), 50), take(s, seeded(2), 50))
	// A release must not change what a seed stands for.
	assert.Equal(t, []float64{0.005712043, 0.021502549, 0.035623814}, take(s, seeded(1), 3))
	assert.Equal(t, []float64{0.001618258, 0.099307426, 0.099315224}, take(arrival.Gamma(100, 0.25), seeded(1), 3))
}

func staged(t *testing.T, p arrival.Process, text string) arrival.Schedule {
	t.Helper()
	stages, err := arrival.ParseStages(text)
	require.NoError(t, err)
	s, err := arrival.Stages(p, stages...)
	require.NoError(t, err)
	return s
}
