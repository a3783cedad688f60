package call

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
)

// most is the largest number of starts in any half-open window of this length.
func most(at []time.Duration, within time.Duration) int {
	at = slices.Clone(at)
	slices.Sort(at)
	top, from := 0, 0
	for i := range at {
		for at[i]-at[from] >= within {
			from++
		}
		top = max(top, i-from+1)
	}
	return top
}

// TestTrap24RollingMinute: no rolling minute sees more than the limit, the
// first one included, and the limit is used, whatever it is.
func TestTrap24RollingMinute(t *testing.T) {
	for _, tc := range []struct {
		rpm     int
		callers int
		takes   time.Duration
		reason  string
	}{
		{10, 50, time.Second, "slow"},
		{60, 100, 200 * time.Millisecond, "one a second"},
		{600, 250, 10 * time.Second, "100 in flight, 250 callers: fewer than callers"},
		{600, 101, 10 * time.Second, "just enough callers"},
		{7, 20, time.Second, "no whole number of nanoseconds: 60/7 s"},
		{1000, 64, 500 * time.Millisecond, "60 ms"},
		{10_000, 250, time.Second, "6 ms"},
		{9_973, 250, time.Second, "a prime"},
	} {
		t.Run(fmt.Sprintf("%d RPM, %d callers", tc.rpm, tc.callers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const length = 5 * time.Minute
				at := loop(t, NewScope(Limits{RPM: tc.rpm}), tc.callers, length, func(int) time.Duration { return tc.takes })
				assert.LessOrEqual(t, most(at, time.Minute), tc.rpm, tc.reason)
				assert.GreaterOrEqual(t, float64(len(at)), 0.99*float64(tc.rpm)*length.Minutes(), tc.reason)
			})
		})
	}
}

// loop keeps so many callers busy for a while and returns when calls started.
func loop(t *testing.T, s *Scope, callers int, length time.Duration, takes func(i int) time.Duration) []time.Duration {
	t.Helper()
	log := &starts{begun: time.Now()}
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for {
				g, _, err := s.admit(context.Background(), 0)
				if !assert.NoError(t, err) {
					return
				}
				if time.Since(log.begun) >= length {
					g.end(outcome{})
					return
				}
				log.now()
				time.Sleep(takes(i))
				g.end(good(0, 0))
			}
		})
	}
	wg.Wait()
	return log.at
}

// TestLateTimers: timers that come late cost nothing, and the limit holds all
// the same.
func TestLateTimers(t *testing.T) {
	for _, rpm := range []int64{600, 10_000} {
		q := newQuotas(Limits{RPM: int(rpm)})
		var at []time.Duration
		now, late := time.Duration(0), time.Duration(0)
		for i := 0; now < 5*time.Minute; i++ {
			q.take(now, 0, late)
			at = append(at, now)
			due := q.ready(now, 0)
			for due > now { // each timer up to 3 ms late
				late = time.Duration(i*7919%3000) * time.Microsecond
				now = due + late
				due = q.ready(now, 0)
			}
		}
		assert.LessOrEqual(t, most(at, time.Minute), int(rpm))
		assert.Greater(t, float64(len(at)), 0.99*5*float64(rpm))
	}
}

func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{RPM: 450, Burst: 5 * time.Second})
		at := together(t, s, 1000, 0, fine)
		assert.Equal(t, 37, most(at, time.Nanosecond), "5 s of 450 a minute")
		assert.LessOrEqual(t, most(at, time.Minute), 487, "L + burst")
		assert.Equal(t, 400*time.Millisecond/3+1, at[37]-at[36], "then evenly, 60/450 s rounded up")
	})
}

