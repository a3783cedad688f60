package metric

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/llm"
)

func TestMeasure(t *testing.T) {
	full := answered(1, 0, 160*ms, 180*ms, 210*ms, 250*ms)
	full.Due, full.FirstSent, full.Sent, full.Connected, full.Done = 10*ms, 20*ms, 100*ms, 103*ms, 260*ms
	full.Fragments[0].Kind = record.Reasoning
	v := Measure(full, 0)
	for _, c := range []struct {
		name, reason string
		got          Figure
		want         time.Duration
	}{
		{"ttft", "160-100, reasoning counts", v.TTFT, 60 * ms},
		{"ttfo", "the first visible text is at 180", v.TTFO, 80 * ms},
		{"response ttft", "160-10", v.ResponseTTFT, 150 * ms},
		{"e2e", "250-100: not the 260 of the body's end", v.E2E, 150 * ms},
		{"response e2e", "250-10", v.ResponseE2E, 240 * ms},
		{"finish", "260-100", v.Finish, 160 * ms},
		{"answer", "260-20: failed tries in it", v.Answer, 240 * ms},
		{"tpot", "(250-160)/(4-1)", v.TPOT, 30 * ms},
		{"ntpot", "(250-100)/4", v.NTPOT, 37500 * time.Microsecond},
		{"lag", "20-10", v.Lag, 10 * ms},
		{"retry", "100-20", v.Retry, 80 * ms},
		{"queue", "lag alone: the connection was new", v.Queue, 10 * ms},
		{"connection", "103-100", v.Connection, 3 * ms},
	} {
		got, ok := c.got.Get()
		assert.True(t, ok && got == float64(c.want), "%s: got %v, want %v: %s", c.name, c.got, c.want, c.reason)
	}
	full.Reused = true
	v = Measure(full, 0)
	assert.False(t, v.Connection.Known(), "a kept connection was not dialled")
	assert.Equal(t, Some(float64(13*ms)), v.Queue, "the wait for it is the client's")
}

func TestMeasureAbsent(t *testing.T) {
	whole := answered(1, 0, 50*ms)
	whole.Streamed, whole.Usage.Output = false, 20
	silent := answered(1, 0)
	silent.Done = 9 * ms
	burst := answered(1, 0, 50*ms, 50*ms, 50*ms+900*time.Microsecond)
	tool := answered(1, 0, 50*ms, 60*ms)
	tool.Fragments[0].Kind, tool.Fragments[1].Kind = record.ToolCall, record.ToolCall
	one := answered(1, 0, 50*ms)
	built := failing(1, 0, 0, record.Build)
	for _, c := range []struct {
		name, reason             string
		r                        *record.Request
		ttft, ttfo, e2e, tpot, s bool
		why                      NoTPOT
	}{
		{"not streamed", "its one fragment is the whole answer: no first token is seen", whole, false, false, true, false, true, NotStreamed},
		{"no text", "usage alone has no time", silent, false, false, false, false, true, NoText},
		{"one token", "N <= n_1", one, true, true, true, false, true, OneFragment},
		{"below noise", "0.9 ms for two tokens is what one read looks like", burst, true, true, true, false, true, BelowNoise},
		{"tool call only", "a fragment, and nothing visible", tool, true, false, true, true, true, ""},
		{"never sent", "no time at all", built, false, false, false, false, false, NoText},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Measure(c.r, 0)
			assert.Equal(t, []bool{c.ttft, c.ttfo, c.e2e, c.tpot, c.s},
				[]bool{v.TTFT.Known(), v.TTFO.Known(), v.E2E.Known(), v.TPOT.Known(), v.Lag.Known()}, c.reason)
			assert.Equal(t, c.why, v.NoTPOT)
		})
	}
}

