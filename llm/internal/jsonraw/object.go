package jsonraw

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Names are the names of the fields of an object that are read.
type Names []string

// Read sets into[i] to the value of the field names[i] of the object raw, and
// leaves it alone if there is none, or raw is no object. It sees what
// encoding/json sees that decodes raw into a struct of raw messages: a name in
// other letters is the same one, and of one that stands there twice the last
// value counts. It panics if there are not as many places as names.
func (n Names) Read(raw []byte, into ...*json.RawMessage) {
	n.check(len(into))
	Fields(raw, func(name, value []byte) {
		if i := n.index(name); i >= 0 {
			*into[i] = value
		}
	})
}

// ReadExact is Read of names in just these letters, as encoding/json reads into
// a map. It too panics if there are not as many places as names.
func (n Names) ReadExact(raw []byte, into []json.RawMessage) {
	n.check(len(into))
	Fields(raw, func(name, value []byte) {
		if i := n.exact(name); i >= 0 {
			into[i] = value
		}
	})
}

// check finds a list that one has changed without the other: a value would land
// in its neighbour's place.
func (n Names) check(places int) {
	if places != len(n) {
		panic(fmt.Sprintf("jsonraw: %d names and %d places for their values, want as many: %s", len(n), places, strings.Join(n, ", "))) // joined: Sprintf would have n allocated
	}
}

func (n Names) exact(name []byte) int {
	for i, s := range n {
		if string(name) == s {
			return i
		}
	}
	return -1
}

func (n Names) index(name []byte) int {
	if i := n.exact(name); i >= 0 {
		return i
	}
	// One byte of these names folds to three at most: the Kelvin sign is a K.
	for i, s := range n {
		if len(name) >= len(s) && len(name) <= 3*len(s) && strings.EqualFold(string(name), s) {
			return i
		}
	}
	return -1
}

// Fields calls f with each field of the object raw, in their order, and not at
// all if raw is no object. The name is as encoding/json reads it, and f's for
// the time of the call only; the value is a part of raw.
func Fields(raw []byte, f func(name, value []byte)) {
	c := cursor{b: raw}
	if !c.enter('{') {
		return
	}
	for c.more('}') {
		name := unescape(c.name())
		f(name, c.value())
	}
}

// unescape is a name as encoding/json reads it.
func unescape(name []byte) []byte {
	if plain(name) {
		return name
	}
	s, _ := decode(bytes.Join([][]byte{{'"'}, name, {'"'}}, nil))
	return []byte(s)
}
