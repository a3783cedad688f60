package client

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
)

// shape is how an answer comes.
type shape int

const (
	unknown shape = iota // decided by its first bytes
	events
	whole
)

// An answer is one being read. It is used again for another call, with its
// buffers.
type answer struct {
	c     *Client
	req   *http.Request
	rec   *record.Request
	w     *watchdog
	reply *Reply

	buf   []byte // of the reads
	shape shape
	at    time.Duration // of the last read that brought something
	split splitter
	chunk chunk
	mould mould
	body  []byte // of a whole answer
	usage []byte // the last usage object

	done    bool // [DONE] came
	tail    bool // usage came without choices, which is the end of a stream
	failure *record.Failure
}

// begin makes a ready for an answer.
func (a *answer) begin(c *Client, req *http.Request, rec *record.Request, w *watchdog, reply *Reply) {
	a.c, a.req, a.rec, a.w, a.reply = c, req, rec, w, reply
	a.shape, a.at, a.done, a.tail, a.failure = unknown, 0, false, false, nil
	a.split.reset(c.cfg.MaxEvent)
	a.mould.reset()
	a.usage = a.usage[:0]
	const keep = 1 << 20
	if a.body = a.body[:0]; cap(a.body) > keep {
		a.body = nil
	}
}

// release lets go of what belongs to one call.
func (a *answer) release() { a.c, a.req, a.rec, a.w, a.reply, a.failure = nil, nil, nil, nil, nil, nil }

// read takes what a read brought, which returned at this time. It is false if
// the rest is not wanted.
func (a *answer) read(p []byte, at time.Duration) bool {
	if len(p) == 0 {
		return true
	}
	a.at = at
	if a.shape == unknown {
		if a.sniff(p); a.failure != nil {
			return false
		}
	}
	if a.shape == events {
		a.split.write(p, a.event)
		if a.split.tooLong && a.failure == nil {
			a.failure = a.tooLong("an event of the stream")
		}
		return a.failure == nil
	}
	if a.body = append(a.body, p...); len(a.body) > a.c.cfg.MaxEvent {
		a.failure = a.tooLong("the answer")
	}
	return a.failure == nil
}

// sniff decides the shape of an answer by its first byte that is no white space:
// Content-Type is missing often, and says text/event-stream of whole errors. Until
// then what came is kept as if it were whole.
func (a *answer) sniff(p []byte) {
	if len(a.body) == 0 && 'a' <= p[0] && p[0] <= 'z' { // nearly always: the name of a field
		a.shape = events
		return
	}
	text := bytes.TrimLeft(append(a.body, p...), " \t\r\n\uFEFF")
	switch {
	case len(a.body)+len(p)-len(text) > a.c.cfg.MaxEvent:
		a.failure = a.tooLong("the white space before the answer")
	case len(text) == 0 || len(text) < len(bom) && bytes.HasPrefix(bom, text):
	case text[0] == '{' || text[0] == '[' || text[0] == '<':
		a.shape = whole
	default:
		a.shape = events
		if len(a.body) > 0 {
			a.split.write(a.body, a.event)
			a.body = a.body[:0]
		}
	}
}

func (a *answer) tooLong(what string) *record.Failure {
	return a.c.fail(record.Malformed, nil, "%s is longer than %d bytes: raise Config.MaxEvent if that is meant", what, a.c.cfg.MaxEvent)
}

var doneData = []byte("[DONE]")

// event takes one event of the stream.
func (a *answer) event(data []byte, named bool) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || a.done {
		return true // nothing counts after the end
	}
	if bytes.Equal(data, doneData) {
		a.done = true
		a.rec.Done = a.at
		a.w.finished(a.at)
		return true
	}
	if a.reply != nil {
		a.reply.add(data)
	}
	return a.take(data, named, true)
}

