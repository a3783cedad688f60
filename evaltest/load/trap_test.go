package load_test

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/workload"
)

// The tests of this file are of what BatchBench does and a load generator should
// not, as far as only a whole run shows it. TestGoldenTable names the others.

// TestTrapLog: what it takes to write a request down is in no latency.
func TestTrapLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := 0
		rep := inMemory(t, &fake.Server{TTFT: 5 * time.Millisecond}, load.Load{
			Source: words(t, 5, 1, nil), Users: 3, RequestsPerUser: 20, Metric: metric.Config{Limits: easy},
			Sink: func(*record.Request) error { <-time.After(time.Second); kept++; return nil },
		})
		require.NoError(t, rep.Problem())
		assert.Equal(t, 60, kept, "all is written when the run has ended")
		for _, name := range []metric.Name{metric.E2E, metric.ResponseE2E, metric.Answer} {
			most, _ := rep.Result.Dists[name].Max.Get()
			assert.InDelta(t, 5e6, most, 1, "%s", name)
		}
		assert.InDelta(t, 0.1, rep.Result.Whole.Length().Seconds(), 1e-3, "60 requests of 5 ms, three at a time")
	})
}

// TestTrapLongRun: a run by time goes on beyond the rows of its file, if it may.
func TestTrapLongRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows, err := workload.Read(strings.NewReader(`{"text":"a"}`+"\n"+`{"text":"b"}`+"\n"+`{"text":"c"}`+"\n"), "rows.jsonl", workload.RowsOptions{Repeat: true})
		require.NoError(t, err)
		rep := inMemory(t, &fake.Server{TTFT: 10 * time.Millisecond, Output: 1}, load.Load{
			Source: rows, Users: 2, Metric: metric.Config{Limits: easy}, Phases: arrival.Phases{Measured: arrival.Limit{For: time.Second}},
		})
		require.NoError(t, rep.Problem())
		assert.EqualValues(t, 200, rep.Result.Counts.OK)
		assert.Equal(t, arrival.Complete, rep.Arrivals.End)
	})
}

// TestTrapRetry: a second try is made, and the wait for it is in the retry time and
// the response time, and not in the service time.
func TestTrapRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := func(n int) (f fake.Failure) {
			if n == 0 {
				f.Status = 503
			}
			return f
		}
		rep := inMemory(t, &fake.Server{TTFT: 5 * time.Millisecond, Fail: first}, load.Load{
			Client: client.Config{Retry: client.Retry{Max: 2, Delay: 250 * time.Millisecond}},
			Source: words(t, 5, 1, nil), Users: 1, RequestsPerUser: 1, Metric: metric.Config{Limits: easy},
		})
		require.NoError(t, rep.Problem())
		assert.EqualValues(t, 1, rep.Result.Counts.OK)
		assert.EqualValues(t, 1, rep.Result.Counts.Retries)
		require.Len(t, rep.Result.Retried, 1)
		assert.Equal(t, record.Server, rep.Result.Retried[0].Class)
		for name, want := range map[metric.Name]float64{metric.E2E: 5, metric.TTFT: 5, metric.Retry: 250, metric.ResponseE2E: 255, metric.Answer: 255} {
			assert.InDelta(t, want, quantile(t, rep, name, 0.5), 1e-6, "%s", name)
		}
	})
}

// TestTrapTimeout: there is no limit that nobody asked for, and the one that was
// asked for holds wherever the run is started from.
func TestTrapTimeout(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		total        time.Duration
		class        record.Class
	}{
		{"none", "a server that takes three hours is waited for", 0, ""},
		{"a minute", "it is given up after that", time.Minute, record.TimeoutTotal},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rep := inMemory(t, &fake.Server{TTFT: 3 * time.Hour}, load.Load{
					Client: client.Config{Timeouts: client.Timeouts{Total: row.total}},
					Source: words(t, 5, 1, nil), Users: 1, RequestsPerUser: 1, Metric: metric.Config{Limits: easy},
				})
				if row.class == "" {
					require.NoError(t, rep.Problem(), row.reason)
					assert.InDelta(t, 3*3600e3, quantile(t, rep, metric.E2E, 0.5), 1e-3)
					return
				}
				require.Len(t, rep.Result.Errors, 1)
				assert.Equal(t, row.class, rep.Result.Errors[0].Class, row.reason)
				assert.Equal(t, time.Minute, rep.Result.Whole.Length())
			})
		})
	}
}

// TestTrapCause: the report has the last cause of a failure, not only the first
// words about it.
func TestTrapCause(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	url := "http://" + l.Addr().String()
	require.NoError(t, l.Close())
	rep, err := load.Run(t.Context(), load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: words(t, 5, 1, nil), Users: 1, RequestsPerUser: 2, Metric: metric.Config{Limits: easy},
	})
	require.NoError(t, err)
	require.ErrorIs(t, rep.Problem(), metric.ErrNothing)
	assert.ErrorContains(t, rep.Problem(), "refused")
	require.Len(t, rep.Result.Errors, 1)
	assert.Equal(t, record.Connect, rep.Result.Errors[0].Class)
	assert.Contains(t, rep.Result.Errors[0].Examples[0], "refused")
}
