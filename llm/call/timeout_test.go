package call_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// TestTimeoutNames: every timeout says whose time was up.
func TestTimeoutNames(t *testing.T) {
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	asClient := func(ctx context.Context) error {
		<-ctx.Done()
		return &llm.Error{Kind: llm.KindOf(ctx.Err()), Provider: "p", Usage: llm.Usage{Input: 7, Known: true}, Err: ctx.Err()}
	}
	broken := func(ctx context.Context) error { <-ctx.Done(); return io.ErrUnexpectedEOF }
	opaque := func(ctx context.Context) error { <-ctx.Done(); return errors.New("it failed") }
	const none = time.Duration(0)
	for _, tc := range []struct {
		name, reason       string
		run, item, attempt time.Duration
		call               func(context.Context) error
		want               error // nil for no name
		kind               llm.ErrorKind
		took               time.Duration
		text               string
	}{
		{"attempt", "", time.Hour, time.Minute, time.Second, hangs, call.ErrAttemptTimeout, llm.KindTimeout, time.Second,
			"timeout: call: the attempt's time was up (1s): context deadline exceeded"},
		{"attempt, of a client", "its words stay", time.Hour, time.Minute, time.Second, asClient, call.ErrAttemptTimeout, llm.KindTimeout, time.Second,
			"p: timeout: call: the attempt's time was up (1s): context deadline exceeded"},
		{"attempt, a broken body", "whatever broke, the end of its time is why", time.Hour, time.Minute, time.Second, broken, call.ErrAttemptTimeout, llm.KindTimeout, time.Second, ""},
		{"attempt, an opaque error", "", time.Hour, time.Minute, time.Second, opaque, call.ErrAttemptTimeout, llm.KindTimeout, time.Second, ""},
		{"item", "", time.Hour, time.Second, time.Minute, asClient, call.ErrItemTimeout, llm.KindTimeout, time.Second,
			"p: timeout: call: the item's time was up: context deadline exceeded"},
		{"item, no attempt's", "", time.Hour, time.Second, none, hangs, call.ErrItemTimeout, llm.KindTimeout, time.Second, ""},
		{"run", "", time.Second, time.Minute, time.Minute, hangs, call.ErrRunTimeout, llm.KindTimeout, time.Second,
			"timeout: call: the run's time was up: context deadline exceeded"},
		{"run without an item", "the caller's", time.Second, none, time.Minute, hangs, call.ErrRunTimeout, llm.KindTimeout, time.Second, ""},
		{"all at once", "the furthest out counts", time.Second, time.Second, time.Second, hangs, call.ErrRunTimeout, llm.KindTimeout, time.Second, ""},
		{"another failure late", "a server error has a cause of its own", time.Hour, time.Minute, time.Second, func(ctx context.Context) error {
			<-ctx.Done()
			return &llm.Error{Kind: llm.KindServer}
		}, nil, llm.KindServer, time.Second, ""},
		{"a client's own timeout", "nobody's time was up", time.Hour, time.Minute, time.Minute, func(context.Context) error {
			return &llm.Error{Kind: llm.KindTimeout, Message: "no header in 5 s"}
		}, nil, llm.KindTimeout, 0, "timeout: no header in 5 s"},
		{"a deadline of the strategy's", "it is none of the three", time.Hour, time.Minute, time.Minute, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return hangs(ctx)
		}, nil, llm.KindTimeout, time.Second, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), tc.run)
				defer stop()
				if tc.item > 0 {
					item := call.Until(ctx, time.Now().Add(tc.item))
					defer item.Cancel()
					ctx = item
				}
				start := time.Now()
				ctx = context.WithValue(ctx, valueKey{}, 1)
				_, err := call.Policy{Timeout: tc.attempt}.Do(ctx, func(ctx context.Context) (llm.Response, error) {
					return llm.Response{}, tc.call(ctx)
				})
				require.Error(t, err)
				assert.Equal(t, tc.took, time.Since(start))
				assert.Equal(t, tc.kind, llm.KindOf(err), tc.reason)
				if tc.text != "" {
					assert.EqualError(t, err, tc.text)
				}
				for _, which := range []error{call.ErrAttemptTimeout, call.ErrItemTimeout, call.ErrRunTimeout} {
					assert.Equal(t, tc.want == which, errors.Is(err, which), "%v: %s", which, tc.reason)
				}
				if tc.want != nil {
					assert.ErrorIs(t, err, context.DeadlineExceeded)
				}
			})
		})
	}
}

