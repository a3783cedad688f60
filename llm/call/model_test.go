package call_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
)

// TestModelConformance: wrapped, a Model keeps what a Model promises.
func TestModelConformance(t *testing.T) {
	for name, c := range map[string]call.Config{
		"zero":        {},
		"limited":     {Scope: call.NewScope(call.Limits{Concurrency: 3, RPM: 600_000, TPM: 60_000_000})},
		"no timeout":  {Timeout: -1},
		"one at once": {Scope: call.NewScope(call.Limits{Concurrency: 1})},
	} {
		t.Run(name, func(t *testing.T) {
			llmtest.Run(t, func(*testing.T) llm.Model { return call.New(&llmtest.Model{Log: true}, c) })
		})
	}
	t.Run("twice", func(t *testing.T) {
		llmtest.Run(t, func(*testing.T) llm.Model {
			c := call.Config{Scope: call.NewScope(call.Limits{Concurrency: 1})}
			return call.New(call.New(&llmtest.Model{Log: true}, c), c)
		})
	})
}

// script answers the n-th call with the n-th error; the last is repeated.
func script(errs ...error) *llmtest.Model {
	return &llmtest.Model{Reply: func(n int, _ llm.Request) (llm.Response, error) {
		return llm.Response{Text: fmt.Sprint(n)}, errs[min(n, len(errs))-1]
	}}
}

func limited(after time.Duration) error {
	return &llm.Error{Kind: llm.KindRateLimit, Status: 429, RetryAfter: new(after), Message: "slow down"}
}

func TestModel(t *testing.T) {
	server := &llm.Error{Kind: llm.KindServer, Status: 500}
	for _, tc := range []struct {
		name, reason string
		config       call.Config
		errs         []error
		within       time.Duration
		calls        int
		took         time.Duration
		kind         llm.ErrorKind
		is           error
	}{
		{"well", "", call.Config{}, []error{nil}, 0, 1, 0, "", nil},
		{"busy once", "the pause, and nothing beside it", call.Config{}, []error{limited(3 * time.Second), nil}, 0, 2, 3 * time.Second, "", nil},
		{"busy for good", "the last try does not wait out the pause", call.Config{Tries: 3}, []error{limited(time.Second)}, 0, 3, 2 * time.Second, llm.KindRateLimit, call.ErrBusy},
		{"server error", "is the attempt loop's", call.Config{}, []error{server}, 0, 1, 0, llm.KindServer, server},
		{"busy, then a server error", "", call.Config{}, []error{limited(time.Second), server}, 0, 2, time.Second, llm.KindServer, server},
		{"too long", "the server's words at once", call.Config{}, []error{limited(time.Hour)}, 0, 1, 0, llm.KindRateLimit, call.ErrTooLong},
		{"no time", "", call.Config{}, []error{limited(time.Minute)}, 30 * time.Second, 1, 0, llm.KindRateLimit, call.ErrNoTime},
		{"no money", "is a 429 too (L01)", call.Config{}, []error{&llm.Error{Kind: llm.KindBalance, Status: 429}}, 0, 1, 0, llm.KindBalance, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tc.within > 0 {
					c, cancel := context.WithTimeout(ctx, tc.within)
					defer cancel()
					ctx = c
				}
				inner := script(tc.errs...)
				var log call.Tries
				start := time.Now()
				resp, err := call.New(inner, tc.config).Generate(call.WithTries(ctx, &log), llm.Prompt("?"))
				assert.Equal(t, tc.calls, inner.Calls(), tc.reason)
				assert.Equal(t, tc.took, time.Since(start), tc.reason)
				assert.Equal(t, tc.kind, llm.KindOf(err))
				assert.Equal(t, fmt.Sprint(tc.calls), resp.Text, "the last call's response")
				if tc.is != nil {
					assert.ErrorIs(t, err, tc.is)
				}
				sent := 0
				for _, try := range log.All() {
					if !try.Unsent {
						sent++
					}
				}
				assert.Equal(t, tc.calls, sent, "every physical call is logged")
			})
		})
	}
}

// TestModelFailsFast: a bad key stops the scope; the calls after it are not
// made.
func TestModelFailsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := script(&llm.Error{Kind: llm.KindAuth, Status: 401, Message: "bad key"})
		m := call.New(inner, call.Config{})
		for range 100 {
			_, err := m.Generate(t.Context(), llm.Prompt("?"))
			require.Equal(t, llm.KindAuth, llm.KindOf(err))
			require.ErrorContains(t, err, "bad key")
		}
		assert.Equal(t, 1, inner.Calls())
	})
}

// TestModelClassifies: a Model on somebody's own SDK.
func TestModelClassifies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := script(errors.New("HTTP 429 Too Many Requests"), errors.New("HTTP 429 Too Many Requests"), nil)
		resp, err := call.New(inner, call.Config{}).Generate(t.Context(), llm.Prompt("?"))
		require.NoError(t, err)
		assert.Equal(t, "3", resp.Text)
	})
}

// TestModelPanics: the slot comes back.
func TestModelPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		m := call.New(llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
			if first {
				first = false
				panic("boom")
			}
			return llm.Response{Text: "ok"}, nil
		}), call.Config{Scope: call.NewScope(call.Limits{Concurrency: 1})})
		assert.PanicsWithValue(t, "boom", func() { _, _ = m.Generate(t.Context(), llm.Prompt("?")) })
		resp, err := m.Generate(t.Context(), llm.Prompt("?"))
		require.NoError(t, err)
		assert.Equal(t, "ok", resp.Text)
	})
}

