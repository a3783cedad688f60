package call_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// turn is what an attempt comes to.
type turn struct {
	next call.Next
	err  error
}

func least() float64 { return 0 }
func most() float64  { return math.Nextafter(1, 0) }

func failed(after time.Duration) error {
	return &llm.Error{Kind: llm.KindServer, Status: 503, Message: "come back later", RetryAfter: new(after)}
}

func TestAttempts(t *testing.T) {
	server := &llm.Error{Kind: llm.KindServer, Status: 502}
	again, later, stop := turn{call.Again, nil}, turn{call.Later, server}, turn{call.Stop, nil}
	stated := func(d time.Duration) turn { return turn{call.Later, failed(d)} }
	for _, tc := range []struct {
		name, reason string
		a            call.Attempts
		turns        []turn // the last is repeated
		within       time.Duration
		why          call.Ending
		attempts     int
		took         time.Duration // to the microsecond
		is           error
	}{
		{"well", "", call.Attempts{}, []turn{stop}, 0, call.Settled, 1, 0, nil},
		{"unusable for good", "at once: waiting makes no answer better", call.Attempts{}, []turn{again}, 0, call.UsedUp, 3, 0, nil},
		{"failed for good", "1 + 2 s, and none after the last", call.Attempts{}, []turn{later}, 0, call.UsedUp, 3, 3 * time.Second, server},
		{"doubles and is capped", "1, 2, 4, 8, 16, 32, 60, 60", call.Attempts{Max: 9}, []turn{later}, 0, call.UsedUp, 9, 183 * time.Second, server},
		{"mixed", "an unusable answer is no failure: 1 s, nothing, 2 s", call.Attempts{Max: 4}, []turn{later, again, later}, 0, call.UsedUp, 4, 3 * time.Second, server},
		{"settled later", "", call.Attempts{}, []turn{later, stop}, 0, call.Settled, 2, time.Second, nil},
		{"one", "", call.Attempts{Max: 1}, []turn{later}, 0, call.UsedUp, 1, 0, server},
		{"unknown step", "a Next that is none stops", call.Attempts{}, []turn{{"", server}}, 0, call.Settled, 1, 0, server},
		{"stated", "is the least", call.Attempts{Max: 2}, []turn{stated(9 * time.Second)}, 0, call.UsedUp, 2, 9 * time.Second, nil},
		{"stated 0", "at once but for a tenth of the jitter: it is not missing (L03)", call.Attempts{Max: 2}, []turn{stated(0)}, 0, call.UsedUp, 2, 100 * time.Millisecond, nil},
		{"stated 60 s", "is waited (L03)", call.Attempts{Max: 2}, []turn{stated(time.Minute)}, 0, call.UsedUp, 2, time.Minute, nil},
		{"stated cap", "is waited", call.Attempts{Max: 2}, []turn{stated(2 * time.Minute)}, 0, call.UsedUp, 2, 2 * time.Minute, nil},
		{"stated beyond the cap", "nothing is waited (L03)", call.Attempts{}, []turn{stated(10 * time.Minute)}, 0, call.TooLong, 1, 0, call.ErrTooLong},
		{"own cap", "", call.Attempts{MaxWait: 5 * time.Second}, []turn{stated(6 * time.Second)}, 0, call.TooLong, 1, 0, call.ErrTooLong},
		{"stated, unusable", "the next follows at once", call.Attempts{Max: 2}, []turn{{call.Again, failed(time.Hour)}}, 0, call.UsedUp, 2, 0, nil},
		{"no time", "fails at once instead of waiting for the deadline", call.Attempts{}, []turn{stated(time.Minute)}, 30 * time.Second, call.NoTime, 1, 0, call.ErrNoTime},
		{"just no time", "a wait that ends with the deadline does not fit", call.Attempts{}, []turn{stated(time.Minute)}, time.Minute, call.NoTime, 1, 0, call.ErrNoTime},
		{"just time", "", call.Attempts{Max: 2}, []turn{stated(time.Minute)}, time.Minute + 1, call.UsedUp, 2, time.Minute, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.within > 0 {
					c, cancel := context.WithTimeout(ctx, tc.within)
					defer cancel()
					ctx = c
				}
				tc.a.Backoff.Rand = most
				require.NoError(t, tc.a.Check())
				start, made := time.Now(), 0
				end := tc.a.Do(ctx, func(n int) (call.Next, error) {
					made++
					assert.Equal(t, made, n)
					next := tc.turns[min(n, len(tc.turns))-1]
					return next.next, next.err
				})
				assert.Equal(t, tc.why, end.Why, tc.reason)
				assert.Equal(t, tc.attempts, end.Attempts, tc.reason)
				assert.Equal(t, tc.attempts, made)
				assert.Equal(t, tc.took, time.Since(start).Round(time.Microsecond), tc.reason)
				if tc.is != nil {
					assert.ErrorIs(t, end.Err, tc.is)
				}
			})
		})
	}
}