// TestTimeoutOfAModel: the call's own time, and what is above it.
func TestTimeoutOfAModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := script(nil)
		m.Latency = func(int, llm.Request) time.Duration { return time.Hour }
		item := call.Until(t.Context(), time.Now().Add(10*time.Minute))
		defer item.Cancel()
		_, err := call.New(m, call.Config{}).Generate(item, llm.Prompt("?"))
		assert.ErrorIs(t, err, call.ErrAttemptTimeout)
		assert.ErrorContains(t, err, "2m0s")
		_, err = call.New(m, call.Config{Timeout: -1}).Generate(item, llm.Prompt("?"))
		assert.ErrorIs(t, err, call.ErrItemTimeout)
		start := time.Now()
		_, err = call.New(m, call.Config{}).Generate(item, llm.Prompt("?"))
		assert.ErrorIs(t, err, call.ErrItemTimeout, "not even started")
		assert.Zero(t, time.Since(start))
		assert.Equal(t, 2, m.Calls())
	})
}

// TestTimeoutInLine: the item's time is up while a call waits for its turn.
func TestTimeoutInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scope := call.NewScope(call.Limits{Concurrency: 1})
		m := script(nil)
		m.Latency = func(int, llm.Request) time.Duration { return time.Minute }
		model := call.New(m, call.Config{Scope: scope})
		go model.Generate(t.Context(), llm.Prompt("?"))
		synctest.Wait()
		item := call.Until(t.Context(), time.Now().Add(10*time.Second))
		defer item.Cancel()
		var log call.Tries
		_, err := model.Generate(call.WithTries(item, &log), llm.Prompt("?"))
		assert.ErrorIs(t, err, call.ErrItemTimeout)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, llm.KindTimeout, llm.KindOf(err))
		assert.ErrorContains(t, err, "in line for 10s")
		tries := log.All()
		require.Len(t, tries, 1)
		assert.True(t, tries[0].Unsent)
		assert.Equal(t, 10*time.Second, tries[0].Waits.Slot)
		assert.Zero(t, log.Usage().Calls)
	})
}

// TestTimeoutDefaults: a Policy and a Model mean the same by 0 and by less.
func TestTimeoutDefaults(t *testing.T) {
	hangs := func(ctx context.Context) (llm.Response, error) {
		<-ctx.Done()
		return llm.Response{}, ctx.Err()
	}
	for _, tc := range []struct {
		name, reason string
		timeout      time.Duration
		want         time.Duration
		err          error
	}{
		{"unset", "nothing that hangs does so for ever", 0, call.DefaultTimeout, call.ErrAttemptTimeout},
		{"set", "", time.Second, time.Second, call.ErrAttemptTimeout},
		{"none", "only the item's time counts", -1, time.Hour, call.ErrItemTimeout},
	} {
		for who, do := range map[string]func(context.Context) error{
			"policy": func(ctx context.Context) error {
				_, err := call.Policy{Timeout: tc.timeout}.Do(ctx, hangs)
				return err
			},
			"model": func(ctx context.Context) error {
				m := llm.ModelFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) { return hangs(ctx) })
				_, err := call.New(m, call.Config{Timeout: tc.timeout}).Generate(ctx, llm.Prompt("?"))
				return err
			},
		} {
			t.Run(tc.name+", "+who, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begun := time.Now()
					item := call.Until(t.Context(), begun.Add(time.Hour))
					defer item.Cancel()
					require.ErrorIs(t, do(item), tc.err, tc.reason)
					assert.Equal(t, tc.want, time.Since(begun), tc.reason)
				})
			})
		}
	}
}
