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
// away: status, header, the whole body. A stream's events are read from here:
// the SDK's line reader knows one spelling of a stream, swallows some errors,
// and matches expressions to each line.
type exchange struct {
	client.Answer

	http           *http.Client
	header         http.Header // of the request
	stream         bool
	key, keyHeader string
	query          string               // of the base URL
	lastRead       func() time.Duration // when the bytes of the last event came
	events         *eventData
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
		x.events = &eventData{events: wire.NewEventReader(resp.Body)}
	}
	return resp, err
}

// eventData reads the data of a stream's events.
type eventData struct {
	events *wire.EventReader
	over   bool // the stream said [DONE]
}

// next is the next event's data; what is called an error is an error object.
// The error is io.EOF after [DONE] too.
func (e *eventData) next() ([]byte, error) {
	ev, err := e.events.Next()
	if err != nil {
		return nil, err
	}
	data := bytes.TrimSpace(ev.Data)
	e.over = e.over || string(data) == done
	if ev.Name == "error" {
		data = asError(data)
	}
	// Raw line ends are white space between JSON tokens, nothing else.
	if bytes.IndexByte(data, '\n') >= 0 {
		data = bytes.TrimSpace(bytes.ReplaceAll(data, []byte("\n"), []byte(" ")))
	}
	if string(data) == done {
		return nil, io.EOF
	}
	return data, nil
}

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