// B04: the role chunk at 10 ms is no fragment; reasoning at 100 ms is the first
// token, text at 2 s the first visible one.
func TestB04ReasoningFirst(t *testing.T) {
	r := answered(1, 0, 100*ms, 1900*ms, 2000*ms)
	r.Fragments[0].Kind, r.Fragments[1].Kind = record.Reasoning, record.Reasoning
	v := Measure(r, 0)
	assert.Equal(t, Some(float64(100*ms)), v.TTFT)
	assert.Equal(t, Some(float64(2000*ms)), v.TTFO)
}

// B05: 13 chunks 83 ms apart, 101 tokens of which the first chunk holds 5:
// 12*83/(101-5) = 10.375 ms a token, not 83.
func TestB05TokensPerChunk(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		fragment     func(tokens int) record.Fragment
		usage        bool
		source       Source
		estimated    bool
	}{
		{"counted", "the client knows each chunk", func(n int) record.Fragment { return record.Fragment{Tokens: n, Bytes: 4 * n} }, true, FromUsage, false},
		{"by bytes", "nobody counted: five of 101 by the share of the text", func(n int) record.Fragment { return record.Fragment{Bytes: 4 * n} }, true, FromUsage, true},
		{"without usage", "the counts alone", func(n int) record.Fragment { return record.Fragment{Tokens: n, Bytes: 4 * n} }, false, FromCounts, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := answered(1, 0)
			for i := range 13 {
				f := c.fragment(8)
				if i == 0 {
					f = c.fragment(5)
				}
				f.At = time.Duration(200+83*i) * ms
				r.Fragments = append(r.Fragments, f)
			}
			r.Done = r.Fragments[12].At
			r.Usage = llm.Usage{Known: c.usage, Output: 101, Input: 3}
			v := Measure(r, 0)
			assert.InEpsilon(t, 10.375e6, must(t, v.TPOT), exactly, c.reason)
			assert.Equal(t, c.source, v.Source)
			assert.Equal(t, c.estimated, v.FirstEstimated)
		})
	}
}

func TestSpread(t *testing.T) {
	frag := func(bytesTokens ...int) (list []record.Fragment) {
		for i := 0; i < len(bytesTokens); i += 2 {
			list = append(list, record.Fragment{Bytes: bytesTokens[i], Tokens: bytesTokens[i+1]})
		}
		return list
	}
	for _, c := range []struct {
		name, reason string
		fragments    []record.Fragment
		n            int64
		want         []int64
		first, rest  bool
	}{
		{"counted", "as they are", frag(9, 3, 9, 4), 7, []int64{3, 4}, false, false},
		{"one each", "as many tokens as fragments", frag(1, 0, 100, 0, 5, 0), 3, []int64{1, 1, 1}, false, false},
		{"end of text", "n_1 stays, the token without text is shared out behind it", frag(8, 2, 8, 2, 8, 2), 7, []int64{2, 3, 2}, false, true},
		{"fewer than counted", "n_1 stays, the server is believed", frag(8, 2, 8, 4, 8, 4), 6, []int64{2, 2, 2}, false, true},
		{"first counted only", "the rest by bytes", frag(8, 2, 30, 0, 10, 0), 10, []int64{2, 6, 2}, false, true},
		{"by bytes", "1 each and 7 more by 20:5:10, remainders to the largest", frag(20, 0, 5, 0, 10, 0), 10, []int64{5, 2, 3}, true, true},
		{"more fragments than tokens", "times are measured between first and last", frag(1, 0, 1, 0, 1, 0, 1, 0, 1, 0), 3, []int64{1, 0, 1, 0, 1}, true, true},
		{"one token in pieces", "the first has it", frag(1, 0, 1, 0, 1, 0), 1, []int64{1, 0, 0}, true, true},
		{"no tokens", "all of them hidden", frag(1, 0, 1, 0), 0, []int64{0, 0}, true, true},
		{"no bytes", "evenly", frag(0, 0, 0, 0), 6, []int64{3, 3}, true, true},
		{"single", "all in it, whatever its length: nothing to guess", frag(12, 0), 6, []int64{6}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, first, rest := spread(nil, c.fragments, c.n)
			assert.Equal(t, c.want, got, c.reason)
			assert.Equal(t, []bool{c.first, c.rest}, []bool{first, rest})
		})
	}
}

