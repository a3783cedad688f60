package gemini

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// maxAnswer is the longest unary answer that is read, in bytes.
const maxAnswer = 64 << 20

var (
	errTooLong    = errors.New("the answer is longer than 64 MiB")
	errNoExchange = errors.New("gemini: a call of the SDK that no Generate made")
)

// exchange is one call below the SDK: it sends what the SDK wrote, and keeps
// all that comes.
type exchange struct {
	client  *http.Client
	header  http.Header
	to      target
	request *request
	stream  bool

	url    *url.URL // that was called
	status int
	head   http.Header
	body   []byte
	cut    bool // the answer is longer than maxAnswer
	events *eventStream
	err    error // of the call, or of reading the body

	secrets  []string    // of the request: not to be shown
	scrubbed atomic.Bool // an access token was removed from the answer
}

// do makes the call.
func (x *exchange) do(req *http.Request) error {
	out, err := x.outgoing(req)
	if err != nil {
		x.err = err
		return err
	}
	x.secrets, x.url = wire.Secrets(out), out.URL
	resp, err := x.client.Do(out)
	if err != nil {
		x.err = err
		return err
	}
	x.status, x.head = resp.StatusCode, resp.Header
	if x.stream && resp.StatusCode == http.StatusOK && isEventStream(resp.Header) {
		x.events = newEventStream(resp.Body)
		return nil
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
	return nil
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

// maxMasked is how much of a text is masked, in bytes: far more than what is
// shown of one.
const maxMasked = 16 << 10

// mask removes the request's keys from the beginning of a text. What is shown
// is cut after it: half a key would not be found.
func (x *exchange) mask(s string) string {
	if len(s) <= maxMasked {
		return wire.Mask(s, x.secrets...)
	}
	longest := 0
	for _, secret := range x.secrets {
		for _, form := range wire.Spellings(secret) {
			longest = max(longest, len(form))
		}
	}
	s = wire.Mask(s[:maxMasked], x.secrets...)
	return s[:max(len(s)-longest, 0)] // the beginning of a key may end it
}

// hide removes the key itself from an answer, and cuts its names. A server that sends it back must
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
	found := x.scrubbed.Load()
	for _, secret := range x.secrets {
		for _, form := range wire.Spellings(secret) {
			for _, s := range texts {
				if strings.Contains(*s, form) {
					*s, found = strings.ReplaceAll(*s, form, masked), true
				}
			}
		}
	}
	for _, s := range []*string{&r.Model, &r.ID, (*string)(&r.Finish)} {
		*s = cut(*s, maxCode)
	}
	for i := range r.Warnings {
		r.Warnings[i] = cut(r.Warnings[i], maxMessage)
	}
	if found {
		r.Warnings = append(r.Warnings, "the answer held the key of the request, which was removed")
	}
}

const masked = "[masked]"

func isEventStream(h http.Header) bool {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return media == "text/event-stream"
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
