package load_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
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
	"github.com/goevals/evals/evaltest/load/token"
	"github.com/goevals/evals/evaltest/load/workload"
)

// easy are limits that a busy test machine keeps: these tests are about what is
// sent, not about how fast.
var easy = metric.Limits{LagP99: -1, LagMax: -1, Wakeup: -1, CPU: -1, GCPause: -1, Achieved: -1}

// A log keeps what a server saw.
type log struct {
	mu   sync.Mutex
	seen []*fake.Seen
	stop func()
}

func (l *log) add(s *fake.Seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, s)
}

// all ends the server, which tells of a request a little after it has answered
// it, and returns what it saw, in the order of arrival.
func (l *log) all() []*fake.Seen {
	l.stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortFunc(l.seen, func(a, b *fake.Seen) int { return cmp.Compare(a.N, b.N) })
	return slices.Clone(l.seen)
}

// serve starts a server for a test.
func serve(tb testing.TB, s *fake.Server) (url string, saw *log) {
	tb.Helper()
	saw = &log{}
	if s.Saw == nil {
		s.Saw = saw.add
	}
	url, stop, err := s.Start()
	require.NoError(tb, err)
	tb.Cleanup(stop)
	saw.stop = stop
	return url, saw
}

// words is a workload of inputs and outputs of fixed lengths.
func words(tb testing.TB, input, output int, change func(*workload.Options)) *workload.Workload {
	tb.Helper()
	opt := workload.Options{Text: token.Words{}, Seed: 7, Input: workload.Must(workload.Fixed(input, 0)), Salt: workload.Salt{Value: 1}}
	if output > 0 {
		opt.Output = workload.Must(workload.Fixed(output, 0))
	}
	if change != nil {
		change(&opt)
	}
	w, err := workload.New(opt)
	require.NoError(tb, err)
	return w
}

func TestClosedLoop(t *testing.T) {
	url, saw := serve(t, &fake.Server{PerMessage: 3, PerRequest: 2})
	var kept []record.Request
	rep, err := load.Run(t.Context(), load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: words(t, 20, 5, nil), Users: 4, RequestsPerUser: 6, Seed: 1,
		Metric: metric.Config{Limits: easy}, Sink: func(r *record.Request) error { kept = append(kept, *r); return nil },
	})
	require.NoError(t, err)
	require.NoError(t, rep.Problem())
	assert.EqualValues(t, 24, rep.Result.Counts.OK)
	assert.EqualValues(t, 24*5, rep.Result.Tokens.Output)
	input, _ := rep.Result.Tokens.Input.Get()
	assert.Equal(t, 24.0*(20+5), input)
	assert.Equal(t, arrival.Complete, rep.Arrivals.End)
	assert.Len(t, saw.all(), 24)
	assert.Len(t, kept, 24)
	for _, r := range kept {
		assert.Equal(t, 20, r.AskedInput)
		assert.Equal(t, 5, r.AskedOutput)
		assert.LessOrEqual(t, r.Due, r.Sent)
	}
}

// TestSameBytes: what is sent depends on the seed and the source alone, not on who
// is faster: user u's r-th request is number r·users+u.
func TestSameBytes(t *testing.T) {
	send := func(users, each, lookahead int) (bodies []string) {
		url, saw := serve(t, &fake.Server{})
		_, err := load.Run(t.Context(), load.Load{
			Client: client.Config{Host: url, Model: "m"}, Users: users, RequestsPerUser: each, Seed: 1, Lookahead: lookahead,
			Source: words(t, 12, 3, func(o *workload.Options) { o.Input = workload.Must(workload.Uniform(1, 40)) }),
			Metric: metric.Config{Limits: easy},
		})
		require.NoError(t, err)
		for _, s := range saw.all() {
			bodies = append(bodies, string(s.Body))
		}
		slices.Sort(bodies)
		return bodies
	}
	want := send(1, 24, 0)
	assert.Len(t, slices.Compact(slices.Clone(want)), 24)
	assert.Equal(t, want, send(6, 4, 0))
	assert.Equal(t, want, send(3, 8, 1), "requests made late")
}

