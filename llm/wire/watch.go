package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
)

// A Watch reads along in an answer's body and says whether it was a whole
// answer, what it cost and when its first token came. It understands the JSON
// and the streams of OpenAI-compatible servers, Gemini and Anthropic, and
// leaves everything else alone. Not safe for concurrent use.
type Watch struct {
	kind    bodyKind
	model   bool // the path is one of a model's, so that an empty stream is a cut one
	says    bool // the stream is of an API that says when it is over
	split   splitter
	json    []byte
	limit   int
	cut     bool
	ended   bool
	counts  usageCounts
	choices map[int]bool // index → finished
	s       WatchState
}

// WatchState is what a [Watch] knows so far.
type WatchState struct {
	// Stream says that the body is a stream of events, Answer that it is a
	// model's answer, not some other service's.
	Stream, Answer bool
	// Done is set once the answer said that it was over: [DONE], or a finish
	// reason for every choice, or an error; for a plain body, once it was read
	// and is JSON.
	Done bool
	// DoneAt is when [DONE] or another last event came.
	DoneAt time.Duration
	// FirstToken is when the first generated token came, 0 if none has or the
	// body is no stream.
	FirstToken time.Duration
	// Failed says that the body carried an error object, whatever the status.
	Failed bool
	// Finish is the provider's last finish reason as it came.
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
		if w.model {
			w.s.Warnings = append(w.s.Warnings, fmt.Sprintf("usage is unknown: the SDK asked for the content encoding %.20q, which is not read along", encoded))
		}
	case media == "text/event-stream":
		w.kind, w.s.Stream = eventBody, true
	case media == "application/json" || strings.HasSuffix(media, "+json") || media == "" && w.model:
		w.kind = jsonBody
	}
	return w
}

// IsModelCall reports whether a request with this method and path asks a model
// for something, as far as the paths of known APIs tell.
func IsModelCall(method, path string) bool {
	if method != http.MethodPost {
		return false
	}
	path = strings.TrimSuffix(path, "/")
	for _, s := range []string{"/completions", "/responses", "/v1/messages", "/embeddings", "/api/chat", "/api/generate"} {
		if strings.HasSuffix(path, s) {
			return true
		}
	}
	_, verb, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	switch verb {
	case "generateContent", "streamGenerateContent", "embedContent", "batchEmbedContents", "rawPredict", "streamRawPredict":
		return true
	}
	return false
}

// Write feeds bytes of the body that came at this time after the start.
func (w *Watch) Write(p []byte, at time.Duration) {
	switch w.kind {
	case eventBody:
		w.split.write(p, func(ev Event) { w.event(ev, at) })
	case jsonBody:
		if w.cut || len(w.json)+len(p) > w.limit {
			w.cut, w.json = true, nil
			return
		}
		w.json = append(w.json, p...)
	}
}

// End tells that the body was read to its end.
func (w *Watch) End(at time.Duration) {
	if w.ended {
		return
	}
	w.ended = true
	switch w.kind {
	case eventBody:
		w.split.flush(func(ev Event) { w.event(ev, at) })
	case jsonBody:
		w.plain()
	}
}

// Whole reports whether a body that has ended did so as an answer should: a
// stream must have said that it was over. It is true for everything that is
// not a model's answer, and for streams of APIs whose end it does not know
// (speech, images): a good stream must not be taken for a cut one.
func (w *Watch) Whole() bool {
	if !w.s.Stream || !w.says && !w.model || w.split.tooLong {
		return true
	}
	return w.s.Done
}

// State returns what is known so far.
func (w *Watch) State() WatchState {
	s := w.s
	var warns []string
	s.Usage, warns = w.counts.usage()
	s.CostUSD = w.counts.cost
	s.Warnings = append(s.Warnings, warns...)
	if w.cut || w.split.tooLong {
		s.Warnings = append(s.Warnings, "usage is unknown: the answer is too long to be read along")
	}
	return s
}

// plain reads a JSON body that may not have been read to its end: decoders
// stop after the value.
func (w *Watch) plain() {
	trimmed := bytes.TrimSpace(w.json)
	if w.cut || len(trimmed) == 0 {
		return
	}
	if trimmed[0] == '[' { // Gemini streams an array where no SSE was asked for
		var chunks []json.RawMessage
		if json.Unmarshal(trimmed, &chunks) == nil {
			for _, c := range chunks {
				w.chunk(c, 0)
			}
			w.s.Done = true
		}
	} else if json.Valid(trimmed) {
		w.chunk(trimmed, 0)
		w.s.Done = true
	}
	w.s.FirstToken, w.s.DoneAt = 0, 0
	w.json = nil
}

func (w *Watch) event(ev Event, at time.Duration) {
	data := bytes.TrimSpace(ev.Data)
	if string(data) == "[DONE]" {
		w.done(at)
		w.s.DoneAt = max(at, 1)
		return
	}
	if ev.Name == "error" {
		w.s.Failed = true
		w.done(at)
	}
	if w.s.FirstToken == 0 || worthReading(data) {
		w.chunk(data, at)
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
