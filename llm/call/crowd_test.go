package call

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
)

// A closedLoop is workers that call one after the other, for so long.
type closedLoop struct {
	workers                  int
	answer, refusal, measure time.Duration // measured after as long again
}

// run returns how many answers a second came in the second half.
func (l closedLoop) run(t *testing.T, s *Scope, call func() (over func(), err error)) float64 {
	begun := time.Now()
	var mu sync.Mutex
	answers := 0
	var wg sync.WaitGroup
	for range l.workers {
		wg.Go(func() {
			for time.Since(begun) < 2*l.measure {
				g, _, err := s.admit(context.Background(), 0)
				if !assert.NoError(t, err) {
					return
				}
				over, err := call()
				if err != nil {
					time.Sleep(l.refusal)
					time.Sleep(g.end(bad(err)))
					continue
				}
				time.Sleep(l.answer)
				over()
				g.end(good(1, 1))
				mu.Lock()
				if at := time.Since(begun); at > l.measure && at <= 2*l.measure {
					answers++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return float64(answers) / l.measure.Seconds()
}

// TestRefusedNowAndThen: a provider that refuses single calls, whatever the
// rate, is used almost as if it did not.
func TestRefusedNowAndThen(t *testing.T) {
	quick := closedLoop{250, 40 * time.Millisecond, 40 * time.Millisecond, 4 * time.Second}
	slow := closedLoop{250, time.Second, 100 * time.Millisecond, 30 * time.Second}
	few := closedLoop{20, 40 * time.Millisecond, 40 * time.Millisecond, 10 * time.Second}
	for _, tc := range []struct {
		name, reason string
		limits       Limits
		loop         closedLoop
		share        float64
		after        *time.Duration
		used         float64 // of 250 in flight all the time, at least
	}{
		{"1 in 500, at once", "", Limits{}, quick, 0.002, seconds(0), 0.95},
		{"1 in 100, at once", "one among the first few that come back is no crowd: 249 are out", Limits{}, quick, 0.01, seconds(0), 0.9},
		{"1 in 100, at once, slow answers", "", Limits{}, slow, 0.01, seconds(0), 0.9},
		{"1 in 100, at once, few workers", "", Limits{}, few, 0.01, seconds(0), 0.9},
		{"1 in 100, at once, adaptive", "is not halved each time", Limits{Adaptive: AdaptConcurrency, Concurrency: 250}, quick, 0.01, seconds(0), 0.9},
		{"1 in 500, after a second", "half of it is waited out", Limits{}, slow, 0.002, seconds(1), 0.6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, mu := rand.New(rand.NewPCG(1, 2)), sync.Mutex{}
				got := tc.loop.run(t, NewScope(tc.limits), func() (over func(), err error) {
					mu.Lock()
					defer mu.Unlock()
					if r.Float64() < tc.share {
						return nil, busy(tc.after)
					}
					return func() {}, nil
				})
				ideal := float64(tc.loop.workers) / tc.loop.answer.Seconds()
				t.Logf("%.0f answers a second, %.0f %% of %.0f", got, 100*got/ideal, ideal)
				assert.GreaterOrEqual(t, got, tc.used*ideal, tc.reason)
			})
		})
	}
}

// TestConcurrencyOfTheProvider: one that answers 50 at once and refuses all
// beyond.
func TestConcurrencyOfTheProvider(t *testing.T) {
	const most = 50
	for _, tc := range []struct {
		name   string
		limits Limits
		after  *time.Duration
		used   float64
	}{
		{"adaptive, at once", Limits{Adaptive: AdaptConcurrency}, seconds(0), 0.65},
		{"adaptive, after a second", Limits{Adaptive: AdaptConcurrency}, seconds(1), 0.65},
		{"adaptive, not a word", Limits{Adaptive: AdaptConcurrency}, nil, 0.6},
		{"250 at once", Limits{}, seconds(0), 0.3}, // the pacer ends, but not so that all the others come at once
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				n := 0
				got := closedLoop{250, time.Second, 50 * time.Millisecond, 100 * time.Second}.run(t, NewScope(tc.limits), func() (over func(), err error) {
					mu.Lock()
					defer mu.Unlock()
					if n >= most {
						return nil, busy(tc.after)
					}
					n++
					return func() { mu.Lock(); n--; mu.Unlock() }, nil
				})
				t.Logf("%.0f answers a second", got)
				assert.GreaterOrEqual(t, got, tc.used*most)
			})
		})
	}
}

// TestRefusesFromTheFirstOn: a provider that answers nothing is given up after
// two minutes, with its own words, and each later call goes to see alone.
func TestRefusesFromTheFirstOn(t *testing.T) {
	for _, tc := range []struct {
		name  string
		after *time.Duration
		calls int // at most
	}{
		{"not a word", nil, 400},
		{"30 s", seconds(30), 400},
		{"100 s", seconds(100), 400},
		{"at once", seconds(0), 2000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				calls, heals := 0, false
				m := New(llm.ModelFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
					mu.Lock()
					calls++
					healed := heals
					mu.Unlock()
					time.Sleep(100 * time.Millisecond)
					if healed {
						return llm.Response{}, nil
					}
					return llm.Response{}, busy(tc.after)
				}), Config{})
				begun := time.Now()
				var wg sync.WaitGroup
				for range 250 {
					wg.Go(func() {
						_, err := m.Generate(context.Background(), llm.Request{})
						assert.ErrorIs(t, err, ErrBusy)
						assert.ErrorContains(t, err, "slow down")
						assert.Equal(t, llm.KindRateLimit, llm.KindOf(err))
					})
				}
				wg.Wait()
				took := time.Since(begun)
				t.Logf("%d calls in %v", calls, took)
				assert.LessOrEqual(t, took, 4*time.Minute)
				assert.LessOrEqual(t, calls, tc.calls)
				heals = true
				time.Sleep(2 * time.Minute) // no pause is left
				_, err := m.Generate(t.Context(), llm.Request{})
				assert.NoError(t, err, "it may heal")
				together(t, m.Scope(), 20, time.Second, fine)
			})
		})
	}
}

// TestRefusesBesideLongOnes: a provider that has let calls in, and answers none
// of them for minutes, does not refuse every call.
func TestRefusesBesideLongOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 20
		var mu sync.Mutex
		n := 0
		m := New(llm.ModelFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
			mu.Lock()
			if n >= most {
				mu.Unlock()
				time.Sleep(time.Second)
				return llm.Response{}, busy(seconds(20))
			}
			n++
			mu.Unlock()
			err := sleep(ctx, 4*time.Minute)
			mu.Lock()
			n--
			mu.Unlock()
			return llm.Response{}, err
		}), Config{Timeout: time.Hour, Tries: 1000})
		var wg sync.WaitGroup
		for range 2 * most {
			wg.Go(func() {
				_, err := m.Generate(t.Context(), llm.Request{})
				assert.NoError(t, err)
			})
		}
		wg.Wait()
		assert.Zero(t, m.Scope().ages.now+m.Scope().ages.before+m.Scope().ages.older)
	})
}

// TestRefusesLater: one that did answer is waited for.
func TestRefusesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Scope{}
		mustAdmit(t, s, 0).end(good(1, 1))
		begun := time.Now()
		for range 30 {
			mustAdmit(t, s, 0).end(bad(busy(seconds(10))))
		}
		assert.Equal(t, 290*time.Second, time.Since(begun))
	})
}
