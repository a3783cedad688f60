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
func TestScheduleCheck(t *testing.T) {
	ramp := []arrival.Stage{arrival.Ramp(time.Second, 0, 200), arrival.Hold(time.Second, 0), arrival.Hold(time.Second, 50)}
	for _, tt := range []struct {
		name     string
		schedule arrival.Schedule
		count    int // of arrivals; 0 is all
	}{
		{"ten of a Poisson process", arrival.Poisson(100), 10},
		{"two", arrival.Poisson(100), 2},
		{"in bursts", arrival.Gamma(100, 0.1), 100},
		{"nearly even", arrival.Gamma(100, 50), 20},
		{"even", arrival.Constant(100), 20},
		{"even, up, none and on", stages(t, arrival.Even, ramp), 0},
		{"Poisson's, up, none and on", stages(t, arrival.Memoryless, ramp), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for range 2000 {
				state, figure, limit := scheduleCheck(t, tt.schedule, tt.schedule, tt.count, rng)
				require.NotEqual(t, metric.Broken, state, "off by %v, limit %v", figure, limit)
			}
			half, _, _ := scheduleCheck(t, tt.schedule, arrival.Poisson(1), max(tt.count, 150), rng)
			assert.Equal(t, metric.Broken, half)
		})
	}
}

func stages(t *testing.T, p arrival.Process, list []arrival.Stage) arrival.Schedule {
	s, err := arrival.Stages(p, list...)
	require.NoError(t, err)
	return s
}

// scheduleCheck is what the verdict says of arrivals of a schedule where another
// was asked for.
func scheduleCheck(t *testing.T, asked, got arrival.Schedule, count int, rng *rand.Rand) (metric.State, metric.Figure, metric.Figure) {
	process, ok := asked.Process()
	require.True(t, ok)
	m, err := metric.New(metric.Config{Loop: metric.Open, Expected: asked.Expected, Shape: float64(process)})
	require.NoError(t, err)
	n := 0
	for due := range got.Times(rng) {
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