func TestOpenLoop(t *testing.T) {
	url, saw := serve(t, &fake.Server{TTFT: time.Millisecond})
	schedule, err := arrival.Trace([]time.Duration{0, time.Millisecond, time.Millisecond, 5 * time.Millisecond}, 1)
	require.NoError(t, err)
	rep, err := load.Run(t.Context(), load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: words(t, 5, 2, nil), Schedule: schedule, Metric: metric.Config{Limits: easy},
	})
	require.NoError(t, err)
	assert.EqualValues(t, 4, rep.Result.Counts.OK)
	assert.Equal(t, metric.Open, rep.Result.Loop)
	assert.Equal(t, 4, rep.Arrivals.Total.N)
	assert.Len(t, saw.all(), 4)
	assert.NotZero(t, rep.Seed)
}

// TestDrops: an open loop never waits for what is in flight. What would be too
// much is dropped, counted as bad, and makes the run invalid.
func TestDrops(t *testing.T) {
	release := make(chan struct{})
	var once sync.Once
	url, _ := serve(t, &fake.Server{Fail: func(n int) fake.Failure {
		if n == 0 {
			<-release
		}
		return fake.Failure{}
	}})
	schedule, err := arrival.Trace(make([]time.Duration, 10), 1) // all at once
	require.NoError(t, err)
	rep, err := load.Run(t.Context(), load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: words(t, 5, 2, nil), Schedule: schedule, MaxInFlight: 3,
		Metric: metric.Config{Limits: metric.Limits{LagP99: -1, LagMax: -1, Wakeup: -1, CPU: -1, GCPause: -1}, SLO: metric.SLO{E2E: time.Minute}},
		Tick:   time.Millisecond, Progress: func(p load.Progress) {
			if p.Counts.Dropped == 7 {
				once.Do(func() { close(release) })
			}
		},
	})
	require.NoError(t, err)
	c := rep.Result.Counts
	assert.EqualValues(t, 10, c.Due)
	assert.EqualValues(t, 7, c.Dropped)
	assert.EqualValues(t, 3, c.OK)
	require.ErrorIs(t, rep.Problem(), load.ErrInvalid)
	good, _ := rep.Result.Goodput.Fraction.Get()
	assert.InDelta(t, float64(c.OK)/10, good, 1e-9)
	assert.Contains(t, fmt.Sprint(rep.Warnings), "raise MaxInFlight")
}

// TestDropsMakeNothing: the texts of what is dropped are not made.
func TestDropsMakeNothing(t *testing.T) {
	release := make(chan struct{})
	var once sync.Once
	url, _ := serve(t, &fake.Server{Fail: func(int) fake.Failure { <-release; return fake.Failure{} }})
	schedule, err := arrival.Trace(make([]time.Duration, 10_000), 1)
	require.NoError(t, err)
	source := &counted{Source: words(t, 5, 2, nil)}
	rep, err := load.Run(t.Context(), load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: source, Schedule: schedule, MaxInFlight: 1, Lookahead: 4,
		Metric: metric.Config{Limits: easy}, Tick: time.Millisecond, Progress: func(p load.Progress) {
			if p.Counts.Dropped == 9_999 {
				once.Do(func() { close(release) })
			}
		},
	})
	require.NoError(t, err)
	assert.EqualValues(t, 9_999, rep.Result.Counts.Dropped)
	assert.Less(t, source.n.Load(), int64(20))
}

// counted counts what is made.
type counted struct {
	workload.Source
	n atomic.Int64
}

func (c *counted) Request(seq int) (workload.Request, error) {
	c.n.Add(1)
	return c.Source.Request(seq)
}

func TestWarmup(t *testing.T) {
	url, saw := serve(t, &fake.Server{})
	rep, err := load.Run(t.Context(), load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: words(t, 5, 2, nil), Users: 3, Metric: metric.Config{Limits: easy},
		Phases: arrival.Phases{Warmup: arrival.Limit{Count: 7}, Measured: arrival.Limit{Count: 20}, Cooldown: arrival.Limit{For: arrival.Forever}},
	})
	require.NoError(t, err)
	assert.EqualValues(t, 20, rep.Result.Counts.OK)
	assert.EqualValues(t, 7, rep.Result.Counts.Warmup)
	assert.Positive(t, rep.Result.Counts.Cooldown, "the load goes on until the last that counts is answered")
	assert.Equal(t, arrival.Complete, rep.Arrivals.End)
	assert.GreaterOrEqual(t, len(saw.all()), 20, "of the warm-up some may be given up when all that counts was answered")
}

