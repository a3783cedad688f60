package metric

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
)

// B01: 10 arrivals a second for 10 s, one slot, 190 ms each. Request i is due
// at 100·i and sent at 190·i: it answers 190 + 90·i after it was due.
func TestB01CoordinatedOmission(t *testing.T) {
	m := meter(t, Config{Loop: Open, Rate: 10})
	for i := range 100 {
		r := answered(i, time.Duration(i)*190*ms, time.Duration(i+1)*190*ms)
		r.Due = time.Duration(i) * 100 * ms
		add(t, m, r)
	}
	res := m.Result(Health{})
	assert.InEpsilon(t, 190e6, must(t, res.Dists[E2E].At(0.99).Value), exactly, "the service clock sees nothing")
	assert.InEpsilon(t, 9010.9e6, must(t, res.Dists[ResponseE2E].At(0.99).Value), exactly, "rank 98.01: 190 + 90*98.01")
	assert.InEpsilon(t, 10, must(t, res.Rates.Offered), exactly)
	assert.InEpsilon(t, 1/0.19, must(t, res.Rates.Achieved), exactly)
	assert.False(t, res.Validity.Valid)
	var names []string
	for _, c := range res.Validity.Broken() {
		names = append(names, c.Name)
	}
	assert.Equal(t, []string{"lag p99", "lag max", "achieved / scheduled rate"}, names)
	assert.Equal(t, int64(99), res.Counts.Late, "all but the first, which was on time")
}

// B03: every second request is refused after 2 ms, eight are in flight at the
// end. Only answers count, and the unfinished ones make no window longer.
func TestB03ErrorsAndUnfinished(t *testing.T) {
	m := meter(t, Config{SLO: SLO{E2E: 150 * ms}})
	for i := range 100 {
		at := time.Duration(i) * 100 * ms
		add(t, m, answered(2*i, at, at+50*ms, at+100*ms), failing(2*i+1, at, at+2*ms, record.RateLimited))
	}
	for i := range 8 {
		r := failing(200+i, 9950*ms, 90*time.Second, record.Canceled)
		r.Due = 9950 * ms
		r.Fragments = []record.Fragment{{At: 9960 * ms, Bytes: 3}}
		if i == 7 { // still undecided: it was due 50 ms before the end
			r.Done = 10 * time.Second
		}
		add(t, m, r)
	}
	res := m.Result(Health{})
	assert.Equal(t, Counts{Due: 208, OK: 100, Failed: 100, Incomplete: 8}, res.Counts)
	assert.Equal(t, 10*time.Second, res.Whole.Length(), "not 90 s")
	assert.InEpsilon(t, 10, must(t, res.Whole.RequestRate), exactly)
	assert.InEpsilon(t, 20, must(t, res.Whole.OutputRate), exactly)
	assert.InEpsilon(t, 10, must(t, res.Rates.Finished), exactly, "99 gaps of 100 ms")
	assert.Equal(t, int64(8), res.Tokens.IncompletePieces)
	require.Len(t, res.Errors, 1)
	assert.Equal(t, int64(100), res.Errors[0].Count)
	assert.Equal(t, map[int]int{429: 100}, res.Errors[0].Status)

	g := res.Goodput
	assert.Equal(t, []int64{100, 107, 1}, []int64{g.Good, g.Bad, g.Undecided}, "seven were cut after their limit")
	assert.InEpsilon(t, 100.0/207, must(t, g.Fraction), exactly)
	assert.InEpsilon(t, 100.0/208, must(t, g.FractionLow), exactly)
	assert.Equal(t, Some(math.Inf(1)), res.ErrorsAsInfinite[E2E].At(0.9).Value)
	assert.Equal(t, int64(200), res.ErrorsAsInfinite[E2E].N, "unfinished ones are neither")
}

