package metric

import (
	"fmt"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
)

// A View is what one request comes to. Times are in nanoseconds, by the
// formulas of [Definitions]; what does not apply is absent.
type View struct {
	TTFT, TTFO, ResponseTTFT Figure
	E2E, ResponseE2E         Figure
	Finish, Answer           Figure
	TPOT, NTPOT              Figure
	Lag, Queue, Retry        Figure
	Connection               Figure

	// Output is how many tokens the answer has, and Source who counted them.
	Output int64
	Source Source
	// Streamed is the part of Output that came in fragments: without reasoning
	// that the server counts but does not show. It is N in TPOT and ITL.
	Streamed int64
	// First is n_1. FirstEstimated says that nobody counted it, RestEstimated
	// that the tokens of a later fragment were not counted.
	First                         int64
	FirstEstimated, RestEstimated bool
	// NoTPOT says why TPOT is absent.
	NoTPOT NoTPOT

	// counts are the tokens of each fragment; the Meter's scratch memory.
	counts []int64
}

// NoTPOT says why a request has no time per output token.
type NoTPOT string

// Reasons. The zero value is none: there is a TPOT.
const (
	OneFragment NoTPOT = "all tokens in the first fragment"
	BelowNoise  NoTPOT = "all fragments within clock noise"
	NotStreamed NoTPOT = "not streamed"
	NoText      NoTPOT = "no text"
)

// Measure computes what one request comes to. noise is the shortest span that
// this host's clock and readers resolve; 0 is [DefaultClockNoise]. A failed
// request has what it got to: whether that counts is for the caller to say.
// The record must be sound; [Meter.Add] checks.
func Measure(r *record.Request, noise time.Duration) View {
	if noise == 0 {
		noise = DefaultClockNoise
	}
	return measure(nil, r, noise)
}

func measure(buf []int64, r *record.Request, noise time.Duration) View {
	v := View{NoTPOT: NoText}
	v.Output, v.Source = output(r)
	v.Streamed = v.Output - unseen(r, v.Output, v.Source)
	v.counts, v.FirstEstimated, v.RestEstimated = spread(buf[:0], r.Fragments, v.Streamed)
	if sent(r) {
		v.clientTimes(r)
	}
	if len(r.Fragments) == 0 {
		return v
	}
	v.First = v.counts[0]
	first, last := r.Fragments[0].At, r.Fragments[len(r.Fragments)-1].At
	v.E2E, v.ResponseE2E = span(r.Sent, last), span(r.Due, last)
	if v.Output > 0 {
		v.NTPOT = Some(float64(last-r.Sent) / float64(v.Output))
	}
	if !r.Streamed {
		v.NoTPOT = NotStreamed
		return v
	}
	v.TTFT, v.ResponseTTFT = span(r.Sent, first), span(r.Due, first)
	for _, f := range r.Fragments {
		if f.Kind == record.Text {
			v.TTFO = span(r.Sent, f.At)
			break
		}
	}
	switch {
	case v.Streamed <= v.First:
		v.NoTPOT = OneFragment
	case last-first < noise:
		v.NoTPOT = BelowNoise
	default:
		v.NoTPOT, v.TPOT = "", Some(float64(last-first)/float64(v.Streamed-v.First))
	}
	return v
}

// clientTimes sets what is known of every request that was sent.
func (v *View) clientTimes(r *record.Request) {
	v.Lag, v.Retry = span(r.Due, r.FirstSent), span(r.FirstSent, r.Sent)
	v.Finish, v.Answer = span(r.Sent, r.Done), span(r.FirstSent, r.Done)
	held := max(0, r.FirstSent-r.Due)
	switch {
	case r.Connected == 0: // not known, or it did not get so far
	case r.Reused:
		held += r.Connected - r.Sent
	default:
		v.Connection = span(r.Sent, r.Connected)
	}
	v.Queue = Some(float64(held))
}

// sent reports whether a request was handed to the network at all.
func sent(r *record.Request) bool { return r.Failure == nil || r.Failure.Class != record.Build }

func span(from, to time.Duration) Figure { return Some(float64(to - from)) }

