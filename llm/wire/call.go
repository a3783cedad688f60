package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/goevals/evals/llm"
)

// call is one request on its way.
type call struct {
	ctx          context.Context
	provider     string
	method, path string
	secrets      []string
	captures     []*Capture
	start        time.Time
	log          bool
	once         sync.Once
	conn         connection

	status   int
	header   http.Header
	replayed bool
}

func logs(ctx context.Context) bool { return llm.HasCallLog(ctx) && !ownLog(ctx) }

// answer wraps the response's body.
func (c *call) answer(resp *http.Response) {
	c.status, c.header = resp.StatusCode, resp.Header
	rec, _ := resp.Body.(*Recorded)
	c.replayed = rec != nil
	for _, cp := range c.captures {
		cp.update(func(g *Captured) {
			g.Status, g.Header, g.Replayed = resp.StatusCode, resp.Header.Clone(), c.replayed
			g.Header.Del("Set-Cookie")
		})
	}
	if resp.StatusCode == http.StatusSwitchingProtocols || resp.Body == nil {
		at := time.Since(c.start)
		for _, cp := range c.captures {
			cp.update(func(g *Captured) { g.End = at })
		}
		return // the body of an upgraded connection is also written to
	}
	w := NewWatch(c.method, c.path, resp.Header)
	asked := c.log || len(c.captures) > 0
	if w.kind == jsonBody && !asked {
		w.kind = otherBody // nobody asks: keep no copy
	}
	w.noTimes = !asked
	keep := c.log && resp.StatusCode >= 300
	resp.Body = &body{
		rc: resp.Body, recorded: rec, call: c, watch: w, keep: keep,
		// Closing a stream of HTTP/2 leaves its connection usable.
		drain: resp.ProtoMajor < 2 && rec == nil || keep,
	}
}

// fail reports a call that got no answer.
func (c *call) fail(err error) {
	at := time.Since(c.start)
	for _, cp := range c.captures {
		cp.update(func(g *Captured) { g.Err, g.End = err, at })
	}
	c.logCall(WatchState{}, at, err, nil)
}

// end reports a call whose body ended; said is the beginning of a failed
// answer's.
func (c *call) end(s WatchState, at time.Duration, err error, said []byte) {
	if n := len(s.Chunks); n > 0 {
		at = max(at, s.Chunks[n-1]) // a token's time is never 0, and where no time passes the end's is
	}
	at = max(at, s.FirstToken)
	for _, cp := range c.captures {
		cp.update(func(g *Captured) {
			g.End, g.Err, g.Whole = at, err, err == nil && !s.Failed && !s.Cut && s.Bad == ""
			g.FirstToken, g.Chunks = s.FirstToken, s.Chunks
			g.Finish, g.Model, g.ID = s.Finish, s.Model, s.ID
			g.Usage, g.CostUSD, g.Warnings = s.Usage, s.CostUSD, s.Warnings
		})
	}
	c.logCall(s, at, err, said)
}

// logCall logs the call once, if it was one to a model.
func (c *call) logCall(s WatchState, at time.Duration, err error, said []byte) {
	if !c.log || !s.Answer && !IsModelCall(c.method, c.path) || c.redirected() {
		return
	}
	c.once.Do(func() {
		now := time.Now()
		limits := RateLimits(c.header, now)
		llm.LogCall(c.ctx, llm.Call{
			Response: llm.Response{
				Finish: finishReason(shown(s.Finish, c.secrets)), Usage: s.Usage, CostUSD: s.CostUSD,
				Model: shown(s.Model, c.secrets), ID: shown(s.ID, c.secrets),
				Timing:   llm.Timing{Start: c.start, FirstToken: s.FirstToken, Total: at},
				Replayed: c.replayed, Chunks: s.Chunks, RateLimit: limits, Warnings: maskAll(s.Warnings, c.secrets),
			},
			Err: c.failure(s, err, said, limits, now),
		})
	})
}

// redirected reports whether the answer only points elsewhere: the call that
// follows it is the one to count.
func (c *call) redirected() bool {
	return c.status >= 300 && c.status < 400 && c.header.Get("Location") != ""
}

// failure is the error that a logged call ended with, nil for a good one.
func (c *call) failure(s WatchState, err error, said []byte, limits *llm.RateLimit, now time.Time) error {
	var le *llm.Error
	if errors.As(err, &le) {
		return err
	}
	e := &llm.Error{Provider: c.provider, Status: c.status, Usage: s.Usage, RateLimit: limits}
	switch {
	case c.status >= 300:
		c.refused(e, c.status, said, now)
	case err != nil && c.ctx.Err() != nil:
		// Whatever broke first, the context's end is why; its cause may be
		// an error of the caller's own.
		e.Kind, e.Err = llm.KindOf(c.ctx.Err()), err
	case err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		e.Kind, e.Err = llm.KindOf(err), err
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Err = llm.KindIncomplete, err
	case err != nil:
		e.Kind, e.Err = llm.KindConnection, err
	case s.Failed:
		c.refused(e, c.status, s.Error, now)
	case s.Cut:
		e.Kind, e.Err = llm.KindIncomplete, errCut
	case s.Bad != "":
		e.Kind, e.Message = llm.KindBadResponse, s.Bad
	default:
		return nil
	}
	return e
}

// refused fills e from a body that says why there is no answer.
func (c *call) refused(e *llm.Error, status int, said []byte, now time.Time) {
	d := ReadError(said)
	e.Kind = d.Kind(status)
	if d.Message == "" {
		d.Message = errorText(said)
	}
	// Masked before it is cut: half a key is one too much.
	e.Code, e.Message = cutText(Mask(d.shown(), c.secrets...), maxErrorCode), cutText(Mask(d.Message, c.secrets...), maxErrorText)
	if status < 300 {
		if e.Message == "" {
			e.Message = "the answer is an error object"
		}
		if e.Kind == llm.KindRateLimit {
			status = http.StatusTooManyRequests // what it stands for
		}
	}
	if wait, ok := Wait(status, c.header, said, now); ok {
		e.RetryAfter = &wait
	}
}

// finishReason is a provider's word in ours; an unknown one stays as it came.
func finishReason(s string) llm.FinishReason {
	switch s {
	case "STOP", "end_turn", "stop_sequence", "completed", "eos", "eos_token":
		return llm.FinishStop
	case "MAX_TOKENS", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded":
		return llm.FinishLength
	case "tool_use", "function_call":
		return llm.FinishToolCalls
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY":
		return llm.FinishContentFilter
	}
	return llm.FinishReason(s)
}
