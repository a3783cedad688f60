package load_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
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

// dryLoad is a load of synthetic prompts that nobody gets.
func dryLoad(t *testing.T, count int) load.Load {
	t.Helper()
	source, err := workload.New(workload.Options{
		Text: token.Words{}, Seed: 5, Salt: workload.Salt{Off: true}, Count: count,
		Input: workload.Must(workload.Uniform(3, 30)), Output: workload.Must(workload.Fixed(2, 0)),
	})
	require.NoError(t, err)
	return load.Load{Client: client.Config{Host: "http://127.0.0.1:1", Model: "m"}, Source: source, Seed: 5, Metric: metric.Config{Limits: easy}}
}

func dry(t *testing.T, l load.Load) []load.Planned {
	t.Helper()
	var list []load.Planned
	require.NoError(t, load.DryRun(t.Context(), l, func(p load.Planned) error { list = append(list, p); return nil }))
	return list
}

// TestDryRunIsTheRun compares a dry run with what a server saw of the run.
func TestDryRunIsTheRun(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		change       func(*load.Load)
	}{
		{"closed", "every user's own requests", func(l *load.Load) { l.Users, l.RequestsPerUser = 3, 4 }},
		{"closed, counted", "a warm-up and a measured part", func(l *load.Load) {
			l.Users, l.Phases = 3, arrival.Phases{Warmup: arrival.Limit{Count: 2}, Measured: arrival.Limit{Count: 5}}
		}},
		{"open", "the arrivals of one second", func(l *load.Load) {
			l.Schedule, l.Phases = arrival.Poisson(50), arrival.Phases{Measured: arrival.Limit{For: 200 * time.Millisecond}}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := dryLoad(t, 0)
			tt.change(&l)
			var want []string
			for _, p := range dry(t, l) {
				require.NoError(t, p.Err)
				want = append(want, string(p.Body))
			}
			url, saw := serve(t, &fake.Server{})
			l.Client.Host = url
			_, err := load.Run(t.Context(), l)
			require.NoError(t, err)
			var got []string
			for _, s := range saw.all() {
				got = append(got, string(s.Body))
			}
			assert.NotEmpty(t, got)
			if strings.HasPrefix(tt.name, "closed, c") { // whose turn it is depends on the answers
				assert.Len(t, want, len(got))
				return
			}
			assert.ElementsMatch(t, want, got, tt.reason)
		})
	}
}

func TestDryRunPlan(t *testing.T) {
	l := dryLoad(t, 0)
	l.Users, l.RequestsPerUser, l.Join = 2, 2, 10*time.Second
	l.Phases = arrival.Phases{Warmup: arrival.Limit{Count: 1}, Measured: arrival.Limit{Count: 3}}
	type row struct {
		seq, user int
		due       time.Duration
		timed     bool
		phase     record.Phase
	}
	var got []row
	for _, p := range dry(t, l) {
		got = append(got, row{p.Seq, p.User, p.Due, p.Timed, p.Phase})
	}
	assert.Equal(t, []row{
		{0, 0, 0, true, record.Warmup}, {1, 1, 5 * time.Second, true, record.Measured},
		{2, 0, 0, false, record.Measured}, {3, 1, 0, false, record.Measured},
	}, got)

	l = dryLoad(t, 7)
	l.Users = 3
	list := dry(t, l)
	require.Len(t, list, 7, "all of the source, whoever sends it")
	assert.Equal(t, []int{0, 1, 2, -1}, []int{list[0].User, list[1].User, list[2].User, list[3].User})

	l = dryLoad(t, 0)
	l.Users, l.Phases.Measured.For = 3, time.Hour
	list = dry(t, l)
	require.Len(t, list, 3, "each user's first")
	assert.Empty(t, list[0].Phase)
}

// TestDryRunStops: each's error ends it, and so does the context.
func TestDryRunStops(t *testing.T) {
	l := dryLoad(t, 0)
	l.Users, l.RequestsPerUser = 1, 1000
	enough := errors.New("enough")
	n := 0
	err := load.DryRun(t.Context(), l, func(load.Planned) error {
		if n++; n == 3 {
			return enough
		}
		return nil
	})
	assert.ErrorIs(t, err, enough)
	assert.Equal(t, 3, n)

	ctx, cancel := context.WithCancel(t.Context())
	err = load.DryRun(ctx, l, func(load.Planned) error { cancel(); return nil })
	assert.ErrorIs(t, err, context.Canceled)

	l = dryLoad(t, 0)
	l.Schedule = arrival.Poisson(5)
	assert.ErrorIs(t, load.DryRun(t.Context(), l, nil), load.ErrConfig, "it has no end")
}

func TestCheck(t *testing.T) {
	l := dryLoad(t, 0)
	l.Users = 1
	assert.NoError(t, l.Check())
	l.Users = -1
	assert.ErrorIs(t, l.Check(), load.ErrConfig)
	l.Users, l.Client.Host = 1, "ftp://x"
	assert.ErrorIs(t, l.Check(), load.ErrConfig)
	l = dryLoad(t, 0)
	assert.ErrorIs(t, l.Check(), load.ErrConfig)
}

// TestVerbose sees every request that was sent, with its answer.
func TestVerbose(t *testing.T) {
	url, _ := serve(t, &fake.Server{})
	l := dryLoad(t, 0)
	l.Client.Host, l.Users, l.RequestsPerUser = url, 2, 3
	var mu sync.Mutex
	var answers []string
	l.Verbose = func(rec *record.Request, body []byte, reply *client.Reply) {
		mu.Lock()
		defer mu.Unlock()
		assert.Contains(t, string(body), `"model":"m"`)
		assert.True(t, rec.OK())
		m, err := reply.Message()
		require.NoError(t, err)
		answers = append(answers, *m.Content)
	}
	_, err := load.Run(t.Context(), l)
	require.NoError(t, err)
	require.Len(t, answers, 6)
	assert.Len(t, strings.Fields(answers[0]), 2)
}
