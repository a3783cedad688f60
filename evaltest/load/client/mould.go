package client

import "bytes"

// A mould is what the events of one stream have in common. Most differ from the
// one before in nothing but a text: the bytes before it and behind it are the
// same, so that they mean the same, and only the text needs to be looked at. It
// saves most of what reading an event takes.
type mould struct {
	head, tail []byte // up to the text's first quote, and from behind its last one
	choices    int
	set        bool
}

func (m *mould) reset() { m.set = false }

// take makes the mould of an event that was scanned, if it is one that others may
// be like: one visible text, in one string, and nothing else to report.
func (m *mould) take(c *chunk, data []byte) {
	m.set = c.to > 0 && c.text > 0 && c.text == c.single && c.reasoning == 0 && c.tool == 0 &&
		c.finish == nil && c.usage == nil && !c.failed && c.odd == ""
	if !m.set {
		return
	}
	m.head, m.tail = append(m.head[:0], data[:c.from]...), append(m.tail[:0], data[c.to:]...)
	m.choices = c.choices
}

// fill fills c in if the event is like the one before. The model's name is left
// out: the event before has told it.
func (m *mould) fill(c *chunk, data []byte) bool {
	if !m.set || len(data) < len(m.head)+len(m.tail) || !bytes.HasSuffix(data, m.tail) || !bytes.HasPrefix(data, m.head) {
		return false
	}
	cur := cursor{b: data[:len(data)-len(m.tail)], i: len(m.head)}
	if cur.i >= len(cur.b) || cur.b[cur.i] != '"' {
		return false
	}
	raw, plain := cur.str()
	if cur.bad || cur.i != len(cur.b) {
		return false
	}
	*c = chunk{text: textLen(raw, plain), choices: m.choices}
	return true
}