// B07: 64 users start at once. The burst's requests are warm-up: excluded from
// every distribution, but they keep the slots busy, so the steady window begins
// with the measured phase.
func TestB07WarmUpExcluded(t *testing.T) {
	m := meter(t, Config{Users: 64})
	for u := range 64 {
		burst := answered(u, 0, time.Duration(u+1)*100*ms, 7*time.Second)
		burst.User, burst.Phase = u, record.Warmup
		add(t, m, burst)
		for k := range 10 {
			at := 7*time.Second + time.Duration(k)*time.Second
			r := answered(64+64*k+u, at, at+100*ms, at+time.Second)
			r.User = u
			add(t, m, r)
		}
	}
	res := m.Result(Health{})
	assert.Equal(t, int64(64), res.Counts.Warmup)
	assert.Equal(t, Some(100e6), res.Dists[TTFT].At(0.99).Value, "the burst's 6.4 s are not in it")
	assert.Equal(t, 7*time.Second, res.Steady.From)
	assert.Equal(t, 17*time.Second, res.Steady.To)
	assert.InEpsilon(t, 64, must(t, res.Steady.Concurrency), exactly, "asked 64")
	assert.Equal(t, int64(64), res.Steady.InFlight)
}

// A closed loop's steady window runs from when all users run until the first
// has no more to do; the drain tail is in the whole run only.
func TestSteadyWindowClosed(t *testing.T) {
	m := meter(t, Config{})
	at := func(user int, from, to time.Duration) *record.Request {
		r := answered(0, from, (from+to)/2, to)
		r.User = user
		return r
	}
	add(t, m, at(0, 0, 100*ms), at(0, 100*ms, 200*ms), at(1, 50*ms, 150*ms), at(1, 150*ms, 400*ms))
	res := m.Result(Health{})
	assert.Equal(t, []time.Duration{50 * ms, 200 * ms}, []time.Duration{res.Steady.From, res.Steady.To})
	// Tokens by time in [50, 200): 50, 100, 150 of user 0; 100, 150 of user 1.
	assert.Equal(t, int64(5), res.Steady.Output)
	assert.Equal(t, int64(2), res.Steady.Answers, "at 100 and 150; that at 200 is outside")
	assert.InEpsilon(t, 2, must(t, res.Steady.Concurrency), exactly)
	assert.Equal(t, 400*ms, res.Whole.Length())
	assert.InEpsilon(t, 550.0/400, must(t, res.Whole.Concurrency), exactly)

	one := meter(t, Config{})
	add(t, one, at(0, 0, 10*ms), at(1, 20*ms, 30*ms))
	assert.NotEmpty(t, one.Result(Health{}).Steady.Absent, "the users never ran together")
}

func TestSteadyWindowOpen(t *testing.T) {
	m := meter(t, Config{Loop: Open})
	for i := range 11 { // due 0..100 ms, each 3 tokens at +5, +10 and +500
		due := time.Duration(i) * 10 * ms
		add(t, m, answered(i, due, due+5*ms, due+10*ms, due+500*ms))
	}
	m.Drop(60 * ms)
	res := m.Result(Health{})
	assert.Equal(t, []time.Duration{0, 100 * ms}, []time.Duration{res.Steady.From, res.Steady.To})
	assert.Equal(t, int64(10+9), res.Steady.Output, "by time of token: +5 of ten requests, +10 of nine")
	assert.Zero(t, res.Steady.Answers)
	assert.Equal(t, int64(33), res.Whole.Output)
	assert.Equal(t, int64(1), res.Counts.Dropped)
	assert.False(t, res.Validity.Valid, "a dropped arrival")
}

// Tokens of hidden reasoning are the server's work too: they count in the
// window when the first text comes.
func TestHiddenTokensInWindow(t *testing.T) {
	m := meter(t, Config{})
	r := answered(0, 0, 10*ms, 20*ms, 40*ms)
	r.Usage.Output, r.Usage.Reasoning = 103, 100
	add(t, m, r)
	assert.Equal(t, int64(102), m.Result(Health{}).Steady.Output, "[0, 40 ms) has all but the last")
}