// TestModelInAttempt: what a Model waits for its turn does not count for the
// attempt it is part of, however the strategy derives its contexts.
func TestModelInAttempt(t *testing.T) {
	for _, tc := range []struct {
		name   string
		limits call.Limits
		errs   []error
		waits  time.Duration
	}{
		{"a pause", call.Limits{}, []error{limited(time.Minute), nil}, time.Minute},
		{"a slot", call.Limits{Concurrency: 1}, []error{nil}, 90 * time.Second},
		{"requests a minute", call.Limits{RPM: 1}, []error{nil}, time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				scope := call.NewScope(tc.limits)
				if tc.errs[0] == nil { // another call is before it
					slow := call.New(&llmtest.Model{Latency: func(int, llm.Request) time.Duration { return 90 * time.Second }}, call.Config{Scope: scope})
					go slow.Generate(t.Context(), llm.Prompt("?"))
					synctest.Wait()
				}
				inner := script(tc.errs...)
				inner.Latency = func(int, llm.Request) time.Duration { return 900 * time.Millisecond }
				m := call.New(inner, call.Config{Scope: scope})
				item := call.Until(t.Context(), time.Now().Add(5*time.Minute))
				defer item.Cancel()
				var log call.Tries
				start := time.Now()
				resp, err := call.Policy{Timeout: 2 * time.Second}.Do(call.WithTries(item, &log), func(ctx context.Context) (llm.Response, error) {
					ctx, cancel := context.WithCancel(context.WithValue(ctx, valueKey{}, 1))
					defer cancel()
					return m.Generate(ctx, llm.Prompt("?"))
				})
				require.NoError(t, err)
				assert.Equal(t, fmt.Sprint(len(tc.errs)), resp.Text)
				took := time.Duration(len(tc.errs)) * 900 * time.Millisecond
				assert.Equal(t, tc.waits+took, time.Since(start))
				tries := log.All()
				require.Len(t, tries, len(tc.errs), "the Policy logs none of its own")
				assert.Equal(t, tc.waits, tries[len(tries)-1].Waits.Total())
			})
		})
	}
}

// TestModelInAttemptHangs: one of two parallel calls waits for its turn while
// the other hangs: the item's time ends it.
func TestModelInAttemptHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scope := call.NewScope(call.Limits{Concurrency: 1})
		m := call.New(&llmtest.Model{Latency: func(int, llm.Request) time.Duration { return 24 * time.Hour }}, call.Config{Scope: scope, Timeout: -1})
		item := call.Until(t.Context(), time.Now().Add(time.Minute))
		defer item.Cancel()
		start := time.Now()
		_, err := call.Policy{Timeout: 2 * time.Second}.Do(item, func(ctx context.Context) (llm.Response, error) {
			done := make(chan error, 2)
			for range 2 {
				go func() {
					_, err := m.Generate(ctx, llm.Prompt("?"))
					done <- err
				}()
			}
			return llm.Response{}, errors.Join(<-done, <-done)
		})
		assert.ErrorIs(t, err, call.ErrItemTimeout)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

// TestOneScopeInsideItself: a Policy around a Model of the same Scope counts a
// call once and does not wait for itself.
func TestOneScopeInsideItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scope := call.NewScope(call.Limits{Concurrency: 1, RPM: 60})
		inner := script(nil, limited(3*time.Second), nil)
		m := call.New(inner, call.Config{Scope: scope})
		var log call.Tries
		start := time.Now()
		policy := call.Policy{Scope: scope, Timeout: time.Minute}
		resp, err := policy.Do(call.WithTries(t.Context(), &log), func(ctx context.Context) (llm.Response, error) {
			if _, err := m.Generate(ctx, llm.Prompt("a")); err != nil {
				return llm.Response{}, err
			}
			return m.Generate(ctx, llm.Prompt("b")) // has to ask itself
		})
		require.NoError(t, err)
		assert.Equal(t, "3", resp.Text)
		assert.Len(t, log.All(), 3)
		assert.Equal(t, 4*time.Second, time.Since(start), "a second between the two, three of the pause")
	})
}

func TestModelMisuse(t *testing.T) {
	assert.PanicsWithValue(t, "call.New: the model is nil", func() { call.New(nil, call.Config{}) })
	assert.PanicsWithError(t, "call: Config.Tries is -1; it must be at least 1, or 0 for the default of 20", func() { call.New(script(nil), call.Config{Tries: -1}) })
}

type named struct{ llm.Model }

func (named) Name() string { return "gpt-x" }

func TestModelName(t *testing.T) {
	scope := call.NewScope(call.Limits{})
	m := call.New(named{script(nil)}, call.Config{Scope: scope})
	assert.Equal(t, "gpt-x", m.String())
	assert.Equal(t, "gpt-x", call.New(m, call.Config{}).String())
	assert.Equal(t, "llmtest.Model", call.New(script(nil), call.Config{}).String())
	assert.Same(t, scope, m.Scope())
}

// TestThousandCalls: 1,000 calls of 200 ms, 250 at once, take four times 200
// ms, to the nanosecond.
func TestThousandCalls(t *testing.T) {
	for name, limits := range map[string]call.Limits{
		"workers": {}, // 250 of them
		"slots":   {Concurrency: 250},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				workers := 250
				if limits.Concurrency > 0 {
					workers = 1000
				}
				m := call.New(&llmtest.Model{Latency: func(int, llm.Request) time.Duration { return 200 * time.Millisecond }},
					call.Config{Scope: call.NewScope(limits)})
				assert.Equal(t, 800*time.Millisecond, inFlight(t.Context(), m, 1000, workers))
			})
		})
	}
}
