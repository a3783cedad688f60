package workload

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Keys of a line.
const (
	keyText   = "text"
	keyBody   = "body"
	keyTokens = "input_tokens"
	keyLine   = "line_idx"
)

// A whole request on its own is known by one of these: the chat API's, that of
// completions, the one of responses and embeddings, and Gemini's.
var requestKeys = []string{"messages", "prompt", "input", "contents"}

// A field is one of an object, as it stands there.
type field struct {
	name       string
	raw, value []byte // of the name, with its quotes; of the value
}

// parseLine reads one line of a file of requests. It keeps nothing of line.
func parseLine(line []byte, unused *unusedKeys) (row, error) {
	fields, err := split(line)
	if err != nil {
		return row{}, err
	}
	find := func(name string) *field {
		if i := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); i >= 0 {
			return &fields[i]
		}
		return nil
	}
	var r row
	if f := find(keyTokens); f != nil {
		if r.input, err = parseTokens(f.value); err != nil {
			return row{}, err
		}
	}
	request := slices.IndexFunc(requestKeys, func(k string) bool { return find(k) != nil })
	text, body := find(keyText), find(keyBody)
	switch {
	case text != nil && body != nil:
		return row{}, fmt.Errorf("%w: it has both %q and %q: give one of them", ErrRow, keyText, keyBody)
	case text == nil && body == nil && request < 0:
		return row{}, fmt.Errorf("%w: it has none of %q, %q, %q: what is to be sent?", ErrRow, keyText, keyBody, requestKeys)
	case text == nil && body == nil:
		r.body = bytes.Clone(bytes.TrimSpace(line))
		if find(keyTokens) != nil || find(keyLine) != nil {
			r.body = without(fields, keyTokens, keyLine)
		}
		return r, nil
	case request >= 0:
		return row{}, fmt.Errorf("%w: it has %q beside %q: give a text, a body, or a request on its own", ErrRow, requestKeys[request], oneOf(text, body).name)
	}
	unused.note(fields)
	if body != nil {
		if len(body.value) == 0 || body.value[0] != '{' {
			return row{}, fmt.Errorf("%w: %q is %s: want an object", ErrRow, keyBody, cut(body.value))
		}
		r.body = bytes.Clone(body.value)
		return r, nil
	}
	r.text, err = parseText(text.value)
	return r, err
}

func oneOf(a, b *field) *field {
	if a != nil {
		return a
	}
	return b
}

// split reads the fields of an object. The values are part of line.
func split(line []byte) ([]field, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(line))
	if kind := dec.PeekKind(); kind != '{' {
		return nil, fmt.Errorf("%w: %s: want a JSON object", ErrRow, cut(bytes.TrimSpace(line)))
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRow, err)
	}
	var fields []field
	for dec.PeekKind() == '"' {
		raw, err := dec.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRow, err)
		}
		raw = bytes.Clone(raw) // the decoder may use its buffer anew
		name, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRow, err)
		}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRow, err)
		}
		fields = append(fields, field{string(name), raw, bytes.Clone(value)})
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRow, err)
	}
	return fields, nil
}

// without writes an object without some fields. The others are as they were,
// in their order.
func without(fields []field, names ...string) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, f := range fields {
		if slices.Contains(names, f.name) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(f.raw)
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func parseText(value []byte) (string, error) {
	if len(value) == 0 || value[0] != '"' {
		return "", fmt.Errorf("%w: %q is %s: want a string", ErrRow, keyText, cut(value))
	}
	text, err := jsontext.AppendUnquote(nil, value)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %q: %w", ErrRow, keyText, err)
	case strings.TrimSpace(string(text)) == "":
		return "", fmt.Errorf("%w: %q is empty", ErrRow, keyText)
	}
	return string(text), nil
}

// parseTokens reads a length; 0, if it is null, for unknown.
func parseTokens(value []byte) (int, error) {
	if string(value) == "null" {
		return 0, nil
	}
	n, err := strconv.ParseUint(string(value), 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is %s: want a whole number from 0 to %d", ErrRow, keyTokens, cut(value), maxDraw)
	}
	return int(n), nil
}

// cut returns the beginning of a value for an error, quoted: it comes from a
// file.
func cut(value []byte) string {
	const most = 40
	if len(value) > most {
		return strconv.Quote(string(value[:most])) + "…"
	}
	return strconv.Quote(string(value))
}

// unusedKeys are keys beside a text or body that have no meaning.
type unusedKeys struct {
	names []string
	rows  map[string]int
}

const maxUnused = 20

func (u *unusedKeys) note(fields []field) {
	for _, f := range fields {
		switch f.name {
		case keyText, keyBody, keyTokens, keyLine:
			continue
		}
		if _, known := u.rows[f.name]; !known {
			if len(u.names) >= maxUnused {
				continue // the file may have a new one in each line
			}
			u.names = append(u.names, f.name)
		}
		if u.rows == nil {
			u.rows = map[string]int{}
		}
		u.rows[f.name]++
	}
}

// An UnusedKeyError is a key of a file of requests that has no meaning and is
// not sent.
type UnusedKeyError struct {
	Key  string
	Rows int // how many rows have it
}

// Error names the key.
func (e *UnusedKeyError) Error() string {
	return fmt.Sprintf("workload: the key %s of %d rows is not used: beside %q and %q only %q has a meaning", cut([]byte(e.Key)), e.Rows, keyText, keyBody, keyTokens)
}

func (u *unusedKeys) warnings() []error {
	var list []error
	for _, name := range u.names {
		list = append(list, &UnusedKeyError{Key: name, Rows: u.rows[name]})
	}
	return list
}
