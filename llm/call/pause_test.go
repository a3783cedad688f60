package call

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
)

// TestTrap09NoPauseFor5xx: an overloaded server is no rate limit; only 429
// pauses, and not for minutes.
func TestTrap09NoPauseFor5xx(t *testing.T) {
	for _, kind := range []llm.ErrorKind{
		llm.KindServer, llm.KindConnection, llm.KindTimeout, llm.KindIncomplete, llm.KindBadResponse, llm.KindUnusable,
		llm.KindBadRequest, llm.KindContext, llm.KindBlocked, llm.KindCanceled, llm.KindUnknown, llm.KindMiss, llm.KindPanic,
	} {
		synctest.Test(t, func(t *testing.T) {
			s, start := &Scope{}, time.Now()
			mustAdmit(t, s, 0).end(bad(&llm.Error{Kind: kind, Status: 503, RetryAfter: seconds(300)}))
			mustAdmit(t, s, 0).end(good(1, 1))
			assert.Zero(t, time.Since(start), kind)
			assert.Zero(t, s.Stats().RateLimits)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s, start := &Scope{}, time.Now()
		mustAdmit(t, s, 0).end(bad(busy(nil)))
		mustAdmit(t, s, 0).end(good(1, 1))
		assert.Equal(t, 2*time.Second, time.Since(start), "the default is short")
	})
}

// TestTrap10EveryoneWaitsOnce: whoever met the rate limit waits as the others
// do, for the pause and for nothing else.
func TestTrap10EveryoneWaitsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Scope{}
		g := mustAdmit(t, s, 0)
		own := g.end(bad(busy(seconds(7))))
		assert.Zero(t, own, "the pause is all")
		g, waits, err := s.admit(t.Context(), 0)
		require.NoError(t, err)
		assert.Equal(t, Waits{Pause: 7 * time.Second}, waits)
		g.end(good(1, 1))
	})
}

func TestCooldownDoublesUntilASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Scope{}
		wait := func() time.Duration {
			g, waits, err := s.admit(t.Context(), 0)
			require.NoError(t, err)
			g.end(bad(busy(nil)))
			return waits.Total()
		}
		for _, want := range []time.Duration{0, 2, 4, 8, 16, 30, 30} {
			assert.Equal(t, want*time.Second, wait())
		}
		g := mustAdmit(t, s, 0)
		g.end(good(1, 1))
		wait()
		assert.Equal(t, 2*time.Second, wait(), "a success makes the next pause the first again")
		s = NewScope(Limits{Cooldown: Backoff{First: 5 * time.Second, Max: 12 * time.Second}})
		for _, want := range []time.Duration{0, 5, 10, 12} {
			assert.Equal(t, want*time.Second, wait())
		}
		s = NewScope(Limits{Cooldown: Backoff{First: time.Minute}})
		for _, want := range []time.Duration{0, 60, 60} {
			assert.Equal(t, want*time.Second, wait())
		}
	})
}

