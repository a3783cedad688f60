package call

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
)

// TestAdaptRate is the guide's rule, step by step.
func TestAdaptRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{Adaptive: AdaptRate, Cooldown: Backoff{First: time.Nanosecond}})
		rate := func() float64 { return s.Stats().RPM }
		ends := func(n int, o outcome) {
			for range n {
				mustAdmit(t, s, 0).end(o)
			}
		}
		assert.InDelta(t, 60, rate(), 0)
		ends(9, good(1, 1))
		assert.InDelta(t, 60, rate(), 0, "9 are no row")
		ends(1, bad(&llm.Error{Kind: llm.KindServer}))
		ends(9, good(1, 1))
		assert.InDelta(t, 60, rate(), 0, "10 in a row")
		ends(1, good(1, 1))
		assert.InDelta(t, 72, rate(), 1e-9)
		ends(10, good(1, 1))
		assert.InDelta(t, 86.4, rate(), 1e-9)
		ends(9, good(1, 1))
		ends(1, bad(busy(nil)))
		assert.InDelta(t, 43.2, rate(), 1e-9, "half at once")
		ends(9, good(1, 1))
		assert.InDelta(t, 43.2, rate(), 1e-9, "the row begins again")
		ends(191, good(1, 1))
		assert.InDelta(t, 1000, rate(), 0, "the most")
		for range 10 {
			ends(1, bad(busy(nil)))
		}
		assert.InDelta(t, 10, rate(), 0, "the least")

		begun := time.Now()
		ends(3, good(1, 1))
		assert.InDelta(t, 18, time.Since(begun).Seconds(), 1, "10 a minute are 6 s")
	})
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{Adaptive: AdaptRate, RPM: 30})
		assert.InDelta(t, 30, s.Stats().RPM, 0)
		for range 50 {
			mustAdmit(t, s, 0).end(good(1, 1))
		}
		assert.InDelta(t, 30, s.Stats().RPM, 0, "RPM is a limit beside it")
		s = NewScope(Limits{Adaptive: AdaptRate, RPM: 4})
		mustAdmit(t, s, 0).end(bad(busy(nil)))
		assert.InDelta(t, 4, s.Stats().RPM, 0, "the least is not more than RPM")
	})
}

// TestAdaptRateSpaces: starts are that far apart, and what never was gives its
// place back.
func TestAdaptRateSpaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{Adaptive: AdaptRate})
		at := together(t, s, 5, time.Hour, fine)
		for i, d := range at {
			assert.Equal(t, time.Duration(i)*time.Second, d)
		}
		begun := time.Now()
		for range 100 {
			mustAdmit(t, s, 0).end(outcome{})
		}
		assert.Zero(t, time.Since(begun))
	})
}

func TestAdaptConcurrency(t *testing.T) {
	for _, tc := range []struct {
		name   string
		limits Limits
		begins int
		most   int
	}{
		{"unbounded", Limits{Adaptive: AdaptConcurrency}, 16, 1000},
		{"bounded", Limits{Adaptive: AdaptConcurrency, Concurrency: 4}, 4, 4},
		{"auto", Limits{Adaptive: AdaptAuto, Concurrency: 20}, 20, 20},
		{"wide", Limits{Adaptive: AdaptAuto, Concurrency: 5000}, 1000, 5000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewScope(tc.limits)
				assert.Equal(t, tc.begins, s.Stats().Concurrency)
				for range tc.begins {
					mustAdmit(t, s, 0).end(good(1, 1))
				}
				assert.Equal(t, min(tc.begins+1, tc.most), s.Stats().Concurrency)
				for range 2_000 {
					mustAdmit(t, s, 0).end(good(1, 1))
				}
				assert.LessOrEqual(t, s.Stats().Concurrency, tc.most)

				// All in flight meet one event: halved once.
				was := s.Stats().Concurrency
				var calls []*grant
				for range was {
					calls = append(calls, mustAdmit(t, s, 0))
				}
				for i, g := range calls {
					if i == 0 {
						time.Sleep(time.Second)
					}
					g.end(bad(busy(nil)))
				}
				assert.Equal(t, was/2, s.Stats().Concurrency)
				for range 20 {
					mustAdmit(t, s, 0).end(bad(busy(nil)))
				}
				assert.Equal(t, 1, s.Stats().Concurrency, "at least one")
			})
		})
	}
}

// TestAdaptConcurrencyHolds what is in flight.
func TestAdaptConcurrencyHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := together(t, NewScope(Limits{Adaptive: AdaptConcurrency}), 50, time.Second, fine)
		assert.Equal(t, time.Duration(0), at[15])
		assert.Equal(t, time.Second, at[16])
		assert.Equal(t, time.Second, at[32], "16 successes: 17 in flight")
		assert.Equal(t, 2*time.Second, at[33])
	})
}

// TestAdaptAuto takes the limits that the provider states, where none are
// configured.
func TestAdaptAuto(t *testing.T) {
	said := good(1, 1)
	said.resp.RateLimit = &llm.RateLimit{Requests: llm.Window{Limit: new(int64(120))}, Tokens: llm.Window{Limit: new(int64(6000))}}
	synctest.Test(t, func(t *testing.T) {
		s := NewScope(Limits{Adaptive: AdaptAuto})
		mustAdmit(t, s, 0).end(said)
		assert.InDelta(t, 120, s.Stats().RPM, 0)
		assert.Equal(t, int64(6000), s.Stats().TPM)
		assert.Equal(t, EstimateTokens(llm.Prompt("x"), 129), s.estimate(llm.Prompt("x")))
		at := together(t, s, 4, 0, fine)
		assert.Equal(t, []time.Duration{0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond}, at)
		g := mustAdmit(t, s, 60_000)
		g.end(outcome{})
		assert.Equal(t, int64(5), s.Stats().Starts, "a limit that was only stated may not be a minute's: it goes alone")
		mustAdmit(t, s, 0).end(bad(&llm.Error{Kind: llm.KindServer, RateLimit: &llm.RateLimit{Requests: llm.Window{Limit: new(int64(60))}}}))
		assert.InDelta(t, 60, s.Stats().RPM, 0, "errors have headers, too")
		mustAdmit(t, s, 0).end(bad(&llm.Error{Kind: llm.KindServer, RateLimit: &llm.RateLimit{Requests: llm.Window{Limit: new(int64(0))}}}))
		assert.InDelta(t, 60, s.Stats().RPM, 0, "0 is no limit that could be meant")
	})
	synctest.Test(t, func(t *testing.T) {
		for _, l := range []Limits{{RPM: 30, TPM: 500, Adaptive: AdaptAuto}, {RPM: 30, TPM: 500}} {
			s := NewScope(l)
			mustAdmit(t, s, 0).end(said)
			assert.InDelta(t, 30, s.Stats().RPM, 0, "what is configured counts")
			assert.Equal(t, int64(500), s.Stats().TPM)
		}
		s := &Scope{}
		mustAdmit(t, s, 0).end(said)
		assert.Zero(t, s.Stats().RPM, "nobody asked")
	})
}
