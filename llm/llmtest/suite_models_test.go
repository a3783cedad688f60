package llmtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/llm"
)

// spoiled is a Model that does all right but for what spoil makes of it.
type spoiled struct {
	inner llm.Model
	spoil spoil
}

type spoil = func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error)

func (s spoiled) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	return s.spoil(ctx, req, func() (llm.Response, error) { return s.inner.Generate(ctx, req) })
}

// echoing answers with the prompt, so that answers can be told apart.
func echoing() *Model {
	return &Model{Log: true, Usage: WordUsage, Reply: func(_ int, req llm.Request) (llm.Response, error) {
		r := plain("You said: " + lastText(req))
		r.Reasoning = "Hm."
		return r, nil
	}}
}

// edit spoils answers of one sort.
func edit(stream bool, f func(r *llm.Response)) spoil {
	return func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
		r, err := next()
		if err == nil && req.Stream == stream {
			f(&r)
		}
		return r, err
	}
}

// What wrongModels share: goroutines that are left until release is closed,
// calls in flight, and calls so far.
var (
	release       chan struct{}
	inFlight, sum atomic.Int32
)

// wrongModels break one promise each.
var wrongModels = []struct {
	name, check, want string
	also              []string // checks that look at the same
	spoil             spoil
}{
	{"no text", "answers", "no text, no refusal and no tool call", []string{"stream-equals-whole"},
		edit(false, func(r *llm.Response) { r.Text = "" })},
	{"a provider's word", "answers", `Finish = "STOP", want "stop"`, []string{"stream-equals-whole"},
		edit(false, func(r *llm.Response) { r.Finish = "STOP" })},
	{"usage not known", "answers", "want Known: it has counts", []string{"stream-equals-whole", "logged-at-most-once"},
		edit(false, func(r *llm.Response) { r.Usage.Known = false })},
	{"cached beside input", "answers", "want CachedInput and CacheWrite within Input", []string{"stream-equals-whole", "logged-at-most-once"},
		edit(false, func(r *llm.Response) { r.Usage.CachedInput = r.Usage.Input + 1 })},
	{"an hour's cache beside the rest", "answers", "CacheWriteHour within CacheWrite", []string{"stream-equals-whole", "logged-at-most-once"},
		edit(false, func(r *llm.Response) { r.Usage.CacheWriteHour = 1 })},
	{"first token after the end", "answers", "want 0 <= FirstToken <= Total", nil,
		edit(false, func(r *llm.Response) { r.Timing.FirstToken = r.Timing.Total + time.Second })},
	{"time that did not pass", "answers", "Timing.Total = 1h0m0s, want at most", nil,
		edit(false, func(r *llm.Response) { r.Timing.Total = time.Hour })},
	{"started before", "answers", "before the call, want it during the call", nil,
		edit(false, func(r *llm.Response) { r.Timing.Start = r.Timing.Start.Add(-time.Hour) })},
	{"no chunks", "streams", "the Suite says that the Model streams", nil,
		edit(true, func(r *llm.Response) { r.Chunks = nil })},
	{"gaps for times", "streams", "they are times from the start, not gaps", nil,
		edit(true, func(r *llm.Response) {
			r.Chunks = append(r.Chunks, 0)
			r.Chunks[0]++
			r.Timing.FirstToken = r.Chunks[0]
			r.Timing.Total++
		})},
	{"the first chunk is another", "streams", "want Timing.FirstToken", nil,
		edit(true, func(r *llm.Response) { r.Chunks[0] = r.Timing.FirstToken + 1 })},
	{"a chunk after the end", "streams", "want at most Timing.Total", nil,
		edit(true, func(r *llm.Response) { r.Chunks = append(r.Chunks, time.Hour) })},
	{"streams fail", "streams", "want an answer", []string{"concurrent", "canceled-meanwhile"},
		func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			r, err := next()
			if req.Stream && err == nil && ctx.Err() == nil {
				return llm.Response{}, &llm.Error{Kind: llm.KindBadRequest, Provider: "p"}
			}
			return r, err
		}},
	{"writes to Extra", "request-unchanged", "want it left as it was", nil,
		func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			if req.Extra != nil {
				req.Extra["stream"] = nil
			}
			return next()
		}},
	{"appends to Messages", "request-unchanged", "with what lies behind the end of its slices", nil,
		func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			if req.Tools != nil { // elsewhere it would be a race as well
				req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Content: "Please."})
			}
			return next()
		}},
	{"one at a time", "concurrent", "Generate must be safe for concurrent use", nil,
		func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			defer inFlight.Add(-1)
			if inFlight.Add(1) > 1 {
				return llm.Response{}, &llm.Error{Kind: llm.KindServer, Provider: "p"}
			}
			if strings.Contains(lastText(req), "number") {
				sleep(ctx, 2*time.Millisecond)
			}
			return next()
		}},
	{"another's answer", "concurrent", "an answer of another call?", []string{"stream-equals-whole"},
		func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			r, err := next()
			r.Text += fmt.Sprint(sum.Add(1))
			return r, err
		}},
	{"answers the canceled", "canceled", "nobody waits for it", []string{"logged-at-most-once"},
		func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			if ctx.Err() == context.Canceled {
				return plain("late"), nil
			}
			return next()
		}},
	{"no llm.Error", "canceled", "want an *llm.Error around it", []string{"canceled-meanwhile"},
		func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			r, err := next()
			if errors.Is(err, context.Canceled) {
				err = context.Canceled
			}
			return r, err
		}},
	{"hides the cause", "deadline", "want errors.Is(err, context deadline exceeded)", nil,
		func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			r, err := next()
			if errors.Is(err, context.DeadlineExceeded) {
				err = &llm.Error{Kind: llm.KindTimeout, Provider: "p"}
			}
			return r, err
		}},
	{"another kind", "deadline", `of kind "connection", want kind "timeout"`, nil,
		func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			r, err := next()
			if errors.Is(err, context.DeadlineExceeded) {
				err = &llm.Error{Kind: llm.KindConnection, Provider: "p", Err: err}
			}
			return r, err
		}},
	{"another kind in the middle", "canceled-meanwhile", `of kind "server", want kind "canceled"`, []string{"no-goroutine-left"},
		func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			if ctx.Err() == nil {
				if sleep(ctx, 20*time.Millisecond); ctx.Err() != nil {
					return llm.Response{}, &llm.Error{Kind: llm.KindServer, Provider: "p", Err: ctx.Err()}
				}
			}
			return next()
		}},
	{"logs twice", "logged-at-most-once", "want at most 1, or usage is counted more than once", nil,
		func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			r, err := next()
			llm.LogCall(ctx, llm.Call{Response: r, Err: err})
			return r, err
		}},
	{"logs another usage", "logged-at-most-once", "want that of its Response", nil,
		func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			r, err := next()
			if err == nil {
				r.Usage.Input++
			}
			return r, err
		}},
	{"leaves a goroutine", "no-goroutine-left", "want each call to end what it started", nil,
		func(ctx context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			c := release
			go func() { <-c }()
			return next()
		}},
	{"nothing for an answer", "answers", "no text, no refusal and no tool call", []string{"stream-equals-whole", "logged-at-most-once"},
		edit(false, func(r *llm.Response) { *r = llm.Response{} })},
	{"more thoughts than output", "answers", "Reasoning within Output", []string{"stream-equals-whole", "logged-at-most-once"},
		edit(false, func(r *llm.Response) { r.Usage.Reasoning = r.Usage.Output + 1 })},
	{"writes to the schema", "request-unchanged", "want it left as it was", nil,
		func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			if req.Schema != nil {
				req.Schema.JSON[0] = '['
			}
			return next()
		}},
	{"writes through a pointer", "request-unchanged", "want it left as it was", nil,
		func(_ context.Context, req llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			if req.Tools != nil { // elsewhere it would be a race as well
				*req.Temperature = 1
			}
			return next()
		}},
	{"a deadline as a cancel", "deadline", `of kind "canceled", want kind "timeout"`, nil,
		func(ctx context.Context, _ llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			r, err := next()
			if errors.Is(err, context.DeadlineExceeded) {
				err = &llm.Error{Kind: llm.KindCanceled, Provider: "p", Err: err}
			}
			return r, err
		}},
	{"a part for an answer", "canceled-meanwhile", `= answer "You said" and no error, want an error`, nil,
		func(ctx context.Context, _ llm.Request, next func() (llm.Response, error)) (llm.Response, error) {
			if ctx.Err() != nil {
				return next()
			}
			if sleep(ctx, 20*time.Millisecond); ctx.Err() != nil {
				return plain("You said"), nil
			}
			return next()
		}},
	{"streams another text", "stream-equals-whole", `want "You said: Say one word." as without Stream`, nil,
		edit(true, func(r *llm.Response) { r.Text = r.Text[1:] })},
	{"streams no thoughts", "stream-equals-whole", `Reasoning = "", want "Hm."`, nil,
		edit(true, func(r *llm.Response) { r.Reasoning = "" })},
}