// take reads an event, or a whole answer.
func (a *answer) take(data []byte, named, inStream bool) bool {
	ch := &a.chunk
	if inStream && !named && a.mould.fill(ch, data) {
		if ch.text > 0 { // the mould was of a text, and this one may be empty
			return a.fragment(record.Text, ch.text)
		}
		return true
	}
	if ok := ch.scan(a.c.cfg.API, data); !ok && !named {
		what := "the answer"
		if inStream {
			what = "an event"
		}
		a.failure = a.c.fail(record.Malformed, a.c.secretsOf(a.req), "%s is no JSON object: %s", what, excerpt(data))
		return false
	}
	if ch.failed || named {
		a.failure = a.c.carried(a.req, data, inStream)
		return false
	}
	if ch.odd != "" {
		a.failure = a.c.fail(record.Malformed, a.c.secretsOf(a.req), "%s has a type that the API does not give it: %s", ch.odd, excerpt(data))
		return false
	}
	if inStream && a.c.cfg.API != Gemini {
		a.mould.take(ch, data)
	}
	if kind, n, ok := ch.fragment(); ok && !a.fragment(kind, n) {
		return false
	}
	if ch.finish != nil {
		a.rec.Finish = a.word(ch.finish)
	}
	if ch.model != nil && a.rec.Model == "" {
		a.rec.Model = a.model(ch.model)
	}
	if ch.usage != nil {
		a.usage = append(a.usage[:0], ch.usage...)
		a.tail = a.tail || ch.choices == 0
	}
	return true
}

// maxFragments is how many pieces of an answer are kept: more than any model
// writes, and less than a server that never ends could fill the memory with.
const maxFragments = 1 << 18

// fragment keeps a piece; it is false if there are too many.
func (a *answer) fragment(kind record.Kind, bytes int) bool {
	if len(a.rec.Fragments) == maxFragments {
		a.failure = a.c.fail(record.Malformed, nil, "the answer has more than %d pieces: the server does not end it", maxFragments)
		return false
	}
	a.rec.Fragments = append(a.rec.Fragments, record.Fragment{At: a.at, Kind: kind, Bytes: bytes})
	a.w.progress(a.at)
	return true
}

// excerpt is the beginning of what could not be read. It is masked as a whole
// message.
func excerpt(data []byte) string {
	if t := bytes.TrimSpace(data); len(t) > 0 && t[0] == '<' {
		return "a page of HTML or the like"
	}
	return string(data[:min(len(data), 4<<10)])
}

// word is a finish reason.
func (a *answer) word(raw []byte) string {
	switch string(raw) { // no allocation for the usual ones
	case `"stop"`:
		return "stop"
	case `"length"`:
		return "length"
	case `"tool_calls"`:
		return "tool_calls"
	case `"STOP"`:
		return "STOP"
	case `"MAX_TOKENS"`:
		return "MAX_TOKENS"
	}
	return a.c.name(unquoted(raw))
}

func (a *answer) model(raw []byte) string { return a.c.name(unquoted(raw)) }

// unquoted decodes a JSON string.
func unquoted(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var s string
	_ = json.Unmarshal(raw, &s) // the cursor has seen that it can be
	return []byte(s)
}

// end takes the end of the body at this time: err is nil for a clean one, or what
// broke it.
func (a *answer) end(at time.Duration, err error) *record.Failure {
	if a.failure == nil && a.shape == events {
		a.split.flush(a.event)
	}
	if a.failure == nil && a.shape == whole && err == nil {
		if a.take(bytes.TrimPrefix(a.body, bom), false, false) && a.reply != nil {
			a.reply.whole = true
			a.reply.add(a.body)
		}
	}
	if a.rec.Done == 0 {
		a.rec.Done = at
	}
	if a.failure == nil && len(a.usage) > 0 {
		u, warns := usage(a.usage)
		a.rec.Usage = u
		for _, w := range warns {
			a.c.warn(w)
		}
	}
	if a.failure == nil {
		a.failure = a.verdict(err)
	}
	return a.failure
}

// verdict is what is wrong with an answer of which nothing was wrong until its
// end.
func (a *answer) verdict(err error) *record.Failure {
	over := a.done || a.tail || a.rec.Finish != ""
	switch {
	case a.shape == whole && err != nil:
		return a.c.fail(record.Truncated, a.c.secretsOf(a.req), "the answer broke off after %d bytes: %v", len(a.body), err)
	case a.shape == whole && a.chunk.choices == 0 && a.rec.Finish == "":
		return a.c.fail(record.Malformed, a.c.secretsOf(a.req), "the answer has no choices: %s", excerpt(a.body))
	case a.shape == whole:
	case !over && err != nil:
		return a.c.fail(record.Truncated, a.c.secretsOf(a.req), "the stream broke off after %d fragments: %v", len(a.rec.Fragments), err)
	case !over:
		return a.c.fail(record.Truncated, nil, "the stream ended after %d fragments without [DONE], a finish reason or usage", len(a.rec.Fragments))
	}
	if a.c.cfg.RequireUsage && !a.rec.Usage.Known {
		return a.c.fail(record.NoUsage, nil, "the answer has no usage that can be read (Config.RequireUsage)")
	}
	return nil
}