func TestHiddenReasoning(t *testing.T) {
	r := answered(1, 0, 900*ms, 910*ms, 920*ms)
	r.Usage.Output, r.Usage.Reasoning = 1003, 1000
	v := Measure(r, 0)
	assert.Equal(t, int64(1003), v.Output)
	assert.InEpsilon(t, 10e6, must(t, v.TPOT), exactly, "20 ms for the two tokens that were streamed, not for 1,002")
	r.Fragments[0].Kind = record.Reasoning
	r.Fragments[0].Tokens = 1001
	assert.InEpsilon(t, 10e6, must(t, Measure(r, 0).TPOT), exactly, "shown reasoning is streamed: 1,001 in the first fragment")
}

func TestSources(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		usage        llm.Usage
		tokens       []int
		n            int64
		source       Source
	}{
		{"usage", "the server knows", llm.Usage{Known: true, Output: 7}, []int{2, 2}, 7, FromUsage},
		{"zero usage beside text", "a server that does not count", llm.Usage{Known: true}, []int{2, 2}, 4, FromCounts},
		{"counts", "all counted", llm.Usage{}, []int{2, 3}, 5, FromCounts},
		{"some counts", "half a count is none", llm.Usage{}, []int{2, 0}, 2, FromFragments},
		{"usage of nothing", "an empty answer", llm.Usage{Known: true}, nil, 0, FromUsage},
		{"nothing", "not known, not 0", llm.Usage{}, nil, 0, FromNothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &record.Request{Usage: c.usage}
			for _, n := range c.tokens {
				r.Fragments = append(r.Fragments, record.Fragment{Tokens: n})
			}
			n, source := output(r)
			assert.Equal(t, c.n, n, c.reason)
			assert.Equal(t, c.source, source)
		})
	}
}

// random returns a sound answer of any shape.
func random(rng *rand.Rand) *record.Request {
	at := func(after time.Duration) time.Duration {
		return after + time.Duration(rng.IntN(30_000))*time.Microsecond
	}
	r := &record.Request{Phase: record.Measured, Streamed: true, Due: at(0), User: rng.IntN(4)}
	r.FirstSent = at(r.Due)
	r.Sent = at(r.FirstSent)
	r.Done = r.Sent
	known := rng.IntN(3)
	for range rng.IntN(20) {
		f := record.Fragment{At: at(r.Done), Bytes: rng.IntN(12)}
		if known == 0 || known == 1 && rng.IntN(2) == 0 {
			f.Tokens = 1 + rng.IntN(4)
		}
		r.Fragments, r.Done = append(r.Fragments, f), f.At
	}
	if rng.IntN(3) > 0 {
		r.Usage = llm.Usage{Known: true, Input: int64(rng.IntN(500)), Output: int64(rng.IntN(60))}
		r.Usage.Reasoning = min(r.Usage.Output, int64(rng.IntN(10)))
	}
	return r
}