// TestTrap11LateReports: all reports of calls that started before the pause are
// about the same event.
func TestTrap11LateReports(t *testing.T) {
	const sec = time.Second
	type report struct {
		at    time.Duration
		after *time.Duration
		own   time.Duration // what end returns
	}
	for _, tc := range []struct {
		name, reason string
		reports      []report
		over         time.Duration // when the next call starts
		next         time.Duration // how long the pause after that is
	}{
		{"one", "", []report{{0, nil, 0}}, 2 * sec, 4 * sec},
		{"at once", "they join", []report{{0, nil, 0}, {0, nil, 0}, {0, nil, 0}}, 2 * sec, 4 * sec},
		{"meanwhile", "they join, and it is not longer", []report{{0, nil, 0}, {sec, nil, 0}}, 2 * sec, 4 * sec},
		{"stated, ends earlier", "they join", []report{{0, seconds(10), 0}, {sec, seconds(3), 0}}, 10 * sec, 4 * sec},
		{"stated, ends later", "the pause is extended", []report{{0, seconds(10), 0}, {5 * sec, seconds(10), 0}}, 15 * sec, 4 * sec},
		{"stated after an unstated one", "the server knows better", []report{{0, nil, 0}, {sec, seconds(10), 0}}, 11 * sec, 4 * sec},
		{"unstated after a stated one", "", []report{{0, seconds(10), 0}, {sec, nil, 0}}, 10 * sec, 4 * sec},
		{"late", "a pause that is over is not begun again", []report{{0, nil, 0}, {3 * sec, nil, 0}}, 3 * sec, 4 * sec},
		{"late and stated", "only that call waits", []report{{0, nil, 0}, {3 * sec, seconds(20), 20 * sec}}, 3 * sec, 4 * sec},
		{"late and stated as 0", "", []report{{0, nil, 0}, {3 * sec, seconds(0), 0}}, 3 * sec, 4 * sec},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := &Scope{}, time.Now()
				var calls []*grant
				for range tc.reports {
					calls = append(calls, mustAdmit(t, s, 0))
				}
				for i, r := range tc.reports {
					time.Sleep(r.at - time.Since(start))
					assert.Equal(t, r.own, calls[i].end(bad(busy(r.after))), tc.reason)
				}
				g := mustAdmit(t, s, 0)
				assert.Equal(t, tc.over, time.Since(start), tc.reason)
				assert.Equal(t, int64(1), s.Stats().Pauses)
				begun := time.Now()
				g.end(bad(busy(nil)))
				mustAdmit(t, s, 0).end(outcome{})
				assert.Equal(t, tc.next, time.Since(begun), "reports that join do not escalate")
			})
		})
	}
}

// TestTrap11NobodysCancellation ends the pause, neither the reporter's nor that
// of the first in line.
func TestTrap11NobodysCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, start := &Scope{}, time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { // who reports it, and is cancelled
			g, _, err := s.admit(ctx, 0)
			require.NoError(t, err)
			g.end(bad(busy(seconds(10))))
			_, waits, err := s.admit(ctx, 0)
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, Waits{Pause: time.Second}, waits)
		})
		synctest.Wait()
		time.AfterFunc(time.Second, cancel)
		assert.Equal(t, start.Add(10*time.Second), s.Stats().PausedUntil)
		mustAdmit(t, s, 0).end(good(1, 1))
		assert.Equal(t, 10*time.Second, time.Since(start))
		wg.Wait()
		assert.Zero(t, s.Stats().PausedUntil)
	})
}

// TestTrap11RecheckBeforeStart: a call that has been let go but has not run yet
// when a pause begins goes back to where it stood.
func TestTrap11RecheckBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, start := NewScope(Limits{Concurrency: 2}), time.Now()
		a, b := mustAdmit(t, s, 0), mustAdmit(t, s, 0)
		var mu sync.Mutex
		var order []int
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				g := mustAdmit(t, s, 0)
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				assert.GreaterOrEqual(t, time.Since(start), 5*time.Second)
				g.end(good(1, 1))
			})
			synctest.Wait()
		}
		// Both end in one go: the two first in line have slots before b's
		// rate limit is known, and cannot run before it is.
		s.mu.Lock()
		for _, e := range []struct {
			g *grant
			o outcome
		}{{a, good(1, 1)}, {b, bad(busy(seconds(5)))}} {
			e.g.over = true
			s.settle(e.g, &e.o, s.begin())
			s.serve(s.begin(), nil)
		}
		s.mu.Unlock()
		synctest.Wait()
		assert.Equal(t, 4, s.Stats().Waiting)
		assert.Zero(t, s.Stats().InFlight)
		wg.Wait()
		assert.Equal(t, []int{0, 1, 2, 3}, order)
	})
}

