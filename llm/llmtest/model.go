package llmtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/goevals/evals/llm"
)

// A Model is a scripted [llm.Model] that makes no HTTP call. The zero value
// answers "ok" at once. Safe for concurrent use; set the fields before the
// first call.
type Model struct {
	// Reply answers the n-th call, from 1. Nil answers "ok".
	Reply func(n int, req llm.Request) (llm.Response, error)
	// Latency is how long the n-th call takes; nil means no time. It ends
	// early, with the context's error, when the context does.
	Latency func(n int, req llm.Request) time.Duration
	// Log logs each call to the context's [llm.CallLog], as a client does.
	Log bool

	mu       sync.Mutex
	requests []llm.Request
	inFlight int
	peak     int
}

var _ llm.Model = (*Model)(nil)

// Answers returns a Model that gives these answers in the order of the calls,
// and an error after the last.
func Answers(texts ...string) *Model {
	return &Model{Reply: func(n int, _ llm.Request) (llm.Response, error) {
		if n > len(texts) {
			return llm.Response{}, fmt.Errorf("llmtest: call %d of a Model with %d answers", n, len(texts))
		}
		return answer(texts[n-1]), nil
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
		return answer(text), nil
	}}
}

func answer(text string) llm.Response {
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
	defer m.leave()
	start := time.Now()
	resp, err := m.reply(ctx, n, req)
	if resp.Timing == (llm.Timing{}) {
		resp.Timing = llm.Timing{Start: start, Total: time.Since(start)}
	}
	if m.Log {
		llm.LogCall(ctx, llm.Call{Response: resp, Err: err})
	}
	return resp, err
}

func (m *Model) reply(ctx context.Context, n int, req llm.Request) (llm.Response, error) {
	if m.Latency != nil {
		t := time.NewTimer(m.Latency(n, req))
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return llm.Response{}, &llm.Error{Kind: llm.KindOf(err), Provider: "llmtest", Err: err}
	}
	if m.Reply == nil {
		return answer("ok"), nil
	}
	return m.Reply(n, req)
}

func (m *Model) enter(req llm.Request) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, req)
	m.inFlight++
	m.peak = max(m.peak, m.inFlight)
	return len(m.requests)
}

func (m *Model) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight--
}

// Calls is how many calls were made.
func (m *Model) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

// Requests are the requests of all calls, in the order in which they came.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Peak is the most calls that were in flight at once.
func (m *Model) Peak() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.peak
}
