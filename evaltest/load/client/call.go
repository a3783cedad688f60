package client

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/llm"
)

// A Call is one request to make.
type Call struct {
	// Start is the start of the run, from time.Now: all times of the record are
	// offsets from it. It is needed.
	Start time.Time
	// Body is sent as it is. [Client.Body] makes one.
	Body []byte
	// Header is sent with this call; a name that Config.Header or the client
	// has too is replaced.
	Header http.Header
	// Whole says that Body asks for an answer in one piece. Default: streamed.
	// It does not change Body: the two have to agree.
	Whole bool
	// Reply, if it is not nil, keeps the answer for reading after the call.
	Reply *Reply
}

// Do makes one call, with the tries that Config.Retry allows, and fills in what
// the client knows of rec: FirstSent to Fragments, Streamed, Usage, Finish,
// Model, Tries, Status and Failure. A kept connection that the server had closed
// (record.Stale) is followed by another try at once, twice at most, whatever Retry
// says; it stands in Tries. What rec held there is lost, but for the
// memory of Fragments and Tries, which is used again; all else is left as it is.
//
// It returns when the answer has ended and the connection is free again, or
// when the call has failed; if ctx ends first, the failure is record.Canceled.
// It panics if call.Start is zero.
func (c *Client) Do(ctx context.Context, call *Call, rec *record.Request) {
	if call.Start.IsZero() {
		panic("client: Call.Start is zero: give the start of the run, from time.Now")
	}
	clearRecord(rec)
	rec.Streamed = !call.Whole
	if failure := buildFailure(call); failure != nil {
		rec.FirstSent = time.Since(call.Start)
		rec.Sent, rec.Done, rec.Failure = rec.FirstSent, rec.FirstSent, failure
		return
	}
	stale := 0
	for n := 1; ; n++ {
		if len(rec.Tries) > 0 {
			forgetTry(rec)
		}
		var out outcome
		c.try(ctx, call, rec, &out)
		if len(rec.Tries) == 0 {
			rec.FirstSent = rec.Sent
		}
		if out.failure == nil {
			return
		}
		if out.failure.Class == record.Stale && stale < maxStale && ctx.Err() == nil {
			stale++
			n-- // it was no try at the server: nothing was wrong with it or the request
			rec.Tries = append(rec.Tries, record.Try{Sent: rec.Sent, Done: rec.Done, Status: rec.Status, Failure: *out.failure})
			continue
		}
		wait, again := c.cfg.Retry.next(n, &out, c.cfg.Seed, uint64(rec.Seq))
		if !again {
			rec.Failure = out.failure
			return
		}
		rec.Tries = append(rec.Tries, record.Try{Sent: rec.Sent, Done: rec.Done, Status: rec.Status, Failure: *out.failure})
		if !pause(ctx, wait) {
			rec.Done = time.Since(call.Start)
			rec.Failure = c.fail(record.Canceled, c.secrets, "given up by the caller (%v) while waiting %v to try again after: %s", context.Cause(ctx), wait, out.failure.Error())
			return
		}
	}
}

// maxStale is how many kept connections that the server had closed a call may
// meet before that counts as a failed try: llama.cpp closes one after each stream.
const maxStale = 2

// clearRecord empties what Do fills in.
func clearRecord(rec *record.Request) {
	rec.FirstSent, rec.Sent = 0, 0
	rec.Tries = rec.Tries[:0]
	rec.Failure = nil
	forgetTry(rec)
}

// forgetTry empties what a try fills in.
func forgetTry(rec *record.Request) {
	rec.Connected, rec.Reused, rec.Headers, rec.Done = 0, false, 0, 0
	rec.Fragments = rec.Fragments[:0]
	rec.Usage = llm.Usage{}
	rec.Finish, rec.Model, rec.Status = "", "", 0
}

// buildFailure is why a call cannot be sent. It is found here and not by
// net/http, whose error would look like one of the network.
func buildFailure(call *Call) *record.Failure {
	if len(call.Body) == 0 {
		return &record.Failure{Class: record.Build, Message: "the call has no body"}
	}
	if len(call.Header) > 0 {
		if err := headerFault("Call.Header", call.Header); err != nil {
			return &record.Failure{Class: record.Build, Message: err.Error()}
		}
	}
	return nil
}