func TestTokens(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		end          outcome
		second       time.Duration // when the second of 5,000 may start
	}{
		{"as estimated", "5,000 of 10,000 a minute are half a minute", good(1000, 4000), 30 * time.Second},
		{"less", "refunded when it ends, at 10 s: 2,000 are 12 s", good(1000, 1000), 12 * time.Second},
		{"much less", "and who waits is woken at once", good(1, 1), 10 * time.Second},
		{"more", "becomes debt: 8,000, and 5,000 do not fit into the same minute", good(3000, 5000), time.Minute},
		{"far more", "a debt of two minutes", good(20000, 0), 2 * time.Minute},
		{"known 0", "gives the tokens back", good(0, 0), 10 * time.Second},
		{"unknown", "keeps the estimate", outcome{sent: true}, 30 * time.Second},
		{"failed, unknown", "keeps the estimate", bad(&llm.Error{Kind: llm.KindServer}), 30 * time.Second},
		{"failed, known", "what a failure was billed counts", bad(&llm.Error{Kind: llm.KindBlocked, Usage: llm.Usage{Input: 2500, Known: true}}), 15 * time.Second},
		{"replayed", "was never made", outcome{sent: true, resp: llm.Response{Replayed: true, Usage: llm.Usage{Input: 9000, Known: true}}}, 10 * time.Second},
		{"not sent", "was never made", bad(errors.New("no such host")).unsent(), 10 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := NewScope(Limits{TPM: 10_000}), time.Now()
				g := mustAdmit(t, s, 5000)
				time.AfterFunc(10*time.Second, func() { g.end(tc.end) })
				h, waits, err := s.admit(t.Context(), 5000)
				require.NoError(t, err)
				assert.Equal(t, tc.second, time.Since(start), tc.reason)
				assert.Equal(t, Waits{Limit: tc.second}, waits)
				h.end(good(1, 1))
			})
		})
	}
}

func (o outcome) unsent() outcome { o.sent = false; return o }

// TestKnownZeroKeepsTheRequest: and one that was never made gives it back.
func TestKnownZeroKeepsTheRequest(t *testing.T) {
	for _, tc := range []struct {
		name   string
		end    outcome
		second time.Duration
	}{
		{"known 0", good(0, 0), time.Second},
		{"replayed", outcome{sent: true, resp: llm.Response{Replayed: true}}, 0},
		{"not sent", outcome{}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := NewScope(Limits{RPM: 60, TPM: 1000}), time.Now()
				mustAdmit(t, s, 100).end(tc.end)
				mustAdmit(t, s, 100).end(outcome{})
				assert.Equal(t, tc.second, time.Since(start))
			})
		})
	}
}

// TestReplaysAreNotLimited: a run from recordings is as fast without limits.
func TestReplaysAreNotLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{RPM: 10, TPM: 100})
		for i := range 10_000 {
			end := outcome{sent: true, resp: llm.Response{Replayed: true}}
			if i == 5000 {
				end = good(10, 0)
			}
			mustAdmit(t, s, 10).end(end)
		}
		assert.Equal(t, int64(1), s.Stats().Starts)
		assert.LessOrEqual(t, s.quotas.window.n, 2, "they leave nothing behind")
	})
}

// TestCaseL11 is about rows that never fit.
func TestCaseL11(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, start := NewScope(Limits{TPM: 10_000}), time.Now()
		_, _, err := s.admit(t.Context(), 12_000)
		assert.ErrorIs(t, err, ErrTooLarge)
		assert.ErrorContains(t, err, "request needs 12000 tokens, limit 10000/min")
		assert.False(t, llm.KindOf(err).Retryable(), "no retry loop")
		for range 2 {
			mustAdmit(t, s, 5000).end(outcome{sent: true})
		}
		assert.Equal(t, 30*time.Second, time.Since(start), "others proceed")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, _, err = s.admit(ctx, 10)
		assert.ErrorIs(t, err, ErrNoTime, "nothing is in flight that could give anything back")
		assert.ErrorContains(t, err, "the limit of 10000 tokens a minute allows the next call in 30s, and this one has 5s")
		assert.Equal(t, 30*time.Second, time.Since(start), "at once")
		mustAdmit(t, s, 10_000).end(outcome{sent: true})
		assert.Equal(t, 90*time.Second, time.Since(start), "all of the limit, when the minute is empty")
	})
}