// unusualModels are right in unusual ways.
var unusualModels = []struct {
	name  string
	spoil func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error)
	fake  bool // it has no usage, so it is no whole client
}{
	{"no usage", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
		r, err := m.Generate(ctx, req)
		r.Usage = llm.Usage{}
		return r, err
	}, true},
	{"no times", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
		r, err := m.Generate(ctx, req)
		r.Timing, r.Chunks = llm.Timing{}, nil
		return r, err
	}, true},
	{"no streams", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
		req.Stream = false
		return m.Generate(ctx, req)
	}, false},
	{"nothing but streams", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
		req.Stream = true
		return m.Generate(ctx, req)
	}, false},
	{"slow", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
		sleep(ctx, 20*time.Millisecond)
		return m.Generate(ctx, req)
	}, true},
	{"wraps errors", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
		r, err := m.Generate(ctx, req)
		if err != nil {
			err = errors.Join(errors.New("my model"), fmt.Errorf("my transport: %w", err))
		}
		return r, err
	}, false},
	{"a response beside errors", func(ctx context.Context, req llm.Request, m llm.Model) (llm.Response, error) {
		r, err := m.Generate(ctx, req)
		if err != nil {
			r.Model, r.ID, r.Warnings = "m", "call-1", []string{"the answer is none"}
		}
		return r, err
	}, false},
}
