package llm_test

import (
	"context"
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
