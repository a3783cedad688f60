package gemini

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/wire"
)

var errNoExchange = errors.New("gemini: a call of the SDK that no Generate made")

// exchange is one call below the SDK: it sends what the SDK wrote, and keeps
// all that comes.
type exchange struct {
	client.Answer

	http     *http.Client
	header   http.Header // of the request
	to       target
	request  *request
	stream   bool
	events   *eventStream
	scrubbed atomic.Bool // an access token was removed from the answer
}

// do makes the call.
func (x *exchange) do(req *http.Request) error {
	out, err := x.outgoing(req)
	if err != nil {
		x.Err = err
		return err
	}
	resp, events, err := x.Do(x.http, out, x.stream)
	if events {
		x.events = newEventStream(resp.Body)
	}
	return err
}

// outgoing is the SDK's request with our body, headers and key.
func (x *exchange) outgoing(req *http.Request) (*http.Request, error) {
	body, err := io.ReadAll(req.Body)
	if err = errors.Join(err, req.Body.Close()); err != nil {
		return nil, err
	}
	if body, err = x.request.body(bytes.TrimSpace(body)); err != nil {
		return nil, err
	}
	out, err := http.NewRequestWithContext(req.Context(), req.Method, req.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = req.Header.Clone()
	out.Header.Del(keyHeader)
	if x.to.key != "" && !x.to.token {
		out.Header.Set(keyHeader, x.to.key)
	}
	for k, vs := range x.header {
		out.Header[http.CanonicalHeaderKey(k)] = slices.Clone(vs)
	}
	return out, nil
}

// eventStream reads a stream's events, and keeps the end of what was read: a
// server that fails in mid-stream may put its error there as bare JSON, which
// is no event.
type eventStream struct {
	*wire.EventReader
	rc   io.ReadCloser
	tail []byte
}

// maxTail is how much of a stream's end is searched for an error, in bytes.
const maxTail = 16 << 10

func newEventStream(rc io.ReadCloser) *eventStream {
	s := &eventStream{rc: rc}
	s.EventReader = wire.NewEventReader(io.TeeReader(rc, s))
	return s
}

// Write keeps the end of p.
func (s *eventStream) Write(p []byte) (int, error) {
	if len(p) >= maxTail {
		s.tail = append(s.tail[:0], p[len(p)-maxTail:]...)
		return len(p), nil
	}
	if over := len(s.tail) + len(p) - maxTail; over > 0 {
		s.tail = append(s.tail[:0], s.tail[over:]...)
	}
	s.tail = append(s.tail, p...)
	return len(p), nil
}

// bareError is the JSON at the stream's end that is no event, nil if there is
// none.
func (s *eventStream) bareError() []byte {
	for end := len(s.tail); end > 0; {
		from := bytes.LastIndexByte(s.tail[:end], '\n') + 1
		if line := s.tail[from:]; len(line) > 0 && (line[0] == '{' || line[0] == '[') {
			if text := bytes.TrimSpace(line); isErrorBody(text) {
				return text
			}
		}
		end = from - 1
	}
	return nil
}
