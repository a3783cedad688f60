package wire

// arraySplitter cuts a JSON array of objects that comes piece by piece into
// its elements. The zero value works. What is no array is kept as it is, to be
// read at its end.
type arraySplitter struct {
	opened   bool // the array has begun
	closed   bool // and ended
	plain    bool // it is no array
	depth    int  // of brackets open inside the array
	inString bool
	escaped  bool
	value    []byte // the element so far
	tooLong  bool
}

// write feeds p; emit is called with each element as soon as its last bracket
// has come, and with nil once the array is closed. What is passed to emit is
// valid during the call only.
func (s *arraySplitter) write(p []byte, emit func([]byte)) {
	for i := 0; i < len(p) && !s.closed && !s.tooLong; i++ {
		c := p[i]
		switch {
		case s.plain:
			s.keep(p[i:]...)
			return
		case !s.opened:
			s.open(c)
		case s.inString:
			s.keep(c)
			s.inString, s.escaped = s.escaped || c != '"', !s.escaped && c == '\\'
		case s.depth == 0 && c == ']':
			s.closed = true
			emit(nil)
		case s.depth == 0 && c != '{':
			// A comma, white space, or an element that is no object.
		default:
			s.inside(c)
			if s.depth == 0 {
				emit(s.value)
				s.value = s.value[:0]
			}
		}
	}
}

// open looks at a byte before the array's first element.
func (s *arraySplitter) open(c byte) {
	switch c {
	case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf: // a byte order mark as well
	case '[':
		s.opened = true
	default:
		s.plain = true
		s.keep(c)
	}
}

// inside takes a byte of an element that is in no string.
func (s *arraySplitter) inside(c byte) {
	switch c {
	case '"':
		s.inString = true
	case '{', '[':
		s.depth++
	case '}', ']':
		s.depth--
	}
	s.keep(c)
}

func (s *arraySplitter) keep(p ...byte) {
	if len(s.value)+len(p) > maxEvent {
		s.tooLong, s.value = true, nil
		return
	}
	s.value = append(s.value, p...)
}