// A request that is cut is judged by the clock of the SLO.
func TestUnfinishedJudged(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		slo          SLO
		fragments    []time.Duration
		bad          int64
	}{
		{"first token late", "none came in 120 ms since it was due", SLO{TTFT: 100 * ms}, nil, 1},
		{"first token, service", "70 ms since it was sent", SLO{TTFT: 100 * ms, Service: true}, nil, 0},
		{"first token came", "at 60 ms, in time", SLO{TTFT: 100 * ms}, []time.Duration{60 * ms}, 0},
		{"first token came late", "at 110 ms", SLO{TTFT: 100 * ms}, []time.Duration{110 * ms}, 1},
		{"end late", "120 ms", SLO{E2E: 119 * ms}, []time.Duration{60 * ms}, 1},
		{"end may come", "120 ms", SLO{E2E: 120 * ms}, []time.Duration{60 * ms}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := meter(t, Config{SLO: c.slo})
			r := answered(0, 0, c.fragments...)
			r.FirstSent, r.Sent, r.Done = 50*ms, 50*ms, 120*ms
			r.Failure = &record.Failure{Class: record.Canceled}
			add(t, m, r)
			g := m.Result(Health{}).Goodput
			assert.Equal(t, []int64{0, c.bad, 1 - c.bad}, []int64{g.Good, g.Bad, g.Undecided}, c.reason)
		})
	}
}

// The first cool-down request ends the steady window, though measured ones are
// still in flight.
func TestSteadyWindowCooldown(t *testing.T) {
	m := meter(t, Config{})
	for k := range 4 {
		r := answered(k, time.Duration(k)*100*ms, time.Duration(k+1)*100*ms)
		if k == 3 {
			r.Phase = record.Cooldown
		}
		add(t, m, r)
	}
	other := answered(4, 0, 380*ms)
	other.User = 1
	add(t, m, other)
	res := m.Result(Health{})
	assert.Equal(t, []time.Duration{0, 300 * ms}, []time.Duration{res.Steady.From, res.Steady.To})
	assert.Equal(t, int64(1), res.Counts.Cooldown)
}

// B08: all fail. No number may be NaN or infinite, none is reported, and the
// error says why.
func TestB08NothingAnswered(t *testing.T) {
	m := meter(t, Config{})
	for i := range 5 {
		r := failing(i, 0, ms, record.Server)
		r.Failure.Message = "boom\x1b[31m"
		add(t, m, r)
	}
	res := m.Result(Health{})
	var b bytes.Buffer
	err := res.WriteBench(&b, "Load", nil)
	require.ErrorIs(t, err, ErrNothing)
	assert.Contains(t, err.Error(), `server: boom\x1b[31m`)
	assert.Empty(t, b.String())
	assert.False(t, res.Validity.Valid)
	require.NoError(t, res.WriteJSON(&b))
	require.NoError(t, res.WriteText(&b))
	require.NoError(t, res.WriteSummary(&b, BaseSheet))
	require.NoError(t, res.WriteCSV(&b, BaseSheet, nil))
	assert.NotContains(t, b.String(), "NaN")
	assert.NotContains(t, b.String(), "\x1b")

	empty := meter(t, Config{}).Result(Health{})
	_, err = empty.Metrics()
	require.ErrorIs(t, err, ErrNothing)
	require.NoError(t, empty.WriteText(&b))
}

func TestTokensByTrust(t *testing.T) {
	m := meter(t, Config{})
	bare := answered(1, 0, 10*ms, 20*ms)
	bare.Usage.Known = false
	add(t, m, answered(0, 0, 10*ms, 20*ms), bare)
	res := m.Result(Health{})
	assert.True(t, res.Tokens.Mixed)
	assert.Equal(t, map[Source]int64{FromUsage: 1, FromCounts: 1}, res.Tokens.Sources)
	assert.False(t, res.Validity.Valid)
	assert.False(t, res.Tokens.Input.Known(), "half of the inputs is not the input")
	assert.False(t, res.Whole.TotalRate.Known())
	assert.Equal(t, int64(1), res.Tokens.UsageMissing)
}