// TestCaseL11InFlight: a wait that may still end in time is waited.
func TestCaseL11InFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{TPM: 10_000})
		g := mustAdmit(t, s, 10_000)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		time.AfterFunc(time.Second, func() { g.end(good(1, 1)) })
		h, waits, err := s.admit(ctx, 10)
		require.NoError(t, err)
		assert.Equal(t, Waits{Limit: time.Second}, waits)
		h.end(outcome{sent: true})

		g = mustAdmit(t, s, 5_000)
		_, waits, err = s.admit(ctx, 6_000)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorContains(t, err, "in line for 3.94s (pause 0s, limit 3.94s, slot 0s)")
		assert.Equal(t, Waits{Limit: 4*time.Second - 60*time.Millisecond}, waits, "a limit's wait, not a slow model")
		g.end(outcome{sent: true})
		assert.Zero(t, s.Stats().Waiting)
	})
}

// TestFIFO: a large one that waits is not overtaken.
func TestFIFO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{TPM: 6000})
		mustAdmit(t, s, 6000).end(outcome{sent: true})
		var order []int64
		var wg sync.WaitGroup
		for _, n := range []int64{6000, 1, 2, 3} {
			wg.Go(func() {
				g := mustAdmit(t, s, n)
				order = append(order, n)
				g.end(outcome{sent: true})
			})
			synctest.Wait()
		}
		assert.Equal(t, 4, s.Stats().Waiting)
		wg.Wait()
		assert.Equal(t, []int64{6000, 1, 2, 3}, order)
	})
}

// TestCancelledWaiterWakesTheNext: the large one gave up, the small one fits.
func TestCancelledWaiterWakesTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, start := NewScope(Limits{TPM: 6000, Concurrency: 10}), time.Now()
		mustAdmit(t, s, 3000).end(outcome{sent: true})
		time.Sleep(30 * time.Second)
		// 3,000 are in the minute's window: 6,000 must wait for it to end.
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, waits, err := s.admit(ctx, 6000)
			assert.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, Waits{Limit: time.Second}, waits)
		})
		synctest.Wait()
		g := mustAdmit(t, s, 3000)
		assert.Equal(t, 31*time.Second, time.Since(start))
		wg.Wait()
		g.end(outcome{})
		assert.Equal(t, int64(3000), s.quotas.window.tokens, "who gave up has charged nothing")
	})
}

func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := together(t, NewScope(Limits{Concurrency: 8}), 100, time.Second, fine)
		for i, d := range at {
			assert.Equal(t, time.Duration(i/8)*time.Second, d)
		}
	})
}

// TestNoSlotIsHeld while a call waits for a limit.
func TestNoSlotIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{RPM: 60, Concurrency: 1})
		mustAdmit(t, s, 0).end(good(1, 1))
		done := make(chan Waits)
		go func() {
			g, waits, err := s.admit(t.Context(), 0)
			assert.NoError(t, err)
			time.Sleep(1500 * time.Millisecond)
			g.end(good(1, 1))
			done <- waits
		}()
		synctest.Wait()
		assert.Zero(t, s.Stats().InFlight)
		go func() {
			g, waits, err := s.admit(t.Context(), 0)
			assert.NoError(t, err)
			g.end(good(1, 1))
			done <- waits
		}()
		assert.Equal(t, Waits{Limit: time.Second}, <-done)
		assert.Equal(t, Waits{Limit: 2 * time.Second, Slot: 500 * time.Millisecond}, <-done,
			"the limit kept the line for 1 s, and again until 2 s; then the slot")
	})
}

