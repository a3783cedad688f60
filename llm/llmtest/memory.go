package llmtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Memory is an http.RoundTripper that hands requests to a handler in this
// process, streamed both ways, without a socket: it works inside
// testing/synctest. Each call's handler runs in a goroutine of its own and its
// context ends with the call's. Safe for concurrent use; set Handler before
// the first call.
type Memory struct {
	Handler http.Handler

	mu      sync.Mutex
	calls   int
	open    int
	active  sync.WaitGroup
	changed func() // a body was closed; nil for nobody to tell
}

var _ http.RoundTripper = (*Memory)(nil)

// Calls is how many calls were made.
func (m *Memory) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// OpenBodies is how many answers' bodies have not been closed yet.
func (m *Memory) OpenBodies() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open
}

// Wait waits until every handler has returned.
func (m *Memory) Wait() { m.active.Wait() }

func (m *Memory) count(calls, open int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls += calls
	m.open += open
}

// RoundTrip makes one call.
func (m *Memory) RoundTrip(req *http.Request) (*http.Response, error) {
	m.count(1, 0)
	ctx, cancel := context.WithCancel(req.Context())
	pr, pw := io.Pipe()
	w := &memoryWriter{header: http.Header{}, pipe: pw, ready: make(chan struct{})}
	m.active.Go(func() { m.serve(ctx, req, w) })
	// A reader of the body sees the context's end at once, as over a socket.
	stop := context.AfterFunc(req.Context(), func() { pw.CloseWithError(context.Cause(req.Context())) })
	select {
	case <-w.ready:
	case <-req.Context().Done():
		cancel()
		pr.CloseWithError(req.Context().Err())
		return nil, req.Context().Err()
	}
	if w.aborted {
		cancel()
		stop()
		return nil, io.EOF // as net/http says of a connection closed before the answer
	}
	m.count(0, 1)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, ContentLength: w.length, Request: req,
		Body: &memoryBody{PipeReader: pr, close: sync.OnceFunc(func() {
			stop()
			cancel()
			m.count(0, -1)
			if m.changed != nil {
				m.changed()
			}
		})},
	}, nil
}

// serve runs the handler.
func (m *Memory) serve(ctx context.Context, req *http.Request, w *memoryWriter) {
	in := req.Clone(ctx)
	in.RequestURI, in.RemoteAddr = req.URL.RequestURI(), "memory"
	in.Host = req.URL.Host
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer func() {
		in.Body.Close()
		// A handler that panics breaks its connection, as in net/http.
		if v := recover(); v != nil {
			w.abort()
			return
		}
		if req.Context().Err() != nil { // never a clean end of a call that was given up
			w.pipe.CloseWithError(context.Cause(req.Context()))
		}
		w.end()
	}()
	m.Handler.ServeHTTP(w, in)
}

type memoryBody struct {
	*io.PipeReader
	close func()
}

func (b *memoryBody) Close() error {
	b.close()
	return b.PipeReader.Close()
}

// memoryWriter is the handler's side of a call. Like net/http's it holds what
// was written until Flush or the end.
type memoryWriter struct {
	header  http.Header
	pipe    *io.PipeWriter
	ready   chan struct{}
	buf     bytes.Buffer
	started bool // the header has been decided
	flushed bool // the header has gone out

	// Set before ready is closed.
	status  int
	sent    http.Header
	length  int64
	aborted bool
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(status int) {
	if !w.started {
		w.started, w.status = true, status
		w.sent = w.header.Clone()
	}
}

func (w *memoryWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.sent.Get("Content-Type") == "" {
		w.sent.Set("Content-Type", http.DetectContentType(p))
	}
	return w.buf.Write(p)
}

// Flush sends what was written.
func (w *memoryWriter) Flush() {
	w.WriteHeader(http.StatusOK)
	w.send(-1)
	if w.buf.Len() > 0 {
		// An error means that nobody reads any more; the handler sees that by
		// its context.
		_, _ = w.pipe.Write(w.buf.Bytes())
		w.buf.Reset()
	}
}

func (w *memoryWriter) send(length int64) {
	if !w.flushed {
		w.flushed, w.length = true, length
		close(w.ready)
	}
}

func (w *memoryWriter) end() {
	w.WriteHeader(http.StatusOK)
	w.send(int64(w.buf.Len()))
	w.Flush()
	w.pipe.Close()
}

func (w *memoryWriter) abort() {
	if !w.flushed {
		w.aborted, w.flushed = true, true
		close(w.ready)
	}
	w.pipe.CloseWithError(io.ErrUnexpectedEOF)
}
