package llmtest

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

	"github.com/goevals/evals/llm"
)

// A faultCheck serves one answer, whole and streamed, in the API that the
// Model speaks, and looks at what the Model makes of it.
type faultCheck struct {
	name, reason string
	reply        Reply
	fault        *Fault // nil for a reply that is served as it is
	want         outcome
	gemini       *outcome // what Gemini's API makes different; nil for nothing
}

// An outcome is what a Model must make of it. A field's zero value leaves it
// open, but for an answer: there text, reasoning, refusal and tool calls are
// what they are.
type outcome struct {
	// kinds are the error kinds that are right; none for an answer.
	kinds []llm.ErrorKind
	// filtered accepts an answer whose Finish is FinishContentFilter as well
	// as an error of KindBlocked: either tells a caller what happened.
	filtered bool
	status   int
	// wait is what RetryAfter must be; unsaid says that it must be nil.
	wait   *time.Duration
	unsaid bool
	// text is the answer, or what a stream keeps of it beside an error.
	text      string
	finish    llm.FinishReason
	reasoning string
	refusal   string
	toolCalls []llm.ToolCall
	usage     *llm.Usage
}

// faultWords is the answer that faults happen to: after two tokens of it,
// where they happen in the middle.
const (
	faultWords = "Half an answer is none"
	faultHalf  = "Half an "
)

// faultChecks are [Faults], each with what is to be made of it, and answers
// that must mean the same whichever API they came by.
func faultChecks() []faultCheck {
	details := faultDetails()
	var all []faultCheck
	for _, f := range Faults() {
		c := faultCheck{name: f.Name, reason: f.Reason, reply: Reply{Text: faultWords}, fault: &f}
		switch d, ok := details[f.Name]; {
		case ok:
			c.want, c.gemini = d.want, d.gemini
			if len(c.want.kinds) == 0 && f.Kind != "" {
				c.want.kinds = []llm.ErrorKind{f.Kind}
			}
		case f.Kind != "":
			c.want.kinds = []llm.ErrorKind{f.Kind}
		default:
			c.want = outcome{text: faultWords, finish: llm.FinishStop}
		}
		all = append(all, c)
	}
	return append(all, meanings()...)
}

// faultDetails is what there is to say of some faults beside their kind.
func faultDetails() map[string]faultCheck {
	waits := func(d time.Duration) faultCheck {
		return faultCheck{want: outcome{status: 429, wait: &d}}
	}
	status := func(n int) faultCheck { return faultCheck{want: outcome{status: n}} }
	keeps := func(kinds ...llm.ErrorKind) faultCheck {
		return faultCheck{want: outcome{kinds: kinds, text: faultHalf}}
	}
	says := func(o outcome) faultCheck { return faultCheck{want: o} }
	filtered := outcome{kinds: []llm.ErrorKind{llm.KindBlocked}, filtered: true, finish: llm.FinishContentFilter}
	half := filtered
	half.text = faultHalf
	thoughts := outcome{reasoning: "Let me think about it.", finish: llm.FinishStop}
	cutThoughts := thoughts
	cutThoughts.finish = llm.FinishLength
	const refusal = "I cannot help with that."
	reset := waits(2 * time.Second)
	reset.gemini = &outcome{kinds: []llm.ErrorKind{llm.KindRateLimit}, status: 429} // it has no such headers
	balance := faultCheck{want: outcome{kinds: []llm.ErrorKind{llm.KindBalance}, status: 429}}
	balance.gemini = &outcome{kinds: []llm.ErrorKind{llm.KindBalance, llm.KindQuota, llm.KindRateLimit}, status: 429} // it has no code for it
	return map[string]faultCheck{
		FaultRateLimitReset:    reset,
		FaultInsufficientQuota: balance,
		FaultRateLimit:         {want: outcome{status: 429, unsaid: true}},
		FaultRateLimitGarbage:  {want: outcome{status: 429, unsaid: true}},
		FaultRateLimitZero:     waits(0),
		FaultRateLimitPast:     waits(0),
		FaultRateLimitSeconds:  waits(2 * time.Second),
		FaultRateLimitFraction: waits(1500 * time.Millisecond),
		FaultRateLimitMillis:   waits(500 * time.Millisecond),
		FaultRateLimitDate:     waits(3 * time.Second),
		FaultRateLimitRFC850:   waits(3 * time.Second),
		FaultRateLimitHour:     waits(time.Hour),
		FaultMinuteQuota:       waits(2 * time.Second),
		FaultRateLimitWords:    waits(1250 * time.Millisecond),
		FaultBadGateway:        status(502),
		FaultServerError:       status(500),
		FaultUnavailable:       status(503),
		FaultGatewayTime:       status(504),
		FaultNoModel:           status(404),
		FaultTooLong:           status(400),
		FaultErrorMidway:       keeps(),
		FaultHangMidway:        keeps(),
		FaultTruncated:         keeps(),
		FaultResetMidway:       keeps(llm.KindIncomplete, llm.KindConnection),
		FaultNoFinish:          says(outcome{text: faultWords}),
		FaultNoChoices:         says(outcome{kinds: []llm.ErrorKind{llm.KindBadResponse, llm.KindIncomplete}}),
		FaultEmptyBody:         says(outcome{kinds: []llm.ErrorKind{llm.KindBadResponse, llm.KindIncomplete}}),
		FaultNoUsage:           says(outcome{text: faultWords, finish: llm.FinishStop, usage: new(llm.Usage)}),
		FaultBlockedPrompt:     says(filtered),
		FaultContentFilter:     says(half),
		FaultLength:            says(outcome{text: faultHalf, finish: llm.FinishLength}),
		FaultLengthEmpty:       says(cutThoughts),
		FaultThoughtsOnly:      says(thoughts),
		// Gemini has no field for a refusal: there it is a filter's.
		FaultRefusal: {want: outcome{refusal: refusal, finish: llm.FinishRefusal}, gemini: &filtered},
	}
}