// hooks are what net/http tells of one try. It may call them from goroutines of
// its own, so that they belong to one try and are not used again.
type hooks struct {
	start            time.Time
	connected        atomic.Int64 // plus 1; 0 if there is no connection
	reused, answered atomic.Bool
	trace            httptrace.ClientTrace
}

func (h *hooks) gotConn(info httptrace.GotConnInfo) {
	h.reused.Store(info.Reused)
	h.connected.Store(int64(time.Since(h.start)) + 1)
}

func (h *hooks) gotFirstByte() { h.answered.Store(true) }

// try makes one try.
func (c *Client) try(ctx context.Context, call *Call, rec *record.Request, out *outcome) {
	start := call.Start
	out.asked = -1
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	h := &hooks{start: start}
	h.trace.GotConn, h.trace.GotFirstResponseByte = h.gotConn, h.gotFirstByte
	req := c.request(httptrace.WithClientTrace(inner, &h.trace), call)
	w := &watchdog{start: start, limits: c.cfg.Timeouts, cancel: cancel}
	if call.Whole {
		w.limits.First, w.limits.Idle = 0, 0
	}
	rec.Sent = time.Since(start)
	w.sent = rec.Sent
	w.watch()
	defer w.stop()

	resp, err := c.transport.RoundTrip(req)
	headers := time.Since(start)
	if at := h.connected.Load(); at > 0 {
		rec.Connected, rec.Reused = time.Duration(at-1), h.reused.Load()
	}
	if err != nil {
		rec.Done = headers
		if out.failure = c.interrupted(ctx, w); out.failure == nil {
			out.failure = c.sendFailure(req, h, err)
		}
		return
	}
	defer resp.Body.Close()
	rec.Headers, rec.Status = headers, resp.StatusCode
	if !c.accepts(req, resp, out) {
		rec.Done = time.Since(start)
		if failure := c.interrupted(ctx, w); failure != nil {
			out.failure = failure
		}
		return
	}
	a := c.flights.Get().(*answer)
	a.begin(c, req, rec, w, call.Reply)
	if call.Reply != nil {
		call.Reply.reset(c.cfg.API)
	}
	out.failure = c.receive(ctx, a, resp.Body)
	a.release()
	c.flights.Put(a)
}

// request makes the request. It has no GetBody, so that net/http does not try
// again by itself: a try that nobody sees would be in the time of the next one.
func (c *Client) request(ctx context.Context, call *Call) *http.Request {
	u := c.stream
	if call.Whole {
		u = c.whole
	}
	// net/http knows these two types: of any other it flushes the header first, and
	// each call costs a packet more. It may read the body until after the answer has
	// come, so that it belongs to one try.
	body := io.NopCloser(bytes.NewReader(call.Body))
	h, host := c.header, c.host
	if len(call.Header) > 0 {
		h = h.Clone()
		for name, values := range call.Header {
			if name = http.CanonicalHeaderKey(name); name == "Host" && len(values) > 0 {
				host = values[0]
				continue
			}
			h[name] = values
		}
	}
	req := &http.Request{
		Method: http.MethodPost, URL: u, Host: host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: body, ContentLength: int64(len(call.Body)),
	}
	return req.WithContext(ctx)
}

// accepts reports whether an answer is one to read, and says why not.
func (c *Client) accepts(req *http.Request, resp *http.Response, out *outcome) bool {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		c.statusFailure(req, resp, out)
		return false
	}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		out.failure = c.fail(record.Malformed, c.secretsOf(req), "the answer is encoded as %q, which was not asked for", enc)
		return false
	}
	return true
}

// receive reads an answer to its end. The time is taken as soon as a read has
// returned; all else comes after.
func (c *Client) receive(ctx context.Context, a *answer, body io.Reader) *record.Failure {
	for {
		n, err := body.Read(a.buf)
		at := time.Since(a.w.start)
		more := a.read(a.buf[:n], at)
		if err == nil && more {
			continue
		}
		if err == io.EOF || !more {
			return a.end(at, nil)
		}
		if failure := c.interrupted(ctx, a.w); failure != nil && !a.done {
			a.end(at, err) // for what came until then
			return failure
		}
		return a.end(at, err)
	}
}