// TestSourceEnds: users share the rows of a file, each of which is sent once.
func TestSourceEnds(t *testing.T) {
	for _, lookahead := range []int{0, 1} {
		url, saw := serve(t, &fake.Server{})
		rep, err := load.Run(t.Context(), load.Load{
			Client: client.Config{Host: url, Model: "m"}, Users: 4, Lookahead: lookahead, Metric: metric.Config{Limits: easy},
			Source: words(t, 5, 2, func(o *workload.Options) { o.Count = 23 }),
		})
		require.NoError(t, err)
		assert.EqualValues(t, 23, rep.Result.Counts.OK)
		assert.EqualValues(t, 23, rep.Result.Counts.Due)
		assert.Equal(t, arrival.Exhausted, rep.Arrivals.End)
		assert.Len(t, saw.all(), 23)
	}
}

func TestInterrupt(t *testing.T) {
	for _, open := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(t.Context())
		url, _ := serve(t, &fake.Server{TTFT: time.Hour})
		stopped := errors.New("the test has seen enough")
		l := load.Load{
			Client: client.Config{Host: url, Model: "m"}, Source: words(t, 5, 2, nil), Metric: metric.Config{Limits: easy},
			Tick: time.Millisecond, Progress: func(p load.Progress) {
				if p.InFlight == 3 {
					cancel(stopped)
				}
			},
		}
		if open {
			var err error
			l.Schedule, err = arrival.Trace(make([]time.Duration, 3), 1)
			require.NoError(t, err)
		} else {
			l.Users = 3
		}
		rep, err := load.Run(ctx, l)
		require.ErrorIs(t, err, stopped)
		assert.True(t, rep.Interrupted)
		assert.EqualValues(t, 3, rep.Result.Counts.Incomplete)
		require.ErrorIs(t, rep.Problem(), metric.ErrNothing)
	}
}

func TestSinkFails(t *testing.T) {
	url, _ := serve(t, &fake.Server{})
	full := errors.New("no space left")
	n := 0
	rep, err := load.Run(t.Context(), load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: words(t, 5, 2, nil), Users: 2, Metric: metric.Config{Limits: easy},
		Sink: func(*record.Request) error {
			if n++; n == 5 {
				return full
			}
			return nil
		},
	})
	require.ErrorIs(t, err, full)
	require.NotNil(t, rep)
	assert.GreaterOrEqual(t, rep.Result.Counts.OK, int64(5))
}

// TestDrain: what hangs at the end is given up, and is neither good nor bad.
func TestDrain(t *testing.T) {
	for name, l := range map[string]load.Load{
		"open":           {Schedule: must(arrival.Trace(make([]time.Duration, 3), 1))},
		"closed, counts": {Users: 3, Phases: arrival.Phases{Measured: arrival.Limit{Count: 3}}},
		"closed, few":    {Users: 3, RequestsPerUser: 1},
		"closed, time":   {Users: 3, Phases: arrival.Phases{Measured: arrival.Limit{For: time.Millisecond}}},
		"closed, both":   {Users: 3, Phases: arrival.Phases{Warmup: arrival.Limit{Count: 1}, Measured: arrival.Limit{For: time.Millisecond}}},
		"closed, source": {Users: 3, Source: words(t, 5, 2, func(o *workload.Options) { o.Count = 3 })},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if l.Source == nil {
					l.Source = words(t, 5, 2, nil)
				}
				l.Drain, l.Metric.Limits = time.Millisecond, easy
				rep := inMemory(t, &fake.Server{TTFT: time.Hour}, l)
				assert.EqualValues(t, 3, rep.Result.Counts.Incomplete+rep.Result.Counts.Warmup)
				assert.False(t, rep.Interrupted)
			})
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestBadLoads(t *testing.T) {
	good := func() load.Load {
		return load.Load{Client: client.Config{Host: "http://127.0.0.1:1", Model: "m"}, Source: words(t, 5, 2, nil), Users: 1, RequestsPerUser: 1}
	}
	for _, tt := range []struct {
		name, reason string
		change       func(*load.Load)
		want         string
	}{
		{"no source", "there is nothing to ask", func(l *load.Load) { l.Source = nil }, "Source is nil"},
		{"no loop", "nobody sends", func(l *load.Load) { l.Users, l.RequestsPerUser = 0, 0 }, "Users is 0"},
		{"two loops", "which one?", func(l *load.Load) { l.Schedule = arrival.Constant(5); l.RequestsPerUser = 0 }, "leave out Users or Schedule"},
		{"negative", "a number of users", func(l *load.Load) { l.Users = -1 }, "Users is -1"},
		{"each", "of an open loop", func(l *load.Load) { l.Users = 0; l.Schedule = arrival.Constant(5) }, "it is of a closed loop's users"},
		{"too few", "the source has not that many", func(l *load.Load) {
			l.Source = words(t, 5, 2, func(o *workload.Options) { o.Count = 3 })
			l.Users, l.RequestsPerUser = 2, 2
		}, "need 4, and the source has 3"},
		{"join", "before the run", func(l *load.Load) { l.Join = -1 }, "Join"},
		{"lookahead", "it would take all memory", func(l *load.Load) { l.Lookahead = 1 << 50 }, "Lookahead"},
		{"host", "there is none", func(l *load.Load) { l.Client.Host = "" }, "Host"},
		{"phases", "endless warm-up", func(l *load.Load) { l.Phases.Warmup.For = arrival.Forever }, "warm-up phase"},
		{"schedule", "it cannot fill the phases", func(l *load.Load) {
			l.Users, l.RequestsPerUser = 0, 0
			l.Schedule = must(arrival.Trace(make([]time.Duration, 3), 1))
			l.Phases.Measured.Count = 9
		}, "3"},
		{"slo", "a share above all", func(l *load.Load) { l.Metric.SLO = metric.SLO{TTFT: 1, Share: 2} }, "share"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := good()
			tt.change(&l)
			rep, err := load.Run(t.Context(), l)
			require.ErrorIs(t, err, load.ErrConfig, tt.reason)
			require.ErrorContains(t, err, tt.want, tt.reason)
			assert.Nil(t, rep)
		})
	}
}