// meanings are good answers.
func meanings() []faultCheck {
	all := llm.Usage{Input: 100, CachedInput: 80, Output: 12, Reasoning: 7, Known: true}
	calls := []llm.ToolCall{{ID: "call_1", Name: "look_up", Arguments: `{"id":7}`}, {ID: "call_2", Name: "note", Arguments: `{"text":"é"}`}}
	return []faultCheck{
		{name: "usage", reason: "cached is part of input, and reasoning of output, for every provider",
			reply: Reply{Text: "18", Tokens: &all}, want: outcome{text: "18", finish: llm.FinishStop, usage: &all}},
		{name: "thoughts", reason: "they are no part of the answer",
			reply: Reply{Reasoning: "Maybe 17?", Text: "The answer is 18."}, want: outcome{reasoning: "Maybe 17?", text: "The answer is 18.", finish: llm.FinishStop}},
		{name: "tool-calls", reason: "their arguments are the model's bytes, or JSON that means the same",
			reply: Reply{ToolCalls: calls}, want: outcome{toolCalls: calls, finish: llm.FinishToolCalls}},
		{name: "characters", reason: "cut anywhere on their way, and told to the last",
			reply: Reply{Text: "Größe: 3 ≤ π \"q\" \\ 🜚\n", Damage: Damage{Piece: 1}}, want: outcome{text: "Größe: 3 ≤ π \"q\" \\ 🜚\n", finish: llm.FinishStop}},
	}
}

// run serves the fault, whole and streamed.
func (c faultCheck) run(s Suite, t *testing.T) error {
	var f findings
	for _, stream := range []bool{false, true} {
		d := newDesk(t, &Server{Reply: func(Chat) Reply { return c.reply }}, c.fault)
		req := oneWord()
		req.Stream = stream
		r := s.prober(t.Context()).ask(s.NewOn(t, d.server), req)
		synctest.Wait() // the server has counted it
		want, chat := c.want, d.asked()
		if chat.API == Gemini && c.gemini != nil {
			want = *c.gemini
		}
		what := fmt.Sprintf("%s, served %s (%s)", named(req), c.name, c.reason)
		if c.fault == nil || chat.N == 0 || c.fault.fits(chat) {
			f.outcome(r, what, want, chat.Stream)
			f.prompt(r, what, want, s)
			f.billed(r, what, d)
		}
		f.desk(d, r, what, req, s)
	}
	return f.err()
}

// A desk is a Server that remembers what it was asked.
type desk struct {
	server *Server

	mu    sync.Mutex
	chats []Chat
}