// gaps calls f with each gap between fragments that may be measured: its
// length, and the tokens that came at its end. A gap that ends in a fragment
// of no token is part of the next one's for tokens, which is why there are two
// lengths: raw is since the fragment before, whole since the last one that
// held a token.
func (v *View) gaps(fragments []record.Fragment, f func(raw, whole time.Duration, tokens int64)) {
	if len(fragments) == 0 {
		return
	}
	before, held := fragments[0].At, fragments[0].At
	for i, fragment := range fragments[1:] {
		tokens := v.counts[i+1]
		f(fragment.At-before, fragment.At-held, tokens)
		before = fragment.At
		if tokens > 0 {
			held = fragment.At
		}
	}
}

// An RecordError says what is wrong with a record that cannot be measured.
type RecordError struct {
	Seq   int    // the request's number
	Field string // such as "fragments[3].at_ns"
	Value int64  // what stands there
	Want  string // what would be sound, such as "at least sent_ns = 5"
}

// Error names the request, the field and its value.
func (e *RecordError) Error() string {
	return fmt.Sprintf("metric: request %d: %s is %d, want %s", e.Seq, e.Field, e.Value, e.Want)
}

// MaxTokens is the largest number of tokens that is believed of one request.
const MaxTokens = 1 << 40

// longest is more than a year: a run is shorter, and sums of times must not
// overflow.
const longest time.Duration = 1 << 55

// check refuses what would make nonsense of sums: times that run backwards,
// negative or absurd counts. Records may come from a file that anyone wrote.
func check(r *record.Request) error {
	bad := func(field string, value int64, want string) error {
		return &RecordError{r.Seq, field, value, want}
	}
	for _, c := range []struct {
		field string
		value int64
	}{
		{"usage.input", r.Usage.Input}, {"usage.output", r.Usage.Output}, {"usage.cached_input", r.Usage.CachedInput},
		{"usage.reasoning", r.Usage.Reasoning}, {"asked_input_tokens", int64(r.AskedInput)},
		{"asked_output_tokens", int64(r.AskedOutput)}, {"possible_cached_tokens", int64(r.PossibleCached)},
	} {
		if c.value < 0 || c.value > MaxTokens {
			return bad(c.field, c.value, fmt.Sprintf("0 to %d", int64(MaxTokens)))
		}
	}
	if r.Due < 0 || r.Due > longest {
		return bad("due_ns", int64(r.Due), fmt.Sprintf("0 to %d", longest))
	}
	if r.Turn < 0 {
		return bad("turn", int64(r.Turn), "at least 0")
	}
	if !sent(r) {
		return nil
	}
	return checkTimes(r, bad)
}

func checkTimes(r *record.Request, bad func(string, int64, string) error) error {
	last, name := time.Duration(0), "0"
	for _, c := range []struct {
		name  string
		value time.Duration
		open  bool // 0 is not known
	}{{"first_sent_ns", r.FirstSent, false}, {"sent_ns", r.Sent, false}, {"connected_ns", r.Connected, true}, {"headers_ns", r.Headers, true}} {
		if c.open && c.value == 0 {
			continue
		}
		if c.value < last {
			return bad(c.name, int64(c.value), fmt.Sprintf("at least %s = %d", name, last))
		}
		last, name = c.value, c.name
	}
	last, name = r.Sent, "sent_ns" // a body's first read may carry the time of the header's
	tokens := int64(0)
	for i, f := range r.Fragments {
		if f.At < last {
			return bad(fmt.Sprintf("fragments[%d].at_ns", i), int64(f.At), fmt.Sprintf("at least %s = %d", name, last))
		}
		if f.Bytes < 0 {
			return bad(fmt.Sprintf("fragments[%d].bytes", i), int64(f.Bytes), "at least 0")
		}
		if tokens += int64(f.Tokens); f.Tokens < 0 || int64(f.Tokens) > MaxTokens || tokens > MaxTokens {
			return bad(fmt.Sprintf("fragments[%d].tokens", i), int64(f.Tokens), fmt.Sprintf("0 to %d, all together", int64(MaxTokens)))
		}
		last, name = f.At, "the fragment before"
	}
	if r.Done < last || r.Done > longest {
		return bad("done_ns", int64(r.Done), fmt.Sprintf("at least %s = %d, and at most %d", name, last, longest))
	}
	return nil
}
