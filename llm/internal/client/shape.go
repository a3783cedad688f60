package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goevals/evals/llm/internal/jsonlist"
	"github.com/goevals/evals/llm/internal/jsonraw"
)

// An Odd is a field of an answer that has another type than the API gives it.
// What the model wrote may stand in it: an answer that were read without it
// would be graded for what the server did.
type Odd struct {
	Path, Got, Want string
}

func (e *Odd) Error() string {
	return fmt.Sprintf("the answer is malformed: %s is %s where %s belongs", e.Path, e.Got, e.Want)
}

// OddField is an Odd of the value raw at path.
func OddField(path string, raw json.RawMessage, want string) *Odd {
	return &Odd{Path: path, Got: shape(raw), Want: want}
}

// Under is e with the path of what it was found in.
func (e *Odd) Under(path string) *Odd {
	return &Odd{Path: strings.TrimSuffix(path+"."+e.Path, "."), Got: e.Got, Want: e.Want}
}

// NoAnswer is e as a client returns it.
func (e *Odd) NoAnswer() *NoAnswer { return &NoAnswer{Why: e.Error()} }

// shape names a JSON value's type. It shows nothing of the value.
func shape(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "missing"
	}
	switch raw[0] {
	case '"':
		return "a text"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// Nothing reports whether a field is not there, or holds what servers send for
// that in languages whose empty values are one.
func Nothing(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", "0", `""`:
		return true
	}
	return (raw[0] == '{' || raw[0] == '[') && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}

// Elements are the elements of a list, parts of raw, none if raw is nothing. The
// error is [jsonlist.ErrTooLong] or an [*Odd].
func Elements(path string, raw json.RawMessage) ([]json.RawMessage, error) {
	if Nothing(raw) {
		return nil, nil
	}
	if raw[0] != '[' {
		return nil, OddField(path, raw, "a list")
	}
	return jsonlist.Elements(raw)
}

// Object reads the fields of these names of an object, as parts of raw. It leaves
// into alone if raw is nothing. The error is an [*Odd].
func Object(path string, raw json.RawMessage, names jsonraw.Names, into ...*json.RawMessage) error {
	if Nothing(raw) {
		return nil
	}
	if raw[0] != '{' {
		return OddField(path, raw, "an object")
	}
	names.Read(raw, into...)
	return nil
}

// Text is a text, "" if raw is not there. The error is an [*Odd].
func Text(path string, raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] != '"' {
		return "", OddField(path, raw, "a text")
	}
	s, _ := jsonraw.Text(raw) // it is valid JSON
	return s, nil
}

// Index is a place in a list: a whole number, however it is spelled, and or if
// raw is not there. The error is an [*Odd].
func Index(path string, raw json.RawMessage, or int) (int, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return or, nil
	}
	if len(raw) == 1 && raw[0] >= '0' && raw[0] <= '9' {
		return int(raw[0] - '0'), nil // nearly always: of the only choice
	}
	var n json.Number // reads "1" too
	if json.Unmarshal(raw, &n) == nil {
		if f, err := n.Float64(); err == nil && f == float64(int32(f)) {
			return int(f), nil
		}
	}
	return 0, OddField(path, raw, "a whole number")
}
