package load_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/metric"
)

// TestScheduleCheck: no random schedule, however short or bursty, is called one
// that was not asked for; and one of half the rate is, where arrivals are enough.
// Those that are cut by time are: their number is chance, too.
func TestScheduleCheck(t *testing.T) {
	ramp := func(p arrival.Process, times float64) arrival.Schedule {
		s, err := arrival.Stages(p, arrival.Ramp(time.Second, 0, 200*times), arrival.Hold(time.Second, 0), arrival.Hold(time.Second, 50*times))
		require.NoError(t, err)
		return s
	}
	for _, tt := range []struct {
		name           string
		schedule, half arrival.Schedule
		count          int // of arrivals; 0 is all
		until          time.Duration
		enough         int // arrivals to see that the rate is half
	}{
		{"ten of a Poisson process", arrival.Poisson(100), arrival.Poisson(50), 10, 0, 200},
		{"two", arrival.Poisson(100), arrival.Poisson(50), 2, 0, 200},
		{"some, as many as come", arrival.Poisson(100), arrival.Poisson(50), 0, 100 * time.Millisecond, 200},
		{"in bursts", arrival.Gamma(100, 0.1), arrival.Gamma(50, 0.1), 100, 0, 2000},
		{"in bursts, as they come", arrival.Gamma(100, 0.1), arrival.Gamma(50, 0.1), 0, 3 * time.Second, 2000},
		{"nearly even", arrival.Gamma(100, 50), arrival.Gamma(50, 50), 20, 0, 20},
		{"even", arrival.Constant(100), arrival.Constant(50), 20, 0, 20},
		{"even, up, none and on", ramp(arrival.Even, 1), ramp(arrival.Even, 0.5), 0, time.Hour, 75},
		{"Poisson's, up, none and on", ramp(arrival.Memoryless, 1), ramp(arrival.Memoryless, 0.5), 0, time.Hour, 75},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for range 2000 {
				state, figure, limit := scheduleCheck(t, tt.schedule, tt.schedule, tt.count, tt.until, rng)
				require.NotEqual(t, metric.Broken, state, "off by %v, limit %v", figure, limit)
			}
			state, figure, limit := scheduleCheck(t, tt.schedule, tt.half, tt.enough, 0, rng)
			assert.Equal(t, metric.Broken, state, "off by %v, limit %v", figure, limit)
		})
	}
}

// scheduleCheck is what the verdict says of arrivals of a schedule where another
// was asked for.
func scheduleCheck(t *testing.T, asked, got arrival.Schedule, count int, until time.Duration, rng *rand.Rand) (metric.State, metric.Figure, metric.Figure) {
	process, ok := asked.Process()
	require.True(t, ok)
	m, err := metric.New(metric.Config{Loop: metric.Open, Expected: asked.Expected, Shape: float64(process)})
	require.NoError(t, err)
	n := 0
	for due := range got.Times(rng) {
		if until > 0 && due >= until {
			break
		}
		m.Drop(due) // nothing has to be sent for it
		if n++; n == count {
			break
		}
	}
	for _, c := range m.Result(metric.Health{}).Validity.Checks {
		if c.Name == "scheduled / asked rate - 1" {
			return c.State, c.Figure, c.Limit
		}
	}
	require.Fail(t, "no such check")
	return "", metric.Figure{}, metric.Figure{}
}
