package run_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm"
)

// A service is a strategy that works between Prepare and Close.
type service struct {
	*script
	fail error // of Prepare
	slow time.Duration

	mu               sync.Mutex
	up               bool
	prepared, closed int
}

func (s *service) Prepare(ctx context.Context) error {
	select {
	case <-time.After(s.slow):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = s.fail == nil
	s.prepared++
	return s.fail
}

func (s *service) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = false
	s.closed++
	return nil
}

func (s *service) Execute(context.Context, dsItem, run.Attempt) (llm.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.up {
		return llm.Response{}, errors.New("it is closed")
	}
	return llm.Response{Text: "18"}, nil
}

// TestSharedStrategy: runs that share a strategy at the same time prepare it once
// and close it when the last one is done with it.
func TestSharedStrategy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{slow: time.Second}
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				shared := run.Escalate(s, run.StrategyFunc(s.Execute), 2)
				assert.NoError(t, run.Prepare(t.Context(), shared))
				time.Sleep(time.Duration(i) * time.Minute)
				_, err := shared.Execute(t.Context(), eggs, run.Attempt{})
				assert.NoError(t, err, "run %d", i)
				assert.Empty(t, run.Close(shared))
			})
		}
		wg.Wait()
		assert.Equal(t, 1, s.prepared)
		assert.Equal(t, 1, s.closed)
		require.NoError(t, run.Prepare(t.Context(), s), "later runs prepare it anew")
		require.Empty(t, run.Close(s))
		assert.Equal(t, 2, s.prepared)
		assert.Equal(t, 2, s.closed)
	})
}

// TestSharedStrategyFails: a failure is that of all who share it, but not the
// end of one of the runs.
func TestSharedStrategyFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{slow: time.Second, fail: errors.New("no index")}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { assert.ErrorContains(t, run.Prepare(t.Context(), s), "no index") })
		}
		wg.Wait()
		for range 3 {
			assert.Empty(t, run.Close(s))
		}
		assert.Equal(t, 1, s.prepared)
		assert.Equal(t, 1, s.closed)

		s.fail = nil
		stopped, stop := context.WithCancel(t.Context())
		wg.Go(func() { assert.ErrorIs(t, run.Prepare(stopped, s), context.Canceled) })
		synctest.Wait()
		wg.Go(func() { assert.NoError(t, run.Prepare(t.Context(), s), "it is prepared by the next") })
		waits, leave := context.WithCancel(t.Context())
		wg.Go(func() { assert.ErrorIs(t, run.Prepare(waits, s), context.Canceled) })
		synctest.Wait()
		leave()
		synctest.Wait()
		stop()
		wg.Wait()
		for range 3 {
			assert.Empty(t, run.Close(s))
		}
		assert.Equal(t, 2, s.prepared)
		assert.Equal(t, 2, s.closed)
	})
}
