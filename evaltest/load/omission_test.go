package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"sync"
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
)

// A stalled server answers after 5 ms, but for two seconds in which it does not.
func stalled() *fake.Server {
	return &fake.Server{TTFT: 5 * time.Millisecond, Stalls: []fake.Stall{{At: time.Second, For: 2 * time.Second}}}
}

// stalledLoad is four seconds of load on it, without a loop.
func stalledLoad(tb testing.TB) load.Load {
	return load.Load{Source: words(tb, 5, 1, nil), Phases: arrival.Phases{Measured: arrival.Limit{For: 4 * time.Second}}, Metric: metric.Config{Limits: easy}}
}

// quantile is a percentile of a run, in milliseconds.
func quantile(tb testing.TB, rep *load.Report, name metric.Name, p float64) float64 {
	tb.Helper()
	v, ok := rep.Result.Dists[name].At(p).Value.Get()
	require.True(tb, ok, "%s p%v is absent", name, 100*p)
	return v / 1e6
}

// TestOmissionOpen: in an open loop of 100/s, those 200 requests that are due in
// the stall wait 2,000, 1,990, … 10 ms; the other 200 take 5 ms. Of 400 the 99th
// percentile is at rank 395.01, that is 1,960 + 0.01·10 ms.
func TestOmissionOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stalledLoad(t)
		l.Schedule, l.Waiter = arrival.Constant(100), arrival.Sleep{}
		rep := inMemory(t, stalled(), l)
		require.NoError(t, rep.Problem())
		assert.EqualValues(t, 400, rep.Result.Counts.OK)
		assert.Equal(t, metric.Open, rep.Result.Loop)
		for _, name := range []metric.Name{metric.ResponseE2E, metric.ResponseTTFT, metric.E2E} {
			assert.InDelta(t, 1960.1, quantile(t, rep, name, 0.99), 1e-6, "%s", name)
			assert.InDelta(t, 7.5, quantile(t, rep, name, 0.5), 1e-6, "%s: between 5 and 10", name)
		}
		assert.Zero(t, quantile(t, rep, metric.Lag, 0.99), "the stall holds no arrival back")
	})
}

// TestOmissionClosed: the same stall under four users. Each has one request in it,
// of 400: the 99th percentile does not know of it. The report says which loop it
// was and what it cannot see.
func TestOmissionClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stalledLoad(t)
		l.Users = 4
		rep := inMemory(t, stalled(), l)
		require.NoError(t, rep.Problem())
		assert.EqualValues(t, 1600, rep.Result.Counts.OK)
		assert.InDelta(t, 5, quantile(t, rep, metric.ResponseE2E, 0.99), 1e-6, "the users waited, and so nobody was there to be late")
		most, _ := rep.Result.Dists[metric.ResponseE2E].Max.Get()
		assert.InDelta(t, 2005e6, most, 1, "only the maximum shows it")

		var text, doc bytes.Buffer
		require.NoError(t, rep.Result.WriteText(&text))
		assert.Contains(t, text.String(), "closed loop: asked 4 in flight; queueing that the users did not cause is not seen")
		require.NoError(t, rep.WriteJSON(&doc))
		var said struct{ Result struct{ Loop string } }
		require.NoError(t, json.Unmarshal(doc.Bytes(), &said))
		assert.Equal(t, "closed", said.Result.Loop)
	})
}

// A sleepy waiter stands still once, for a while, as a client on a busy host does.
type sleepy struct {
	at   time.Time
	span time.Duration
	once *sync.Once
}

func (s sleepy) Wait(ctx context.Context, until time.Time) error {
	if !until.Before(s.at) {
		s.once.Do(func() { until = until.Add(s.span) })
	}
	return arrival.Sleep{}.Wait(ctx, until)
}