// newDesk makes server meet the fault with each call. What a Model leaves open
// is told by then when the test ends, and would keep its bubble from ending.
func newDesk(t *testing.T, server *Server, fault *Fault) *desk {
	t.Cleanup(server.memory.breakOff)
	d := &desk{server: server}
	note := Rule{Faults: []Fault{{Name: "none", Edit: func(_ Chat, r Reply) Reply { return r }}}, Match: func(c Chat) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.chats = append(d.chats, c)
		return fault != nil
	}}
	if fault != nil {
		note.Faults = []Fault{*fault}
	}
	server.Rules = []Rule{note}
	return d
}

// asked is the first call; the zero Chat if there was none.
func (d *desk) asked() Chat {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.chats) == 0 {
		return Chat{}
	}
	return d.chats[0]
}

// keys are those that the Model sent.
func keys(c Chat) []string {
	all := slices.Clone(c.query["key"])
	for _, name := range []string{"Authorization", "Api-Key", "X-Goog-Api-Key", "X-Api-Key"} {
		all = append(all, strings.TrimPrefix(c.Header.Get(name), "Bearer "))
	}
	return slices.DeleteFunc(all, func(key string) bool { return len(key) < 4 })
}

// desk checks what the server saw, and that nothing of it is in the result that
// should not be.
func (f *findings) desk(d *desk, r result, what string, req llm.Request, s Suite) {
	c, chat := d.server.Counts(), d.asked()
	switch most := max(s.Tries, 1); {
	case c.Calls == 0:
		f.addf("%s: the server got no call of a model, want one through its Client", what)
	case c.Calls > most:
		f.addf("%s: the server got %d calls, want at most %d: trying again is the engine's business", what, c.Calls, most)
	case s.Streams && req.Stream && !chat.Stream:
		f.addf("%s: the server was asked for a whole answer, want a stream: the Suite says that the Model streams", what)
	}
	if c.OpenBodies != 0 {
		f.addf("%s: %d bodies left open, want each one closed: its connection is lost otherwise", what, c.OpenBodies)
	}
	shown := fmt.Sprintf("%+v", r.resp)
	for err := r.err; err != nil; err = errors.Unwrap(err) {
		shown += fmt.Sprintf("\n%v\n%+v", err, err)
	}
	if slices.ContainsFunc(keys(chat), func(key string) bool { return strings.Contains(shown, key) }) {
		f.addf("%s: the key is in what was returned, want it masked: errors and answers get into files", what)
	}
}

// prompt checks that a rate limit is told at once.
func (f *findings) prompt(r result, what string, o outcome, s Suite) {
	if r.broken == nil && s.Tries <= 1 && slices.Contains(o.kinds, llm.KindRateLimit) && r.elapsed > 100*time.Millisecond {
		f.addf("%s: it returned after %v, want at once: waiting is the engine's business", what, r.elapsed)
	}
}

// billed checks that an answer's usage, if there is one, is what was billed.
func (f *findings) billed(r result, what string, d *desk) {
	c := d.server.Counts()
	if r.err != nil || r.broken != nil || !r.resp.Usage.Known || c.Calls != 1 {
		return
	}
	if told := c.Billed; c.Unreported.Known || r.resp.Usage != told {
		f.addf("%s: Usage = %+v, want what the server said, or nothing that is Known; it billed %+v, of which it did not tell %+v", what, r.resp.Usage, told, c.Unreported)
	}
}

// outcome compares a result.
func (f *findings) outcome(r result, what string, o outcome, stream bool) {
	if r.broken != nil {
		f.addf("%s: %w", what, r.broken)
		return
	}
	f.sane(r, what)
	switch {
	case len(o.kinds) == 0, o.filtered && r.err == nil && r.resp.Finish == llm.FinishContentFilter:
		f.said(r, what, o)
	case r.err == nil:
		f.addf("%s = answer %q (finish %q), want an error of kind %s", what, r.resp.Text, r.resp.Finish, anyOf(o.kinds))
	default:
		f.failed(r, what, o)
	}
	// An answer that came whole is lost with its end; a stream's pieces are not.
	if (stream || r.err == nil) && r.resp.Text != o.text {
		f.addf("%s: Text = %.200q, want %.200q: what had arrived is kept, beside an error too", what, r.resp.Text, o.text)
	}
}

func anyOf(kinds []llm.ErrorKind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = fmt.Sprintf("%q", k)
	}
	return strings.Join(names, " or ")
}

