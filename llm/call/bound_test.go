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

	"github.com/goevals/evals/llm/call"
)

type valueKey struct{}

// state is what a context says of itself.
func state(ctx context.Context) string {
	closed := false
	select {
	case <-ctx.Done():
		closed = true
	default:
	}
	end, ok := ctx.Deadline()
	return fmt.Sprintf("err %v, cause %v, closed %v, deadline %v %v, value %v",
		ctx.Err(), context.Cause(ctx), closed, end, ok, ctx.Value(valueKey{}))
}

// TestBound: whatever happens to it, and whether or not somebody looked before,
// a Bound says what a context of the standard library says.
func TestBound(t *testing.T) {
	stopped := errors.New("stopped")
	type event func(stopParent, cancel func())
	pass := func(d time.Duration) event { return func(_, _ func()) { time.Sleep(d) } }
	tests := []struct {
		name, reason string
		within       time.Duration // the parent's time; 0 for none
		events       []event
	}{
		{"nothing", "neither has ended", 0, nil},
		{"time is up", "its own deadline", 0, []event{pass(time.Minute)}},
		{"just before", "its own deadline is exact", 0, []event{pass(time.Minute - 1)}},
		{"parent's time is up", "the earlier deadline counts", time.Second, []event{pass(time.Second)}},
		{"parent's time is longer", "the earlier deadline counts", time.Hour, []event{pass(time.Minute)}},
		{"parent stopped", "its cause comes through", 0, []event{stopParent}},
		{"parent stopped, time is up", "the first end stays", 0, []event{stopParent, pass(time.Hour)}},
		{"parent stopped, cancelled", "the first end stays", 0, []event{stopParent, cancelled}},
		{"cancelled", "canceled", 0, []event{cancelled}},
		{"cancelled twice", "as once", 0, []event{cancelled, cancelled}},
		{"cancelled, time is up", "the first end stays", 0, []event{cancelled, pass(time.Hour)}},
		{"cancelled, parent stopped", "the first end stays", 0, []event{cancelled, stopParent}},
	}
	looks := map[string]func(*testing.T, context.Context) context.Context{
		"never":   func(_ *testing.T, ctx context.Context) context.Context { return ctx },
		"at Err":  func(_ *testing.T, ctx context.Context) context.Context { _ = ctx.Err(); return ctx },
		"at Done": func(_ *testing.T, ctx context.Context) context.Context { ctx.Done(); return ctx },
		"through a child": func(t *testing.T, ctx context.Context) context.Context {
			child, cancel := context.WithCancel(ctx)
			t.Cleanup(cancel)
			return child
		},
		"through a child of a value": func(t *testing.T, ctx context.Context) context.Context {
			child, cancel := context.WithTimeout(context.WithValue(ctx, valueKey{}, "own"), 2*time.Hour)
			t.Cleanup(cancel)
			return child
		},
	}
	makes := map[string]func(parent context.Context, end time.Time) *call.Bound{
		"Until":  call.Until,
		"Within": func(parent context.Context, end time.Time) *call.Bound { return call.Within(parent, time.Until(end)) },
	}
	for _, tt := range tests {
		for name, run := range product(makes, looks) {
			t.Run(tt.name+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					parent, stop := context.WithCancelCause(context.WithValue(t.Context(), valueKey{}, "parent's"))
					defer stop(nil)
					if tt.within > 0 {
						var cancel context.CancelFunc
						parent, cancel = context.WithTimeout(parent, tt.within)
						defer cancel()
					}
					end := time.Now().Add(time.Minute)
					std, cancelStd := context.WithDeadline(parent, end)
					own := run.made(parent, end)
					defer cancelStd()
					defer own.Cancel()
					seenStd, seenOwn := run.look(t, std), run.look(t, own)
					for _, happens := range tt.events {
						happens(func() { stop(stopped) }, func() { cancelStd(); own.Cancel() })
						synctest.Wait()
					}
					assert.Equal(t, state(seenStd), state(seenOwn), tt.reason)
					assert.Equal(t, state(std), state(own), tt.reason)
				})
			})
		}
	}
}

type way struct {
	made func(context.Context, time.Time) *call.Bound
	look func(*testing.T, context.Context) context.Context
}

func product(makes map[string]func(context.Context, time.Time) *call.Bound, looks map[string]func(*testing.T, context.Context) context.Context) map[string]way {
	ways := map[string]way{}
	for made, f := range makes {
		for looked, g := range looks {
			ways[made+", looked "+looked] = way{f, g}
		}
	}
	return ways
}

func stopParent(stop, _ func())  { stop() }
func cancelled(_, cancel func()) { cancel() }

// TestBoundWakes: somebody who waits is woken, by the time and by Cancel.
func TestBoundWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := call.Until(t.Context(), time.Now().Add(time.Minute))
		begun := time.Now()
		<-b.Done()
		assert.Equal(t, time.Minute, time.Since(begun))
		assert.ErrorIs(t, b.Err(), context.DeadlineExceeded)

		b = call.Until(t.Context(), time.Now().Add(time.Hour))
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() { <-b.Done() })
		}
		synctest.Wait()
		b.Cancel()
		wait.Wait()
		assert.ErrorIs(t, b.Err(), context.Canceled)
	})
}

// TestBoundUnseen: the promise that it is for.
func TestBoundUnseen(t *testing.T) {
	parent, stop := context.WithCancel(t.Context())
	defer stop()
	end := time.Now().Add(time.Hour)
	n := testing.AllocsPerRun(100, func() {
		b := call.Until(parent, end)
		_ = b.Err()
		b.Cancel()
		b = call.Within(parent, time.Hour)
		_ = b.Err()
		call.Hold(context.Background())()
		b.Cancel()
	})
	assert.LessOrEqual(t, n, 2.0)
}
