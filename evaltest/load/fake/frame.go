package fake

import (
	"net/http"
	"strconv"
)

// A frame makes the events of one answer, or the whole of it: each is before,
// which they have in common, and then its own.
type frame struct {
	before []byte
	event  []byte // the last one, or a whole answer
}

// begin makes the frame of a call.
func (f *frame) begin(k *call, whole bool) {
	id, object := `{"id":"chatcmpl-`, `","object":"chat.completion.chunk","created":`
	switch {
	case k.what == completions:
		id, object = `{"id":"cmpl-`, `","object":"text_completion","created":`
	case whole:
		object = `","object":"chat.completion","created":`
	}
	b := append(f.before[:0], id...)
	b = strconv.AppendInt(b, int64(k.n), 10)
	b = append(b, object...)
	b = strconv.AppendInt(b, k.arrived.Unix(), 10)
	b = append(b, `,"model":`...)
	if len(k.order.model) > 0 {
		b = append(b, k.order.model...)
	} else {
		b = append(b, `"fake"`...)
	}
	f.before = append(b, `,"choices":[`...)
}

// The words need no escapes.

func (f *frame) role() {
	f.event = append(append(f.event[:0], f.before...), `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`...)
}

func (f *frame) tokens(what target, from, to int) {
	b := append(f.event[:0], f.before...)
	if what == chat {
		b = append(b, `{"index":0,"delta":{"content":"`...)
		b = appendWords(b, what, from, to)
		f.event = append(b, `"},"finish_reason":null}]}`...)
		return
	}
	b = append(b, `{"index":0,"text":"`...)
	b = appendWords(b, what, from, to)
	f.event = append(b, `","logprobs":null,"finish_reason":null}]}`...)
}

func (f *frame) finish(k *call) {
	b := append(f.event[:0], f.before...)
	if k.what == chat {
		b = append(b, `{"index":0,"delta":{},"finish_reason":"`...)
	} else {
		b = append(b, `{"index":0,"text":"","logprobs":null,"finish_reason":"`...)
	}
	b = append(b, reason(k)...)
	f.event = append(b, `"}]}`...)
}

func (f *frame) usage(k *call) {
	f.event = append(append(f.event[:0], f.before...), `],"usage":`...)
	f.event = append(appendUsage(f.event, k), '}')
}

// whole makes a whole answer.
func (f *frame) whole(k *call) {
	b := append(f.event[:0], f.before...)
	if k.what == chat {
		b = append(b, `{"index":0,"message":{"role":"assistant","content":"`...)
		b = appendWords(b, k.what, 0, k.order.tokens)
		b = append(b, `"},"finish_reason":"`...)
	} else {
		b = append(b, `{"index":0,"text":"`...)
		b = appendWords(b, k.what, 0, k.order.tokens)
		b = append(b, `","logprobs":null,"finish_reason":"`...)
	}
	b = append(b, reason(k)...)
	b = append(b, `"}],"usage":`...)
	f.event = append(appendUsage(b, k), '}')
}

// reason is why the answer ends: at the request's limit, or because the model
// had no more to say.
func reason(k *call) string {
	if k.order.limited {
		return "length"
	}
	return "stop"
}

func appendUsage(b []byte, k *call) []byte {
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(k.input), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(k.order.tokens), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(k.input+k.order.tokens), 10)
	b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
	b = strconv.AppendInt(b, int64(k.cached), 10)
	return append(b, "}}"...)
}

const modelList = `{"object":"list","data":[{"id":"fake","object":"model","created":0,"owned_by":"fake"}]}`

// appendHead appends the head of an answer of length bytes; less than 0 is a
// stream.
func appendHead(b []byte, k *call, status, length int, extra http.Header) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	if text := http.StatusText(status); text != "" {
		b = append(b, text...)
	} else {
		b = append(b, "Status"...)
	}
	switch {
	case length >= 0:
		b = append(b, "\r\nContent-Type: application/json\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(length), 10)
	case k.http10:
		b = append(b, "\r\nContent-Type: text/event-stream"...)
	default:
		b = append(b, "\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked"...)
	}
	if k.last {
		b = append(b, "\r\nConnection: close"...)
	}
	for name, values := range extra {
		for _, v := range values {
			b = append(append(append(append(b, "\r\n"...), name...), ": "...), v...)
		}
	}
	return append(b, "\r\n\r\n"...)
}