// TestCaseL03 is about very long waits and those of 0.
func TestCaseL03(t *testing.T) {
	for _, tc := range []struct {
		name     string
		after    float64
		max      time.Duration
		deadline time.Duration
		waits    time.Duration
		is       error
		says     string
	}{
		{"0", 0, 0, 0, 0, nil, ""},
		{"1.5", 1.5, 0, 0, 1500 * time.Millisecond, nil, ""},
		{"60", 60, 0, 0, time.Minute, nil, ""},
		{"60 is not more than 60", 60, time.Minute, 0, time.Minute, nil, ""},
		{"61 is", 61, time.Minute, 0, 0, ErrTooLong, "the server asked for 1m1s, and the most is 1m0s (call.Limits.MaxWait)"},
		{"120", 120, 0, 0, 2 * time.Minute, nil, ""},
		{"600", 600, 0, 0, 0, ErrTooLong, "the server asked for 10m0s, and the most is 2m0s (call.Limits.MaxWait)"},
		{"3600", 3600, 0, 0, 0, ErrTooLong, "the server asked for 1h0m0s"},
		{"3600, allowed", 3600, time.Hour, 0, time.Hour, nil, ""},
		{"60, beyond the deadline", 60, 0, 59 * time.Second, 0, ErrNoTime, "the server asked for 1m0s, and this call has 59s"},
		{"60, at the deadline", 60, 0, time.Minute, 0, ErrNoTime, "the server asked for 1m0s, and this call has 1m0s"},
		{"60, just before the deadline", 60, 0, time.Minute + 1, time.Minute, nil, ""},
		{"600, beyond both", 600, 0, time.Second, 0, ErrTooLong, "the server asked for 10m0s"},
		{"centuries", 9e9, 0, 0, 0, ErrTooLong, "the server asked for 8760h0m0s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := NewScope(Limits{MaxWait: tc.max}), time.Now()
				mustAdmit(t, s, 0).end(bad(busy(seconds(tc.after))))
				ctx := t.Context()
				if tc.deadline > 0 {
					c, cancel := context.WithTimeout(ctx, tc.deadline)
					defer cancel()
					ctx = c
				}
				g, waits, err := s.admit(ctx, 0)
				assert.Equal(t, Waits{Pause: tc.waits}, waits)
				assert.Equal(t, tc.waits, time.Since(start), "an error comes at once")
				if tc.is == nil {
					require.NoError(t, err)
					g.end(good(1, 1))
					return
				}
				assert.ErrorIs(t, err, tc.is)
				assert.ErrorContains(t, err, tc.says)
				assert.ErrorContains(t, err, "slow down", "the server's own words")
				assert.Equal(t, llm.KindRateLimit, llm.KindOf(err))
			})
		})
	}
}

// TestCaseL03Everybody: those who wait already fail as soon as it is known, and
// it heals.
func TestCaseL03Everybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, start := NewScope(Limits{Concurrency: 2}), time.Now()
		a, b := mustAdmit(t, s, 0), mustAdmit(t, s, 0)
		var wg sync.WaitGroup
		wait := func(within time.Duration, is error, at time.Duration) {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), within)
				defer cancel()
				g, _, err := s.admit(ctx, 0)
				assert.Equal(t, at, time.Since(start))
				if is != nil {
					assert.ErrorIs(t, err, is)
					assert.ErrorContains(t, err, "slow down")
					return
				}
				if assert.NoError(t, err) {
					g.end(good(1, 1))
				}
			})
			synctest.Wait()
		}
		wait(10*time.Second, ErrNoTime, time.Second)
		wait(100*time.Second, ErrTooLong, 2*time.Second)
		time.Sleep(time.Second)
		a.end(bad(busy(seconds(30))))
		wait(time.Hour, ErrTooLong, 2*time.Second)
		wait(20*time.Second, ErrNoTime, time.Second)
		time.Sleep(time.Second)
		b.end(bad(busy(seconds(600))))
		time.Sleep(time.Minute)
		wait(time.Hour, ErrTooLong, 62*time.Second)
		_, _, err := s.admit(t.Context(), 0)
		assert.ErrorContains(t, err, "the server asked for 10m0s, 9m0s are left, and the most is 2m0s (call.Limits.MaxWait)")
		time.Sleep(8 * time.Minute) // 60 s are left, which is no longer too long
		wait(time.Hour, nil, 602*time.Second)
		wg.Wait()
		assert.Equal(t, int64(3), s.Stats().Starts, "no call was made meanwhile")
	})
}

