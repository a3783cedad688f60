package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/wire"
)

// exchange is the SDK's http.Client for one call. It keeps what the SDK throws
// away: status, header, the whole body; and it feeds the SDK's line reader,
// which knows one spelling of a stream, from a reader that knows them all.
type exchange struct {
	client.Answer

	http           *http.Client
	header         http.Header // of the request
	stream         bool
	key, keyHeader string
	query          string               // of the base URL
	lastRead       func() time.Duration // when the bytes of the last event came
	events         *eventLines
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
	if !x.stream {
		// go-openai sends no Accept of use otherwise.
		req.Header.Set("Accept", "application/json")
	}
	resp, events, err := x.Answer.Do(x.http, req, x.stream)
	if events {
		x.events = &eventLines{rc: resp.Body, events: wire.NewEventReader(resp.Body)}
		resp.Body = x.events
	}
	return resp, err
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
	over   bool // the stream said [DONE]
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
		data := bytes.TrimSpace(ev.Data)
		e.over = e.over || string(data) == done
		if ev.Name == "error" {
			data = asError(data)
		}
		e.rest = canonicalLine(data)
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *eventLines) Close() error { return e.rc.Close() }

const done = "[DONE]"

// asError is the data of an event that is called an error, as an error object.
// It may be one, or what belongs into one, or a text.
func asError(data []byte) []byte {
	var o struct {
		Error json.RawMessage `json:"error"`
	}
	if len(data) > 0 && data[0] == '{' && json.Valid(data) {
		if json.Unmarshal(data, &o) == nil && isError(o.Error) {
			return data
		}
		return errorObject(data)
	}
	b, err := json.Marshal(string(data))
	if err != nil {
		return data
	}
	return errorObject(b)
}

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
