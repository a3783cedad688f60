package call_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// pass is a call that takes d, unless ctx ends first.
func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestPolicyScope: with a Scope, an application's own calls wait for their turn
// like a Model's.
func TestPolicyScope(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		limits       call.Limits
		tries        int
		errs         []error
		calls        int
		took         time.Duration
		is           error
	}{
		{"well", "", call.Limits{}, 0, []error{nil}, 1, 0, nil},
		{"busy", "the pause and no backoff on top of it", call.Limits{}, 0, []error{limited(3 * time.Second), nil}, 2, 3 * time.Second, nil},
		{"busy for good", "the last try does not wait out the pause", call.Limits{}, 4, []error{limited(time.Second)}, 4, 3 * time.Second, call.ErrBusy},
		{"twenty", "by default", call.Limits{}, 0, []error{limited(time.Second)}, 20, 19 * time.Second, call.ErrBusy},
		{"own words", "an SDK without types", call.Limits{}, 0, []error{fmt.Errorf("429 Too Many Requests"), nil}, 2, 2 * time.Second, nil},
		{"too long", "", call.Limits{MaxWait: time.Second}, 0, []error{limited(2 * time.Second)}, 1, 0, call.ErrTooLong},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy := call.Policy{Tries: tc.tries, Scope: call.NewScope(tc.limits), Timeout: time.Second, Backoff: call.Backoff{First: time.Hour, Max: time.Hour, Rand: most}}
				calls, start := 0, time.Now()
				_, err := policy.Do(t.Context(), func(ctx context.Context) (llm.Response, error) {
					calls++
					end, _ := ctx.Deadline()
					assert.Equal(t, time.Second, time.Until(end), "its time begins when it may start")
					return llm.Response{}, tc.errs[min(calls, len(tc.errs))-1]
				})
				assert.Equal(t, tc.calls, calls, tc.reason)
				assert.Equal(t, tc.took, time.Since(start).Round(time.Microsecond), tc.reason)
				if tc.is == nil {
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, tc.is)
				}
			})
		})
	}
}

// TestPolicyScopeSlot: a slot is taken before the try's time begins, and given
// back whatever becomes of the try.
func TestPolicyScopeSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := call.Policy{Scope: call.NewScope(call.Limits{Concurrency: 2}), Timeout: 3 * time.Second}
		var wait sync.WaitGroup
		start := time.Now()
		for range 10 {
			wait.Go(func() {
				_, err := policy.Do(t.Context(), func(ctx context.Context) (llm.Response, error) {
					return llm.Response{}, pass(ctx, 2*time.Second)
				})
				assert.NoError(t, err)
			})
		}
		wait.Wait()
		assert.Equal(t, 10*time.Second, time.Since(start))
		assert.Panics(t, func() {
			_, _ = policy.Do(t.Context(), func(context.Context) (llm.Response, error) { panic("boom") })
		})
		wait.Go(func() { // as t.FailNow of a foreign test does
			_, _ = policy.Do(t.Context(), func(context.Context) (llm.Response, error) {
				runtime.Goexit()
				return llm.Response{}, nil
			})
		})
		wait.Wait()
		start = time.Now()
		for range 2 {
			wait.Go(func() {
				_, err := policy.Do(t.Context(), func(ctx context.Context) (llm.Response, error) {
					return llm.Response{}, pass(ctx, time.Second)
				})
				assert.NoError(t, err)
			})
		}
		wait.Wait()
		assert.Equal(t, time.Second, time.Since(start), "both slots are back")
	})
}

// TestPolicyScopePauses: one rate limit pauses all, and nobody else's end ends
// the pause.
func TestPolicyScopePauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := call.Policy{Scope: call.NewScope(call.Limits{})}
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() {
			_, err := policy.Do(ctx, func(context.Context) (llm.Response, error) { return llm.Response{}, limited(30 * time.Second) })
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, llm.KindCanceled, llm.KindOf(err))
		})
		synctest.Wait()
		cancel() // the reporter goes
		start := time.Now()
		_, err := policy.Do(t.Context(), func(context.Context) (llm.Response, error) { return llm.Response{}, nil })
		require.NoError(t, err)
		assert.Equal(t, 30*time.Second, time.Since(start))
		wait.Wait()
	})
}

// TestPolicyInAttempt: what a Policy without a Scope waits between its tries
// does not count for an attempt around it.
func TestPolicyInAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := call.Policy{Timeout: 2 * time.Second}.Do(t.Context(), func(ctx context.Context) (llm.Response, error) {
			calls := 0
			return call.Policy{}.Do(ctx, func(ctx context.Context) (llm.Response, error) {
				if calls++; calls < 3 {
					return llm.Response{}, limited(30 * time.Second)
				}
				return llm.Response{}, pass(ctx, time.Second)
			})
		})
		assert.NoError(t, err)
		assert.Equal(t, 61*time.Second, time.Since(start))
	})
}
