package call_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

func TestBackoffWait(t *testing.T) {
	least := func() float64 { return 0 }
	most := func() float64 { return math.Nextafter(1, 0) }
	for _, tc := range []struct {
		name, reason string
		b            call.Backoff
		n            int
		after        time.Duration
		want         time.Duration // to the microsecond
	}{
		{"first", "up to a second", call.Backoff{Rand: most}, 1, 0, time.Second},
		{"doubles", "", call.Backoff{Rand: most}, 2, 0, 2 * time.Second},
		{"sixth", "2⁵ s", call.Backoff{Rand: most}, 6, 0, 32 * time.Second},
		{"capped", "64 s would be more than a minute", call.Backoff{Rand: most}, 7, 0, time.Minute},
		{"far", "nothing overflows", call.Backoff{Rand: most}, 1 << 40, 0, time.Minute},
		{"huge", "nor with a cap near the largest duration", call.Backoff{First: 1, Max: math.MaxInt64, Rand: least}, 500, 0, 0},
		{"full jitter", "from zero on", call.Backoff{Rand: least}, 5, 0, 0},
		{"own bounds", "", call.Backoff{First: time.Minute, Max: 90 * time.Second, Rand: most}, 2, 0, 90 * time.Second},
		{"first above max", "max wins", call.Backoff{First: time.Hour, Max: time.Second, Rand: most}, 1, 0, time.Second},
		{"Retry-After", "the least, whatever Max says", call.Backoff{Rand: least}, 1, time.Hour, time.Hour},
		{"short Retry-After", "several that were told the same still spread", call.Backoff{Rand: most}, 6, time.Second, 32 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.b.Wait(tc.n, tc.after).Round(time.Microsecond), tc.reason)
		})
	}
}

func TestBackoffIsRandom(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		d := call.Backoff{}.Wait(1, 0)
		assert.GreaterOrEqual(t, d, time.Duration(0))
		assert.Less(t, d, time.Second)
		seen[d] = true
	}
	assert.Greater(t, len(seen), 90)
}

func TestPolicyDo(t *testing.T) {
	busy := func(after time.Duration) error {
		return &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(after), Message: "slow down"}
	}
	silent := &llm.Error{Kind: llm.KindRateLimit, Message: "slow down"}
	for _, tc := range []struct {
		name, reason string
		policy       call.Policy
		errs         []error // of the tries; the last is repeated
		deadline     time.Duration
		tries        int
		took         time.Duration
		is           error
		kind         llm.ErrorKind
	}{
		{"well", "", call.Policy{}, []error{nil}, 0, 1, 0, nil, ""},
		{"busy once", "what the server asked for, and not more", call.Policy{}, []error{busy(3 * time.Second), nil}, 0, 2, 3 * time.Second, nil, ""},
		{"busy without a word", "0.5 + 1 s", call.Policy{}, []error{silent, silent, nil}, 0, 3, 1500 * time.Millisecond, nil, ""},
		{"busy, come at once", "a tenth of the jitter: 0.05 + 0.1 s (L03)", call.Policy{}, []error{busy(0), busy(0), nil}, 0, 3, 150 * time.Millisecond, nil, ""},
		{"longest wait", "exactly as long as is allowed (L03)", call.Policy{}, []error{busy(2 * time.Minute), nil}, 0, 2, 2 * time.Minute, nil, ""},
		{"too long a wait", "the server's words, not a shorter guess (L03)", call.Policy{}, []error{busy(2*time.Minute + 1)}, 0, 1, 0, call.ErrTooLong, llm.KindRateLimit},
		{"own longest wait", "", call.Policy{MaxWait: time.Hour}, []error{busy(time.Hour), nil}, 0, 2, time.Hour, nil, ""},
		{"busy for good", "no wait after the last try", call.Policy{Tries: 3}, []error{busy(time.Second)}, 0, 3, 2 * time.Second, call.ErrBusy, llm.KindRateLimit},
		{"one try", "", call.Policy{Tries: 1}, []error{busy(time.Second)}, 0, 1, 0, call.ErrBusy, llm.KindRateLimit},
		{"no time", "fails at once instead of waiting for the deadline", call.Policy{}, []error{busy(time.Minute)}, 30 * time.Second, 1, 0, call.ErrNoTime, llm.KindRateLimit},
		{"another error", "is not ours to try again", call.Policy{}, []error{busy(time.Second), &llm.Error{Kind: llm.KindServer}}, 0, 2, time.Second, nil, llm.KindServer},
		{"no money", "is a 429 too, and no rate limit (L01)", call.Policy{}, []error{&llm.Error{Kind: llm.KindBalance, Status: 429}}, 0, 1, 0, nil, llm.KindBalance},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.deadline > 0 {
					c, cancel := context.WithTimeout(ctx, tc.deadline)
					defer cancel()
					ctx = c
				}
				tc.policy.Backoff.Rand = func() float64 { return 0.5 }
				require.NoError(t, tc.policy.Check())
				tries, start := 0, time.Now()
				resp, err := tc.policy.Do(ctx, func(context.Context) (llm.Response, error) {
					tries++
					return llm.Response{Text: fmt.Sprint(tries)}, tc.errs[min(tries, len(tc.errs))-1]
				})
				assert.Equal(t, tc.tries, tries, tc.reason)
				assert.Equal(t, tc.took, time.Since(start), tc.reason)
				assert.Equal(t, fmt.Sprint(tries), resp.Text, "the last try's response")
				assert.Equal(t, tc.kind, llm.KindOf(err))
				if tc.is != nil {
					assert.ErrorIs(t, err, tc.is)
					assert.ErrorContains(t, err, "slow down")
				}
			})
		})
	}
}

