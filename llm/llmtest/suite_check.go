package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goevals/evals/llm"
)

func oneWord() llm.Request { return llm.Prompt("Say one word.") }

func streamed(req llm.Request) llm.Request {
	req.Stream = true
	return req
}

// named is how a check names a call in its findings.
func named(req llm.Request) string {
	if req.Stream {
		return "Generate with Stream"
	}
	return "Generate"
}

func checkAnswers(p prober, m llm.Model) error {
	var f findings
	f.answered(p.ask(m, oneWord()), oneWord())
	return f.err()
}

func (s Suite) checkStreams(p prober, m llm.Model) error {
	var f findings
	req := streamed(oneWord())
	r := p.ask(m, req)
	if f.answered(r, req) && s.Streams && !r.resp.Replayed && len(r.resp.Chunks) == 0 {
		f.addf("Generate with Stream: Chunks = %v, want the time of each piece: the Suite says that the Model streams", r.resp.Chunks)
	}
	return f.err()
}

// answered checks an answer that should be a good one, and reports whether
// there is one.
func (f *findings) answered(r result, req llm.Request) bool {
	switch {
	case r.broken != nil:
		*f = append(*f, r.broken)
		return false
	case r.err != nil:
		f.addf("%s = error %q, want an answer", named(req), r.err)
		return false
	}
	if r.resp.Text == "" && r.resp.Refusal == "" && len(r.resp.ToolCalls) == 0 {
		f.addf("%s = no text, no refusal and no tool call, want one of them, or an error", named(req))
	}
	if want, ok := spellings[strings.ToLower(string(r.resp.Finish))]; ok && want != r.resp.Finish {
		f.addf("%s: Finish = %q, want %q: reasons are in llm's words, whatever the provider's are", named(req), r.resp.Finish, want)
	}
	f.sane(r, named(req))
	return true
}

// spellings are providers' words for finish reasons that llm has a word for.
var spellings = map[string]llm.FinishReason{
	"stop": llm.FinishStop, "end_turn": llm.FinishStop, "stop_sequence": llm.FinishStop, "eos": llm.FinishStop,
	"length": llm.FinishLength, "max_tokens": llm.FinishLength,
	"tool_calls": llm.FinishToolCalls, "tool_use": llm.FinishToolCalls, "function_call": llm.FinishToolCalls,
	"content_filter": llm.FinishContentFilter, "safety": llm.FinishContentFilter, "prohibited_content": llm.FinishContentFilter,
	"refusal": llm.FinishRefusal,
}

// sane checks what holds for each Response, beside an error too.
func (f *findings) sane(r result, what string) {
	u := r.resp.Usage
	if !u.Known && u != (llm.Usage{}) {
		f.addf("%s: Usage = %+v, want Known: it has counts", what, u)
	}
	if min(u.Input, u.Output, u.CachedInput, u.CacheWrite, u.CacheWriteHour, u.Reasoning) < 0 ||
		u.CachedInput+u.CacheWrite > u.Input || u.CacheWriteHour > u.CacheWrite || u.Reasoning > u.Output {
		f.addf("%s: Usage = %+v, want CachedInput and CacheWrite within Input, CacheWriteHour within CacheWrite, Reasoning within Output, and none below 0", what, u)
	}
	t := r.resp.Timing
	// In a bubble an answer may take no time, and a first token at 0 would
	// mean that there was none: then it is told as the clock's smallest step.
	t.Total = max(t.Total, min(t.FirstToken, 1))
	if t.FirstToken < 0 || t.Total < 0 || t.FirstToken > t.Total {
		f.addf("%s: Timing = FirstToken %v, Total %v, want 0 <= FirstToken <= Total", what, t.FirstToken, t.Total)
	}
	chunks := r.resp.Chunks
	switch {
	case len(chunks) == 0:
	case chunks[0] != t.FirstToken:
		f.addf("%s: Chunks[0] = %v, want Timing.FirstToken, %v: it is the first token's chunk", what, chunks[0], t.FirstToken)
	case !slices.IsSorted(chunks):
		f.addf("%s: Chunks = %v, want them ascending: they are times from the start, not gaps", what, chunks)
	case chunks[len(chunks)-1] > t.Total:
		f.addf("%s: the last of Chunks = %v, want at most Timing.Total, %v", what, chunks[len(chunks)-1], t.Total)
	}
	if r.resp.Replayed {
		return // its times are the recorded ones
	}
	const slack = time.Millisecond // clocks that stand still for a while
	if !t.Start.IsZero() && t.Start.Before(r.start.Add(-slack)) {
		f.addf("%s: Timing.Start = %v before the call, want it during the call", what, r.start.Sub(t.Start))
	}
	if t.Total > r.elapsed+slack {
		f.addf("%s: Timing.Total = %v, want at most the %v that the call took", what, t.Total, r.elapsed)
	}
}

