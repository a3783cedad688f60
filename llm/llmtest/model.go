package llmtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goevals/evals/llm"
)

// A Model is a scripted [llm.Model] that makes no HTTP call. The zero value
// answers "ok" at once. Safe for concurrent use; set the fields before the
// first call. Its hooks get n, the number of the call from 1, and the request;
// they are called by several goroutines at once.
type Model struct {
	// Reply answers a call. Nil answers "ok".
	Reply func(n int, req llm.Request) (llm.Response, error)
	// Fault is what happens to a call instead of its answer; the zero [ModelFault]
	// lets it be answered. Nil is no fault. See [Nth].
	Fault func(n int, req llm.Request) ModelFault
	// Latency is how long a call takes until its answer begins; nil means no
	// time. It ends early, with the context's error, when the context does.
	Latency func(n int, req llm.Request) time.Duration
	// PerToken is the time between two words of a streamed answer: those that
	// had come are returned beside the error if the context ends between them.
	// Nil means no time. An answer that is not streamed takes as long.
	PerToken func(n int, req llm.Request) time.Duration
	// Usage is what a call is billed. Nil leaves what Reply set. See
	// [WordUsage].
	Usage func(n int, req llm.Request, resp llm.Response) llm.Usage
	// Log logs each call to the context's [llm.CallLog], as a client does.
	Log bool
	// Forget keeps no requests, so that a benchmark measures no growing list:
	// Requests is then empty.
	Forget bool

	mu       sync.Mutex
	requests []llm.Request
	calls    int
	canceled int
	inFlight int
	peak     int
}

var _ llm.Model = (*Model)(nil)

// A ModelFault is what happens to one call of a [Model] instead of its answer. It
// comes after the call's Latency. Set one field; the first one that is set
// counts.
type ModelFault struct {
	// Panic is what the call panics with.
	Panic any
	// Hang never answers: the call returns when its context ends.
	Hang bool
	// Err is what the call fails with. The answer's first words, as many as
	// Partial says, are returned beside it; 0 for none.
	Err     error
	Partial int
}

// Nth is a [Model.Fault] that meets single calls, by their number from 1.
func Nth(faults map[int]ModelFault) func(n int, req llm.Request) ModelFault {
	faults = maps.Clone(faults)
	return func(n int, _ llm.Request) ModelFault { return faults[n] }
}

// WordUsage is a [Model.Usage] that counts as a [Server] does: the words of
// the messages as input, of reasoning and text as output.
func WordUsage(_ int, req llm.Request, resp llm.Response) llm.Usage {
	u := llm.Usage{Known: true, Reasoning: int64(CountWords(resp.Reasoning))}
	for _, m := range req.Messages {
		u.Input += int64(CountWords(m.Content))
	}
	u.Output = u.Reasoning + int64(CountWords(resp.Text))
	return u
}

// Answers returns a Model that gives these answers in the order of the calls,
// and an error after the last.
func Answers(texts ...string) *Model {
	return &Model{Reply: func(n int, _ llm.Request) (llm.Response, error) {
		if n > len(texts) {
			return llm.Response{}, fmt.Errorf("llmtest: call %d of a Model with %d answers", n, len(texts))
		}
		return plain(texts[n-1]), nil
	}}
}

// Table returns a Model that answers by the text of the last message, and with
// an error to a text that is not in the table.
func Table(answers map[string]string) *Model {
	answers = maps.Clone(answers)
	return &Model{Reply: func(_ int, req llm.Request) (llm.Response, error) {
		last := lastText(req)
		text, ok := answers[last]
		if !ok {
			return llm.Response{}, fmt.Errorf("llmtest: the table of %d answers has none to %q", len(answers), last)
		}
		return plain(text), nil
	}}
}

func plain(text string) llm.Response {
	return llm.Response{Text: text, Finish: llm.FinishStop}
}

func lastText(req llm.Request) string {
	if len(req.Messages) == 0 {
		return ""
	}
	return req.Messages[len(req.Messages)-1].Content
}

