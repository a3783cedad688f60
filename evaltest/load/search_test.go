package load_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
)

// atRate makes runs of 20 requests against a server that refuses all of them
// above a rate.
func atRate(t *testing.T, capacity float64, limits metric.Limits) func(float64) (load.Load, error) {
	var over atomic.Bool
	url, _ := serve(t, &fake.Server{Fail: func(int) fake.Failure {
		if over.Load() {
			return fake.Failure{Status: http.StatusTooManyRequests}
		}
		return fake.Failure{}
	}})
	return func(rate float64) (load.Load, error) {
		over.Store(rate > capacity)
		schedule, err := arrival.Trace(make([]time.Duration, 20), 1)
		return load.Load{
			Client: client.Config{Host: url, Model: "m"}, Source: words(t, 5, 2, nil), Schedule: schedule,
			Metric: metric.Config{SLO: metric.SLO{E2E: time.Minute}, Limits: limits},
		}, err
	}
}

func TestSearch(t *testing.T) {
	runs := 0
	found, err := load.Search(t.Context(), arrival.Search{Start: 30, Tolerance: 0.05}, atRate(t, 100, easy), func(_ float64, r *load.Report) {
		runs++
		assert.EqualValues(t, 20, r.Result.Counts.Due)
	})
	require.NoError(t, err)
	assert.Equal(t, arrival.Enclosed, found.Ended)
	assert.LessOrEqual(t, found.Rate, 100.0)
	assert.Greater(t, found.Above, 100.0)
	assert.LessOrEqual(t, found.Above/found.Rate, 1.05)
	assert.Equal(t, found.Tries, runs)
}

// TestSearchClient: a run that is not valid says nothing of the server.
func TestSearchClient(t *testing.T) {
	broken := easy
	broken.LagMax = 1 // a nanosecond: no client keeps it
	found, err := load.Search(t.Context(), arrival.Search{Start: 30, MaxTries: 20}, atRate(t, 1e9, broken), nil)
	require.NoError(t, err)
	assert.Zero(t, found.Rate)
	require.NotEmpty(t, found.Points)
	assert.Equal(t, arrival.NotOffered, found.Points[0].Verdict)
	assert.Contains(t, found.Points[0].Why, "not valid")
}

func TestSearchRefuses(t *testing.T) {
	_, err := load.Search(t.Context(), arrival.Search{Start: 30}, func(rate float64) (load.Load, error) {
		l, err := atRate(t, 1, easy)(rate)
		l.Metric.SLO = metric.SLO{}
		return l, err
	}, nil)
	require.ErrorIs(t, err, load.ErrConfig)
	stop := errors.New("no such rate")
	_, err = load.Search(t.Context(), arrival.Search{Start: 30}, func(float64) (load.Load, error) { return load.Load{}, stop }, nil)
	require.ErrorIs(t, err, stop)
}
