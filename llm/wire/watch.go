package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/jsonlist"
)

// A Watch reads along in an answer's body and says whether it was a whole
// answer, what it cost and when its tokens came. It understands the JSON and
// the streams of OpenAI-compatible servers, of OpenAI's responses, of Gemini
// (server-sent events and the array that it streams without alt=sse) and of
// Anthropic, and leaves everything else alone. Not safe for concurrent use.
type Watch struct {
	kind    bodyKind
	model   bool   // the path is one of a model's, so that an empty stream is a cut one
	says    bool   // the stream is of an API that says when it is over
	page    bool   // a page of HTML, where a model should have answered
	noTimes bool   // nobody asks for Chunks
	decided bool   // whether a JSON body may be events under another content type
	head    []byte // of a body of which that is not decided
	split   splitter
	array   arraySplitter
	json    []byte
	limit   int
	cut     bool
	ended   bool
	counts  usageCounts
	choices map[int]bool // index → finished
	open    int          // choices that are not finished
	s       WatchState
}

// WatchState is what a [Watch] knows so far.
type WatchState struct {
	// Stream says that the body is a stream of events, Answer that it is a
	// model's answer, not some other service's.
	Stream, Answer bool
	// Done is set once the answer said that it was over: [DONE], a finish
	// reason for every choice, a blocked prompt, message_stop,
	// response.completed, or an error; for a plain body, once it was read and
	// is JSON.
	Done bool
	// DoneAt is when [DONE] or another last event came.
	DoneAt time.Duration
	// FirstToken is when the first generated token came, 0 if none has or the
	// body is no stream.
	FirstToken time.Duration
	// Chunks are the times at which the events came that held generated
	// tokens, reasoning included: keep-alives, roles and empty texts do not.
	// Chunks[0] is FirstToken.
	Chunks []time.Duration
	// Failed says that the body carried an error object, whatever the status;
	// Error is what it stood in, for [ReadError], nil if that is longer than
	// 64 KiB.
	Failed bool
	Error  []byte
	// Cut says that a plain body ended inside of its JSON value.
	Cut bool
	// Bad says why the whole body of a model's answer is none, "" if it may be
	// one: it is empty, no JSON, or a page.
	Bad string
	// Finish is the provider's last finish reason as it came. It and the names
	// below may be long and hold a key that the server sends back: mask them,
	// then cut them.
	Finish    string
	Model, ID string
	Usage     llm.Usage
	CostUSD   string // what the provider says the call cost; "" if nothing
	Warnings  []string
}

type bodyKind int

const (
	otherBody bodyKind = iota
	jsonBody
	arrayBody // a JSON array that comes piece by piece, or an error in one piece
	eventBody
)

// maxPlain is how much JSON is kept to read usage from: of a model's answer,
// and of some other service's.
const (
	maxPlain      = 64 << 20
	maxPlainOther = 1 << 20
)

// NewWatch returns a Watch of an answer with this header to a request with
// this method and path.
func NewWatch(method, path string, header http.Header) *Watch {
	w := &Watch{model: IsModelCall(method, path), limit: maxPlainOther}
	if w.model {
		w.limit = maxPlain
	}
	media, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	encoded := header.Get("Content-Encoding")
	switch {
	case encoded != "" && encoded != "identity":
		w.unread(fmt.Sprintf("the SDK asked for the content encoding %q, which is not read along", named(encoded)))
	case media == "text/event-stream":
		w.kind, w.s.Stream = eventBody, true
	case media == "application/json" || strings.HasSuffix(media, "+json") || w.model && (media == "" || media == "text/plain"):
		w.kind = jsonBody
		if streamsArray(path) {
			w.kind = arrayBody
		}
	case media == "text/html":
		w.page = w.model
	case media != "":
		// As it came: in small letters a key in it would not be found.
		shown, _, _ := strings.Cut(header.Get("Content-Type"), ";")
		w.unread(fmt.Sprintf("the content type %q is not read along", named(shown)))
	}
	return w
}

// unread notes why a model's usage cannot be read.
func (w *Watch) unread(why string) {
	if w.model {
		w.s.Warnings = append(w.s.Warnings, "usage is unknown: "+why)
	}
}