func TestLengthsAndCache(t *testing.T) {
	m := meter(t, Config{InputTolerance: Tolerance{Exact: true}})
	for i, c := range []struct{ in, out int64 }{{100, 20}, {101, 21}, {100, 19}, {100, 5}} {
		r := answered(i, 0, 10*ms, 20*ms)
		r.AskedInput, r.AskedOutput = 100, 20
		r.Usage.Input, r.Usage.Output, r.Usage.CachedInput, r.PossibleCached = c.in, c.out, 40, 50
		r.Finish = "length"
		add(t, m, r)
	}
	res := m.Result(Health{})
	assert.Equal(t, Mismatches{InputAsked: 4, Input: 1, OutputAsked: 4, Output: 1}, res.Lengths, "5 % of 20 is 1 token")
	assert.Equal(t, Some(-15), res.Dists[OutputDiff].Min)
	assert.InEpsilon(t, 160.0/401, must(t, res.Tokens.CachedShare), exactly)
	assert.InEpsilon(t, 0.8, must(t, res.Tokens.CacheEfficiency), exactly)
	assert.Equal(t, []Word{{"length", 4}}, res.Finishes)
	assert.True(t, res.Validity.Valid, "the run's own prefixes explain the cache")
	for _, row := range []struct {
		name   string
		cached int64
		valid  bool
	}{{"the template's 10 and the prefix's 50", 60, true}, {"an earlier run's", 90, false}} {
		m := meter(t, Config{})
		r := answered(0, 0, 10*ms, 20*ms)
		r.AskedInput, r.PossibleCached, r.Usage.Input, r.Usage.CachedInput = 100, 50, 110, row.cached
		add(t, m, r)
		assert.Equal(t, row.valid, m.Result(Health{}).Validity.Valid, row.name)
	}
	wanted := meter(t, Config{CacheWanted: true})
	r := answered(0, 0, 10*ms, 20*ms)
	r.Usage.CachedInput = 90
	add(t, wanted, r)
	assert.True(t, wanted.Result(Health{}).Validity.Valid)
}

func TestSLO(t *testing.T) {
	slow := answered(0, 0, 100*ms, 300*ms)
	slow.Due = 0
	queued := answered(1, 400*ms, 500*ms, 520*ms)
	queued.Due = 0
	one := answered(2, 0, 50*ms)
	whole := answered(3, 0, 50*ms)
	whole.Streamed = false
	for _, c := range []struct {
		name, reason string
		slo          SLO
		r            *record.Request
		good         bool
	}{
		{"ttft at the limit", "at most", SLO{TTFT: 100 * ms}, slow, true},
		{"ttft over", "by a nanosecond", SLO{TTFT: 100*ms - 1}, slow, false},
		{"tpot over", "200 ms for the one token", SLO{TPOT: 199 * ms}, slow, false},
		{"e2e", "300 ms", SLO{E2E: 300 * ms}, slow, true},
		{"queued", "it waited 400 ms for the client", SLO{TTFT: 100 * ms}, queued, false},
		{"queued, service", "asked to look away", SLO{TTFT: 100 * ms, Service: true}, queued, true},
		{"one token", "nothing was slow after the first", SLO{TPOT: ms}, one, true},
		{"not streamed", "no first token to show", SLO{TTFT: time.Hour}, whole, false},
		{"not streamed, tpot", "nor a second", SLO{TPOT: time.Hour}, whole, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := meter(t, Config{SLO: c.slo})
			add(t, m, c.r)
			g := m.Result(Health{}).Goodput
			assert.Equal(t, c.good, g.Good == 1, c.reason)
			assert.Equal(t, int64(1), g.Good+g.Bad)
		})
	}
}

