package call_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
)

// Traps that another project met, by its numbers in the reference.

// TestTrap06ErrorsAreNotChanged: one error that many calls share keeps nothing
// of any of them.
func TestTrap06ErrorsAreNotChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := &fieldError{StatusCode: 503}
		shared := &llm.Error{Kind: llm.KindTimeout, Provider: "p", Err: context.DeadlineExceeded}
		busy := &llm.Error{Kind: llm.KindRateLimit, Status: 429, RetryAfter: new(time.Second)}
		ownWas, sharedWas, busyWas := *own, *shared, *busy
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() {
				var log call.Tries
				ctx := call.WithTries(t.Context(), &log)
				for _, e := range []error{own, shared, busy} {
					_, err := call.Policy{Timeout: time.Second, Tries: 2}.Do(ctx, func(ctx context.Context) (llm.Response, error) {
						<-ctx.Done()
						return llm.Response{Usage: llm.Usage{Input: int64(i), Known: true}}, e
					})
					assert.Error(t, err)
				}
				for _, try := range log.All() {
					if try.RetryAfter != nil {
						*try.RetryAfter = time.Duration(i) // the log's, not the error's
					}
				}
				assert.Equal(t, int64(4*i), log.Usage().Input, "its own usage only")
			})
		}
		wait.Wait()
		assert.Equal(t, ownWas, *own)
		assert.Equal(t, sharedWas, *shared)
		assert.Equal(t, busyWas, *busy)
		assert.Equal(t, time.Second, *busy.RetryAfter)
	})
}

// TestTrap08TextStartsNoPause: what a model or an application says about rate
// limits pauses nobody.
func TestTrap08TextStartsNoPause(t *testing.T) {
	for _, tc := range []struct {
		name string
		resp llm.Response
		err  error
	}{
		{"an answer", llm.Response{Text: "429 Too Many Requests: rate limit, quota exceeded"}, nil},
		{"an answer in an error", llm.Response{}, fmt.Errorf("no number in %q", "You hit the rate limit (429).")},
		{"an application's type", llm.Response{}, typed{"rate limit of the shop's API"}},
		{"a number", llm.Response{}, errors.New("the prompt has 4290 tokens")},
		{"a bare quota", llm.Response{}, errors.New("connection quota of the test")},
		{"a status that says otherwise", llm.Response{}, errors.Join(errors.New("rate limit"), methodError{400})},
		{"an unusable answer", llm.Response{}, llm.Unusable(errors.New("rate limit is no number"))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy := call.Policy{Scope: call.NewScope(call.Limits{})}
				calls, start := 0, time.Now()
				for range 2 {
					_, _ = policy.Do(t.Context(), func(context.Context) (llm.Response, error) {
						calls++
						return tc.resp, tc.err
					})
				}
				assert.Equal(t, 2, calls)
				assert.Zero(t, time.Since(start))
			})
		})
	}
}

// TestTrap10RateLimitsKeepTheAttempt: the call that met the rate limit waits
// with the others and goes on in the same attempt, without a backoff of its
// own, and has a budget of tries for it.
func TestTrap10RateLimitsKeepTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &llmtest.Model{Reply: func(n int, _ llm.Request) (llm.Response, error) {
			if n <= 3 {
				return llm.Response{}, limited(10 * time.Second)
			}
			return llm.Response{Text: "18"}, nil
		}}
		model := call.New(m, call.Config{})
		var attempts []int
		start := time.Now()
		end := call.Attempts{Backoff: call.Backoff{Rand: most}}.Do(t.Context(), func(n int) (call.Next, error) {
			attempts = append(attempts, n)
			if _, err := model.Generate(t.Context(), llm.Prompt("?")); err != nil {
				return call.Later, err
			}
			return call.Stop, nil
		})
		assert.Equal(t, call.Settled, end.Why)
		assert.Equal(t, []int{1}, attempts, "an attempt is never spent on a rate limit")
		assert.Equal(t, 30*time.Second, time.Since(start), "three pauses and nothing else")
		assert.Equal(t, 4, m.Calls())
	})
	synctest.Test(t, func(t *testing.T) {
		m := script(limited(time.Second))
		_, err := call.New(m, call.Config{}).Generate(t.Context(), llm.Prompt("?"))
		assert.ErrorIs(t, err, call.ErrBusy)
		assert.Equal(t, call.DefaultTries, m.Calls(), "bounded")
	})
}

// TestTrap16ThreeLimits: attempt, item and run have a time each, every end says
// which it was, and nothing waits past a deadline.
func TestTrap16ThreeLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &llmtest.Model{Latency: func(int, llm.Request) time.Duration { return time.Hour }}
		run, stop := context.WithTimeout(t.Context(), 10*time.Minute)
		defer stop()
		start := time.Now()
		item := call.Until(run, start.Add(5*time.Minute))
		defer item.Cancel()
		model := call.New(hangs, call.Config{Timeout: 2 * time.Minute})
		var ends []error
		end := call.Attempts{Backoff: call.Backoff{Rand: least}}.Do(item, func(int) (call.Next, error) {
			_, err := model.Generate(item, llm.Prompt("?"))
			ends = append(ends, err)
			return call.Later, err
		})
		require.Len(t, ends, 3)
		assert.ErrorIs(t, ends[0], call.ErrAttemptTimeout)
		assert.ErrorIs(t, ends[1], call.ErrAttemptTimeout)
		assert.ErrorIs(t, ends[2], call.ErrItemTimeout)
		assert.Equal(t, call.UsedUp, end.Why)
		assert.Equal(t, 5*time.Minute, time.Since(start))

		next := call.Until(run, time.Now().Add(time.Hour))
		defer next.Cancel()
		_, err := call.Policy{Timeout: -1}.Do(next, func(ctx context.Context) (llm.Response, error) {
			return call.New(hangs, call.Config{Timeout: -1}).Generate(ctx, llm.Prompt("?"))
		})
		assert.ErrorIs(t, err, call.ErrRunTimeout)
		assert.Equal(t, 10*time.Minute, time.Since(start))
	})
	synctest.Test(t, func(t *testing.T) {
		item := call.Until(t.Context(), time.Now().Add(time.Minute))
		defer item.Cancel()
		start := time.Now()
		_, err := call.New(script(limited(61*time.Second)), call.Config{}).Generate(item, llm.Prompt("?"))
		assert.ErrorIs(t, err, call.ErrNoTime)
		assert.ErrorContains(t, err, "the server asked for 1m1s")
		assert.Zero(t, time.Since(start), "fails early where the next wait cannot fit")
	})
}

// TestTrap17OneOwnerOfRetries: engines within engines, an attempt loop around
// them: a busy provider is asked as often as the innermost says, and every call
// is seen.
func TestTrap17OneOwnerOfRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := script(limited(time.Second))
		scope := call.NewScope(call.Limits{Concurrency: 1})
		inner := call.New(m, call.Config{Tries: 3, Scope: scope})
		outer := call.New(inner, call.Config{Tries: 5, Scope: scope})
		var log call.Tries
		ctx := call.WithTries(t.Context(), &log)
		_, err := call.Policy{Scope: scope}.Do(ctx, func(ctx context.Context) (llm.Response, error) {
			return call.Policy{Tries: 7}.Do(ctx, func(ctx context.Context) (llm.Response, error) {
				return outer.Generate(ctx, llm.Prompt("?"))
			})
		})
		assert.ErrorIs(t, err, call.ErrBusy)
		assert.ErrorContains(t, err, "through 3 tries")
		assert.Equal(t, 3, m.Calls())
		assert.Len(t, log.All(), 3)
	})
}