// Write feeds bytes of the body that came at this time after the start.
func (w *Watch) Write(p []byte, at time.Duration) {
	if !w.decided && w.model && (w.kind == jsonBody || w.kind == arrayBody) {
		if p = w.decide(p, false); p == nil {
			return
		}
	}
	w.feed(p, at)
}

// maxHead is how much white space may stand before a body.
const maxHead = 64 << 10

// decide returns what there is of the body once its first bytes say what it is:
// servers stream events under the content type of JSON, and what comes in
// pieces of one byte is the same body.
func (w *Watch) decide(p []byte, last bool) []byte {
	w.head = append(w.head, p...)
	b := bytes.TrimLeft(bytes.TrimPrefix(w.head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if !last && len(w.head) < maxHead && mayBeEvents(b) {
		return nil
	}
	all := w.head
	w.decided, w.head = true, nil
	if BeginsEvents(b) {
		w.kind, w.s.Stream = eventBody, true
		return b
	}
	return all
}

func (w *Watch) feed(p []byte, at time.Duration) {
	switch w.kind {
	case eventBody:
		w.split.write(p, func(ev Event) { w.event(ev, at) })
	case arrayBody:
		w.array.write(p, func(element []byte) { w.element(element, at) })
		w.s.Stream = w.s.Stream || w.array.opened
	case jsonBody:
		if w.cut || len(w.json)+len(p) > w.limit {
			w.cut, w.json = true, nil
			return
		}
		w.json = append(w.json, p...)
	}
}

// eventStarts are how server-sent events begin, and JSON does not.
var eventStarts = [][]byte{[]byte("data:"), []byte("event:"), []byte(":"), []byte("id:"), []byte("retry:")}

// BeginsEvents reports whether a body begins as server-sent events do, whatever
// its content type, and JSON does not. White space and a byte order mark before
// them are the caller's to leave out.
func BeginsEvents(p []byte) bool {
	return slices.ContainsFunc(eventStarts, func(start []byte) bool { return bytes.HasPrefix(p, start) })
}

// mayBeEvents reports whether more of p could make it events, or has to say
// that it is none. What may be a byte order mark waits too.
func mayBeEvents(p []byte) bool {
	return !BeginsEvents(p) && (bytes.HasPrefix([]byte("\xef\xbb\xbf"), p) ||
		slices.ContainsFunc(eventStarts, func(start []byte) bool { return bytes.HasPrefix(start, p) }))
}

// End tells that the body was read to its end.
func (w *Watch) End(at time.Duration) {
	if w.ended {
		return
	}
	w.ended = true
	if len(w.head) > 0 {
		w.feed(w.decide(nil, true), at)
	}
	if w.page {
		w.s.Bad = "the answer is a page of HTML"
	}
	switch w.kind {
	case eventBody:
		w.split.flush(func(ev Event) { w.event(ev, at) })
	case arrayBody:
		switch {
		case w.array.plain: // an error, in one object
			w.json = w.array.value
			w.plain()
		case !w.array.opened:
			w.s.Stream = true // of nothing
		}
	case jsonBody:
		w.plain()
	}
}

// Whole reports whether a body that has ended did so as an answer should: a
// stream must have said that it was over. It is true for everything that is
// not a model's answer, and for streams of APIs whose end it does not know
// (speech, images): a good stream must not be taken for a cut one.
func (w *Watch) Whole() bool {
	if !w.s.Stream || !w.says && !w.model || w.tooLong() {
		return true
	}
	return w.s.Done
}

func (w *Watch) tooLong() bool { return w.split.tooLong || w.array.tooLong }

// State returns what is known so far.
func (w *Watch) State() WatchState {
	s := w.s
	var warns []string
	s.Usage, warns = w.counts.usage()
	s.CostUSD = w.counts.cost
	s.Warnings = append(s.Warnings, warns...)
	switch {
	case w.cut || w.tooLong():
		s.Warnings = append(s.Warnings, "usage is unknown: the answer is too long to be read along")
	case w.ended && s.Stream && s.Usage.Known && !w.Whole():
		s.Warnings = append(s.Warnings, "usage is at least what was reported before the stream ended early")
	}
	return s
}

// plain reads a JSON body that may not have been read to its end: decoders
// stop after the value, and what follows it is nobody's.
func (w *Watch) plain() {
	if w.cut {
		return
	}
	if len(bytes.TrimSpace(w.json)) == 0 {
		w.bad("the answer is empty")
		return
	}
	var value json.RawMessage
	err := json.NewDecoder(bytes.NewReader(w.json)).Decode(&value)
	w.json = nil
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		w.s.Cut = true
	case err != nil:
		w.bad("the answer is not JSON")
	case value[0] == '[':
		var chunks jsonlist.List[json.RawMessage]
		if json.Unmarshal(value, &chunks) == nil {
			for _, c := range chunks {
				w.chunk(c, 0)
			}
			w.s.Done = true
		}
	default:
		w.chunk(value, 0)
		w.s.Done = true
	}
	w.s.FirstToken, w.s.Chunks, w.s.DoneAt = 0, nil, 0
}

// bad notes why what was asked of a model came to no answer.
func (w *Watch) bad(why string) {
	if w.model {
		w.s.Bad = why
	}
}

// element reads one element of a streamed array.
func (w *Watch) element(data []byte, at time.Duration) {
	if data == nil { // the array is closed, and nothing comes after that
		if w.s.Done {
			w.s.DoneAt = max(at, 1)
		}
		return
	}
	w.chunk(data, at)
}

func (w *Watch) event(ev Event, at time.Duration) {
	data := bytes.TrimSpace(ev.Data)
	if string(data) == "[DONE]" {
		w.done(at)
		w.s.DoneAt = max(at, 1)
		return
	}
	if ev.Name == "error" {
		w.fail(data, at)
	}
	switch {
	case w.s.FirstToken == 0 || worthReading(data):
		w.chunk(data, at)
	case !w.noTimes && holdsText(data):
		w.token(at)
	}
}

func (w *Watch) done(at time.Duration) {
	w.s.Done = true
	if w.s.DoneAt == 0 && w.s.Failed {
		w.s.DoneAt = max(at, 1)
	}
}

// worthReading tells cheaply whether a chunk can hold more than text: most of
// a stream's chunks hold text only, and decoding each twice would cost more
// than everything else that the transport does.
func worthReading(data []byte) bool {
	if !bytes.Contains(data, []byte(`"choices"`)) {
		return true
	}
	for _, k := range [][]byte{[]byte(`"usage"`), []byte(`"finish_reason"`), []byte(`"error"`), []byte(`"x_groq"`)} {
		for rest := data; ; {
			_, after, ok := bytes.Cut(rest, k)
			if !ok {
				break
			}
			v := bytes.TrimLeft(after, " \t\r\n:")
			if !bytes.HasPrefix(v, []byte("null")) {
				return true
			}
			rest = after
		}
	}
	for rest := data; ; {
		_, after, ok := bytes.Cut(rest, []byte(`"index"`))
		if !ok {
			return false
		}
		if v := bytes.TrimLeft(after, " \t\r\n:"); len(v) > 0 && v[0] != '0' {
			return true
		}
		rest = after
	}
}

// textKeys are the names of the fields that [generated] looks at in a choice.
var textKeys = func() (keys [][]byte) {
	for _, f := range append([]string{"text"}, textFields...) {
		keys = append(keys, []byte(`"`+f+`"`))
	}
	return keys
}()

// holdsText is [generated] for a chunk that is not decoded. No text can look
// like a field to it: a quote in a JSON string is escaped.
func holdsText(data []byte) bool {
	for _, k := range textKeys {
		for rest := data; ; {
			_, after, ok := bytes.Cut(rest, k)
			if !ok {
				break
			}
			v := bytes.TrimLeft(after, " \t\r\n")
			if len(v) > 0 && v[0] == ':' && startsFull(bytes.TrimLeft(v[1:], " \t\r\n")) {
				return true
			}
			rest = after
		}
	}
	return false
}

// startsFull reports whether the JSON value that v begins with is not empty.
func startsFull(v []byte) bool {
	if len(v) < 2 || bytes.HasPrefix(v, []byte("null")) {
		return false
	}
	switch rest := bytes.TrimLeft(v[1:], " \t\r\n"); v[0] {
	case '"':
		return v[1] != '"'
	case '[':
		return len(rest) > 0 && rest[0] != ']'
	case '{':
		return len(rest) > 0 && rest[0] != '}'
	}
	return true
}
