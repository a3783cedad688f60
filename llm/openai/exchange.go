package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// maxAnswer is the longest unary answer that is read, in bytes.
const maxAnswer = 64 << 20

// exchange is the SDK's http.Client for one call. It keeps what the SDK throws
// away: status, header, the whole body; and it feeds the SDK's line reader,
// which knows one spelling of a stream, from a reader that knows them all.
type exchange struct {
	client         *http.Client
	header         http.Header
	stream         bool
	key, keyHeader string
	query          string               // of the base URL
	lastRead       func() time.Duration // when the bytes of the last event came

	secrets []string // of the request: not to be shown

	url    *url.URL // that was called
	status int
	head   http.Header
	body   []byte
	cut    bool // the answer is longer than maxAnswer
	events *eventLines
	err    error // of the call, or of reading the body
}

// Do makes the call.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	if x.query != "" {
		req.URL.RawQuery = x.query
	}
	if x.keyHeader != "" && x.key != "" {
		req.Header.Set(x.keyHeader, x.key)
	}
	for k, vs := range x.header {
		req.Header[http.CanonicalHeaderKey(k)] = vs
	}
	x.secrets, x.url = wire.Secrets(req), req.URL
	if !x.stream {
		// go-openai sends no Accept of use otherwise.
		req.Header.Set("Accept", "application/json")
	}
	resp, err := x.client.Do(req)
	if err != nil {
		x.err = err
		return nil, err
	}
	x.status, x.head = resp.StatusCode, resp.Header
	if x.stream && resp.StatusCode == http.StatusOK && isEventStream(resp.Header) {
		x.events = &eventLines{rc: resp.Body, events: wire.NewEventReader(resp.Body)}
		resp.Body = x.events
		return resp, nil
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	resp.Body.Close()
	if len(b) > maxAnswer {
		b, x.cut = b[:maxAnswer], true
	}
	x.body = b
	if err != nil {
		x.err = fmt.Errorf("reading the answer: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(b))
	return resp, nil
}

// mask removes the request's keys from the beginning of a text, which is far
// longer than what is shown of it.
func (x *exchange) mask(s string) string { return wire.Mask(s[:min(len(s), 16<<10)], x.secrets...) }

// hide removes the key itself from an answer. A server that sends it back must
// not bring it into journals and logs; what looks like some other key stays.
func (x *exchange) hide(r *llm.Response) {
	texts := []*string{&r.Text, &r.Reasoning, &r.Refusal, &r.Model, &r.ID, (*string)(&r.Finish)}
	for i := range r.ToolCalls {
		c := &r.ToolCalls[i]
		texts = append(texts, &c.ID, &c.Name, &c.Arguments)
	}
	for i := range r.Warnings {
		texts = append(texts, &r.Warnings[i])
	}
	found := false
	for _, secret := range x.secrets {
		for _, form := range wire.Spellings(secret) {
			for _, s := range texts {
				if strings.Contains(*s, form) {
					*s, found = strings.ReplaceAll(*s, form, "[masked]"), true
				}
			}
		}
	}
	if found {
		r.Warnings = append(r.Warnings, "the answer held the key of the request, which was removed")
	}
}

func isEventStream(h http.Header) bool {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return media == "text/event-stream"
}

// streamEnd is the error that a stream ended with. The SDK hides some: it
// tries to read an error object from what it has.
func (x *exchange) streamEnd(err error) error {
	if x.events.err != nil && x.events.err != io.EOF {
		return x.events.err
	}
	return err
}

// eventLines turns server-sent events into the one spelling that the SDK
// reads: "data: {…}\n\n" on one line, no comments, and never an object whose
// text begins with {"error":, which the SDK would swallow in part.
type eventLines struct {
	rc     io.ReadCloser
	events *wire.EventReader
	rest   []byte
	err    error
}

func (e *eventLines) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		ev, err := e.events.Next()
		if err != nil {
			e.err = err
			return 0, err
		}
		e.rest = canonicalLine(ev.Data)
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *eventLines) Close() error { return e.rc.Close() }

func canonicalLine(data []byte) []byte {
	// Raw line ends are white space between JSON tokens, nothing else.
	data = bytes.TrimSpace(bytes.ReplaceAll(data, []byte("\n"), []byte(" ")))
	out := make([]byte, 0, len(data)+10)
	out = append(out, "data: "...)
	if bytes.HasPrefix(data, []byte("{")) {
		out = append(out, "{ "...)
		data = data[1:]
	}
	return append(append(out, data...), "\n\n"...)
}

// errTooLong says that an answer is longer than the client reads.
var errTooLong = errors.New("the answer is longer than 64 MiB")