func checkSame(p prober, m llm.Model) error {
	var f findings
	whole, stream := p.ask(m, oneWord()), p.ask(m, streamed(oneWord()))
	for _, r := range []result{whole, stream} {
		if r.broken != nil {
			f = append(f, r.broken)
		}
		if r.broken != nil || r.err != nil {
			return f.err() // an error is told by the checks of each
		}
	}
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"Text", stream.resp.Text, whole.resp.Text},
		{"Reasoning", stream.resp.Reasoning, whole.resp.Reasoning},
		{"Refusal", stream.resp.Refusal, whole.resp.Refusal},
		{"ToolCalls", slices.Concat(stream.resp.ToolCalls), slices.Concat(whole.resp.ToolCalls)}, // nil for none
		{"Finish", stream.resp.Finish, whole.resp.Finish},
		{"Usage", stream.resp.Usage, whole.resp.Usage},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			f.addf("Generate with Stream: %s = %s, want %s as without Stream: the Suite says that the Model is deterministic", c.name, show(c.got), show(c.want))
		}
	}
	return f.err()
}

func show(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%+v", v)
}

// fullRequest has every field that a Model could write to by mistake, and
// slices with room behind their end, where an append would land.
func fullRequest() llm.Request {
	messages := make([]llm.Message, 3, 8)
	messages[0] = llm.Message{Role: llm.RoleSystem, Content: "Be brief."}
	messages[1] = llm.Message{Role: llm.RoleUser, Content: "Say one word."}
	messages[2] = llm.Message{Role: llm.RoleUser, Content: "Now."}
	schema := json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"],"additionalProperties":false}`)
	return llm.Request{
		Messages: messages, Temperature: new(0.0), TopP: new(1.0), Seed: new(int64(7)), MaxOutputTokens: new(int64(64)),
		Stop:   append(make([]string, 0, 4), "\n\n\n"),
		Schema: &llm.Schema{Name: "word", JSON: schema},
		Tools:  append(make([]llm.Tool, 0, 4), llm.Tool{Name: "look_up", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}),
		Extra:  map[string]json.RawMessage{"llmtest_field": json.RawMessage(`"x"`)},
	}
}

// withRoom is req with the slices' spare room made visible.
func withRoom(req llm.Request) llm.Request {
	req.Messages = req.Messages[:cap(req.Messages)]
	req.Stop = req.Stop[:cap(req.Stop)]
	req.Tools = req.Tools[:cap(req.Tools)]
	return req
}

func checkUnchanged(p prober, m llm.Model) error {
	var f findings
	for _, stream := range []bool{false, true} {
		req, want := fullRequest(), fullRequest()
		req.Stream, want.Stream = stream, stream
		// A Model may refuse what its provider does not have: only what it
		// does to the request is looked at.
		if r := p.ask(m, req); r.broken != nil {
			f = append(f, r.broken)
			continue
		}
		if got, want := withRoom(req), withRoom(want); !reflect.DeepEqual(got, want) {
			f.addf("%s changed its request to\n%s\nwant it left as it was, with what lies behind the end of its slices: other goroutines use it\n%s", named(req), asJSON(got), asJSON(want))
		}
	}
	return f.err()
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v (%v)", v, err)
	}
	return string(b)
}

func (s Suite) checkConcurrent(p prober, m llm.Model) error {
	const n = 8
	var f findings
	shared := fullRequest()
	// Requests differ in their last message and share all else, as those of
	// one strategy do; under -race a Model that writes to it is found.
	prompt := func(i int) llm.Request {
		req := llm.Request{Stop: shared.Stop, Seed: shared.Seed}
		req.Messages = []llm.Message{shared.Messages[0], {Role: llm.RoleUser, Content: fmt.Sprintf("Say the number %d.", i)}}
		req.Stream = i%2 == 1
		return req
	}
	var results [n]result
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { results[i] = p.ask(m, prompt(i)) })
	}
	wg.Wait()
	for i, r := range results {
		switch {
		case r.broken != nil:
			f.addf("call %d of %d at once: %w", i+1, n, r.broken)
		case r.err != nil:
			f.addf("call %d of %d at once = error %q, want an answer: Generate must be safe for concurrent use", i+1, n, r.err)
		case s.Deterministic:
			if alone := p.ask(m, prompt(i)); alone.err == nil && alone.broken == nil && alone.resp.Text != r.resp.Text {
				f.addf("call %d of %d at once: Text = %q, want %q as alone: an answer of another call?", i+1, n, r.resp.Text, alone.resp.Text)
			}
		}
	}
	return f.err()
}

