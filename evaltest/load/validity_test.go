package load_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/workload"
)

// TestDrainHidesNothing: a server of 4 slots and 40 ms bears 100 requests a second.
// Where 200 come and nobody waits for those that are left, they are missing from
// every time; that is said, is no kept limit, and raises no rate of a search.
func TestDrainHidesNothing(t *testing.T) {
	overloaded := func(rate float64, drain time.Duration) load.Load {
		return load.Load{
			Source: words(t, 5, 1, nil), Schedule: arrival.Constant(rate), Waiter: arrival.Sleep{}, Drain: drain,
			Phases: arrival.Phases{Measured: arrival.Limit{For: 5 * time.Second}},
			Metric: metric.Config{Limits: easy, SLO: metric.SLO{E2E: 30 * time.Second, Share: 0.99}},
		}
	}
	synctest.Test(t, func(t *testing.T) {
		rep := inMemory(t, slow(), overloaded(200, 100*time.Millisecond))
		require.ErrorIs(t, rep.Problem(), load.ErrInvalid)
		assert.ErrorContains(t, rep.Problem(), "unfinished requests")
		require.NotNil(t, rep.Result.Goodput.Met)
		assert.False(t, *rep.Result.Goodput.Met, "half of them may never have been good")
	})
	synctest.Test(t, func(t *testing.T) {
		rep := inMemory(t, slow(), overloaded(200, 0))
		require.NoError(t, rep.Problem(), "who waits has times of all")
		assert.True(t, *rep.Result.Goodput.Met)
	})
	synctest.Test(t, func(t *testing.T) {
		found, err := load.Search(t.Context(), arrival.Search{Start: 60, Max: 800}, func(rate float64) (load.Load, error) {
			p := fake.NewPipe()
			stop, err := slow().Serve(p)
			require.NoError(t, err)
			context.AfterFunc(t.Context(), stop)
			l := overloaded(rate, 100*time.Millisecond)
			l.Client.Host, l.Client.Model, l.Client.Dial = "http://h", "m", p.Dial
			return l, nil
		}, nil)
		require.NoError(t, err)
		assert.InEpsilon(t, 100, found.Rate, 0.06)
	})
}

func slow() *fake.Server { return &fake.Server{Slots: 4, TTFT: 40 * time.Millisecond} }

// TestSlowSinkOfAnOpenLoop: nobody waits for it there, so nothing was held back.
func TestSlowSinkOfAnOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		rep := inMemory(t, &fake.Server{}, load.Load{
			Source: words(t, 5, 2, nil), Schedule: arrival.Constant(4000), Waiter: arrival.Sleep{}, Metric: metric.Config{Limits: easy},
			Phases: arrival.Phases{Measured: arrival.Limit{Count: 5000}},
			Sink: func(*record.Request) error {
				if n++; n == 1 {
					<-time.After(700 * time.Millisecond)
				}
				return nil
			},
		})
		assert.Positive(t, rep.SinkWait)
		require.NoError(t, rep.Problem())
	})
}

// TestSourceEndsEarly is said where the load was to go on.
func TestSourceEndsEarly(t *testing.T) {
	for _, tt := range []struct {
		name     string
		measured arrival.Limit
		said     bool
	}{
		{"of a time", arrival.Limit{For: 5 * time.Second}, true},
		{"of a number", arrival.Limit{Count: 40}, true},
		{"as many as there are", arrival.Limit{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rep := inMemory(t, &fake.Server{}, load.Load{
					Source: shortened{words(t, 5, 2, nil), 30}, Schedule: arrival.Constant(20), Waiter: arrival.Sleep{},
					Phases: arrival.Phases{Measured: tt.measured}, Metric: metric.Config{Limits: easy},
				})
				require.NoError(t, rep.Problem())
				said := ""
				for _, w := range rep.Warnings {
					said += w
				}
				if tt.said {
					assert.Contains(t, said, "the source ended before the measured part did: 30 requests were due in it")
				} else {
					assert.NotContains(t, said, "the source ended")
				}
			})
		})
	}
}

// TestNothingDue says so, and not that the server did not answer.
func TestNothingDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rep := inMemory(t, &fake.Server{}, load.Load{
			Source: shortened{words(t, 5, 2, nil), 30}, Users: 2, Phases: arrival.Phases{Warmup: arrival.Limit{Count: 50}}, Metric: metric.Config{Limits: easy},
		})
		require.ErrorIs(t, rep.Problem(), metric.ErrNothing)
		assert.ErrorContains(t, rep.Problem(), "none was due in the measured part")
	})
}

// shortened is a source that ends.
type shortened struct {
	workload.Source
	n int
}

func (s shortened) Len() int { return s.n }
