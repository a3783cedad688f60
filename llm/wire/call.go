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
		return // the body of an upgraded connection is also written to
	}
	w := NewWatch(c.method, c.path, resp.Header)
	if w.kind == jsonBody && !c.log && len(c.captures) == 0 {
		w.kind = otherBody // nobody asks: keep no copy
	}
	resp.Body = &body{
		rc: resp.Body, recorded: rec, call: c,
		drain: resp.ProtoMajor < 2 && rec == nil,
		watch: w,
	}
}

// fail reports a call that got no answer.
func (c *call) fail(err error) {
	at := time.Since(c.start)
	for _, cp := range c.captures {
		cp.update(func(g *Captured) { g.Err, g.End = err, at })
	}
	c.logCall(WatchState{}, at, err)
}

// end reports a call whose body ended.
func (c *call) end(s WatchState, at time.Duration, err error) {
	for _, cp := range c.captures {
		cp.update(func(g *Captured) {
			g.End, g.Err, g.Whole = at, err, err == nil && !s.Failed
			g.FirstToken, g.Finish, g.Model, g.ID = s.FirstToken, s.Finish, s.Model, s.ID
			g.Usage, g.CostUSD, g.Warnings = s.Usage, s.CostUSD, s.Warnings
		})
	}
	c.logCall(s, at, err)
}

// logCall logs the call once, if it was one to a model.
func (c *call) logCall(s WatchState, at time.Duration, err error) {
	if !c.log || !s.Answer && !IsModelCall(c.method, c.path) || c.redirected() {
		return
	}
	c.once.Do(func() {
		llm.LogCall(c.ctx, llm.Call{
			Response: llm.Response{
				Finish: llm.FinishReason(c.mask(s.Finish)), Usage: s.Usage, CostUSD: s.CostUSD, Model: c.mask(s.Model), ID: c.mask(s.ID),
				Timing:   llm.Timing{Start: c.start, FirstToken: s.FirstToken, Total: at},
				Replayed: c.replayed, Warnings: maskAll(s.Warnings, c.secrets),
			},
			Err: c.failure(s, err),
		})
	})
}

// redirected reports whether the answer only points elsewhere: the call that
// follows it is the one to count.
func (c *call) redirected() bool {
	return c.status >= 300 && c.status < 400 && c.header.Get("Location") != ""
}

// mask removes the call's secrets from what a server named.
func (c *call) mask(s string) string { return string(maskBytes([]byte(s), c.secrets)) }

// failure is the error that a logged call ended with, nil for a good one.
func (c *call) failure(s WatchState, err error) error {
	var le *llm.Error
	switch {
	case errors.As(err, &le):
		return err
	case c.status >= 300:
		e := &llm.Error{Kind: StatusKind(c.status), Provider: c.provider, Status: c.status, Usage: s.Usage}
		if wait, ok := RetryAfter(c.header, time.Now()); ok {
			e.RetryAfter = &wait
		}
		return e
	case err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return &llm.Error{Kind: llm.KindOf(err), Provider: c.provider, Status: c.status, Usage: s.Usage, Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &llm.Error{Kind: llm.KindIncomplete, Provider: c.provider, Status: c.status, Usage: s.Usage, Err: err}
	case err != nil:
		return &llm.Error{Kind: llm.KindConnection, Provider: c.provider, Status: c.status, Usage: s.Usage, Err: err}
	case s.Failed:
		return &llm.Error{Kind: llm.KindBadResponse, Provider: c.provider, Status: c.status, Usage: s.Usage,
			Message: "the answer is an error object"}
	}
	return nil
}