// TestProviderKnowsBetter: somebody else uses the key, too.
func TestProviderKnowsBetter(t *testing.T) {
	left := func(requests, tokens int64) *llm.RateLimit {
		return &llm.RateLimit{Requests: llm.Window{Remaining: &requests}, Tokens: llm.Window{Remaining: &tokens}}
	}
	for _, tc := range []struct {
		name, reason string
		said         *llm.RateLimit
		next         time.Duration // after which the next of 5,000 tokens may start
	}{
		{"nothing", "by our own count half a minute", nil, 30 * time.Second},
		{"more than we think", "is no reason to be faster", left(1000, 1_000_000), 30 * time.Second},
		{"no requests", "one comes in after a second, which has passed", left(0, 9000), 30 * time.Second},
		{"some tokens", "4,000 must come in", left(60, 1000), 30 * time.Second},
		{"no tokens", "5,000 must come in: half a minute, a timer's lateness before", left(60, 0), 30*time.Second - lateness},
		{"overdrawn", "is none left", left(-5, -100), 30*time.Second - lateness},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewScope(Limits{RPM: 60, TPM: 10_000})
				g, start := mustAdmit(t, s, 5000), time.Now()
				o := good(5000, 0)
				o.resp.RateLimit = tc.said
				g.end(o)
				mustAdmit(t, s, 5000).end(outcome{})
				assert.Equal(t, max(tc.next, 30*time.Second), time.Since(start), tc.reason)
			})
		})
	}
	// With a burst our own count would let the next one go at once.
	for _, tc := range []struct {
		name string
		said *llm.RateLimit
		next time.Duration
	}{
		{"nothing", nil, 0},
		{"enough", left(2, 1000), 0},
		{"too few tokens", left(5, 400), 600*time.Millisecond - lateness},
		{"no requests", left(0, 4000), time.Second - lateness},
	} {
		t.Run("burst, "+tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewScope(Limits{RPM: 60, TPM: 60_000, Burst: 10 * time.Second})
				o := good(1000, 0)
				o.resp.RateLimit = tc.said
				g, start := mustAdmit(t, s, 1000), time.Now()
				g.end(o)
				mustAdmit(t, s, 1000).end(outcome{})
				assert.Equal(t, tc.next, time.Since(start))
			})
		})
	}
}

// TestProviderOfASlidingWindow reports nothing left all the time when its limit
// is just used; that must not slow us.
func TestProviderOfASlidingWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{RPM: 600})
		var mu sync.Mutex
		var at []time.Duration
		begun := time.Now()
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				for time.Since(begun) < 5*time.Minute {
					g := mustAdmit(t, s, 0)
					now := time.Since(begun)
					mu.Lock()
					at = append(at, now)
					used := int64(0)
					for i := len(at) - 1; i >= 0 && at[i] > now-time.Minute; i-- {
						used++
					}
					mu.Unlock()
					time.Sleep(time.Duration(200+now.Milliseconds()%300) * time.Millisecond)
					o := good(1, 1)
					o.resp.RateLimit = &llm.RateLimit{Requests: llm.Window{Remaining: new(600 - used)}}
					g.end(o)
				}
			})
		}
		wg.Wait()
		assert.LessOrEqual(t, most(at, time.Minute), 600)
		assert.Greater(t, len(at), 5*600*99/100)
	})
}

func TestEstimateTokens(t *testing.T) {
	for _, tc := range []struct {
		name string
		req  llm.Request
		want int64
	}{
		{"empty", llm.Request{}, 1 + 256},
		{"text", llm.Prompt("12345678"), 2 + 256},
		{"rounded up", llm.Prompt("123456789"), 3 + 256},
		{"bytes, not letters", llm.Prompt("ééé"), 2 + 256},
		{"system", llm.Prompt("1234").WithSystem("1234"), 2 + 256},
		{"cap", llm.Request{MaxOutputTokens: new(int64(10))}, 1 + 10},
		{"cap of 0", llm.Request{MaxOutputTokens: new(int64(0))}, 1},
		{"schema", llm.Request{Schema: &llm.Schema{Name: "ab", JSON: []byte(`{}`)}}, 1 + 256},
		{"tools", llm.Request{
			Tools:    []llm.Tool{{Name: "abcd", Description: "abcd", Parameters: []byte(`{"a":1}`)}},
			Messages: []llm.Message{{ToolCalls: []llm.ToolCall{{Name: "a", Arguments: "{}"}}}},
		}, 5 + 256},
	} {
		assert.Equal(t, tc.want, EstimateTokens(tc.req, 256), tc.name)
	}
}