func TestPresets(t *testing.T) {
	for _, want := range Presets() {
		got, err := Preset(want.Name)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.NoError(t, got.check())
		assert.Contains(t, got.Source, "MLPerf")
	}
	s, err := Preset("mlperf-llama2-70b-interactive")
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{450 * ms, 40 * ms}, []time.Duration{s.TTFT, s.TPOT})
	_, err = Preset("llama9")
	assert.ErrorContains(t, err, "mlperf-mixtral")
}

// MLPerf judges limit by limit: 99 % keep each, though only 98 % keep both.
func TestSLOMet(t *testing.T) {
	m := meter(t, Config{SLO: SLO{TTFT: 100 * ms, TPOT: 50 * ms, Share: 0.99}})
	for i := range 100 {
		first, second := 100*ms, 150*ms
		switch i {
		case 3:
			first, second = 101*ms, 110*ms
		case 4:
			second = 151 * ms
		}
		add(t, m, answered(i, 0, first, second))
	}
	g := m.Result(Health{}).Goodput
	require.NotNil(t, g.Met)
	assert.True(t, *g.Met)
	assert.Equal(t, Some(0.98), g.Fraction)
	assert.Equal(t, []Figure{Some(0.99), Some(0.99), {}}, []Figure{g.WithinTTFT, g.WithinTPOT, g.WithinE2E})
	m.Drop(0)
	assert.False(t, *m.Result(Health{}).Goodput.Met, "a dropped arrival kept no limit")
}

func TestConfigRefused(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		c            Config
	}{
		{"loop", "a typing error", Config{Loop: "opne"}},
		{"users", "negative", Config{Users: -1}},
		{"rate", "NaN", Config{Rate: math.NaN()}},
		{"rate", "infinite", Config{Rate: math.Inf(1)}},
		{"shape", "NaN", Config{Shape: math.NaN()}},
		{"shape", "no arrivals are made of it", Config{Shape: 0.001}},
		{"noise", "negative", Config{ClockNoise: -1}},
		{"exact", "negative", Config{Exact: -1}},
		{"failures", "negative", Config{Failures: -1}},
		{"tolerance", "not a share", Config{InputTolerance: Tolerance{Share: 5}}},
		{"slo", "negative", Config{SLO: SLO{TPOT: -1}}},
		{"share", "99 is meant as 0.99", Config{SLO: SLO{TPOT: 1, Share: 99}}},
		{"share alone", "of what", Config{SLO: SLO{Share: 0.9}}},
		{"limit", "85 is meant as 0.85", Config{Limits: Limits{CPU: 85}}},
	} {
		_, err := New(c.c)
		assert.Error(t, err, "%s: %s", c.name, c.reason)
	}
}

// Whatever happens: requests add up, goodput is at most the success rate, and
// only finite numbers go to benchstat.
func TestResultProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		m := meter(t, Config{Loop: []Loop{Closed, Open, Sessions}[rng.IntN(3)], Exact: 1 + rng.IntN(40),
			SLO: SLO{TTFT: time.Duration(1+rng.IntN(200)) * ms, E2E: time.Duration(1+rng.IntN(400)) * ms}})
		for range rng.IntN(60) {
			r := random(rng)
			switch rng.IntN(6) {
			case 0:
				r.Failure = &record.Failure{Class: record.Server, Message: "x"}
			case 1:
				r.Failure = &record.Failure{Class: record.Canceled}
			case 2:
				r.Phase = record.Warmup
			}
			add(t, m, r)
		}
		if rng.IntN(2) == 0 {
			m.Drop(5)
		}
		res := m.Result(Health{})
		c := res.Counts
		require.Equal(t, c.Due, c.OK+c.Failed+c.Incomplete+c.Dropped)
		g := res.Goodput
		require.Equal(t, c.Due, g.Good+g.Bad+g.Undecided)
		require.LessOrEqual(t, g.Good, c.OK)
		list, err := res.Metrics()
		if c.OK == 0 {
			require.ErrorIs(t, err, ErrNothing)
		}
		for _, v := range list {
			require.False(t, math.IsNaN(v.Value) || math.IsInf(v.Value, 0), "%+v", v)
		}
	}
}
