package batch_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/batch"
)

// wait is a function that takes a while of virtual time unless its context
// ends first.
func wait(d time.Duration) func(context.Context, int) (string, error) {
	return func(ctx context.Context, i int) (string, error) {
		select {
		case <-time.After(d):
			return fmt.Sprint("done ", i), nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// collect ranges to the end and requires exactly one result an index.
func collect[In, Out any](t *testing.T, seq iter.Seq[batch.Result[In, Out]]) map[int]batch.Result[In, Out] {
	t.Helper()
	got := map[int]batch.Result[In, Out]{}
	for r := range seq {
		require.NotContains(t, got, r.Index, "two results for one item")
		got[r.Index] = r
	}
	return got
}

func TestRunTime(t *testing.T) {
	for _, tc := range []struct {
		name, reason    string
		items, parallel int
		want            time.Duration
	}{
		{"none", "an empty input is over at once", 0, 4, 0},
		{"one at a time", "Parallel 1 is a loop", 5, 1, 5 * time.Second},
		{"fewer than workers", "three items on 64 workers take as long as one", 3, 64, time.Second},
		{"whole rounds", "100 items on 10 workers are 10 rounds", 100, 10, 10 * time.Second},
		{"a started round", "101 items are 11 rounds", 101, 10, 11 * time.Second},
		{"default", "0 is 16: 32 items are 2 rounds", 32, 0, 2 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := collect(t, batch.Run(t.Context(), upto(tc.items), wait(time.Second), batch.Options{Parallel: tc.parallel}))
				assert.Equal(t, tc.want, time.Since(start), tc.reason)
				assert.Len(t, got, tc.items)
				for i, r := range got {
					assert.Equal(t, batch.Result[int, string]{Index: i, In: i, Out: fmt.Sprint("done ", i)}, r)
				}
			})
		})
	}
}

func TestRunYieldsAsTheyComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		durations := []time.Duration{5 * time.Second, time.Second, 3 * time.Second}
		var order []int
		for r := range batch.Run(t.Context(), slices.Values(durations), func(_ context.Context, d time.Duration) (int, error) {
			time.Sleep(d)
			return 0, nil
		}, batch.Options{}) {
			assert.Equal(t, durations[r.Index], r.In)
			order = append(order, r.Index)
		}
		assert.Equal(t, []int{1, 2, 0}, order)
	})
}

// TestRunIsBounded has a consumer that is slower than the workers and one that
// stops altogether: the input must not run ahead.
func TestRunIsBounded(t *testing.T) {
	for _, parallel := range []int{1, 3, 16} {
		t.Run(fmt.Sprint(parallel), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var taken, yielded, worst int64
				in := func(yield func(int) bool) {
					for i := range 200 {
						n := atomic.AddInt64(&taken, 1) - atomic.LoadInt64(&yielded)
						worst = max(worst, n)
						if !yield(i) {
							return
						}
					}
				}
				for range batch.Run(t.Context(), in, wait(0), batch.Options{Parallel: parallel}) {
					atomic.AddInt64(&yielded, 1)
					time.Sleep(time.Second)
					synctest.Wait()
					n := atomic.LoadInt64(&taken) - atomic.LoadInt64(&yielded)
					assert.LessOrEqual(t, n, int64(parallel)+1)
				}
				assert.EqualValues(t, 200, yielded)
				assert.LessOrEqual(t, worst, int64(parallel)+2, "the input counts the item before it hands it over")
			})
		})
	}
}

