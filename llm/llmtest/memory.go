package llmtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
)

// Memory is an http.RoundTripper that hands requests to a handler in this
// process, streamed both ways, without a socket: it works inside
// testing/synctest. Each call's handler runs in a goroutine of its own and its
// context ends with the call's. A handler that panics with
// [http.ErrAbortHandler] breaks its connection, as in net/http; what another
// panic says is in the error that the caller gets. Safe for concurrent use; set
// Handler before the first call.
type Memory struct {
	Handler http.Handler

	mu      sync.Mutex
	calls   int
	bodies  map[*memoryBody]bool // that have not been closed
	active  int                  // handlers that have not returned
	idle    chan struct{}        // closed when there is none, if somebody waits
	changed func()               // a body was closed; nil for nobody to tell
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
	return len(m.bodies)
}

// Wait waits until every handler has returned.
func (m *Memory) Wait() {
	// No sync.WaitGroup: it belongs to the first bubble that uses it, and a
	// Memory that another one uses then would end the process.
	for {
		m.mu.Lock()
		if m.active == 0 {
			m.mu.Unlock()
			return
		}
		if m.idle == nil {
			m.idle = make(chan struct{})
		}
		idle := m.idle
		m.mu.Unlock()
		<-idle
	}
}

func (m *Memory) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	m.active++
}

func (m *Memory) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.active--; m.active == 0 && m.idle != nil {
		close(m.idle)
		m.idle = nil
	}
}

func (m *Memory) opened(b *memoryBody) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bodies == nil {
		m.bodies = map[*memoryBody]bool{}
	}
	m.bodies[b] = true
}

func (m *Memory) closed(b *memoryBody) {
	m.mu.Lock()
	delete(m.bodies, b)
	m.mu.Unlock()
	if m.changed != nil {
		m.changed()
	}
}

// breakOff breaks the calls whose bodies nobody has closed, so that a bubble
// that they were made in can end.
func (m *Memory) breakOff() {
	m.mu.Lock()
	left := slices.Collect(maps.Keys(m.bodies))
	m.mu.Unlock()
	for _, b := range left {
		b.end()
		b.CloseWithError(io.ErrUnexpectedEOF)
	}
}

// RoundTrip makes one call.
func (m *Memory) RoundTrip(req *http.Request) (*http.Response, error) {
	if m.Handler == nil {
		return nil, errors.New("llmtest: Memory.Handler is nil: set what is to answer")
	}
	ctx, cancel := context.WithCancel(req.Context())
	pr, pw := io.Pipe()
	w := &memoryWriter{header: http.Header{}, pipe: pw, ready: make(chan struct{})}
	in := received(req.Clone(ctx)) // here: once RoundTrip has returned, the caller may change req
	upload := in.Body              // a handler may put another in its place
	m.begin()
	go func() {
		defer m.end()
		m.serve(in, req.Context(), w)
	}()
	// Readers of either body see the context's end at once, as over a socket.
	stop := context.AfterFunc(req.Context(), func() {
		pw.CloseWithError(context.Cause(req.Context()))
		upload.Close()
	})
	select {
	case <-w.ready:
	case <-req.Context().Done():
		cancel()
		pr.CloseWithError(context.Cause(req.Context()))
		return nil, context.Cause(req.Context())
	}
	if w.broken != nil {
		cancel()
		stop()
		return nil, w.broken
	}
	body := &memoryBody{PipeReader: pr, memory: m, end: func() { stop(); cancel() }}
	m.opened(body)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, ContentLength: w.length, Request: req, Body: body,
	}, nil
}

// received is a request as a server gets it.
func received(in *http.Request) *http.Request {
	in.RequestURI, in.RemoteAddr = in.URL.RequestURI(), "memory"
	in.Host = cmp.Or(in.Host, in.URL.Host)
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return in
}

// serve runs the handler. call is the caller's context.
func (m *Memory) serve(in *http.Request, call context.Context, w *memoryWriter) {
	returned := false
	defer func() {
		in.Body.Close()
		switch v := recover(); {
		case v == http.ErrAbortHandler:
			w.abort(io.EOF, io.ErrUnexpectedEOF) // what net/http says before and in an answer
			return
		case v != nil:
			err := fmt.Errorf("llmtest: the handler panicked: %v\n%s", v, debug.Stack())
			w.abort(err, err)
			return
		case !returned:
			err := errors.New("llmtest: the handler ended its goroutine (runtime.Goexit): use t.Error there, not t.Fatal or package require")
			w.abort(err, err)
			return
		}
		if call.Err() != nil { // never a clean end of a call that was given up
			w.pipe.CloseWithError(context.Cause(call))
		}
		w.end()
	}()
	m.Handler.ServeHTTP(w, in)
	returned = true
}

type memoryBody struct {
	*io.PipeReader
	memory *Memory
	end    func() // ends the handler's context
	once   sync.Once
}

func (b *memoryBody) Close() error {
	b.once.Do(func() {
		b.end()
		b.memory.closed(b)
	})
	return b.PipeReader.Close()
}

// memoryBuffer is how many bytes of an answer are held back, as by net/http.
const memoryBuffer = 4 << 10

// memoryWriter is the handler's side of a call. Like net/http's it holds what
// was written until Flush, the end, or its buffer is full: then a handler waits
// for its reader.
type memoryWriter struct {
	header  http.Header
	pipe    *io.PipeWriter
	ready   chan struct{}
	buf     bytes.Buffer
	started bool  // the header has been decided
	flushed bool  // the header has gone out
	err     error // nobody reads any more

	// Set before ready is closed.
	status int
	sent   http.Header
	length int64
	broken error // there is no answer
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
	if !w.flushed && w.sent.Get("Content-Type") == "" { // once it is out, it is the caller's
		w.sent.Set("Content-Type", http.DetectContentType(p))
	}
	if w.err != nil {
		return 0, w.err
	}
	w.buf.Write(p)
	if w.buf.Len() > memoryBuffer {
		if err := w.FlushError(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Flush is FlushError for callers that look at their context instead.
func (w *memoryWriter) Flush() { _ = w.FlushError() }

// FlushError sends what was written, and fails if nobody reads it.
func (w *memoryWriter) FlushError() error {
	w.WriteHeader(http.StatusOK)
	w.send(-1)
	if w.buf.Len() > 0 && w.err == nil {
		_, w.err = w.pipe.Write(w.buf.Bytes())
		w.buf.Reset()
	}
	return w.err
}

// send sends the header; length is the body's, -1 if it is not known.
func (w *memoryWriter) send(length int64) {
	if w.flushed {
		return
	}
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
		length = n // the handler's own word
	}
	w.flushed, w.length = true, length
	close(w.ready)
}

func (w *memoryWriter) end() {
	w.WriteHeader(http.StatusOK)
	w.send(int64(w.buf.Len()))
	w.Flush()
	w.pipe.Close()
}

// abort breaks the call: with before, if the header has not gone out, else with
// midway in the body.
func (w *memoryWriter) abort(before, midway error) {
	if !w.flushed {
		w.broken, w.flushed = before, true
		close(w.ready)
	}
	w.pipe.CloseWithError(midway)
}