// Generate answers as scripted.
func (m *Model) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	n := m.enter(req)
	over := false
	defer func() { m.leave(over) }()
	start := time.Now()
	resp, err := m.reply(ctx, n, req, start)
	over = err != nil && ctx.Err() != nil
	if resp.Timing == (llm.Timing{}) {
		resp.Timing = llm.Timing{Start: start, Total: time.Since(start)}
		if len(resp.Chunks) > 0 {
			resp.Timing.FirstToken = resp.Chunks[0]
		}
	}
	if m.Log {
		llm.LogCall(ctx, llm.Call{Response: resp, Err: err})
	}
	return resp, err
}

func (m *Model) reply(ctx context.Context, n int, req llm.Request, start time.Time) (llm.Response, error) {
	if m.Latency != nil {
		sleep(ctx, m.Latency(n, req))
	}
	if ctx.Err() != nil {
		return llm.Response{}, ended(ctx)
	}
	var fault ModelFault
	if m.Fault != nil {
		fault = m.Fault(n, req)
	}
	switch {
	case fault.Panic != nil:
		panic(fault.Panic)
	case fault.Hang:
		<-ctx.Done()
		return llm.Response{}, ended(ctx)
	case fault.Err != nil && fault.Partial <= 0:
		return llm.Response{}, fault.Err
	}
	resp, err := plain("ok"), error(nil)
	if m.Reply != nil {
		resp, err = m.Reply(n, req)
	}
	if m.Usage != nil && err == nil {
		resp.Usage = m.Usage(n, req, resp)
	}
	if err != nil || !req.Stream && m.PerToken == nil && fault.Err == nil {
		return resp, err
	}
	return m.deliver(ctx, n, req, resp, fault, start)
}

// deliver hands the answer out word by word.
func (m *Model) deliver(ctx context.Context, n int, req llm.Request, resp llm.Response, fault ModelFault, start time.Time) (llm.Response, error) {
	var each time.Duration
	if m.PerToken != nil {
		each = m.PerToken(n, req)
	}
	thoughts, tokens := words(resp.Reasoning), words(resp.Text)
	var chunks []time.Duration
	cut := func(k int, err error) (llm.Response, error) {
		part := llm.Response{Model: resp.Model, ID: resp.ID, Chunks: chunks}
		if req.Stream {
			part.Reasoning = strings.Join(thoughts[:min(k, len(thoughts))], "")
			part.Text = strings.Join(tokens[:max(k-len(thoughts), 0)], "")
		}
		return part, err
	}
	for k := range max(len(thoughts)+len(tokens), 1) {
		if k > 0 {
			sleep(ctx, each)
		}
		if ctx.Err() != nil {
			return cut(k, ended(ctx))
		}
		if fault.Err != nil && k >= fault.Partial {
			return cut(k, fault.Err)
		}
		if req.Stream {
			chunks = append(chunks, time.Since(start))
		}
	}
	if fault.Err != nil {
		return cut(len(thoughts)+len(tokens), fault.Err)
	}
	if resp.Chunks == nil {
		resp.Chunks = chunks
	}
	return resp, nil
}

// ended is the error of a call whose context has ended.
func ended(ctx context.Context) error {
	err := ctx.Err()
	return &llm.Error{Kind: llm.KindOf(err), Provider: "llmtest", Err: err}
}

// sleep waits until d is over or ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (m *Model) enter(req llm.Request) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.Forget {
		m.requests = append(m.requests, req)
	}
	m.calls++
	m.inFlight++
	m.peak = max(m.peak, m.inFlight)
	return m.calls
}

func (m *Model) leave(over bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight--
	if over {
		m.canceled++
	}
}

// Calls is how many calls were made.
func (m *Model) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// Canceled is how many calls failed because their context ended, by its
// deadline or by its caller.
func (m *Model) Canceled() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.canceled
}

// Requests are the requests of all calls, in the order in which they came;
// none with Forget.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// InFlight is how many calls have not returned yet.
func (m *Model) InFlight() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.inFlight
}

// Peak is the most calls that were in flight at once.
func (m *Model) Peak() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.peak
}
