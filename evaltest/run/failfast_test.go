package run_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm"
)

func TestFailFast(t *testing.T) {
	ended := func(o result.Outcome) result.Record { return result.Record{Outcome: o} }
	failed := func(kind llm.ErrorKind, status int) result.Record {
		return result.Record{Outcome: result.Errored, Error: &result.Error{Kind: kind, Status: status, Message: "insufficient_quota"}}
	}
	times := func(n int, r result.Record) []result.Record { return slices.Repeat([]result.Record{r}, n) }
	join := slices.Concat[[]result.Record]
	right := []result.Record{ended(result.Correct)}
	for _, tc := range []struct {
		name, reason string
		records      []result.Record
		stop         int // the record at which it stops, from 1; 0 for never
	}{
		{"all well", "", times(100, ended(result.Correct)), 0},
		{"no money (L01)", "with 8 workers at most 8 calls are made", times(100, failed(llm.KindBalance, 429)), 1},
		{"no key", "", times(3, failed(llm.KindAuth, 401)), 1},
		{"daily quota (L08)", "", times(3, failed(llm.KindQuota, 429)), 1},
		{"money runs out", "in-flight items may fail for other reasons first", join(right, times(9, failed(llm.KindBalance, 402))), 6},
		{"wrong answers first", "an answer is an answer", join([]result.Record{ended(result.Incorrect)}, times(4, failed(llm.KindAuth, 401))), 0},
		{"now and then", "some items work", slices.Repeat(join(right, times(4, failed(llm.KindAuth, 401))), 20), 0},
		{"two kinds in turn", "not alike", join(right, slices.Repeat(join(times(4, failed(llm.KindAuth, 401)), times(4, failed(llm.KindBalance, 402))), 5)), 0},
		{"dead endpoint (T12)", "nothing ever came", times(100, failed(llm.KindConnection, 0)), 10},
		{"400 always (T12)", "", times(100, failed(llm.KindBadRequest, 400)), 10},
		{"two statuses in turn", "not alike", slices.Repeat(join(times(1, failed(llm.KindServer, 500)), times(1, failed(llm.KindServer, 503))), 50), 0},
		{"outage later", "it may pass, and answers are there", join(right, times(100, failed(llm.KindServer, 503))), 0},
		{"busy from the first on", "each has waited as long as it could", times(100, failed(llm.KindRateLimit, 429)), 10},
		{"busy later", "and so will those to come", join(right, times(100, failed(llm.KindRateLimit, 429))), 11},
		{"busy now and then", "some are let in", slices.Repeat(join(right, times(9, failed(llm.KindRateLimit, 429))), 20), 0},
		{"panics", "an item's own trouble", times(100, failed(llm.KindPanic, 0)), 0},
		{"misses", "all of them are to be named", times(100, failed(llm.KindMiss, 0)), 0},
		{"not run", "say nothing", join(times(50, ended(result.NotRun)), times(1, failed(llm.KindAuth, 401))), 51},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var f run.FailFast
			for i := range tc.records {
				err := f.Observe(&tc.records[i])
				if tc.stop > 0 && i+1 >= tc.stop {
					require.ErrorIs(t, err, run.ErrUnreachable, "record %d: %s", i+1, tc.reason)
					assert.ErrorContains(t, err, "insufficient_quota")
					continue
				}
				require.NoError(t, err, "record %d: %s", i+1, tc.reason)
			}
		})
	}
}

func TestFailFastConcurrently(t *testing.T) {
	f := run.FailFast{Fatal: 50}
	ok := result.Record{Outcome: result.Correct}
	bad := result.Record{Outcome: result.Errored, Error: &result.Error{Kind: llm.KindAuth}}
	require.NoError(t, f.Observe(&ok))
	var wg sync.WaitGroup
	var mu sync.Mutex
	stops := 0
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if f.Observe(&bad) != nil {
					mu.Lock()
					stops++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 80-49, stops)
}