// failed compares an error.
func (f *findings) failed(r result, what string, o outcome) {
	var e *llm.Error
	if !errors.As(r.err, &e) {
		f.addf("%s = error %q of type %T, want an *llm.Error around it", what, r.err, r.err)
		return
	}
	if !slices.Contains(o.kinds, llm.KindOf(r.err)) {
		f.addf("%s = error %q of kind %q, want kind %s", what, r.err, llm.KindOf(r.err), anyOf(o.kinds))
	}
	if o.status != 0 && e.Status != o.status {
		f.addf("%s: Error.Status = %d, want %d", what, e.Status, o.status)
	}
	if e.Provider == "" {
		f.addf("%s: Error.Provider = %q, want the provider's name", what, e.Provider)
	}
	if strings.Contains(r.err.Error(), "</") {
		f.addf("%s = error %q, want no HTML in it: people read it", what, r.err)
	}
	const slack = time.Second // an HTTP date has no fractions
	switch {
	case o.unsaid && e.RetryAfter != nil:
		f.addf("%s: Error.RetryAfter = %v, want nil: the server did not say", what, *e.RetryAfter)
	case o.wait != nil && e.RetryAfter == nil:
		f.addf("%s: Error.RetryAfter = nil, want %v as the server said: nil means that it did not say", what, *o.wait)
	case o.wait != nil && (*e.RetryAfter < *o.wait || *e.RetryAfter > *o.wait+slack):
		f.addf("%s: Error.RetryAfter = %v, want %v as the server said", what, *e.RetryAfter, *o.wait)
	}
}

// said compares an answer.
func (f *findings) said(r result, what string, o outcome) {
	if r.err != nil {
		f.addf("%s = error %q, want the answer %.200q", what, r.err, o.text)
		return
	}
	if o.finish != "" && r.resp.Finish != o.finish {
		f.addf("%s: Finish = %q, want %q", what, r.resp.Finish, o.finish)
	}
	if o.reasoning != r.resp.Reasoning {
		f.addf("%s: Reasoning = %q, want %q", what, r.resp.Reasoning, o.reasoning)
	}
	if o.refusal != "" && o.refusal != r.resp.Refusal {
		f.addf("%s: Refusal = %q, want %q", what, r.resp.Refusal, o.refusal)
	}
	if o.usage != nil && r.resp.Usage != *o.usage {
		f.addf("%s: Usage = %+v, want %+v", what, r.resp.Usage, *o.usage)
	}
	if got := r.resp.ToolCalls; !slices.EqualFunc(got, o.toolCalls, sameCall) {
		f.addf("%s: ToolCalls = %+v, want %+v", what, got, o.toolCalls)
	}
}

// sameCall compares tool calls, but not their ids: not every API has one.
func sameCall(a, b llm.ToolCall) bool {
	return a.Name == b.Name && strings.Join(strings.Fields(a.Arguments), "") == b.Arguments
}

// A faultRun is a check of the fault suite.
type faultRun struct {
	name string
	run  func(s Suite, t *testing.T) error
}

func faultRuns() []faultRun {
	var all []faultRun
	for _, c := range faultChecks() {
		all = append(all, faultRun{c.name, c.run})
	}
	slowly := func(want error, kind llm.ErrorKind) func(Suite, *testing.T) error {
		return func(s Suite, t *testing.T) error { return s.interrupt(t, true, want, kind) }
	}
	return append(all,
		faultRun{"canceled-waiting", func(s Suite, t *testing.T) error {
			return s.interrupt(t, false, context.Canceled, llm.KindCanceled)
		}},
		faultRun{"deadline-waiting", func(s Suite, t *testing.T) error {
			return s.interrupt(t, false, context.DeadlineExceeded, llm.KindTimeout)
		}},
		faultRun{"canceled-mid-stream", slowly(context.Canceled, llm.KindCanceled)},
		faultRun{"deadline-mid-stream", slowly(context.DeadlineExceeded, llm.KindTimeout)},
		faultRun{"times", Suite.times},
		faultRun{"asks", Suite.asks},
		faultRun{"key-echoed", Suite.echo},
	)
}

// slowServer answers in three tokens, a second each.
func slowServer() *Server {
	return &Server{Reply: func(Chat) Reply {
		return Reply{Text: "Half an answer", FirstToken: time.Second, PerToken: time.Second}
	}}
}