func TestRunContainsWhatFnDoes(t *testing.T) {
	cause := errors.New("no such planet")
	for _, tc := range []struct {
		name, reason string
		fn           func() error
		check        func(*testing.T, error)
	}{
		{"error", "an error is the item's", func() error { return cause },
			func(t *testing.T, err error) { assert.Same(t, cause, err) }},
		{"panic with an error", "the value is reachable by errors.Is", func() error { panic(cause) },
			func(t *testing.T, err error) {
				require.ErrorIs(t, err, cause)
				var p *batch.PanicError
				require.ErrorAs(t, err, &p)
				assert.Contains(t, string(p.Stack), "batch_test.go")
				assert.Contains(t, err.Error(), "panic: no such planet\n")
			}},
		{"panic with a text", "a value that is no error unwraps to nothing", func() error { panic("boom") },
			func(t *testing.T, err error) {
				assert.Nil(t, errors.Unwrap(err))
				assert.Contains(t, err.Error(), "panic: boom\n")
			}},
		{"panic(nil)", "it must not pass for a result", func() error { panic(nil) },
			func(t *testing.T, err error) { assert.ErrorAs(t, err, new(*runtime.PanicNilError)) }},
		{"Goexit", "the worker's goroutine is gone and must be replaced", func() error { runtime.Goexit(); return nil },
			func(t *testing.T, err error) { assert.Equal(t, batch.ErrGoexit, err) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fn := func(_ context.Context, i int) (int, error) {
					time.Sleep(time.Second)
					if i%2 == 0 {
						return 0, tc.fn()
					}
					return i, nil
				}
				start := time.Now()
				got := collect(t, batch.Run(t.Context(), upto(40), fn, batch.Options{Parallel: 4}))
				assert.Equal(t, 10*time.Second, time.Since(start), "all four workers went on")
				require.Len(t, got, 40)
				for i, r := range got {
					if i%2 == 0 {
						tc.check(t, r.Err)
					} else {
						assert.NoError(t, r.Err)
						assert.Equal(t, i, r.Out)
					}
				}
			})
		})
	}
}

// TestRunLeavingTheLoop leaves it in every way there is. synctest.Test itself
// fails if a goroutine is left.
func TestRunLeavingTheLoop(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		leave        func()
	}{
		{"panic", "the consumer's panic passes through after the clean-up", func() { panic("consumer") }},
		{"Goexit", "t.FailNow in the loop body ends it the same way", runtime.Goexit},
		{"break", "the plain way", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var taken, running, cancelled atomic.Int64
				in := func(yield func(int) bool) {
					for i := 0; yield(i); i++ { // endless
						taken.Add(1)
					}
				}
				fn := func(ctx context.Context, i int) (int, error) {
					if i < 3 {
						return i, nil
					}
					running.Add(1)
					defer running.Add(-1)
					<-ctx.Done()
					time.Sleep(time.Minute) // slow to give up
					cancelled.Add(1)
					return 0, ctx.Err()
				}
				start := time.Now()
				var left any
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { left = recover() }()
					n := 0
					for range batch.Run(t.Context(), in, fn, batch.Options{Parallel: 4}) {
						if n++; n == 3 {
							synctest.Wait()
							if tc.leave != nil {
								tc.leave()
							}
							break
						}
					}
				}()
				<-done
				assert.Equal(t, time.Minute, time.Since(start), "leaving waits for what is in flight")
				assert.Zero(t, running.Load())
				assert.EqualValues(t, 4, cancelled.Load())
				assert.LessOrEqual(t, taken.Load(), int64(8))
				if tc.name == "panic" {
					assert.Equal(t, "consumer", left)
				}
			})
		})
	}
}

func TestRunContextEnds(t *testing.T) {
	cause := errors.New("the run's time is up")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2500*time.Millisecond, cause)
		defer cancel()
		var taken int
		in := func(yield func(int) bool) {
			for i := 0; ; i++ {
				taken = i + 1
				if !yield(i) {
					return
				}
			}
		}
		got := collect(t, batch.Run(ctx, in, wait(time.Second), batch.Options{Parallel: 4}))
		require.Len(t, got, taken, "one result for each item taken, none for another")
		assert.Equal(t, 13, taken, "two rounds of four, four in flight, one in the feeder's hand")
		for i, r := range got {
			switch {
			case i < 8:
				assert.NoError(t, r.Err)
			case i < 12:
				assert.Equal(t, context.DeadlineExceeded, r.Err, "fn was called and returned its context's error")
			default:
				assert.Equal(t, cause, r.Err, "fn was not called")
			}
		}
	})
}

// TestRunContextEndsInTheInput: the item that the input yields next is taken,
// so it has a result; fn has nothing to do with it.
func TestRunContextEndsInTheInput(t *testing.T) {
	for range 100 { // several select statements may choose either way
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			in := func(yield func(int) bool) {
				if yield(0) {
					synctest.Wait()
					cancel()
					assert.False(t, yield(1))
				}
			}
			var calls atomic.Int64
			fn := func(ctx context.Context, i int) (int, error) {
				calls.Add(1)
				<-ctx.Done()
				return i, nil
			}
			got := collect(t, batch.Run(ctx, in, fn, batch.Options{Parallel: 1}))
			assert.Equal(t, map[int]batch.Result[int, int]{0: {}, 1: {Index: 1, In: 1, Err: context.Canceled}}, got)
			assert.EqualValues(t, 1, calls.Load())
		})
	}
}