func TestPolicyTimeoutIsATrys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := call.Policy{Timeout: 2 * time.Second}
		tries := 0
		_, err := p.Do(t.Context(), func(ctx context.Context) (llm.Response, error) {
			if tries++; tries == 1 {
				return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(time.Minute)}
			}
			end, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.Equal(t, 2*time.Second, time.Until(end), "waiting does not use it up")
			<-ctx.Done()
			return llm.Response{}, ctx.Err()
		})
		assert.Equal(t, llm.KindTimeout, llm.KindOf(err))
	})
}

// TestPolicyNested: a Model that tries again by itself, under a run that does
// too, must not be asked 3 × 20 times.
func TestPolicyNested(t *testing.T) {
	busy := &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(time.Second)}
	for _, tc := range []struct {
		name   string
		within time.Duration
		tries  int
		is     error
	}{
		{"busy for good", time.Hour, 3, call.ErrBusy},
		{"no time", 1500 * time.Millisecond, 2, call.ErrNoTime},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				_, err := call.Policy{}.Do(t.Context(), func(ctx context.Context) (llm.Response, error) {
					ctx, cancel := context.WithTimeout(ctx, tc.within)
					defer cancel()
					return call.Policy{Tries: 3}.Do(ctx, func(context.Context) (llm.Response, error) {
						tries++
						return llm.Response{}, busy
					})
				})
				assert.Equal(t, tc.tries, tries)
				assert.ErrorIs(t, err, tc.is)
				assert.Equal(t, llm.KindRateLimit, llm.KindOf(err))
			})
		})
	}
}

func TestPolicyCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		_, err := call.Policy{}.Do(ctx, func(context.Context) (llm.Response, error) {
			return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(time.Minute)}
		})
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, llm.KindCanceled, llm.KindOf(err), "not the rate limit that it waited for")
		assert.Equal(t, time.Second, time.Since(start))
	})
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		p    call.Policy
		want string
	}{
		{call.Policy{Tries: -1}, "Tries is -1; it must be at least 1, or 0 for the default of 20"},
		{call.Policy{MaxWait: -time.Second}, "MaxWait is -1s"},
		{call.Policy{Backoff: call.Backoff{First: -1}}, "Backoff.First is -1ns"},
		{call.Policy{Backoff: call.Backoff{Max: -1}}, "Backoff.Max is -1ns"},
	} {
		assert.ErrorContains(t, tc.p.Check(), tc.want)
		assert.PanicsWithError(t, tc.p.Check().Error(), func() { _, _ = tc.p.Do(t.Context(), nil) }, "refused with the value, before anything is called")
	}
}
