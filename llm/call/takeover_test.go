package call

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
)

// A Policy's leave goes to the first call inside it. TestLateTakeover: that call
// may come long after, and what has happened since counts.
func TestLateTakeover(t *testing.T) {
	begun := time.Time{}
	// inside works until then, and calls.
	inside := func(ctx context.Context, p Policy, m *Model, until time.Duration) error {
		_, err := p.Do(ctx, func(ctx context.Context) (llm.Response, error) {
			if err := sleep(ctx, until-time.Since(begun)); err != nil {
				return llm.Response{}, err
			}
			return m.Generate(ctx, llm.Prompt("?"))
		})
		return err
	}
	t.Run("a pause began", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := NewScope(Limits{Concurrency: 2})
			begun = time.Now()
			log := &starts{begun: begun}
			m := New(llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
				log.now()
				return llm.Response{}, nil
			}), Config{Scope: s})
			g := mustAdmit(t, s, 0)
			time.AfterFunc(time.Second, func() { g.end(bad(busy(seconds(30)))) })
			var tries Tries
			require.NoError(t, inside(WithTries(t.Context(), &tries), Policy{Scope: s, Timeout: 3 * time.Second}, m, 2*time.Second))
			assert.Equal(t, []time.Duration{31 * time.Second}, log.at, "not before the server wants it")
			require.Len(t, tries.All(), 1)
			assert.Equal(t, 29*time.Second, tries.All()[0].Waits.Pause)
			assert.Equal(t, int64(2), s.Stats().Starts, "one call, counted once")
		})
	})
	t.Run("the minute went on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := NewScope(Limits{RPM: 60, Concurrency: 100})
			begun = time.Now()
			log := &starts{begun: begun}
			m := New(llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
				log.now()
				return llm.Response{}, nil
			}), Config{Scope: s})
			done := make(chan error)
			for range 60 {
				go func() { done <- inside(t.Context(), Policy{Scope: s}, m, time.Minute) }()
			}
			for range 60 {
				require.NoError(t, <-done)
			}
			for range 60 {
				g := mustAdmit(t, s, 0)
				log.now()
				g.end(good(1, 1))
			}
			assert.LessOrEqual(t, most(log.at, time.Minute), 60, "it is counted when it is made")
		})
	})
	t.Run("it is larger than was thought (L11)", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := NewScope(Limits{TPM: 10_000, Estimate: func(r llm.Request) int64 {
				if len(r.Messages) == 0 {
					return 100
				}
				return 12_000
			}})
			m := New(llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
				t.Error("called")
				return llm.Response{}, nil
			}), Config{Scope: s})
			err := inside(t.Context(), Policy{Scope: s}, m, 0)
			assert.ErrorIs(t, err, ErrTooLarge)
			assert.ErrorContains(t, err, "request needs 12000 tokens, limit 10000/min")
			assert.Zero(t, s.Stats().InFlight)
			assert.Zero(t, s.Stats().Starts)
		})
	})
	t.Run("its place is kept", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := NewScope(Limits{TPM: 600})
			var order []string
			m := New(llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
				order = append(order, "inside")
				return llm.Response{}, nil
			}), Config{Scope: s})
			done := make(chan error, 1)
			begun = time.Now()
			go func() { done <- inside(t.Context(), Policy{Scope: s}, m, time.Second) }()
			synctest.Wait()
			later := make(chan *grant)
			go func() { // in line by then
				g := mustAdmit(t, s, 600)
				order = append(order, "later")
				later <- g
			}()
			require.NoError(t, <-done)
			(<-later).end(outcome{})
			assert.Equal(t, []string{"inside", "later"}, order)
		})
	})
}

// TestLatest: what a server says was used cannot make a limit's time overflow,
// which would be no limit.
func TestLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{TPM: 10})
		var all []*grant
		for range 40 {
			all = append(all, mustAdmit(t, s, 0))
		}
		for _, g := range all {
			g.end(good(1<<62, 1<<62-1))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, _, err := s.admit(ctx, 1)
		assert.ErrorIs(t, err, ErrNoTime)
	})
}
