package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// A Transport is the [http.RoundTripper] under a client. The zero value works,
// and so does a pointer to one. It holds no state: connections are Base's, so
// Transports may be made and copied freely. Safe for concurrent use. A
// Transport below another one only passes on.
type Transport struct {
	// Base makes the call; nil means a pool of connections shared by all such
	// Transports, which keeps up to 1,024 idle ones to a host. See [NewPool]
	// and [CheckPool] for one of your own.
	Base http.RoundTripper
	// Middleware is applied below those of the request's context.
	Middleware Middleware
	// Secrets are further values that must not be shown; what stands in the
	// request's key headers and parameters is masked anyway.
	Secrets []string
	// Provider stands in the errors of logged calls.
	Provider string
}

var _ http.RoundTripper = Transport{}

var sharedBase = sync.OnceValue(func() http.RoundTripper {
	if _, ok := http.DefaultTransport.(*http.Transport); !ok {
		return http.DefaultTransport // somebody has replaced it, for a reason
	}
	return NewPool(sharedIdle)
})

func (t Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	return sharedBase()
}

// CloseIdleConnections closes the idle connections of Base.
func (t Transport) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip makes one call.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if inside, _ := ctx.Value(insideKey{}).(bool); inside {
		return t.base().RoundTrip(req)
	}
	c := &call{ctx: ctx, provider: t.Provider, captures: captures(ctx), start: time.Now()}
	c.secrets = append(Secrets(req), t.Secrets...)
	c.method, c.path = req.Method, req.URL.Path
	c.log = logs(ctx)
	out, err := t.prepare(c, req)
	if err != nil {
		closeBody(req)
		return nil, MaskError(err, c.secrets...)
	}
	resp, err := t.chain(ctx).RoundTrip(out)
	if err != nil {
		err = MaskError(c.conn.explain(err), c.secrets...)
		c.fail(err)
		return nil, err
	}
	c.answer(resp)
	return resp, nil
}

// prepare returns the request to send: a copy with the further fields, and
// with a trace if somebody looks.
func (t Transport) prepare(c *call, req *http.Request) (*http.Request, error) {
	ctx := context.WithValue(c.ctx, insideKey{}, true)
	fields := extra(c.ctx)
	var sent []byte
	if len(c.captures) > 0 || len(fields) > 0 {
		b, err := readBody(req)
		if err != nil {
			return nil, err
		}
		if len(fields) > 0 {
			if b, err = mergeExtra(b, fields); err != nil {
				return nil, err
			}
		}
		sent = b
	}
	for _, cp := range c.captures {
		cp.begin(req, sent, c.start, c.secrets)
	}
	if len(c.captures) > 0 || c.log {
		ctx = httptrace.WithClientTrace(ctx, c.trace())
	}
	out := req.WithContext(ctx)
	if sent != nil {
		setBody(out, sent, len(fields) > 0)
	}
	return out, nil
}

// readBody reads and closes the request's body; it is nil if there is none.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	b, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("wire: reading the request's body: %w", err)
	}
	if err := req.Body.Close(); err != nil {
		return nil, fmt.Errorf("wire: closing the request's body: %w", err)
	}
	return b, nil
}

// setBody gives req, which is a copy of ours, this body.
func setBody(req *http.Request, b []byte, changed bool) {
	req.Body = io.NopCloser(bytes.NewReader(b))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	req.ContentLength = int64(len(b))
	if changed && req.Header.Get("Content-Length") != "" {
		req.Header = req.Header.Clone()
		req.Header.Del("Content-Length")
	}
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// chain is Base with the middlewares around it.
func (t Transport) chain(ctx context.Context) http.RoundTripper {
	next := t.base()
	if t.Middleware != nil {
		next = link{t.Middleware, next}
	}
	ms := middlewares(ctx)
	for i := len(ms) - 1; i >= 0; i-- {
		next = link{ms[i], next}
	}
	return next
}

type link struct {
	m    Middleware
	next http.RoundTripper
}

func (l link) RoundTrip(req *http.Request) (*http.Response, error) {
	return l.m.RoundTrip(req, l.next)
}
