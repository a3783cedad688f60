package metric

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/llm"
)

// steady is a schedule's Expected at a rate that stays.
func steady(rate float64) func(from, to time.Duration) float64 {
	return func(from, to time.Duration) float64 { return rate * (to - from).Seconds() }
}

func TestVerdict(t *testing.T) {
	healthy := Health{Held: Some(0), WakeupP99: Some(1e6), CPU: Some(0.2), GCPause: Some(0), PoolWaits: Some(0), FDErrors: Some(0), Blocked: Some(0)}
	for _, c := range []struct {
		name, reason string
		config       Config
		h            func(*Health)
		broken       string
	}{
		{"healthy", "all in order", Config{}, func(*Health) {}, ""},
		{"cpu", "at the limit is within", Config{}, func(h *Health) { h.CPU = Some(0.85) }, ""},
		{"cpu over", "busy", Config{}, func(h *Health) { h.CPU = Some(0.86) }, "client CPU share"},
		{"starved", "its timers were late", Config{}, func(h *Health) { h.WakeupP99 = Some(5.1e6) }, "wake-up p99"},
		{"starved, off", "asked not to look", Config{Limits: Limits{Wakeup: -1}}, func(h *Health) { h.WakeupP99 = Some(5.1e6) }, ""},
		{"gc", "stopped too long", Config{}, func(h *Health) { h.GCPause = Some(0.02) }, "GC pause share"},
		{"gc off", "asked not to look", Config{Limits: Limits{GCPause: -1}}, func(h *Health) { h.GCPause = Some(0.02) }, ""},
		{"pool", "own limit", Config{}, func(h *Health) { h.PoolWaits = Some(1) }, "pool waits"},
		{"fd", "no descriptor left", Config{}, func(h *Health) { h.FDErrors = Some(1) }, "fd errors"},
		{"blocked", "an open loop that waits", Config{Loop: Open, Limits: Limits{Achieved: -1}}, func(h *Health) { h.Blocked = Some(3) }, "blocked arrivals"},
		{"blocked closed", "a closed loop may", Config{}, func(h *Health) { h.Blocked = Some(3) }, ""},
		{"held", "a hundredth of the users' time is much", Config{}, func(h *Health) { h.Held = Some(0.011) }, "held by the sink"},
		{"held, open", "nobody waits there", Config{Loop: Open}, func(h *Health) { h.Held = Some(0.5) }, ""},
		{"rate", "asked 50, scheduled 100", Config{Loop: Open, Expected: steady(50)}, func(*Health) {}, "scheduled / asked rate - 1"},
		{"rate, even", "asked 102, scheduled 100", Config{Loop: Open, Expected: steady(102)}, func(*Health) {}, "scheduled / asked rate - 1"},
		{"rate, random", "199 gaps are 36 % short by chance in no run", Config{Loop: Open, Expected: steady(158), Shape: 1}, func(*Health) {}, "scheduled / asked rate - 1"},
		{"rate, by chance", "but 20 % now and then", Config{Loop: Open, Expected: steady(125), Shape: 1}, func(*Health) {}, ""},
		{"rate, bursts", "of a tenth as many draws, 36 % too", Config{Loop: Open, Expected: steady(158), Shape: 0.1}, func(*Health) {}, ""},
		{"no rate", "a trace has none", Config{Loop: Open, Rate: 50}, func(*Health) {}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := meter(t, c.config)
			for i := range 200 {
				at := time.Duration(i) * 10 * ms
				add(t, m, answered(i, at, at+5*ms, at+8*ms))
			}
			h := healthy
			c.h(&h)
			v := m.Result(h).Validity
			var names []string
			for _, b := range v.Broken() {
				names = append(names, b.Name)
				assert.NotEmpty(t, b.Why)
			}
			assert.Equal(t, c.broken, strings.Join(names, ","), c.reason)
			assert.Equal(t, c.broken == "", v.Valid)
		})
	}
	m := meter(t, Config{})
	add(t, m, answered(0, 0, 5*ms))
	assert.Equal(t, []string{"held by the sink", "client CPU share", "wake-up p99", "GC pause share", "pool waits", "fd errors"}, m.Result(Health{}).Validity.named(Unmeasured),
		"what nobody measured is not called ok")
}

// TestCachedByChance: prompts of random words begin alike now and then, and a server
// that tries again may have read a prompt before.
func TestCachedByChance(t *testing.T) {
	for _, c := range []struct {
		name   string
		cached int64
		tries  int
		broken bool
	}{
		{"none", 0, 0, false},
		{"four tokens of each", 4, 0, false},
		{"more", 6, 0, true},
		{"all of them", 100, 0, true},
		{"all, of a try before", 100, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := meter(t, Config{})
			for i := range 10 {
				at := time.Duration(i) * 10 * ms
				r := answered(i, at, at+5*ms, at+8*ms)
				r.AskedInput, r.Usage.CachedInput = 100, c.cached
				for range c.tries {
					r.Tries = append(r.Tries, record.Try{Sent: at, Done: at, Failure: record.Failure{Class: record.Server}})
				}
				add(t, m, r)
			}
			v := m.Result(Health{}).Validity
			assert.Equal(t, c.broken, slices.ContainsFunc(v.Broken(), func(c Check) bool { return c.Name == "cached input" }))
		})
	}
}

// TestUncounted: an answer in one piece of which nobody counted the tokens is not
// an answer of one token; one in events may be.
func TestUncounted(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		m := meter(t, Config{})
		for i := range 10 {
			at := time.Duration(i) * 10 * ms
			r := answered(i, at, at+5*ms)
			r.Usage, r.Fragments[0].Tokens, r.Streamed = llm.Usage{}, 0, streamed
			add(t, m, r)
		}
		res := m.Result(Health{})
		broken := slices.ContainsFunc(res.Validity.Broken(), func(c Check) bool { return c.Name == "uncounted answers" })
		warned := slices.Contains(res.Warnings, "nobody counted the tokens of 10 streamed answers: each event is taken for one token, and there are more if the server sends several at once")
		assert.Equal(t, []bool{!streamed, streamed}, []bool{broken, warned}, "streamed %v", streamed)
	}
}

// TestVerdictShort: a lag that is allowed is no lower rate, however short the run.
func TestVerdictShort(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		late         time.Duration
		limits       Limits
		broken       bool
	}{
		{"within the lag", "0.09 s took 0.099", 9 * ms, Limits{}, false},
		{"beyond the usual one", "what is allowed counts", 11 * ms, Limits{LagP99: 12 * ms, LagMax: -1}, false},
		{"late, and allowed", "that is what the limits of the lag are for", 110 * ms, Limits{}, false},
		{"far beyond", "0.09 s took 0.7", 610 * ms, Limits{}, true},
		{"no limit of the lag", "then it excuses nothing", 9 * ms, Limits{LagP99: -1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := meter(t, Config{Loop: Open, Limits: c.limits})
			for i := range 10 {
				due := time.Duration(i) * 10 * ms
				r := answered(i, due, due+time.Second)
				if i == 9 {
					r.Sent += c.late
					r.FirstSent += c.late
				}
				add(t, m, r)
			}
			broken := slices.ContainsFunc(m.Result(Health{}).Validity.Broken(), func(c Check) bool { return c.Name == "achieved / scheduled rate" })
			assert.Equal(t, c.broken, broken, c.reason)
		})
	}
}
