package call

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
)

// TestTrap12NoStampede: a crowd that was refused comes back spaced over all,
// the first one alone.
func TestTrap12NoStampede(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, start := &Scope{}, time.Now()
		var mu sync.Mutex
		var at []time.Duration
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { // a retry is a start like any other
				g := mustAdmit(t, s, 0)
				time.Sleep(200 * time.Millisecond)
				g.end(bad(busy(seconds(10))))
				g = mustAdmit(t, s, 0)
				mu.Lock()
				at = append(at, time.Since(start))
				mu.Unlock()
				time.Sleep(200 * time.Millisecond)
				g.end(good(1, 1))
			})
		}
		wg.Wait()
		const over = 10200 * time.Millisecond
		assert.Equal(t, over, at[0])
		assert.Equal(t, over+200*time.Millisecond, at[1], "when the first is back")
		// 100 in a second before, half of it after.
		assert.LessOrEqual(t, most(at, 100*time.Millisecond), 10)
		assert.Equal(t, 1, most(at, 10*time.Millisecond))
		assert.Less(t, at[99], over+2200*time.Millisecond, "and not for ever")
		assert.InDelta(t, 100, s.Stats().Pace, 1, "100 successes restore the rate")

		// The rest takes it back to no pace at all.
		at = together(t, s, 1000, 10*time.Millisecond, fine)
		assert.Zero(t, s.Stats().Pace)
		assert.Less(t, at[999], 3*time.Second)
	})
}

// TestTrap12Probe: the first call after a pause goes alone, and does not hold
// the others for ever whatever becomes of it.
func TestTrap12Probe(t *testing.T) {
	const spacing = time.Second // one start before: the slowest pace
	for _, tc := range []struct {
		name, reason string
		probe        func(t *testing.T, s *Scope, g *grant)
		second       time.Duration // after the first
	}{
		{"comes back", "but not faster than the pace", func(_ *testing.T, _ *Scope, g *grant) { g.end(good(1, 1)) }, 909090 * time.Microsecond},
		{"takes long", "a second is enough for a refusal", func(_ *testing.T, _ *Scope, g *grant) {
			time.AfterFunc(time.Minute, func() { g.end(good(1, 1)) })
		}, probeTime},
		{"hangs", "", func(t *testing.T, _ *Scope, g *grant) {
			time.AfterFunc(time.Hour, func() { g.end(bad(context.Canceled)) })
		}, probeTime},
		{"fails otherwise", "a failure says nothing of the rate", func(_ *testing.T, _ *Scope, g *grant) {
			g.end(bad(&llm.Error{Kind: llm.KindServer}))
		}, spacing},
		{"is not sent", "the next is the first", func(_ *testing.T, _ *Scope, g *grant) { g.end(outcome{}) }, 0},
		{"is refused", "a pause again", func(_ *testing.T, _ *Scope, g *grant) { g.end(bad(busy(nil))) }, 4 * time.Second},
		{"is refused, come back at once", "a pace again", func(_ *testing.T, _ *Scope, g *grant) { g.end(bad(busy(seconds(0)))) }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Scope{}
				mustAdmit(t, s, 0).end(bad(busy(nil)))
				g, start := mustAdmit(t, s, 0), time.Now()
				tc.probe(t, s, g)
				h := mustAdmit(t, s, 0)
				assert.Equal(t, tc.second, time.Since(start).Truncate(time.Microsecond), tc.reason)
				i := mustAdmit(t, s, 0)
				assert.Positive(t, time.Since(start)-tc.second, "the third is spaced as well")
				h.end(good(1, 1))
				i.end(good(1, 1))
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// TestTrap12UnknownLimit: a limit that nobody told us of is used, and what is
// refused stays few: those in flight when it was met, once a pause.
func TestTrap12UnknownLimit(t *testing.T) {
	const workers, rpm, length = 64, 600, 10 * time.Minute
	for _, tc := range []struct {
		name   string
		stated bool
		limits Limits
		used   float64 // of what the provider allows, at least
		most   float64 // of calls refused, at most
	}{
		{"stated", true, Limits{}, 0.99, 0.12},
		{"not a word", false, Limits{}, 0.75, 0.12},
		{"not a word, adaptive concurrency", false, Limits{Adaptive: AdaptConcurrency}, 0.75, 0.1},
		{"not a word, adaptive rate", false, Limits{Adaptive: AdaptRate}, 0.85, 0.03},
		{"known", false, Limits{RPM: rpm}, 0.99, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p := NewScope(tc.limits), &slidingProvider{begun: time.Now(), rpm: rpm, stated: tc.stated}
				var wg sync.WaitGroup
				for range workers {
					wg.Go(func() {
						for time.Since(p.begun) < length {
							g := mustAdmit(t, s, 0)
							time.Sleep(100 * time.Millisecond)
							err := p.call()
							time.Sleep(100 * time.Millisecond)
							if err != nil {
								g.end(bad(err))
							} else {
								g.end(good(1, 1))
							}
						}
					})
				}
				wg.Wait()
				t.Logf("%d calls, %d refused, %+v", p.calls, p.refused, s.Stats())
				assert.Greater(t, float64(p.calls), tc.used*rpm*length.Minutes())
				assert.LessOrEqual(t, float64(p.refused), tc.most*float64(p.calls))
			})
		})
	}
}

// A slidingProvider allows rpm calls in any rolling minute.
type slidingProvider struct {
	begun          time.Time
	rpm            int
	stated         bool // it says how long to wait
	mu             sync.Mutex
	served         []time.Duration // within the last minute
	calls, refused int
}

func (p *slidingProvider) call() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Since(p.begun)
	for len(p.served) > 0 && p.served[0] <= now-time.Minute {
		p.served = p.served[1:]
	}
	if len(p.served) < p.rpm {
		p.calls++
		p.served = append(p.served, now)
		return nil
	}
	p.refused++
	if p.stated {
		return busy(new(p.served[0] + time.Minute - now))
	}
	return busy(nil)
}

func TestMeter(t *testing.T) {
	var m meter
	assert.Zero(t, m.rate(time.Hour))
	for i := range 20 {
		m.start(time.Duration(i) * 500 * time.Millisecond)
	}
	assert.InDelta(t, 2, m.rate(10*time.Second), 0.3)
	assert.InDelta(t, 1, m.rate(15*time.Second), 0.3)
	assert.Zero(t, m.rate(time.Hour))
	m = meter{}
	for range 50 {
		m.start(time.Second)
	}
	assert.InDelta(t, 50, m.rate(time.Second), 0)
	assert.InDelta(t, 25, m.rate(3*time.Second), 0)
}

// TestPaceAfterTwoLimits: a second crowd that is refused soon after the first
// halves the pace. It does not take for the whole rate what was seen since the
// first.
func TestPaceAfterTwoLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Scope{}
		together(t, s, 200, 10*time.Millisecond, fine) // 200 a second
		refused := func() float64 {
			a, b := mustAdmit(t, s, 0), mustAdmit(t, s, 0)
			a.end(bad(busy(seconds(0))))
			b.end(bad(busy(seconds(0))))
			return s.Stats().Pace
		}
		first := refused()
		mustAdmit(t, s, 0).end(good(1, 1))
		second := refused()
		assert.InDelta(t, first/2, second, first/10, "paces after the first and the second")
	})
}
