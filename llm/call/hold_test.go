package call_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/call"
)

// TestHold: an attempt of 10 s that something holds.
func TestHold(t *testing.T) {
	type step = func(ctx context.Context)
	pass := func(d time.Duration) step { return func(context.Context) { time.Sleep(d) } }
	held := func(d time.Duration) step {
		return func(ctx context.Context) {
			release := call.Hold(ctx)
			time.Sleep(d)
			release()
		}
	}
	for _, tc := range []struct {
		name, reason string
		steps        []step
		want         time.Duration // when it ends
	}{
		{"not", "", nil, 10 * time.Second},
		{"at once", "the wait is not its time", []step{held(time.Minute)}, 70 * time.Second},
		{"later", "what ran before counts", []step{pass(3 * time.Second), held(time.Hour)}, time.Hour + 10*time.Second},
		{"twice", "each adds up", []step{held(time.Second), pass(time.Second), held(2 * time.Second)}, 13 * time.Second},
		{"at the last moment", "a nanosecond is left", []step{pass(10*time.Second - 1), held(time.Second)}, 11 * time.Second},
		{"too late", "an end stays an end: 11 s have gone by, and none is added", []step{pass(10 * time.Second), held(time.Second)}, 11 * time.Second},
		{"nested", "it runs only while nobody holds it", []step{func(ctx context.Context) {
			outer := call.Hold(ctx)
			time.Sleep(time.Second)
			inner := call.Hold(ctx)
			outer()
			outer() // counts once
			time.Sleep(time.Second)
			inner()
		}}, 12 * time.Second},
		{"short of time", "a hold of nothing", []step{held(0)}, 10 * time.Second},
	} {
		for looked, look := range map[string]func(context.Context){
			"unseen": func(context.Context) {}, "seen": func(ctx context.Context) { ctx.Done() },
		} {
			t.Run(tc.name+", "+looked, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begun := time.Now()
					b := call.Within(t.Context(), 10*time.Second)
					defer b.Cancel()
					child, cancel := context.WithCancel(context.WithValue(b, valueKey{}, 1))
					defer cancel()
					if looked == "unseen" {
						child = context.WithValue(b, valueKey{}, 1)
					}
					look(child)
					for _, s := range tc.steps {
						s(child)
					}
					<-child.Done()
					assert.Equal(t, tc.want, time.Since(begun), tc.reason)
					assert.Equal(t, context.DeadlineExceeded, b.Err())
					assert.Equal(t, context.DeadlineExceeded, context.Cause(child))
				})
			})
		}
	}
}

// TestHoldIsExact: while it is held it does not end, and afterwards to the
// nanosecond.
func TestHoldIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := call.Within(t.Context(), time.Second)
		defer b.Cancel()
		done := b.Done()
		release := call.Hold(b)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.NoError(t, b.Err())
		_, ok := b.Deadline()
		assert.False(t, ok, "nobody knows when, while it is held")
		release()
		end, ok := b.Deadline()
		assert.True(t, ok)
		assert.Equal(t, time.Second, time.Until(end))
		time.Sleep(time.Second - 1)
		synctest.Wait()
		require.NoError(t, b.Err())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.ErrorIs(t, b.Err(), context.DeadlineExceeded)
		<-done
		call.Hold(b)() // no way back
		assert.ErrorIs(t, b.Err(), context.DeadlineExceeded)
	})
}

// TestHoldLeavesOthersAlone: an item's time and a deadline of the user's own
// run on, and attempts further out stand still too.
func TestHoldLeavesOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		item := call.Until(t.Context(), time.Now().Add(time.Minute))
		outer := call.Within(item, 2*time.Second)
		inner := call.Within(context.WithValue(outer, valueKey{}, 1), time.Second)
		own, cancel := context.WithTimeout(inner, 500*time.Millisecond)
		defer func() { cancel(); inner.Cancel(); outer.Cancel(); item.Cancel() }()
		defer call.Hold(own)()
		end, _ := inner.Deadline()
		itemEnd, _ := item.Deadline()
		assert.Equal(t, itemEnd, end, "of what still runs, the next above it")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.NoError(t, outer.Err())
		assert.NoError(t, inner.Err())
		assert.ErrorIs(t, own.Err(), context.DeadlineExceeded)
		begun := time.Now()
		<-inner.Done()
		assert.Equal(t, 30*time.Second, time.Since(begun), "the item's time ends what is held")
		assert.ErrorIs(t, inner.Err(), context.DeadlineExceeded)
	})
}

func TestHoldParentEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, stop := context.WithCancelCause(t.Context())
		b := call.Within(parent, time.Second)
		defer b.Cancel()
		child, cancel := context.WithCancel(b)
		defer cancel()
		release := call.Hold(child)
		stopped := errors.New("stopped")
		stop(stopped)
		assert.ErrorIs(t, b.Err(), context.Canceled, "at once")
		<-child.Done()
		assert.ErrorIs(t, child.Err(), context.Canceled)
		assert.Equal(t, stopped, context.Cause(child))
		release()
		time.Sleep(time.Minute)
		assert.ErrorIs(t, b.Err(), context.Canceled)
	})
}

// TestHoldNothing: contexts without an attempt.
func TestHoldNothing(t *testing.T) {
	call.Hold(context.Background())()
	b := call.Until(t.Context(), time.Now().Add(time.Hour))
	defer b.Cancel()
	call.Hold(b)()
}

// TestHoldConcurrent: it is the -race detector's; the sum is exact.
func TestHoldConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := call.Within(t.Context(), time.Second)
		defer b.Cancel()
		begun := time.Now()
		var wait sync.WaitGroup
		for i := range 50 {
			wait.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(i)))
				release := call.Hold(b)
				defer func() { release() }()
				for range 20 {
					time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond)
					next := call.Hold(context.WithValue(b, valueKey{}, i))
					release()
					release = next
					_, _ = b.Deadline()
					_ = b.Err()
				}
			})
		}
		wait.Wait()
		released := time.Now()
		<-b.Done()
		assert.Equal(t, time.Second, time.Since(released), "held without a gap by somebody: %v", released.Sub(begun))
	})
}

// TestBoundCostsNoGoroutine: nor does what derives from it, however.
func TestBoundCostsNoGoroutine(t *testing.T) {
	item := call.Until(t.Context(), time.Now().Add(time.Hour))
	defer item.Cancel()
	b := call.Within(context.WithValue(item, valueKey{}, 1), time.Hour)
	defer b.Cancel()
	before := runtime.NumGoroutine()
	for range 100 {
		ctx, cancel := context.WithTimeout(context.WithValue(b, valueKey{}, 1), time.Minute)
		defer cancel()
		ctx.Done()
		defer context.AfterFunc(ctx, func() {})()
	}
	assert.LessOrEqual(t, runtime.NumGoroutine(), before+5, "other tests may come and go")
}
