package llm_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
)

func TestContextValues(t *testing.T) {
	ctx := context.Background()
	assert.Equal(t, 0, llm.SampleIndex(ctx))
	assert.Empty(t, llm.ItemID(ctx))
	assert.False(t, llm.HasCallLog(ctx))
	llm.LogCall(ctx, llm.Call{}) // no log, no harm
	var log llm.CallLog
	ctx = llm.WithCallLog(llm.WithItem(llm.WithSample(ctx, 3), "a"), &log)
	assert.Equal(t, 3, llm.SampleIndex(ctx))
	assert.Equal(t, "a", llm.ItemID(ctx))
	assert.True(t, llm.HasCallLog(ctx))
	llm.LogCall(ctx, llm.Call{Response: llm.Response{ID: "1"}})
	assert.Equal(t, "1", log.Calls()[0].Response.ID)
}

func TestTakeOccurrence(t *testing.T) {
	_, release, ok := llm.TakeOccurrence(context.Background(), "k")
	assert.False(t, ok, "no item")
	release()
	ctx := llm.WithItem(context.Background(), "a")
	take := func(ctx context.Context, key string) (int, func()) {
		n, release, ok := llm.TakeOccurrence(ctx, key)
		assert.True(t, ok)
		return n, release
	}
	n, _ := take(ctx, "k")
	assert.Equal(t, 0, n)
	n, give1 := take(ctx, "k")
	assert.Equal(t, 1, n)
	n, give2 := take(ctx, "k")
	assert.Equal(t, 2, n)
	n, _ = take(ctx, "other")
	assert.Equal(t, 0, n, "each key counts by itself")
	n, _ = take(llm.WithItem(ctx, "a"), "k")
	assert.Equal(t, 0, n, "an item run again begins again")
	give2()
	give1()
	give1() // twice is once
	n, _ = take(ctx, "k")
	assert.Equal(t, 1, n, "what was given back is taken again, the smallest first")
	n, _ = take(ctx, "k")
	assert.Equal(t, 2, n)
	n, _ = take(ctx, "k")
	assert.Equal(t, 3, n)
}

func TestTakeOccurrenceConcurrently(t *testing.T) {
	ctx := llm.WithItem(context.Background(), "a")
	var mu sync.Mutex
	seen := map[int]bool{}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			n, _, _ := llm.TakeOccurrence(ctx, "k")
			mu.Lock()
			defer mu.Unlock()
			seen[n] = true
		})
	}
	wg.Wait()
	assert.Len(t, seen, 100)
}

func TestCallUsage(t *testing.T) {
	of := func(n int64) llm.Usage { return llm.Usage{Input: n, Known: true} }
	for _, row := range []struct {
		name, reason string
		call         llm.Call
		want         llm.Usage
	}{
		{"an answer", "what it reports was billed", llm.Call{Response: llm.Response{Usage: of(1)}}, of(1)},
		{"an answer that said nothing", "unknown is not zero", llm.Call{}, llm.Usage{}},
		{"a failure", "failed calls are billed too", llm.Call{Err: &llm.Error{Usage: of(2)}}, of(2)},
		{"further in", "an error is wrapped on its way", llm.Call{Err: fmt.Errorf("my app: %w", &llm.Error{Usage: of(2)})}, of(2)},
		{"both", "what came of the answer says it", llm.Call{Response: llm.Response{Usage: of(1)}, Err: &llm.Error{Usage: of(2)}}, of(1)},
		{"another's error", "nothing is known of what it cost", llm.Call{Err: errors.New("broken pipe")}, llm.Usage{}},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, row.call.Usage(), row.reason) })
	}
}
