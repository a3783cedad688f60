package client

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// maxDepth is how deep a value may nest, as in encoding/json.
const maxDepth = 10000

// A cursor walks over one JSON value without decoding it. It is as strict as
// encoding/json: what that refuses makes it bad, and a bad cursor finds nothing
// more. It exists since encoding/json takes some 25 times as long for an event,
// which is then most of what a client does.
type cursor struct {
	b     []byte
	i     int
	depth int
	bad   bool
}

func (c *cursor) fail() { c.bad, c.i = true, len(c.b) }

func (c *cursor) space() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return
		}
	}
}

// peek is the first byte of the next value, 0 at the end.
func (c *cursor) peek() byte {
	c.space()
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

// open enters an object or a list, whichever begins with this byte.
func (c *cursor) open(with byte) bool {
	if c.peek() != with {
		return false
	}
	c.i++
	if c.depth++; c.depth > maxDepth {
		c.fail()
		return false
	}
	return true
}

// more goes to the next element before the byte that closes the list or object;
// first is true for the first one. It is false at the end, which it leaves.
func (c *cursor) more(closing byte, first bool) bool {
	switch ch := c.peek(); {
	case c.bad:
		return false
	case ch == closing:
		c.i++
		c.depth--
		return false
	case first:
		return true
	case ch == ',':
		c.i++
		if c.peek() == closing { // a comma too many
			c.fail()
			return false
		}
		return true
	default:
		c.fail()
		return false
	}
}

// key goes to the value of an object's next field and returns the field's name.
func (c *cursor) key(first bool) (name []byte, ok bool) {
	if !c.more('}', first) {
		return nil, false
	}
	raw, plain := c.str()
	if c.bad {
		return nil, false
	}
	if c.peek() != ':' {
		c.fail()
		return nil, false
	}
	c.i++
	if !plain {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return []byte(s), true
		}
	}
	return raw[1 : len(raw)-1], true
}

// str takes a string and returns it with its quotes. It is plain if it holds no
// escape.
func (c *cursor) str() (raw []byte, plain bool) {
	if c.peek() != '"' {
		c.fail()
		return nil, false
	}
	plain = true
	b, start := c.b, c.i
	for i := start + 1; i < len(b); i++ {
		switch ch := b[i]; {
		case ch == '"':
			c.i = i + 1
			return b[start:c.i], plain
		case ch == '\\':
			plain = false
			i++
			n := escape(b, i)
			if n == 0 {
				c.fail()
				return nil, false
			}
			i += n - 1
		case ch < ' ':
			c.fail()
			return nil, false
		}
	}
	c.fail()
	return nil, false
}

// escape is the length of the escape behind a backslash, 0 if it is none.
func escape(b []byte, i int) int {
	if i >= len(b) {
		return 0
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if i+5 <= len(b) && hex4(b[i+1:i+5]) >= 0 {
			return 5
		}
	}
	return 0
}

func hex4(b []byte) rune {
	var r rune
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// skip takes a value of any type and returns it as it stands.
func (c *cursor) skip() []byte {
	ch := c.peek()
	start := c.i
	switch ch {
	case '"':
		raw, _ := c.str()
		return raw
	case '{':
		c.open('{')
		for first := true; ; first = false {
			if _, ok := c.key(first); !ok {
				break
			}
			c.skip()
		}
	case '[':
		c.open('[')
		for first := true; c.more(']', first); first = false {
			c.skip()
		}
	case 't':
		c.word("true")
	case 'f':
		c.word("false")
	case 'n':
		c.word("null")
	default:
		c.number()
	}
	if c.bad {
		return nil
	}
	return c.b[start:c.i]
}

func (c *cursor) word(w string) {
	if !bytes.HasPrefix(c.b[c.i:], []byte(w)) {
		c.fail()
		return
	}
	c.i += len(w)
}

func (c *cursor) number() {
	b, i := c.b, c.i
	digits := func() bool {
		from := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		c.fail()
		return
	}
	if i < len(b) && b[i] == '.' {
		i++
		if !digits() {
			c.fail()
			return
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			c.fail()
			return
		}
	}
	c.i = i
}

// end makes a cursor bad that has anything left.
func (c *cursor) end() {
	if c.space(); c.i < len(c.b) {
		c.fail()
	}
}

// textLen is the length of a JSON string in UTF-8 once it is decoded. What is no
// UTF-8 counts as the replacement character that it is decoded to.
func textLen(raw []byte, plain bool) int {
	raw = raw[1 : len(raw)-1]
	if plain && utf8.Valid(raw) {
		return len(raw)
	}
	n := 0
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			r, size := utf8.DecodeRune(raw[i:])
			i += size
			n += utf8.RuneLen(r)
			continue
		}
		if raw[i+1] != 'u' {
			i, n = i+2, n+1
			continue
		}
		r := hex4(raw[i+2 : i+6])
		i += 6
		switch {
		case r >= 0xd800 && r < 0xdc00 && i+6 <= len(raw) && raw[i] == '\\' && raw[i+1] == 'u' && isLow(hex4(raw[i+2:i+6])):
			i, n = i+6, n+4
		case r >= 0xd800 && r < 0xe000: // half a pair
			n += 3
		default:
			n += utf8.RuneLen(r)
		}
	}
	return n
}

func isLow(r rune) bool { return r >= 0xdc00 && r < 0xe000 }
