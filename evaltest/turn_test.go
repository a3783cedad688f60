package evaltest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// TestTurn: 250 items at once under a limit that lets few of them call in an
// item's time. None of them fails for that, and the limit is used.
func TestTurn(t *testing.T) {
	const items = 1319
	for _, row := range []struct {
		name, reason string
		limits       call.Limits
		opts         Option
		takes        time.Duration
		ideal        time.Duration // of all
	}{
		{"30 a minute", "250 would wait for 500 s, and an item has 300 s", call.Limits{RPM: 30}, nil, 2 * time.Second, items * 2 * time.Second},
		{"one a minute", "", call.Limits{RPM: 1}, Limit(50), time.Second, 50 * time.Minute},
		{"600 a minute, slow answers", "as many as are needed are in flight", call.Limits{RPM: 600}, nil, 20 * time.Second, items * time.Second / 10},
		{"tokens", "100 each", call.Limits{TPM: 3000, Estimate: func(llm.Request) int64 { return 100 }}, nil, 2 * time.Second, items * 2 * time.Second},
		{"two slots, slow answers", "", call.Limits{Concurrency: 2}, Limit(400), 10 * time.Second, 400 * 5 * time.Second},
		{"two slots, quick answers", "nobody waits to be asked", call.Limits{Concurrency: 2}, nil, 10 * time.Millisecond, items * 5 * time.Millisecond},
		{"no limit", "", call.Limits{}, nil, time.Second, 6 * time.Second},
		{"short of time", "a quarter of an item's time is less than a call's turn", call.Limits{RPM: 30}, Options(Timeout(10*time.Second), AttemptTimeout(5*time.Second), Limit(100)), time.Second, 200 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t)
			f.bubble(t, func() {
				begun := time.Now()
				s := StrategyFunc(func(ctx context.Context, it dataset.Item, _ Attempt) (llm.Response, error) {
					select {
					case <-time.After(row.takes):
						return llm.Response{Text: it.Target, Usage: llm.Usage{Input: 60, Output: 40, Known: true}}, nil
					case <-ctx.Done():
						return llm.Response{}, ctx.Err()
					}
				})
				rep := f.crowd(t, s, row.opts, Scope(call.NewScope(row.limits)))
				assert.Equal(t, rep.Stats.Total, rep.Stats.Correct(), row.reason)
				assert.LessOrEqual(t, time.Since(begun), row.ideal+row.ideal/20+row.takes, row.reason)
			})
		})
	}
}
