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

func TestRate(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		n            int
		first, last  time.Duration
		want         float64
		ok           bool
	}{
		{"gaps, not events", "11 events a tenth of a second apart", 11, sec, 2 * sec, 10, true},
		{"one event", "no gap", 1, 0, sec, 0, false},
		{"none", "no gap", 0, 0, 0, 0, false},
		{"all at once", "no time", 5, sec, sec, 0, false},
		{"turned around", "no time either", 5, 2 * sec, sec, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := arrival.Rate(tt.n, tt.first, tt.last)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.ok, ok)
		})
	}
}

// Every lag is in a bucket whose upper end is not below it and less than 1/128
// above, and the buckets follow each other without a gap.
func TestBuckets(t *testing.T) {
	next := time.Duration(0)
	i := 0
	for ; ; i++ {
		up := arrival.Upper(i)
		require.Equal(t, i, arrival.Bucket(next), "lower end of %d", i)
		require.Equal(t, i, arrival.Bucket(up), "upper end of %d", i)
		require.LessOrEqual(t, float64(up-next), float64(next)/128)
		if up == math.MaxInt64 {
			break
		}
		next = up + 1
	}
	assert.Equal(t, 57*128-1, i, "the last bucket is the last of the array")
}

func TestMeter(t *testing.T) {
	var m arrival.Meter
	assert.Equal(t, arrival.Pace{}, m.Pace(), "nothing is 0")

	// Due every 10 ms, with lags of 0, 100, 200 … 9900 µs: 11 to 99 are late,
	// the 50th and 99th smallest are 4.9 and 9.8 ms.
	for i := range 100 {
		due := time.Duration(i) * 10 * ms
		m.Add(due, due+time.Duration(i)*100*time.Microsecond)
	}
	p := m.Pace()
	assert.Equal(t, 100, p.N)
	assert.Equal(t, 100.0, p.Asked)
	assert.InDelta(t, 99/(0.99+0.0099), p.Achieved, 1e-9)
	assert.InDelta(t, 1-1/1.01, p.Shortfall(), 1e-9)
	assert.Equal(t, 89, p.Late, "1 ms itself is not late")
	assert.Equal(t, 9900*time.Microsecond, p.LagMax)
	assert.InEpsilon(t, 4900*time.Microsecond, p.LagP50, 1.0/128)
	assert.GreaterOrEqual(t, p.LagP50, 4900*time.Microsecond)
	assert.InEpsilon(t, 9800*time.Microsecond, p.LagP99, 1.0/128)
	assert.LessOrEqual(t, p.LagP99, p.LagMax)

	var one arrival.Meter
	one.Add(0, 9901*time.Microsecond)
	assert.Equal(t, one.Pace().LagMax, one.Pace().LagP50, "nothing is rounded up beyond the maximum")

	early := arrival.Meter{LateAfter: 5 * ms}
	early.Add(sec, sec-ms)
	early.Add(2*sec, 2*sec+5*ms)
	early.Add(3*sec, 3*sec+6*ms)
	p = early.Pace()
	assert.Equal(t, 1, p.Late)
	assert.Equal(t, 6*ms, p.LagMax)
	assert.InEpsilon(t, 5*ms, p.LagP50, 1.0/128)
}

// The histogram agrees with the sorted lags to within its stated error.
func FuzzMeter(f *testing.F) {
	f.Add(uint64(1), uint16(3), 1e3)
	f.Add(uint64(2), uint16(1000), 1e9)
	f.Add(uint64(3), uint16(1), 1e18)
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, scale float64) {
		if n == 0 || !(scale >= 0 && scale < 1e18) {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0))
		var m arrival.Meter
		lags := make([]time.Duration, n)
		for i := range lags {
			lags[i] = time.Duration(min(r.ExpFloat64()*scale, math.MaxInt64/2))
			m.Add(0, lags[i])
		}
		slices.Sort(lags)
		p := m.Pace()
		require.Equal(t, lags[n-1], p.LagMax)
		for q, got := range map[float64]time.Duration{0.5: p.LagP50, 0.99: p.LagP99} {
			exact := lags[int(math.Ceil(q*float64(n)))-1]
			require.GreaterOrEqual(t, got, exact)
			require.LessOrEqual(t, float64(got-exact), float64(exact)/128)
		}
	})
}
