package jsonraw

import (
	"encoding/json"
	"unicode/utf8"
)

// Elements are the elements of the list raw, the first most of them; more says
// that there are others. They are nil if raw is no list, and not nil if it is
// an empty one.
func Elements(raw []byte, most int) (list []json.RawMessage, more bool) {
	c := cursor{b: raw}
	if !c.enter('[') {
		return nil, false
	}
	list = []json.RawMessage{}
	for c.more(']') {
		if len(list) == most {
			return list, true
		}
		list = append(list, c.value())
	}
	return list, false
}

// Text is the string raw; ok is false if raw is none. Bytes that are no UTF-8
// are U+FFFD, as encoding/json has them.
func Text(raw []byte) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; plain(inner) {
		return string(inner), true
	}
	return decode(raw)
}

// decode is Text where there is something to decode. On its own, since the
// variable that is decoded into is allocated wherever it stands.
func decode(raw []byte) (s string, ok bool) {
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// plain reports whether the inside of a string stands for itself.
func plain(inner []byte) bool {
	ascii := true
	for _, b := range inner {
		if b == '\\' {
			return false
		}
		ascii = ascii && b < utf8.RuneSelf
	}
	return ascii || utf8.Valid(inner)
}
