package call_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
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

// TestTries: what is kept of each physical call.
func TestTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		used := llm.Usage{Input: 10, Output: 1, Known: true}
		m := &llmtest.Model{
			Latency: func(n int, _ llm.Request) time.Duration { return time.Duration(n) * time.Second },
			Reply: func(n int, _ llm.Request) (llm.Response, error) {
				switch n {
				case 1:
					return llm.Response{}, &llm.Error{Kind: llm.KindRateLimit, Status: 429, RetryAfter: new(5 * time.Second), Usage: used,
						Message: "slow down, Bearer abcdefghijkl " + strings.Repeat("é", 1000)}
				}
				return llm.Response{Text: "18", Usage: used, CostUSD: "0.01", Model: "m", Replayed: true}, nil
			},
		}
		start := time.Now()
		var log, outer call.Tries
		ctx := call.WithTries(call.WithTries(t.Context(), &outer), &log)
		_, err := call.New(m, call.Config{}).Generate(ctx, llm.Prompt("?"))
		require.NoError(t, err)
		tries := log.All()
		require.Len(t, tries, 2)
		message := tries[0].Message
		tries[0].Message = ""
		assert.Equal(t, []call.Try{
			{Start: start, Duration: time.Second, Kind: llm.KindRateLimit, Status: 429, RetryAfter: new(5 * time.Second), Usage: used},
			{Start: start.Add(6 * time.Second), Waits: call.Waits{Pause: 5 * time.Second}, Duration: 2 * time.Second, Usage: used, CostUSD: "0.01", Model: "m", Replayed: true},
		}, tries)
		assert.NotContains(t, message, "abcdefghijkl")
		assert.Contains(t, message, "slow down")
		assert.Regexp(t, ` … \(\d+ bytes more\)$`, message)
		assert.LessOrEqual(t, len(message), 640)
		assert.Empty(t, outer.All(), "the nearest counts")
		tries[0].Kind = "changed"
		assert.NotEqual(t, tries, log.All(), "a copy")
	})
}

// TestTriesOnce: a physical call is logged by whoever is closest to it.
func TestTriesOnce(t *testing.T) {
	fine := llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) { return llm.Response{Text: "18"}, nil })
	ask := func(m llm.Model, times int) func(context.Context) (llm.Response, error) {
		return func(ctx context.Context) (resp llm.Response, err error) {
			for range times {
				resp, err = m.Generate(ctx, llm.Prompt("?"))
			}
			return resp, err
		}
	}
	model := call.New(fine, call.Config{})
	for _, tc := range []struct {
		name string
		try  func(context.Context) (llm.Response, error)
		want int
	}{
		{"an application's", ask(fine, 3), 1},
		{"a Model's", ask(model, 1), 1},
		{"a Model's several", ask(model, 3), 3},
		{"a Model in a Model", ask(call.New(model, call.Config{}), 1), 1},
		{"a Policy in a Policy", func(ctx context.Context) (llm.Response, error) { return call.Policy{}.Do(ctx, ask(fine, 1)) }, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log call.Tries
			ctx := call.WithTries(t.Context(), &log)
			_, err := call.Policy{Timeout: time.Minute}.Do(ctx, tc.try)
			require.NoError(t, err)
			assert.Len(t, log.All(), tc.want)
			_, err = call.Policy{}.Do(ctx, ask(fine, 1))
			require.NoError(t, err)
			assert.Len(t, log.All(), tc.want+1, "the next try of the same log is its own")
		})
	}
}

// TestCaseU12Tries: a connection that broke leaves the known usages known.
func TestCaseU12Tries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &llmtest.Model{Reply: func(n int, _ llm.Request) (llm.Response, error) {
			if n == 1 {
				return llm.Response{}, &llm.Error{Kind: llm.KindConnection, Err: errors.New("connection reset by peer")}
			}
			return llm.Response{Text: "18", Usage: llm.Usage{Input: 100, Output: 20, Known: true}}, nil
		}}
		model := call.New(m, call.Config{})
		var log call.Tries
		ctx := call.WithTries(t.Context(), &log)
		for range 3 { // rows
			call.Attempts{}.Do(ctx, func(int) (call.Next, error) {
				if _, err := model.Generate(ctx, llm.Prompt("?")); err != nil {
					return call.Later, err
				}
				return call.Stop, nil
			})
		}
		assert.Equal(t, llm.UsageTotal{Usage: llm.Usage{Input: 300, Output: 60, Known: true}, Calls: 4, Unknown: 1}, log.Usage())
	})
}

// TestTriesOfCrashes: a call that ends its goroutine was made, and may be
// billed.
func TestTriesOfCrashes(t *testing.T) {
	for name, crash := range map[string]func(){
		"panic":  func() { panic("boom") },
		"Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			budget, err := call.NewBudget(call.Caps{MaxTokens: 100})
			require.NoError(t, err)
			var log call.Tries
			m := call.New(llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
				crash()
				return llm.Response{}, nil
			}), call.Config{Budget: budget})
			var wait sync.WaitGroup
			wait.Go(func() {
				defer func() { _ = recover() }()
				_, _ = call.Policy{}.Do(call.WithTries(t.Context(), &log), func(ctx context.Context) (llm.Response, error) {
					return m.Generate(ctx, llm.Prompt("?"))
				})
			})
			wait.Wait()
			require.Len(t, log.All(), 1)
			assert.Equal(t, llm.KindPanic, log.All()[0].Kind)
			assert.Equal(t, 1, budget.Spent().Calls)
			assert.Equal(t, 1, budget.Spent().UnknownTokens)
		})
	}
}

// TestTriesAbandon: whoever gives up waiting for a call that ignores its context
// gives its slot back, and the call is in the log, once.
func TestTriesAbandon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scope := call.NewScope(call.Limits{Concurrency: 1})
		deaf := call.New(llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
			time.Sleep(time.Hour)
			return llm.Response{Usage: llm.Usage{Input: 9, Known: true}}, nil
		}), call.Config{Scope: scope})
		var log call.Tries
		done := make(chan error)
		go func() {
			_, err := call.Policy{Scope: scope}.Do(call.WithTries(t.Context(), &log), func(ctx context.Context) (llm.Response, error) {
				return deaf.Generate(ctx, llm.Prompt("?"))
			})
			done <- err
		}()
		time.Sleep(time.Minute)
		assert.Equal(t, 1, scope.Stats().InFlight)
		log.Abandon(&llm.Error{Kind: llm.KindTimeout, Err: errors.New("nobody waits")})
		log.Abandon(nil)
		assert.Equal(t, 0, scope.Stats().InFlight)
		want := log.All()
		require.Len(t, want, 1)
		assert.Equal(t, time.Minute, want[0].Duration)
		assert.Equal(t, llm.KindTimeout, want[0].Kind)
		assert.Contains(t, want[0].Message, "nobody waits")
		require.NoError(t, <-done)
		assert.Equal(t, want, log.All(), "what it comes to later is not logged")
		assert.Equal(t, 0, scope.Stats().InFlight, "nothing is given back twice")
	})
}

// TestTriesOfNothing: a call that was not made is none.
func TestTriesOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log call.Tries
		m := call.New(script(nil), call.Config{})
		_, err := call.Policy{Timeout: time.Second}.Do(call.WithTries(t.Context(), &log), func(ctx context.Context) (llm.Response, error) {
			<-ctx.Done() // work that took too long
			return m.Generate(ctx, llm.Prompt("?"))
		})
		assert.ErrorIs(t, err, call.ErrAttemptTimeout)
		require.Len(t, log.All(), 1)
		assert.True(t, log.All()[0].Unsent)
	})
}
