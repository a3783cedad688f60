package client

import (
	"bytes"
)

// A splitter cuts a stream of bytes into server-sent events, wherever the reads
// end: lines that end in LF, CR or CRLF, a byte order mark, a field with or
// without a space after the colon, data over several lines, comments, and a last
// event that no blank line follows.
//
// It is not wire.EventReader, which copies each event and reads for itself: here
// an event that lies whole in one read is handed on where it lies, and the reads
// are the caller's, who takes the time after each.
type splitter struct {
	limit   int    // of line and data together, in bytes
	line    []byte // the beginning of a line whose end has not come
	data    []byte // of the event so far; it may lie in the read's buffer
	own     []byte // where data is kept when it does not
	named   bool   // the event's name is "error"
	has     bool   // there is a data line
	begun   bool   // the first line is over
	cr      bool   // the last byte was CR: a LF after it belongs to it
	tooLong bool
}

// reset makes s ready for another stream. Buffers are kept unless they are big.
func (s *splitter) reset(limit int) {
	const keep = 1 << 20
	line, own := s.line[:0], s.own[:0]
	if cap(line) > keep {
		line = nil
	}
	if cap(own) > keep {
		own = nil
	}
	*s = splitter{limit: limit, line: line, own: own}
}

// write feeds p. emit is called with the data of each event that p completes,
// and with whether its name is "error"; data is valid during the call only. If
// emit returns false, the rest of p is left.
func (s *splitter) write(p []byte, emit func(data []byte, named bool) bool) {
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
			break
		}
		s.cr = p[i] == '\r'
		line := p[:i]
		p = p[i+1:]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line, s.line = s.line, s.line[:0] // nothing is put there before the end of this call
		}
		if !s.endLine(line, emit) {
			return
		}
	}
	s.hold()
	s.line = append(s.line, p...)
	if len(s.line)+len(s.data) > s.limit {
		s.tooLong = true
	}
}

// hold moves data out of the read's buffer, which is about to be used again.
func (s *splitter) hold() {
	if s.has && len(s.data) > 0 && (len(s.own) == 0 || &s.data[0] != &s.own[0]) {
		s.own = append(s.own[:0], s.data...)
		s.data = s.own
	}
}

// flush ends the stream: what has come of the last event is one.
func (s *splitter) flush(emit func(data []byte, named bool) bool) {
	line := s.line
	s.line = s.line[:0]
	if len(line) > 0 && !s.endLine(line, emit) {
		return
	}
	s.endLine(nil, emit)
}

// lineEnd is the index of the first LF or CR, or -1. CR is rare: JSON escapes
// it.
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

var bom = []byte("\xef\xbb\xbf")

func (s *splitter) endLine(line []byte, emit func(data []byte, named bool) bool) bool {
	if len(line)+len(s.data) > s.limit { // as in write, wherever the reads end
		s.tooLong = true
		return false
	}
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, bom)
	}
	if len(line) == 0 {
		return s.dispatch(emit)
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		if !s.has {
			s.has, s.data = true, value
			break
		}
		s.hold()
		s.own = append(append(append(s.own[:0], s.data...), '\n'), value...)
		s.data = s.own
	case "event":
		s.named = string(value) == "error"
	}
	return true
}

func (s *splitter) dispatch(emit func(data []byte, named bool) bool) bool {
	data, named := s.data, s.named
	s.data, s.own, s.has, s.named = nil, s.own[:0], false, false
	if len(data) == 0 {
		return true
	}
	return emit(data, named)
}