// interrupt ends the call's context after two and a half seconds of three.
func (s Suite) interrupt(t *testing.T, stream bool, want error, kind llm.ErrorKind) error {
	const at = 2500 * time.Millisecond
	d := newDesk(t, slowServer(), nil)
	m := s.NewOn(t, d.server)
	ctx, cancel := context.WithCancel(t.Context())
	if want == context.DeadlineExceeded {
		ctx, cancel = context.WithTimeout(t.Context(), at)
	} else {
		time.AfterFunc(at, cancel)
	}
	defer cancel()
	req := oneWord()
	req.Stream = stream
	r := s.prober(t.Context()).call(ctx, m, req)
	var f findings
	what := fmt.Sprintf("%s, its context ended after %v", named(req), at)
	f.over(r, what, want, kind)
	if r.broken == nil {
		if late := r.elapsed - at; late > 100*time.Millisecond {
			f.addf("%s: it returned %v later, want at once", what, late)
		}
		text := "" // nothing has arrived of an answer that is not streamed
		if d.asked().Stream {
			text = faultHalf
		}
		if r.resp.Text != text {
			f.addf("%s: Text = %q, want %q: what had arrived is kept", what, r.resp.Text, text)
		}
	}
	f.desk(d, r, what, req, s)
	return f.err()
}

// times looks at the times of a token a second.
func (s Suite) times(t *testing.T) error {
	var f findings
	for _, req := range []llm.Request{oneWord(), streamed(oneWord())} {
		d := newDesk(t, slowServer(), nil)
		r := s.prober(t.Context()).ask(s.NewOn(t, d.server), req)
		what := named(req) + ", served a token each second"
		f.desk(d, r, what, req, s)
		if !f.answered(r, req) {
			continue
		}
		if got := r.resp.Timing.Total; got != 3*time.Second {
			f.addf("%s: Timing.Total = %v, want 3s", what, got)
		}
		if !d.asked().Stream {
			continue
		}
		if got := r.resp.Timing.FirstToken; got != time.Second {
			f.addf("%s: Timing.FirstToken = %v, want 1s", what, got)
		}
		if got, want := r.resp.Chunks, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}; !slices.Equal(got, want) {
			f.addf("%s: Chunks = %v, want %v: the pieces that held tokens", what, got, want)
		}
	}
	return f.err()
}

// asks looks at what reaches the server.
func (s Suite) asks(t *testing.T) error {
	var f findings
	for _, stream := range []bool{false, true} {
		d := newDesk(t, new(Server), nil)
		req := llm.Prompt("Say one word.").WithSystem("Be brief.")
		req.Stream, req.MaxOutputTokens = stream, new(int64(64))
		r := s.prober(t.Context()).ask(s.NewOn(t, d.server), req)
		what := named(req) + ", with a system message and MaxOutputTokens of 64"
		f.answered(r, req)
		f.desk(d, r, what, req, s)
		chat := d.asked()
		if chat.N == 0 {
			continue
		}
		if want := []ChatMessage{{"system", "Be brief."}, {"user", "Say one word."}}; !slices.Equal(chat.Messages, want) {
			f.addf("%s: the server was asked %q, want %q", what, chat.Messages, want)
		}
		if chat.MaxTokens != 64 {
			f.addf("%s: the server was asked for at most %d tokens, want 64 (0: it was not sent)", what, chat.MaxTokens)
		}
	}
	return f.err()
}

// echo serves an error that shows the request's key: see desk.
func (s Suite) echo(t *testing.T) error {
	var f findings
	for _, req := range []llm.Request{oneWord(), streamed(oneWord())} {
		d := newDesk(t, &Server{Reply: func(c Chat) Reply {
			body := fmt.Sprintf(`{"error":{"code":400,"status":"INVALID_ARGUMENT","message":%s}}`, quote("cannot do this with the key "+strings.Join(keys(c), " ")))
			return Reply{Raw: Status(400, body)}
		}}, nil)
		r := s.prober(t.Context()).ask(s.NewOn(t, d.server), req)
		what := named(req) + ", served an error that shows the request's key"
		f.outcome(r, what, outcome{kinds: []llm.ErrorKind{llm.KindBadRequest, llm.KindAuth}}, req.Stream)
		f.desk(d, r, what, req, s)
	}
	return f.err()
}