// TestUnbuilt: a text that cannot be made fails its own request, not the run.
func TestUnbuilt(t *testing.T) {
	url, saw := serve(t, &fake.Server{})
	rep, err := load.Run(t.Context(), load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: holes{words(t, 5, 2, nil)}, Users: 2, RequestsPerUser: 5, Metric: metric.Config{Limits: easy},
	})
	require.NoError(t, err)
	assert.EqualValues(t, 8, rep.Result.Counts.OK)
	assert.EqualValues(t, 2, rep.Result.Counts.Failed)
	assert.Equal(t, record.Build, rep.Result.Errors[0].Class)
	assert.Len(t, saw.all(), 8)
}

// holes is a source that cannot make every fifth request.
type holes struct{ workload.Source }

func (h holes) Request(seq int) (workload.Request, error) {
	req, err := h.Source.Request(seq)
	if seq%5 == 4 {
		err = &workload.BuildError{Seq: seq, Tokens: 5, Err: errors.New("no such text")}
	}
	return req, err
}

// TestSlowSink: what a sink holds back is said, and too much of it makes the run
// invalid: the requests behind it were sent later than they would have been.
func TestSlowSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		rep := inMemory(t, &fake.Server{}, load.Load{
			Source: words(t, 5, 2, nil), Users: 8, RequestsPerUser: 400, Metric: metric.Config{Limits: easy},
			Sink: func(*record.Request) error {
				if n++; n == 1 {
					<-time.After(700 * time.Millisecond) // 3,199 others wait behind it, of which 1,024 fit into the queue
				}
				return nil
			},
		})
		assert.GreaterOrEqual(t, rep.SinkWait, 700*time.Millisecond, "of each user that had something to write")
		require.ErrorIs(t, rep.Problem(), load.ErrInvalid)
		require.ErrorContains(t, rep.Problem(), "sink")
	})
}

// TestLateError: what goes wrong in mid-run has a report.
func TestLateError(t *testing.T) {
	url, _ := serve(t, &fake.Server{})
	rep, err := load.Run(t.Context(), load.Load{
		Client: client.Config{Host: url, Model: "m"}, Source: words(t, 5, 2, nil), Users: 1, RequestsPerUser: 5, Metric: metric.Config{Limits: easy},
		Think: func(*rand.Rand) time.Duration { return -1 },
	})
	require.ErrorContains(t, err, "Think")
	require.NotNil(t, rep)
	assert.EqualValues(t, 1, rep.Result.Counts.OK)
}