// TestCaseL05: what could not be read as a time is none, and gets our own.
func TestCaseL05(t *testing.T) {
	negative := -time.Second
	for _, tc := range []struct {
		name string
		err  error
		want time.Duration
	}{
		{"none", busy(nil), 2 * time.Second},
		{"negative", busy(&negative), 2 * time.Second},
		{"past", busy(seconds(0)), 0},
		{"fraction", busy(seconds(1.5)), 1500 * time.Millisecond},
		{"wrapped", fmt.Errorf("my SDK: %w", busy(seconds(3))), 3 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := &Scope{}, time.Now()
				mustAdmit(t, s, 0).end(bad(tc.err))
				mustAdmit(t, s, 0).end(good(1, 1))
				assert.Equal(t, tc.want, time.Since(start))
			})
		})
	}
}

// TestCaseL10: the limit that is used up says when to come back, not the other.
func TestCaseL10(t *testing.T) {
	window := func(left int64, reset time.Duration) llm.Window {
		return llm.Window{Remaining: &left, Reset: &reset}
	}
	const soon, late = 8 * time.Millisecond, 6 * time.Minute
	for _, tc := range []struct {
		name             string
		requests, tokens llm.Window
		after            *time.Duration
		want             time.Duration
	}{
		{"tokens", window(99, soon), window(0, late), nil, late},
		{"requests", window(0, soon), window(99, late), nil, soon},
		{"both", window(0, soon), window(0, late), nil, late},
		{"both, the other way", window(0, late), window(0, soon), nil, late},
		{"neither", window(9, soon), window(9, late), nil, 2 * time.Second},
		{"unknown", llm.Window{Reset: new(late)}, llm.Window{}, nil, 2 * time.Second},
		{"no reset", llm.Window{Remaining: new(int64(0))}, llm.Window{}, nil, 2 * time.Second},
		{"Retry-After counts first", window(99, soon), window(0, late), seconds(4), 4 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := NewScope(Limits{MaxWait: time.Hour}), time.Now()
				mustAdmit(t, s, 0).end(bad(&llm.Error{Kind: llm.KindRateLimit, RetryAfter: tc.after,
					RateLimit: &llm.RateLimit{Requests: tc.requests, Tokens: tc.tokens}}))
				mustAdmit(t, s, 0).end(good(1, 1))
				assert.Equal(t, tc.want, time.Since(start))
			})
		})
	}
}

func TestWaitsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{RPM: 60, Concurrency: 1})
		g := mustAdmit(t, s, 0)
		g.end(bad(busy(seconds(1.5))))
		g, waits, err := s.admit(t.Context(), 0)
		require.NoError(t, err)
		assert.Equal(t, Waits{Pause: 1500 * time.Millisecond}, waits)
		time.AfterFunc(5*time.Second, func() { g.end(good(1, 1)) })
		h, waits, err := s.admit(t.Context(), 0)
		require.NoError(t, err)
		assert.Equal(t, Waits{Pause: time.Second, Slot: 4 * time.Second}, waits, "the pace after the pause, then the slot")
		h.end(good(1, 1))
		i, waits, err := s.admit(t.Context(), 0)
		require.NoError(t, err)
		assert.Equal(t, time.Second, waits.Total())
		assert.Positive(t, waits.Limit)
		i.end(errored())
	})
}

func errored() outcome { return bad(errors.New("x")) }