func checkCanceled(p prober, m llm.Model) error {
	var f findings
	for _, req := range []llm.Request{oneWord(), streamed(oneWord())} {
		ctx, cancel := context.WithCancel(p.ctx)
		cancel()
		f.over(p.call(ctx, m, req), named(req)+" under a canceled context", context.Canceled, llm.KindCanceled)
	}
	return f.err()
}

func checkDeadline(p prober, m llm.Model) error {
	var f findings
	for _, req := range []llm.Request{oneWord(), streamed(oneWord())} {
		ctx, cancel := context.WithDeadline(p.ctx, time.Now().Add(-time.Second))
		defer cancel()
		f.over(p.call(ctx, m, req), named(req)+" past its context's deadline", context.DeadlineExceeded, llm.KindTimeout)
	}
	return f.err()
}

// over checks a call that its context should have ended.
func (f *findings) over(r result, what string, want error, kind llm.ErrorKind) {
	var e *llm.Error
	switch {
	case r.broken != nil:
		f.addf("%s: %w", what, r.broken)
		return
	case r.err == nil:
		f.addf("%s = an answer, want an error that is %v: nobody waits for it", what, want)
	case !errors.Is(r.err, want):
		f.addf("%s = error %q, want errors.Is(err, %v)", what, r.err, want)
	case !errors.As(r.err, &e):
		f.addf("%s = error %q of type %T, want an *llm.Error around it", what, r.err, r.err)
	case llm.KindOf(r.err) != kind:
		f.addf("%s = error %q of kind %q, want kind %q", what, r.err, llm.KindOf(r.err), kind)
	}
	f.sane(r, what)
}

// checkCanceledMeanwhile cancels while the calls run. A Model may be quicker
// and answer; what it returns otherwise must be right.
func (s Suite) checkCanceledMeanwhile(p prober, m llm.Model) error {
	var f findings
	whole := p.ask(m, oneWord())
	for i := range 8 {
		ctx, cancel := context.WithCancel(p.ctx)
		t := time.AfterFunc(time.Duration(i)*250*time.Microsecond, cancel)
		req := oneWord()
		req.Stream = i%2 == 1
		r := p.call(ctx, m, req)
		t.Stop()
		cancel()
		what := named(req) + " under a context that was canceled meanwhile"
		switch {
		case r.err != nil || r.broken != nil:
			f.over(r, what, context.Canceled, llm.KindCanceled)
		case s.Deterministic && len(r.resp.Text) < len(whole.resp.Text) && strings.HasPrefix(whole.resp.Text, r.resp.Text):
			f.addf("%s = answer %q and no error, want an error: the whole answer is %q", what, r.resp.Text, whole.resp.Text)
		}
		if len(f) > 0 {
			break // the others would say the same
		}
	}
	return f.err()
}

func checkLogged(p prober, m llm.Model) error {
	var f findings
	over, cancel := context.WithCancel(p.ctx)
	cancel()
	for _, c := range []struct {
		what string
		ctx  context.Context
		req  llm.Request
	}{
		{"Generate", p.ctx, oneWord()},
		{"Generate with Stream", p.ctx, streamed(oneWord())},
		{"Generate under a canceled context", over, oneWord()},
	} {
		var log llm.CallLog
		ctx, cancel := context.WithTimeout(llm.WithCallLog(c.ctx, &log), suiteTimeout)
		r := p.call(ctx, m, c.req)
		cancel()
		if r.broken != nil {
			f.addf("%s: %w", c.what, r.broken)
			continue
		}
		calls := log.Calls()
		if len(calls) > 1 {
			f.addf("%s logged %d calls to the context's llm.CallLog, want at most 1, or usage is counted more than once", c.what, len(calls))
		}
		if len(calls) == 1 && r.err == nil && calls[0].Response.Usage != r.resp.Usage {
			f.addf("%s logged Usage %+v, want that of its Response, %+v", c.what, calls[0].Response.Usage, r.resp.Usage)
		}
	}
	return f.err()
}