// TestOmissionLateClient: a healthy server and a client that stands still for a
// second. 100 requests are sent late, by 1,000, 990, … 10 ms. Service times see
// nothing of it, response times all, and the run is not valid.
func TestOmissionLateClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stalledLoad(t)
		l.Schedule = arrival.Constant(100)
		l.Waiter = sleepy{time.Now().Add(time.Second), time.Second, new(sync.Once)}
		l.Metric.Limits = metric.Limits{CPU: -1, GCPause: -1}
		rep := inMemory(t, &fake.Server{TTFT: 5 * time.Millisecond}, l)
		assert.EqualValues(t, 400, rep.Result.Counts.OK)
		for _, name := range []metric.Name{metric.E2E, metric.TTFT} {
			assert.InDelta(t, 5, quantile(t, rep, name, 0.99), 1e-6, "%s", name)
		}
		for _, name := range []metric.Name{metric.ResponseE2E, metric.ResponseTTFT} {
			assert.InDelta(t, 965.1, quantile(t, rep, name, 0.99), 1e-6, "%s: rank 395.01 of 400", name)
		}
		assert.InDelta(t, 960.1, quantile(t, rep, metric.Lag, 0.99), 1e-6)
		assert.EqualValues(t, 99, rep.Result.Counts.Late, "all but the last of them, which was 10 ms late, are beyond the limit of 10 ms")
		require.ErrorIs(t, rep.Problem(), load.ErrInvalid)
		assert.ErrorContains(t, rep.Problem(), "lag p99")
		assert.ErrorContains(t, rep.Problem(), "lag max")
	})
}

// TestB01 is the case with 10 requests a second, 100 of them, and one slot, in which
// a request takes 190 ms.
func TestB01(t *testing.T) {
	oneSlot := func(t *testing.T, change func(*fake.Server, *load.Load)) *load.Report {
		s := &fake.Server{TTFT: 190 * time.Millisecond}
		l := load.Load{
			Source: words(t, 5, 1, nil), Schedule: arrival.Constant(10), Waiter: arrival.Sleep{},
			Phases: arrival.Phases{Measured: arrival.Limit{Count: 100}},
			Metric: metric.Config{Limits: metric.Limits{CPU: -1, GCPause: -1}, SLO: metric.SLO{E2E: time.Second}},
		}
		change(s, &l)
		return inMemory(t, s, l)
	}
	t.Run("of the server", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			rep := oneSlot(t, func(s *fake.Server, _ *load.Load) { s.Slots = 1 })
			require.NoError(t, rep.Problem(), "the load was sent as asked: it is the server that is slow")
			for _, name := range []metric.Name{metric.ResponseE2E, metric.E2E} {
				assert.InDelta(t, 9010.9, quantile(t, rep, name, 0.99), 1e-6, "%s: the k-th takes 190 + 90·k ms, at rank 98.01", name)
			}
			achieved, _ := rep.Result.Rates.Achieved.Get()
			assert.InDelta(t, 10, achieved, 1e-9)
			finished, _ := rep.Result.Rates.Finished.Get()
			assert.InDelta(t, 1/0.19, finished, 1e-9)
		})
	})
	t.Run("of the client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			rep := oneSlot(t, func(_ *fake.Server, l *load.Load) { l.MaxInFlight = 1 })
			assert.EqualValues(t, 50, rep.Result.Counts.OK, "every second one found the slot taken")
			assert.EqualValues(t, 50, rep.Result.Counts.Dropped)
			require.ErrorIs(t, rep.Problem(), load.ErrInvalid)
			assert.ErrorContains(t, rep.Problem(), "dropped arrivals is 50")
			assert.ErrorContains(t, rep.Problem(), "achieved / scheduled rate")
			assert.InDelta(t, 190, quantile(t, rep, metric.ResponseE2E, 0.99), 1e-6, "of those that were sent")
			worst, ok := rep.Result.ErrorsAsInfinite[metric.ResponseE2E].At(0.99).Value.Get()
			assert.True(t, ok && math.IsInf(worst, 1), "of all that were due: %v", worst)
			good, _ := rep.Result.Goodput.Fraction.Get()
			assert.InDelta(t, 0.5, good, 1e-9, "what was dropped is in the denominator")
			assert.Contains(t, rep.Warnings[0], "50 arrivals were dropped")
		})
	})
}

