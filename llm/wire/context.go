package wire

import (
	"context"
	"encoding/json"
	"net/http"
)

type (
	middlewareKey struct{}
	captureKey    struct{}
	extraKey      struct{}
	ownLogKey     struct{}
	insideKey     struct{}
)

// A Middleware answers a request, or passes it on to next, or both. It follows
// the contract of [http.RoundTripper]: it does not change the request and it
// closes its body. Safe for concurrent use.
type Middleware interface {
	RoundTrip(req *http.Request, next http.RoundTripper) (*http.Response, error)
}

// MiddlewareFunc makes a function a [Middleware].
type MiddlewareFunc func(*http.Request, http.RoundTripper) (*http.Response, error)

var _ Middleware = MiddlewareFunc(nil)

// RoundTrip calls f.
func (f MiddlewareFunc) RoundTrip(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	return f(req, next)
}

// WithMiddleware returns a context whose requests go through m. Middlewares
// nest: the one added first sees the request first. A nil m changes nothing.
func WithMiddleware(ctx context.Context, m Middleware) context.Context {
	if m == nil {
		return ctx
	}
	outer := middlewares(ctx)
	return context.WithValue(ctx, middlewareKey{}, append(outer[:len(outer):len(outer)], m))
}

func middlewares(ctx context.Context) []Middleware {
	ms, _ := ctx.Value(middlewareKey{}).([]Middleware)
	return ms
}

// WithCapture returns a context whose requests fill c. Several captures may be
// in force at once; each is filled. A nil c changes nothing.
func WithCapture(ctx context.Context, c *Capture) context.Context {
	if c == nil {
		return ctx
	}
	outer := captures(ctx)
	return context.WithValue(ctx, captureKey{}, append(outer[:len(outer):len(outer)], c))
}

func captures(ctx context.Context) []*Capture {
	cs, _ := ctx.Value(captureKey{}).([]*Capture)
	return cs
}

// WithExtra returns a context whose requests carry these further fields at the
// top level of their JSON body. A field that the SDK sent too is replaced
// where it stands, new ones follow in the order of their names, and a JSON
// null (or a nil value) removes a field. Values are sent byte for byte, so
// numbers keep their digits. With an outer WithExtra in force the maps are
// joined and the inner one wins. A request whose body is not a JSON object
// fails: a field that was asked for is never dropped in silence.
func WithExtra(ctx context.Context, fields map[string]json.RawMessage) context.Context {
	if len(fields) == 0 {
		return ctx
	}
	joined := map[string]json.RawMessage{}
	for k, v := range extra(ctx) {
		joined[k] = v
	}
	for k, v := range fields {
		joined[k] = v
	}
	return context.WithValue(ctx, extraKey{}, joined)
}

func extra(ctx context.Context) map[string]json.RawMessage {
	m, _ := ctx.Value(extraKey{}).(map[string]json.RawMessage)
	return m
}

// WithOwnLog returns a context whose requests the transport does not log,
// because the caller calls [llm.LogCall] itself and knows more: clients of
// ours use it, so that a call is counted once.
func WithOwnLog(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownLogKey{}, true)
}

func ownLog(ctx context.Context) bool {
	own, _ := ctx.Value(ownLogKey{}).(bool)
	return own
}
