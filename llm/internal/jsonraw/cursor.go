package jsonraw

// A cursor is a place in JSON. Each of its methods moves it forward, to the end
// at most.
type cursor struct {
	b []byte
	i int
}

// space moves over white space, and returns the byte behind it; 0 at the end.
func (c *cursor) space() byte {
	for ; c.i < len(c.b); c.i++ {
		switch c.b[c.i] {
		case ' ', '\t', '\r', '\n':
		default:
			return c.b[c.i]
		}
	}
	return 0
}

// enter moves behind the bracket that opens an object or a list.
func (c *cursor) enter(open byte) bool {
	if c.space() != open {
		return false
	}
	c.i++
	return true
}

// more moves to the next name or element, and reports whether there is one.
func (c *cursor) more(closing byte) bool {
	b := c.space()
	if b == ',' {
		c.i++
		b = c.space()
	}
	return b != closing && c.i < len(c.b)
}

// name moves over a field's name and the colon. It is without its quotes.
func (c *cursor) name() []byte {
	raw := c.value()
	if c.space() == ':' {
		c.i++
	}
	if len(raw) < 2 {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// value moves over a value. It has no white space around it.
func (c *cursor) value() []byte {
	first := c.space()
	from := c.i
	switch first {
	case '"':
		c.text()
	case '{', '[':
		c.nested()
	default:
		c.literal()
	}
	return c.b[from:c.i:c.i]
}

// text moves over a string.
func (c *cursor) text() {
	for c.i++; c.i < len(c.b); c.i++ {
		switch c.b[c.i] {
		case '"':
			c.i++
			return
		case '\\':
			c.i++
		}
	}
	c.i = len(c.b) // an escape may have ended it
}

// nested moves over an object or a list. It counts brackets instead of calling
// itself: a server chooses how deep they are.
func (c *cursor) nested() {
	for depth := 0; c.i < len(c.b); {
		switch c.b[c.i] {
		case '"':
			c.text()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.i++
		if depth == 0 {
			return
		}
	}
}

// literal moves over a number, true, false or null: over one byte at least.
func (c *cursor) literal() {
	for c.i < len(c.b) {
		c.i++
		if c.i == len(c.b) {
			return
		}
		switch c.b[c.i] {
		case ',', ':', ']', '}', ' ', '\t', '\r', '\n':
			return
		}
	}
}
