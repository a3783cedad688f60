package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/jsonlist"
	"github.com/goevals/evals/llm/wire"
)

// MaxAnswer is the longest answer that is read, in bytes: of a body, or of what
// is kept of a stream. Only tests change it.
var MaxAnswer = 64 << 20

// ErrTooLong says that an answer is longer than a client reads.
var ErrTooLong = errors.New("the answer is longer than 64 MiB")

// An Answer is what came of one call, below the SDK. The zero value has come
// of none. Not safe for concurrent use.
type Answer struct {
	// URL is what was called; nil if the call did not get as far.
	URL *url.URL
	// Secrets are those of the request, which no text may show.
	Secrets []string
	// Status and Head are the answer's; 0 and nil if none came.
	Status int
	Head   http.Header
	// Body is what came of an answer that is no stream of events. Cut says that
	// there was more than 64 MiB of it.
	Body []byte
	Cut  bool
	// Err is the error of the call, or of reading the body.
	Err error
}

// A NoAnswer is a body that is no answer. A client makes an llm.Error of it.
type NoAnswer struct {
	// Body holds an error object if IsError is set.
	Body    []byte
	IsError bool
	// Server says that the failure is the server's, whatever its words.
	Server bool
	Why    string
}

func (e *NoAnswer) Error() string { return e.Why }

// NotJSON is the error of a whole body or, if whole is not set, an event that
// json.Valid refuses: a [*NoAnswer], or io.ErrUnexpectedEOF of an event that was
// cut.
func NotJSON(data []byte, whole bool) error {
	if whole {
		return &NoAnswer{Body: data, Why: "the body is not JSON"}
	}
	var v json.RawMessage
	if err := json.Unmarshal(data, &v); err != nil && strings.HasPrefix(err.Error(), "unexpected end") {
		return io.ErrUnexpectedEOF
	}
	return &NoAnswer{Body: data, IsError: true, Why: "an event of the stream is not JSON"}
}

// Unread is the error of reading choices or candidates, as a client returns it:
// a [*NoAnswer] of an [*Odd] and of a list that is too long, any other one
// (nil) as it is.
func Unread(err error) error {
	if err == nil {
		return nil
	}
	var odd *Odd
	switch {
	case errors.As(err, &odd):
		return odd.NoAnswer()
	case errors.Is(err, jsonlist.ErrTooLong):
		return &NoAnswer{Why: "the answer has " + err.Error()}
	}
	return err
}

// Do makes the call. Where a stream of events was asked for and comes, whatever
// it calls itself, events is set and resp.Body is the caller's to read and
// close. Any other body is read here; resp.Body is then an empty object, since
// the SDK's reading is not used.
func (a *Answer) Do(hc *http.Client, req *http.Request, stream bool) (resp *http.Response, events bool, err error) {
	a.Secrets, a.URL = wire.Secrets(req), req.URL
	resp, err = hc.Do(req)
	if err != nil {
		a.Err = err
		return nil, false, err
	}
	a.Status, a.Head = resp.StatusCode, resp.Header
	rc := resp.Body
	resp.Body = io.NopCloser(strings.NewReader("{}"))
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// Such a body is the connection itself, which no context ends.
		_ = rc.Close()
		return resp, false, nil
	}
	body := io.Reader(rc)
	if stream && resp.StatusCode == http.StatusOK {
		if isEventStream(resp.Header) {
			resp.Body = rc
			return resp, true, nil
		}
		br := bufio.NewReader(rc)
		if beginsEvents(br) {
			resp.Body = readCloser{br, rc}
			return resp, true, nil
		}
		body = br
	}
	b, err := io.ReadAll(io.LimitReader(body, int64(MaxAnswer)+1))
	_ = rc.Close() // what was read counts
	if len(b) > MaxAnswer {
		b, a.Cut = b[:MaxAnswer], true
	}
	a.Body = b
	// A refusal counts even if not all of its words came: the status and the
	// header say what it is.
	if err != nil && (resp.StatusCode < 300 || req.Context().Err() != nil) {
		a.Err = fmt.Errorf("reading the answer: %w", err)
	}
	return resp, false, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// beginsEvents reports whether a body begins as server-sent events do, and JSON
// and pages do not.
func beginsEvents(br *bufio.Reader) bool {
	first, err := br.Peek(1)
	if err != nil || strings.IndexByte("{[<\"", first[0]) >= 0 {
		return false
	}
	b, _ := br.Peek(8) // what there is: a shorter body is read below
	return wire.BeginsEvents(bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))))
}

func isEventStream(h http.Header) bool {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return media == "text/event-stream"
}

// Value is the JSON value that the body begins with. Bytes behind it are left
// out, as SDKs do: some servers put them there. If the body is a stream of
// events that came without saying so, events is that and value is nil. The
// error is a [*NoAnswer], [ErrTooLong] or io.ErrUnexpectedEOF.
func (a *Answer) Value() (value json.RawMessage, events []byte, err error) {
	if a.Status != http.StatusOK {
		return nil, nil, &NoAnswer{Body: a.Body, IsError: true, Why: "the server refused"}
	}
	if a.Cut {
		return nil, nil, ErrTooLong
	}
	b := bytes.TrimSpace(bytes.TrimPrefix(a.Body, []byte("\xef\xbb\xbf")))
	if len(b) == 0 {
		return nil, nil, &NoAnswer{Why: "the body is empty"}
	}
	if wire.BeginsEvents(b) {
		return nil, b, nil
	}
	switch err := json.NewDecoder(bytes.NewReader(b)).Decode(&value); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, nil, &NoAnswer{Body: a.Body, Why: "the body is not JSON"}
	}
	return value, nil, nil
}

// Complete adds to a response what the transport knows of the call: times,
// limits, whether it was replayed. It then removes the request's keys, and
// cuts names and warnings. found says that a key was removed already.
func (a *Answer) Complete(r *llm.Response, got wire.Captured, found bool) {
	r.Timing = llm.Timing{Start: got.Start, Total: got.End}
	if len(r.Chunks) > 0 {
		r.Timing.FirstToken = r.Chunks[0]
	}
	r.Replayed = got.Replayed
	if !got.Replayed { // recorded limits say nothing of now
		r.RateLimit = wire.RateLimits(a.Head, time.Now())
	}
	a.hide(r, found)
}