// What must hold whatever the answer: weights add up to N - n_1, token-weighted
// samples and raw gaps to t_L - t_1, and TPOT is their mean.
func TestGapsAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		r := random(rng)
		require.NoError(t, check(r))
		v := Measure(r, 1)
		var counts int64
		for _, c := range v.counts {
			require.GreaterOrEqual(t, c, int64(0))
			counts += c
		}
		if len(r.Fragments) == 0 {
			continue
		}
		require.Equal(t, v.Streamed, counts, "%+v", r)
		var raws, samples time.Duration
		var weight int64
		v.gaps(r.Fragments, func(raw, whole time.Duration, tokens int64) {
			raws += raw
			weight += tokens
			if tokens > 0 {
				samples += whole
			}
		})
		span := r.Fragments[len(r.Fragments)-1].At - r.Fragments[0].At
		require.Equal(t, span, raws)
		require.Equal(t, v.Streamed-v.First, weight)
		if weight > 0 {
			require.Equal(t, span, samples, "the last fragment holds a token if any behind the first does: %+v %v", r, v.counts)
		}
		if tpot, ok := v.TPOT.Get(); ok {
			require.InEpsilon(t, float64(samples)/float64(weight), tpot, exactly)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		break_       func(*record.Request)
		field        string
	}{
		{"due", "before the run", func(r *record.Request) { r.Due = -1 }, "due_ns"},
		{"first sent", "before the run", func(r *record.Request) { r.FirstSent = -1 }, "first_sent_ns"},
		{"sent", "before the first try", func(r *record.Request) { r.FirstSent = r.Sent + 1 }, "sent_ns"},
		{"connected", "before it was sent", func(r *record.Request) { r.Sent, r.FirstSent, r.Connected = 5, 5, 4 }, "connected_ns"},
		{"fragment", "before the one before", func(r *record.Request) { r.Fragments[1].At = r.Fragments[0].At - 1 }, "fragments[1].at_ns"},
		{"bytes", "negative", func(r *record.Request) { r.Fragments[0].Bytes = -1 }, "fragments[0].bytes"},
		{"tokens", "negative", func(r *record.Request) { r.Fragments[1].Tokens = -1 }, "fragments[1].tokens"},
		{"done", "before the last fragment", func(r *record.Request) { r.Done = r.Fragments[1].At - 1 }, "done_ns"},
		{"done late", "more than a year after the start", func(r *record.Request) { r.Done = 1 << 60 }, "done_ns"},
		{"usage", "a server that claims all tokens of the world", func(r *record.Request) { r.Usage.Output = 1 << 60 }, "usage.output"},
		{"turn", "negative", func(r *record.Request) { r.Turn = -2 }, "turn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := answered(7, 0, 10*ms, 20*ms)
			c.break_(r)
			m := meter(t, Config{})
			var bad *RecordError
			require.ErrorAs(t, m.Add(r), &bad, c.reason)
			assert.Equal(t, c.field, bad.Field)
			assert.Equal(t, 7, bad.Seq)
			res := m.Result(Health{})
			assert.Equal(t, int64(1), res.Counts.Refused)
			assert.Zero(t, res.Counts.Due)
			assert.False(t, res.Validity.Valid)
			assert.NotEmpty(t, res.Warnings)
		})
	}
}

func FuzzMeasure(f *testing.F) {
	for _, r := range []*record.Request{answered(1, 0, 10*ms, 20*ms), failing(2, 5, 9, record.Canceled), answered(3, 0)} {
		b, err := json.Marshal(r)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte(`{"usage":{"known":true,"output":1099511627776},"fragments":[{"at_ns":1,"bytes":9007199254740993},{"at_ns":9,"bytes":1}],"done_ns":9223372036854775807,"streamed":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r record.Request
		if json.Unmarshal(b, &r) != nil {
			return
		}
		m := meter(t, Config{Loop: Open, Rate: 1, SLO: SLO{TTFT: 1, TPOT: 1, E2E: 1, Share: 0.9}, Exact: 4})
		if m.Add(&r) != nil {
			return
		}
		res := m.Result(Health{})
		require.Equal(t, res.Counts.Due, res.Counts.OK+res.Counts.Failed+res.Counts.Incomplete+res.Counts.Dropped)
		v := Measure(&r, 0)
		var sum int64
		for _, c := range v.counts {
			require.GreaterOrEqual(t, c, int64(0))
			sum += c
		}
		if len(r.Fragments) > 0 {
			require.Equal(t, v.Streamed, sum)
		}
		_, err := json.Marshal(res)
		require.NoError(t, err)
	})
}
