package call_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
)

// long is a request of about n tokens, its answer included.
func long(n int) llm.Request {
	r := llm.Prompt(strings.Repeat("four", n-100))
	r.MaxOutputTokens = new(int64(100))
	return r
}

// TestCaseL11WithinAPolicy: the size of a request counts whoever asks the scope:
// a Policy that was told, or a Model of the same scope inside it.
func TestCaseL11WithinAPolicy(t *testing.T) {
	fake := &llmtest.Model{}
	for _, tc := range []struct {
		name, reason string
		generate     func(s *call.Scope) func(context.Context, llm.Request) error
	}{
		{"announced", "the code inside says what it will ask", func(*call.Scope) func(context.Context, llm.Request) error {
			return func(ctx context.Context, req llm.Request) error {
				if err := call.Announce(ctx, req); err != nil {
					return err
				}
				_, err := fake.Generate(ctx, req)
				return err
			}
		}},
		{"model of the scope", "says so by itself", func(s *call.Scope) func(context.Context, llm.Request) error {
			m := call.New(fake, call.Config{Scope: s})
			return func(ctx context.Context, req llm.Request) error { _, err := m.Generate(ctx, req); return err }
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := call.NewScope(call.Limits{TPM: 10_000, Concurrency: 1})
				generate, before := tc.generate(s), fake.Calls()
				var tries call.Tries
				policy := call.Policy{Scope: s, Timeout: time.Second}
				ask := func(n int) error {
					_, err := policy.Do(call.WithTries(t.Context(), &tries), func(ctx context.Context) (llm.Response, error) {
						return llm.Response{}, generate(ctx, long(n))
					})
					return err
				}
				err := ask(12_000)
				require.ErrorIs(t, err, call.ErrTooLarge, tc.reason)
				assert.ErrorContains(t, err, "limit 10000/min")
				assert.Equal(t, before, fake.Calls(), "nothing was sent")
				require.Len(t, tries.All(), 1)
				assert.True(t, tries.All()[0].Unsent)

				start := time.Now()
				require.NoError(t, ask(8_000))
				require.NoError(t, ask(8_000), "longer than its Timeout in line")
				assert.Greater(t, time.Since(start), 30*time.Second, "the second one waits for its tokens")
				all := tries.All()
				last := all[len(all)-1]
				assert.Greater(t, last.Waits.Limit, 30*time.Second)
				assert.Less(t, last.Duration, time.Second)
				assert.Zero(t, s.Stats().InFlight)
			})
		})
	}
}

// TestAnnounceOutside: without a scope around there is nobody to tell.
func TestAnnounceOutside(t *testing.T) {
	assert.NoError(t, call.Announce(t.Context(), long(1_000_000)))
	_, err := call.Policy{}.Do(t.Context(), func(ctx context.Context) (llm.Response, error) {
		return llm.Response{}, call.Announce(ctx, long(1_000_000))
	})
	assert.NoError(t, err)
}

// TestAnnounceEstimatePanics: the user's function costs no slot.
func TestAnnounceEstimatePanics(t *testing.T) {
	s := call.NewScope(call.Limits{TPM: 1000, Concurrency: 1, Estimate: func(r llm.Request) int64 {
		if len(r.Messages) > 0 {
			panic("no tokenizer")
		}
		return 1
	}})
	assert.Panics(t, func() {
		_, _ = call.Policy{Scope: s}.Do(t.Context(), func(ctx context.Context) (llm.Response, error) {
			return llm.Response{}, call.Announce(ctx, long(200))
		})
	})
	assert.Zero(t, s.Stats().InFlight)
}

// TestAnnounceInside: a Policy without a scope is in nobody's way.
func TestAnnounceInside(t *testing.T) {
	_, err := call.Policy{Scope: call.NewScope(call.Limits{TPM: 1000})}.Do(t.Context(), func(ctx context.Context) (llm.Response, error) {
		return call.Policy{}.Do(ctx, func(ctx context.Context) (llm.Response, error) {
			return llm.Response{}, call.Announce(ctx, long(2000))
		})
	})
	assert.ErrorIs(t, err, call.ErrTooLarge)
}
