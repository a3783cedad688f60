package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var utf8BOM = []byte("\xef\xbb\xbf")

// syntaxError says what is wrong with a row in the terms of whoever wrote it.
func syntaxError(err error, row []byte) error {
	var se *jsontext.SyntacticError
	at, inside := int64(0), ""
	if errors.As(err, &se) {
		at, err = se.ByteOffset, se.Err
		if se.JSONPointer != "" {
			inside = " in " + quote(string(se.JSONPointer))
		}
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("%w:%s the key stands twice in one object, the second time at byte %d of the line; readers disagree on which of them counts", ErrDuplicateKey, inside, at+1)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the row ends at byte %d before its object does%s%w", ErrSyntax, len(row), inside, cutOff{})
	case !utf8.Valid(row):
		return fmt.Errorf("%w: invalid UTF-8 at byte %d of the line%s; convert the file to UTF-8", ErrSyntax, invalidUTF8(row)+1, inside)
	}
	return fmt.Errorf("%w at byte %d of the line%s: %w", ErrSyntax, at+1, inside, bare{err})
}

// cutOff marks a row that ends too early. If it is the file's last and has no
// line end, the file itself was cut.
type cutOff struct{}

func (cutOff) Error() string { return "" }

// bare drops the package prefix of a jsontext error.
type bare struct{ error }

func (b bare) Error() string {
	s := b.error.Error()
	if rest, ok := bytes.CutPrefix([]byte(s), []byte("jsontext: ")); ok {
		return string(rest)
	}
	return s
}

func (b bare) Unwrap() error { return b.error }

func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// errNotObject is part of the text of errors about rows of another kind.
var errNotObject = errors.New("not an object")

// notObject refuses a row that begins with something other than a brace.
func (r *rowReader) notObject(kind jsontext.Kind, row []byte) error {
	what := ""
	switch kind {
	case 'n':
		what = "null"
	case 't', 'f':
		what = "a boolean"
	case '"':
		what = "a string"
	case '0':
		what = "a number"
	case '[':
		what = "a list"
	default:
		if bytes.HasPrefix(row, utf8BOM) {
			return fmt.Errorf("%w: a byte order mark stands inside the file (were files joined?); only one at its start is skipped", ErrSyntax)
		}
		return fmt.Errorf("%w: the row does not begin with { but with %s", ErrSyntax, quote(string(row[:min(len(row), 24)])))
	}
	if _, err := r.dec.ReadValue(); err != nil {
		return syntaxError(err, row)
	}
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return fmt.Errorf("%w: the row does not begin with { but with %s", ErrSyntax, quote(string(row[:min(len(row), 24)])))
	}
	return fmt.Errorf("%w: the row is %s, %w", ErrRow, what, errNotObject)
}

// trailing refuses text after the row's object.
func (r *rowReader) trailing(row []byte, at int) error {
	rest := bytes.TrimLeft(row[min(at, len(row)):], " \t\r")
	if bytes.HasPrefix(rest, []byte("{")) {
		if gap := row[at : len(row)-len(rest)]; bytes.IndexByte(gap, '\r') >= 0 {
			return fmt.Errorf("%w: two objects stand on one line, with a CR between them, which is no line end without an LF; convert the file with: tr '\\r' '\\n'", ErrSyntax)
		}
		return fmt.Errorf("%w: two objects stand on one line, the second from byte %d on; each row needs a line of its own", ErrSyntax, len(row)-len(rest)+1)
	}
	return fmt.Errorf("%w: text after the row's object: %s", ErrSyntax, quote(string(rest[:min(len(rest), 60)])))
}
