package run_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm"
)

// TestCrewGoesOn: whatever an item does to its goroutine, the next one has a
// good one and all its time; and Close leaves none behind, or synctest would
// say so.
func TestCrewGoesOn(t *testing.T) {
	deaf := turn{take: time.Hour, deaf: true}
	tests := []struct {
		name, reason string
		pause        time.Duration // between the first item and the second
		first        turn
		second       turn
		outcomes     []result.Outcome
		took         time.Duration // by the second
	}{
		{"nothing happens", "", 0, says("18"), says("18"), []result.Outcome{result.Correct, result.Correct}, 0},
		{"a panic", "contained", 0, turn{do: func() { panic("no") }}, says("18"), []result.Outcome{result.Errored, result.Correct}, 0},
		{"a Goexit", "the goroutine is gone", 0, turn{do: runtime.Goexit}, says("18"), []result.Outcome{result.Errored, result.Correct}, 0},
		{"a hang", "the goroutine is left behind", 0, deaf, says("18"), []result.Outcome{result.Errored, result.Correct}, 0},
		{"two hangs", "each is waited for as long", 0, deaf, deaf, []result.Outcome{result.Errored, result.Errored}, 65 * time.Second},
		{"a hang later", "the bell was set for an earlier item", 30 * time.Second, says("18"), deaf, []result.Outcome{result.Correct, result.Errored}, 65 * time.Second},
		{"a hang much later", "the bell rang meanwhile", 3 * time.Minute, says("18"), deaf, []result.Outcome{result.Correct, result.Errored}, 65 * time.Second},
		{"a bell for another", "rings while an item still has time", 30 * time.Second, says("18"),
			turn{take: 50 * time.Second, resp: llm.Response{Text: "18"}}, []result.Outcome{result.Correct, result.Correct}, 50 * time.Second},
		{"a bell in the first", "coincides with its end", 0, turn{take: time.Minute, deaf: true, resp: llm.Response{Text: "18"}}, deaf,
			[]result.Outcome{result.Correct, result.Errored}, 65 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := config(answers(tt.first, tt.second))
				c.ItemTimeout, c.AttemptTimeout, c.Grace, c.Attempts = time.Minute, -1, 5*time.Second, 1
				crew := c.Crew(t.Context(), nil)
				var outcomes []result.Outcome
				var last *result.Record
				for range 2 {
					time.Sleep(tt.pause)
					rec, err := crew.Item(eggs, 0)
					require.NoError(t, err)
					outcomes, last = append(outcomes, rec.Outcome), rec
				}
				assert.Equal(t, tt.outcomes, outcomes, tt.reason)
				assert.Equal(t, tt.took, last.Duration, tt.reason)
				crew.Close()
				time.Sleep(2 * time.Hour) // lets the deaf ones go
				synctest.Wait()
				assert.Zero(t, run.Abandoned())
			})
		})
	}
}

// TestCrewThen: every record is shown to then once, whole, before Item returns,
// and Item returns what it said.
func TestCrewThen(t *testing.T) {
	full := errors.New("disk full")
	tests := []struct {
		name, reason string
		turn         turn
		stop         bool // before the item
		takes        time.Duration
		outcome      result.Outcome
		abandoned    bool
	}{
		{"an answer", "", says("18"), false, 0, result.Correct, false},
		{"a slow disk", "an item that has ended is not abandoned", says("18"), false, time.Hour, result.Correct, false},
		{"a panic", "", turn{do: func() { panic("no") }}, false, 0, result.Errored, false},
		{"a Goexit", "then runs while the goroutine ends", turn{do: runtime.Goexit}, false, 0, result.Errored, false},
		{"a hang", "then runs in the caller's", turn{take: time.Hour, deaf: true}, false, 0, result.Errored, true},
		{"never started", "", says("18"), true, 0, result.NotRun, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := config(answers(tt.turn))
				c.Attempts = 1
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if tt.stop {
					stop()
				}
				var shown []*result.Record
				crew := c.Crew(ctx, func(rec *result.Record) error {
					time.Sleep(tt.takes)
					shown = append(shown, rec)
					return full
				})
				defer crew.Close()
				rec, err := crew.Item(eggs, 1)
				assert.ErrorIs(t, err, full)
				require.Len(t, shown, 1)
				assert.Same(t, rec, shown[0])
				assert.Equal(t, tt.outcome, must(t, *rec).Outcome, tt.reason)
				assert.Equal(t, tt.abandoned, rec.Abandoned, tt.reason)
				time.Sleep(2 * time.Hour) // lets the deaf one go
				synctest.Wait()
				require.Len(t, shown, 1, "not again when the straggler ends")
			})
		})
	}
}

// TestCrewStops: the end of its context reaches the item under way, also in a
// goroutine that has had others, and no item begins after it.
func TestCrewStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := config(answers(says("18"), turn{take: time.Hour}))
		c.AttemptTimeout, c.ItemTimeout = -1, -1
		crew := c.Crew(ctx, nil)
		defer crew.Close()
		first, _ := crew.Item(eggs, 0)
		assert.Equal(t, result.Correct, first.Outcome)
		time.AfterFunc(time.Minute, func() { cancel(errors.New("enough")) })
		second, _ := crew.Item(eggs, 1)
		assert.Equal(t, result.NotRun, second.Outcome)
		assert.Equal(t, time.Minute, second.Duration)
		assert.Contains(t, second.Error.Message, "in attempt 1: enough")
		third, _ := crew.Item(eggs, 2)
		assert.Contains(t, third.Error.Message, "not started: enough")
	})
}

// TestCrewStopsDeaf: the end of its context is noticed when it comes, and a
// strategy that ignores it has the grace from then on.
func TestCrewStopsDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := config(answers(says("18"), turn{take: time.Hour, deaf: true}))
		c.AttemptTimeout, c.ItemTimeout = -1, -1
		crew := c.Crew(ctx, nil)
		defer crew.Close()
		crew.Item(eggs, 0)
		time.AfterFunc(time.Minute, cancel)
		rec, _ := crew.Item(eggs, 1)
		assert.Equal(t, result.NotRun, rec.Outcome)
		assert.True(t, rec.Abandoned)
		assert.Equal(t, time.Minute+run.DefaultGrace, rec.Duration)
		time.Sleep(time.Hour) // lets it go
		synctest.Wait()
	})
}

// TestCrewMany: records do not mix, however many items share goroutines, and
// there are no more of those than callers.
func TestCrewMany(t *testing.T) {
	const callers, each = 16, 200
	var now, most atomic.Int64
	c := &run.Config{Grader: exact, Strategy: run.StrategyFunc(func(_ context.Context, it dsItem, _ run.Attempt) (llm.Response, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		if len(it.ID)%7 == 0 {
			runtime.Goexit()
		}
		return llm.Response{Text: it.Target}, nil
	})}
	crew := c.Crew(t.Context(), nil)
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			for k := range each {
				it := dsItem{ID: fmt.Sprintf("%d-%d", i, k*k), Target: fmt.Sprint(i * k)}
				want := result.Correct
				if len(it.ID)%7 == 0 {
					want = result.Errored
				}
				rec, _ := crew.Item(it, k)
				assert.Equal(t, want, rec.Outcome)
				assert.Equal(t, it.ID, rec.Item.ID)
				assert.Equal(t, k, rec.Sample)
				if want == result.Correct {
					assert.Equal(t, []string{it.Target, it.Target}, []string{rec.Response.Text, rec.Verdict.Answer})
				}
			}
		})
	}
	wait.Wait()
	crew.Close()
	assert.LessOrEqual(t, most.Load(), int64(callers))
}