// TestCaseL03: the server's own words, never a shorter guess, and never a
// retry before its time.
func TestCaseL03(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := call.Attempts{}.Do(t.Context(), func(int) (call.Next, error) { return call.Later, failed(600 * time.Second) })
		assert.EqualError(t, end.Err, "call: the provider asks to wait too long: the server asked for 10m0s, and the most is 2m0s (MaxWait): server (HTTP 503): come back later")
		assert.Equal(t, 600*time.Second, end.Wait)

		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		end = call.Attempts{}.Do(ctx, func(int) (call.Next, error) { return call.Later, failed(time.Minute) })
		assert.EqualError(t, end.Err, "call: no time to wait: attempt 2 would come in 1m0s, and 50s are left: server (HTTP 503): come back later")
		assert.Equal(t, llm.KindServer, llm.KindOf(end.Err))
		assert.Equal(t, time.Minute, end.Wait)
		assert.Equal(t, 50*time.Second, end.Left)
	})
}

// TestCaseL13: twenty 502s without a Retry-After.
func TestCaseL13(t *testing.T) {
	bad := &llm.Error{Kind: llm.KindServer, Status: 502}
	synctest.Test(t, func(t *testing.T) {
		var longest time.Duration
		last := time.Now()
		begun := last
		end := call.Attempts{Max: 20, Backoff: call.Backoff{Rand: most}}.Do(t.Context(), func(int) (call.Next, error) {
			longest, last = max(longest, time.Since(last)), time.Now()
			return call.Later, bad
		})
		assert.Equal(t, call.UsedUp, end.Why)
		assert.Equal(t, 20, end.Attempts)
		assert.Equal(t, time.Minute, longest.Round(time.Microsecond), "the cap holds always")
		assert.Equal(t, (63+13*60)*time.Second, time.Since(begun).Round(time.Microsecond))
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		begun := time.Now()
		end := call.Attempts{Max: 20, Backoff: call.Backoff{Rand: most}}.Do(ctx, func(int) (call.Next, error) { return call.Later, bad })
		assert.Equal(t, call.NoTime, end.Why)
		assert.Equal(t, 243*time.Second, time.Since(begun).Round(time.Microsecond), "63 + 3 × 60 s, and the next would not fit")
		assert.ErrorIs(t, end.Err, bad)
	})
}

func TestAttemptsInterrupted(t *testing.T) {
	stopped := errors.New("stopped by the user")
	for _, tc := range []struct {
		name string
		at   time.Duration
		next call.Next
	}{
		{"during the wait", 10 * time.Second, call.Later},
		{"in the attempt", 0, call.Later},
		{"in an unusable one", 0, call.Again},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				start, cause := time.Now(), failed(time.Minute)
				end := call.Attempts{}.Do(ctx, func(int) (call.Next, error) {
					if tc.at == 0 {
						stop(stopped)
					} else {
						time.AfterFunc(tc.at, func() { stop(stopped) })
					}
					return tc.next, cause
				})
				assert.Equal(t, call.Interrupted, end.Why)
				assert.Equal(t, 1, end.Attempts)
				assert.ErrorIs(t, end.Err, stopped)
				assert.ErrorIs(t, end.Err, cause)
				assert.Equal(t, tc.at, time.Since(start))
			})
		})
	}
}

// TestAttemptsDeadlineInAttempt: nothing follows, whether the answer was
// unusable or the call failed.
func TestAttemptsDeadlineInAttempt(t *testing.T) {
	for _, next := range []call.Next{call.Again, call.Later} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			end := call.Attempts{Backoff: call.Backoff{Rand: least}}.Do(ctx, func(int) (call.Next, error) {
				time.Sleep(2 * time.Second)
				return next, nil
			})
			assert.Equal(t, call.NoTime, end.Why, next)
			assert.Equal(t, -time.Second, end.Left)
			assert.EqualError(t, end.Err, "call: no time to wait: attempt 2 would come in 0s, and 0s are left")
		})
	}
}

func TestAttemptsCheck(t *testing.T) {
	for _, tc := range []struct {
		a    call.Attempts
		want string
	}{
		{call.Attempts{Max: -1}, "Attempts.Max is -1; it must be at least 1, or 0 for the default of 3"},
		{call.Attempts{MaxWait: -1}, "Attempts.MaxWait is -1ns"},
		{call.Attempts{Backoff: call.Backoff{Max: -1}}, "Backoff.Max is -1ns"},
	} {
		assert.ErrorContains(t, tc.a.Check(), tc.want)
		assert.PanicsWithError(t, tc.a.Check().Error(), func() { tc.a.Do(t.Context(), nil) }, "refused with the value, before anything is called")
	}
}