// TestB03: every second request is refused at once, and eight are in flight when
// the time is over. Answers alone count, in the rate as in the window.
func TestB03(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := func(n int) (f fake.Failure) {
			if n%2 == 1 {
				f.Status = 429
			}
			return f
		}
		rep := inMemory(t, &fake.Server{TTFT: 100 * time.Millisecond, Fail: refuse}, load.Load{
			Source: words(t, 5, 3, nil), Users: 8, Drain: time.Millisecond, Metric: metric.Config{Limits: easy},
			Phases: arrival.Phases{Measured: arrival.Limit{For: 2050 * time.Millisecond}},
		})
		c := rep.Result.Counts
		assert.EqualValues(t, 160, c.OK, "eight users, twenty each")
		assert.EqualValues(t, 8, c.Incomplete)
		assert.InDelta(t, 164, c.Failed, 8, "about as many as answers")
		assert.Equal(t, c.Due, c.OK+c.Failed+c.Incomplete)
		rate, _ := rep.Result.Whole.RequestRate.Get()
		assert.InDelta(t, 80, rate, 1, "160 in 2 s: not 160 a second, and the 50 ms in which none ended are no part of it")
		tokens, _ := rep.Result.Whole.OutputRate.Get()
		assert.InDelta(t, 3*rate, tokens, 1e-6)
		assert.EqualValues(t, c.Failed, rep.Result.Errors[0].Count)
	})
}

// TestB07: a server that is cold for a second. Who counts from the first request
// has it in the percentiles; warm-up requests have not, and keep the users busy.
func TestB07(t *testing.T) {
	p99 := func(t *testing.T, warmup int) (float64, *load.Report) {
		rep := inMemory(t, &fake.Server{TTFT: 5 * time.Millisecond, Stalls: []fake.Stall{{For: time.Second}}}, load.Load{
			Source: words(t, 5, 1, nil), Users: 8, Metric: metric.Config{Limits: easy},
			Phases: arrival.Phases{Warmup: arrival.Limit{Count: warmup}, Measured: arrival.Limit{Count: 200}},
		})
		require.NoError(t, rep.Problem())
		assert.EqualValues(t, 200, rep.Result.Counts.OK)
		assert.EqualValues(t, warmup, rep.Result.Counts.Warmup)
		return quantile(t, rep, metric.TTFT, 0.99), rep
	}
	synctest.Test(t, func(t *testing.T) {
		cold, _ := p99(t, 0)
		assert.InDelta(t, 1000, cold, 1e-6)
	})
	synctest.Test(t, func(t *testing.T) {
		warm, rep := p99(t, 24)
		assert.InDelta(t, 5, warm, 1e-6)
		busy, _ := rep.Result.Whole.Concurrency.Get()
		assert.InDelta(t, 8, busy, 0.1, "all users are at work when the first that counts is sent")
	})
}

// TestOmissionRealTime is the open and the closed loop once more, over sockets and
// in real time, with what a busy machine adds.
func TestOmissionRealTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes four seconds")
	}
	for _, open := range []bool{true, false} {
		t.Run(map[bool]string{true: "open", false: "closed"}[open], func(t *testing.T) {
			t.Parallel()
			l := stalledLoad(t)
			if open {
				l.Schedule = arrival.Constant(100)
			} else {
				l.Users = 4
			}
			url, _ := serve(t, stalled())
			l.Client = client.Config{Host: url, Model: "m"}
			rep, err := load.Run(t.Context(), l)
			require.NoError(t, err)
			require.NoError(t, rep.Problem())
			most, _ := rep.Result.Dists[metric.ResponseE2E].Max.Get()
			assert.GreaterOrEqual(t, most, 1.9e9, "each loop met the stall")
			if open {
				assert.GreaterOrEqual(t, quantile(t, rep, metric.ResponseE2E, 0.99), 1900.0)
				assert.GreaterOrEqual(t, quantile(t, rep, metric.ResponseTTFT, 0.99), 1900.0)
				return
			}
			if rep.Result.Counts.OK < 500 {
				t.Skipf("%d answers are too few for four slow ones to hide behind: this machine is busy", rep.Result.Counts.OK)
			}
			assert.Less(t, quantile(t, rep, metric.ResponseE2E, 0.99), 1000.0)
			assert.Equal(t, metric.Closed, rep.Result.Loop)
		})
	}
}