// TestRunContextEndsAtHandOver: the worker becomes free by the very end of the
// context that the feeder sees too.
func TestRunContextEndsAtHandOver(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			fn := func(ctx context.Context, i int) (int, error) {
				assert.NoError(t, ctx.Err(), "called after the end")
				<-ctx.Done()
				return i, nil
			}
			got := collect(t, batch.Run(ctx, upto(100), fn, batch.Options{Parallel: 3}))
			require.Len(t, got, 4)
			assert.Equal(t, context.Canceled, got[3].Err)
		})
	}
}

func TestRunContextEndedBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range batch.Run(ctx, func(func(int) bool) { t.Error("the input was started") }, wait(0), batch.Options{}) {
		t.Error("a result of nothing")
	}
}

func TestRunInputPanics(t *testing.T) {
	cause := errors.New("row 7: not JSON")
	synctest.Test(t, func(t *testing.T) {
		in := func(yield func(int) bool) {
			for i := range 7 {
				yield(i)
			}
			panic(cause)
		}
		got := 0
		defer func() {
			err, _ := recover().(error)
			var p *batch.PanicError
			require.ErrorAs(t, err, &p)
			assert.ErrorIs(t, err, cause)
			assert.Contains(t, string(p.Stack), "batch_test.go")
			assert.Equal(t, 7, got, "what was taken before is still yielded")
		}()
		for range batch.Run(t.Context(), in, wait(time.Second), batch.Options{Parallel: 3}) {
			got++
		}
		t.Error("the input's panic was swallowed")
	})
}

func TestRunInputGoexits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := func(yield func(int) bool) {
			yield(1)
			runtime.Goexit()
		}
		got, returned := 0, false
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range batch.Run(t.Context(), in, wait(time.Second), batch.Options{}) {
				got++
			}
			returned = true
		}()
		<-done
		assert.Equal(t, 1, got)
		assert.False(t, returned, "the consumer goes on as if the input had ended well")
	})
}

// TestRunInputIgnoresFalse has an input that goes on after its yield returned
// false, which the language forbids: it must not feed a run that is over.
func TestRunInputIgnoresFalse(t *testing.T) {
	in := func(yield func(int) bool) {
		for i := range 100 {
			yield(i)
		}
	}
	assert.Panics(t, func() {
		for range batch.Run(t.Context(), in, wait(0), batch.Options{Parallel: 1}) {
			break
		}
	})
}

// TestRunNested: a run inside fn shares nothing with the one around it, so no
// Parallel is too small for it, and the outer end ends the inner one.
func TestRunNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 24500*time.Millisecond)
		defer cancel()
		outer := func(ctx context.Context, i int) (int, error) {
			n := 0
			for r := range batch.Run(ctx, upto(10), wait(time.Second), batch.Options{Parallel: 1}) {
				if r.Err != nil {
					return n, r.Err
				}
				n++
			}
			return n, context.Cause(ctx)
		}
		got := collect(t, batch.Run(ctx, upto(100), outer, batch.Options{Parallel: 2}))
		assert.Equal(t, batch.Result[int, int]{Index: 3, In: 3, Out: 10}, got[3], "two rounds of 10 s")
		require.Len(t, got, 7, "two rounds, two in flight, one in the feeder's hand")
		assert.Equal(t, 4, got[4].Out, "the fifth inner item was cut")
		assert.ErrorIs(t, got[4].Err, context.DeadlineExceeded)
	})
}

func TestRunRangedTwice(t *testing.T) {
	seq := batch.Run(t.Context(), upto(10), wait(0), batch.Options{})
	assert.Len(t, collect(t, seq), 10)
	assert.Len(t, collect(t, seq), 10)
}

func TestRunMisuse(t *testing.T) {
	assert.PanicsWithValue(t, "batch.Run: Parallel is -1; it must be at least 1, or 0 for the default of 16", func() {
		batch.Run(t.Context(), upto(1), wait(0), batch.Options{Parallel: -1})
	})
	assert.PanicsWithValue(t, "batch.Run: in is nil", func() {
		batch.Run(t.Context(), nil, wait(0), batch.Options{})
	})
	assert.PanicsWithValue(t, "batch.Run: fn is nil", func() {
		batch.Run[int, int](t.Context(), upto(1), nil, batch.Options{})
	})
}