func TestEstimateLearns(t *testing.T) {
	s := NewScope(Limits{TPM: maxPerMinute}) // so that no call waits
	req := llm.Prompt("1234")
	assert.Equal(t, int64(1+256), s.estimate(req))
	mustAdmit(t, s, 1).end(good(1, 0))
	assert.Equal(t, int64(1+128), s.estimate(req), "what it began with counts as one answer")
	mustAdmit(t, s, 1).end(bad(errors.New("x")))
	assert.Equal(t, int64(1+128), s.estimate(req), "a failure is no answer")
	for range 1000 {
		mustAdmit(t, s, 1).end(good(1, 50))
	}
	assert.Equal(t, int64(1+50), s.estimate(req))

	assert.Zero(t, NewScope(Limits{RPM: 5}).estimate(req), "nothing to count")
	assert.Equal(t, int64(7), NewScope(Limits{TPM: 5, Estimate: func(llm.Request) int64 { return 7 }}).estimate(req))
	assert.PanicsWithError(t, "call: Limits.Estimate returned -7 tokens for a request; it must not be negative", func() {
		NewScope(Limits{TPM: 5, Estimate: func(llm.Request) int64 { return -7 }}).estimate(req)
	})
}

func TestLimitsCheck(t *testing.T) {
	for _, tc := range []struct {
		name string
		l    Limits
		want string
	}{
		{"zero", Limits{}, ""},
		{"all", Limits{RPM: 1, TPM: 1, Burst: time.Minute, Concurrency: 1, Adaptive: AdaptAuto, MaxWait: 1, Share: "x", Cooldown: Backoff{First: 2, Max: 2}}, ""},
		{"long first pause", Limits{Cooldown: Backoff{First: time.Hour}}, ""},
		{"a key", Limits{Share: "team sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"}, "Limits.Share looks as if it held a key"},
		{"an odd name", Limits{Share: strings.Repeat("../ \x00é", 10_000)}, ""},
		{"RPM", Limits{RPM: -1}, "Limits.RPM is -1; it must not be negative (0 is no limit)"},
		{"much RPM", Limits{RPM: 1_000_000_001}, "Limits.RPM is 1000000001; the most is 1000000000"},
		{"TPM", Limits{TPM: -5}, "Limits.TPM is -5"},
		{"much TPM", Limits{TPM: 1_000_000_001}, "Limits.TPM is 1000000001"},
		{"Burst", Limits{RPM: 1, Burst: -time.Second}, "Limits.Burst is -1s"},
		{"long Burst", Limits{RPM: 1, Burst: time.Hour}, "Limits.Burst is 1h0m0s"},
		{"Burst of nothing", Limits{Burst: time.Second}, "Limits.Burst is 1s, but there is no RPM or TPM"},
		{"Burst of what is stated", Limits{Burst: time.Second, Adaptive: AdaptAuto}, ""},
		{"Concurrency", Limits{Concurrency: -1}, "Limits.Concurrency is -1"},
		{"Adaptive", Limits{Adaptive: "fast"}, `Limits.Adaptive is "fast"; it must be "rate", "concurrency", "auto" or empty`},
		{"MaxWait", Limits{MaxWait: -1}, "Limits.MaxWait is -1ns; it must not be negative (0 is the default of 2m0s)"},
		{"Cooldown.First", Limits{Cooldown: Backoff{First: -1}}, "Limits.Cooldown.First is -1ns"},
		{"Cooldown.Max", Limits{Cooldown: Backoff{Max: -1}}, "Limits.Cooldown.Max is -1ns"},
		{"Max below First", Limits{Cooldown: Backoff{First: time.Minute, Max: time.Second}}, "Limits.Cooldown.Max is 1s, less than the first pause of 1m0s"},
		{"Max below the default First", Limits{Cooldown: Backoff{Max: time.Second}}, "Limits.Cooldown.Max is 1s, less than the first pause of 2s"},
		{"Rand", Limits{Cooldown: Backoff{Rand: func() float64 { return 0 }}}, "Limits.Cooldown.Rand is set"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.l.Check()
			if tc.want == "" {
				require.NoError(t, err)
				NewScope(tc.l)
				return
			}
			require.ErrorContains(t, err, tc.want)
			assert.Panics(t, func() { NewScope(tc.l) })
		})
	}
}

func TestGrantEndsOnce(t *testing.T) {
	g := mustAdmit(t, &Scope{}, 0)
	g.end(outcome{})
	assert.Panics(t, func() { g.end(outcome{}) })
}
