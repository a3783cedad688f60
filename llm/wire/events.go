package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxEvent is the longest event that is kept, in bytes. Real servers send
// megabytes in one line (images, logprobs); nobody sends this much.
const maxEvent = 64 << 20

// ErrEventTooLong is returned for a server-sent event of more than 64 MiB.
var ErrEventTooLong = errors.New("wire: a server-sent event is longer than 64 MiB")

// An Event is one server-sent event that carries data. Comments, empty data
// and blocks of retry or id only are no events.
type Event struct {
	Name string // of the event field, or ""
	Data []byte // data lines joined by "\n"
}

// An EventReader reads server-sent events: lines that end in LF, CR or CRLF,
// a leading byte order mark, fields with or without a space after the colon,
// data over several lines, and a last event that no blank line follows.
type EventReader struct {
	r     io.Reader
	buf   []byte
	split splitter
	queue []Event
	taken int // of queue
	err   error
}

// NewEventReader returns a reader of the events in r.
func NewEventReader(r io.Reader) *EventReader {
	return &EventReader{r: r, buf: make([]byte, 16<<10)}
}

// Next returns the next event. It reads no further than it must, so an event
// is returned as soon as the blank line after it has come. At the end it
// returns r's error, [io.EOF] included.
func (e *EventReader) Next() (Event, error) {
	for e.taken == len(e.queue) {
		if e.err != nil {
			return Event{}, e.err
		}
		e.queue, e.taken = e.queue[:0], 0
		n, err := e.r.Read(e.buf)
		add := func(ev Event) { e.queue = append(e.queue, Event{ev.Name, bytes.Clone(ev.Data)}) }
		e.split.write(e.buf[:n], add)
		if err != nil {
			if err == io.EOF {
				e.split.flush(add)
			}
			e.err = err
		}
		if e.split.tooLong {
			e.err = ErrEventTooLong
		}
	}
	ev := e.queue[e.taken]
	e.queue[e.taken] = Event{} // its data is the caller's alone
	e.taken++
	return ev, nil
}

// splitter cuts a stream of bytes into events. The zero value works.
type splitter struct {
	line    []byte
	data    []byte
	name    string
	hasData bool
	started bool
	cr      bool // the last byte was CR: a following LF belongs to it
	tooLong bool
}

// write feeds p; emit is called with each event that it completes. The data
// passed to emit is valid during the call only.
func (s *splitter) write(p []byte, emit func(Event)) {
	for len(p) > 0 && !s.tooLong {
		if s.cr {
			s.cr = false
			if p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		i := lineEnd(p)
		if i < 0 {
			s.line = append(s.line, p...)
			s.limit()
			return
		}
		s.cr = p[i] == '\r'
		if len(s.line) == 0 {
			s.endLine(p[:i], emit)
		} else {
			s.line = append(s.line, p[:i]...)
			s.endLine(s.line, emit)
			s.line = s.line[:0]
		}
		s.limit()
		p = p[i+1:]
	}
}

// limit gives up on an event that is too long, and frees what is held of it.
func (s *splitter) limit() {
	if len(s.line)+len(s.data) > maxEvent {
		s.tooLong, s.line, s.data = true, nil, nil
	}
}

// lineEnd is the index of the first LF or CR, or -1. It is what a stream's
// time goes into; bytes.IndexAny takes several times as long.
func lineEnd(p []byte) int {
	lf := bytes.IndexByte(p, '\n')
	if lf >= 0 {
		p = p[:lf]
	}
	if cr := bytes.IndexByte(p, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// flush ends the stream: a last line or event that nothing follows counts.
func (s *splitter) flush(emit func(Event)) {
	if s.tooLong {
		return
	}
	if len(s.line) > 0 {
		s.endLine(s.line, emit)
		s.line = s.line[:0]
	}
	s.endLine(nil, emit)
}

func (s *splitter) endLine(line []byte, emit func(Event)) {
	if !s.started {
		s.started = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 {
		if s.hasData && len(bytes.TrimSpace(s.data)) > 0 {
			emitAll(Event{s.name, s.data}, emit)
		}
		s.data, s.name, s.hasData = s.data[:0], "", false
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data", "error": // error: llama.cpp's failures, in older builds
		if string(field) == "error" {
			s.name = "error"
		}
		if s.hasData {
			s.data = append(s.data, '\n')
		}
		s.data, s.hasData = append(s.data, value...), true
	case "event":
		s.name = string(value)
	}
}

// maxJoined is how many events may come as one: more would be in memory all at
// once, and be read before anybody could give the call up.
const maxJoined = 4096

// emitAll emits ev. Some servers put single line ends between events; their
// data then comes joined, which is told from one document over several lines
// by its not being JSON.
func emitAll(ev Event, emit func(Event)) {
	n := bytes.Count(ev.Data, []byte("\n"))
	if n == 0 || n >= maxJoined || json.Valid(ev.Data) {
		emit(ev)
		return
	}
	lines := bytes.Split(ev.Data, []byte("\n"))
	for _, l := range lines {
		l = bytes.TrimSpace(l)
		if len(l) > 0 && string(l) != "[DONE]" && !json.Valid(l) {
			emit(ev)
			return
		}
	}
	for _, l := range lines {
		if l = bytes.TrimSpace(l); len(l) > 0 {
			emit(Event{ev.Name, l})
		}
	}
}
