// Package jsonlist bounds the lists in a server's answer. A list of empty
// objects takes a hundred times its length once it is decoded: a few megabytes
// would fill the machine's memory.
package jsonlist

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/goevals/evals/llm/internal/jsonraw"
)

// Max is how many elements of a list are decoded: choices, parts, calls. No
// answer has as many.
const Max = 10_000

// ErrTooLong is the error of decoding a list of more than [Max] elements.
var ErrTooLong = fmt.Errorf("a list of more than %d elements", Max)

// A List is a JSON array of at most [Max] elements. What is no array is an
// empty one, and an element's field of an odd type spoils itself only, as in
// the struct around it.
type List[T any] []T

// UnmarshalJSON decodes b, which is valid JSON.
func (l *List[T]) UnmarshalJSON(b []byte) error {
	if tooLong(b) {
		return ErrTooLong
	}
	var typeErr *json.UnmarshalTypeError
	if err := json.Unmarshal(b, (*[]T)(l)); err != nil && !errors.As(err, &typeErr) {
		return err
	}
	return nil
}

// Elements are the elements of the list raw, which is valid JSON: none of what
// is no list. They are parts of raw. The error is [ErrTooLong].
func Elements(raw json.RawMessage) ([]json.RawMessage, error) {
	list, more := jsonraw.Elements(raw, Max)
	if more {
		return nil, ErrTooLong
	}
	return list, nil
}

// tooLong counts the commas of the outermost array.
func tooLong(b []byte) bool {
	if len(b) <= 2*Max || b[0] != '[' { // an element takes two bytes
		return false
	}
	commas, depth, inString, escaped := 0, 0, false, false
	for _, c := range b {
		switch {
		case inString:
			inString, escaped = escaped || c != '"', !escaped && c == '\\'
		case c == '"':
			inString = true
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 1:
			if commas++; commas >= Max {
				return true
			}
		}
	}
	return false
}
