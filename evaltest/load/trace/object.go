package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An objectReader reads JSON objects member by member.
type objectReader struct {
	in  bytes.Reader
	dec jsontext.Decoder
}

// read calls f with each member of an object. Members that are null are as if
// they were not there. A name that stands twice is an error.
func (o *objectReader) read(text []byte, f func(name string, v jsontext.Value) error) error {
	o.in.Reset(text)
	o.dec.Reset(&o.in)
	if k := o.dec.PeekKind(); k != '{' && k != 0 {
		return fmt.Errorf("%w: it is not a JSON object: %s", ErrSyntax, quote(string(text)))
	}
	if _, err := o.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	for o.dec.PeekKind() != '}' {
		t, err := o.dec.ReadToken()
		if err != nil {
			return syntax(err)
		}
		name := t.String()
		v, err := o.dec.ReadValue()
		if err != nil {
			return syntax(err)
		}
		if v.Kind() == 'n' {
			continue
		}
		if err := f(name, v); err != nil {
			return named(quote(name), err)
		}
	}
	if _, err := o.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	if _, err := o.dec.ReadToken(); err != io.EOF {
		return fmt.Errorf("%w: text follows the JSON object", ErrSyntax)
	}
	return nil
}

// syntax gives a JSON error its kind. One of reading keeps its own.
func syntax(err error) error {
	var bad *jsontext.SyntacticError
	switch {
	case err == nil || errors.Is(err, ErrLineTooLong) || errors.Is(err, ErrTruncated) || errors.Is(err, ErrCorrupt):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF:
		return fmt.Errorf("%w: %w: the JSON ends too early", ErrTruncated, ErrSyntax)
	case errors.As(err, &bad):
		return fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	return err
}

func stringOf(v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", fmt.Errorf("%w: %s is not a text", ErrValue, quote(string(v)))
	}
	text, err := jsontext.AppendUnquote(nil, v)
	return string(text), syntax(err)
}

// nameOf is a text, or a number as it stands: ids are either.
func nameOf(v jsontext.Value) (string, error) {
	name := string(v)
	if v.Kind() != '0' {
		var err error
		if name, err = stringOf(v); err != nil {
			return "", err
		}
	}
	return name, checkName(name)
}

// checkName bounds what becomes a part of a trajectory's id.
func checkName(name string) error {
	switch {
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: a name that is not UTF-8: %s", ErrValue, quote(name))
	case len(name) > 1024:
		return fmt.Errorf("%w: a name of %d bytes: %s", ErrValue, len(name), quote(name))
	}
	return nil
}

func numberOf(v jsontext.Value) (string, error) {
	if v.Kind() != '0' {
		return "", fmt.Errorf("%w: %s is not a number", ErrValue, quote(string(v)))
	}
	return string(v), nil
}

func tokensOf(v jsontext.Value) (int, error) {
	text, err := numberOf(v)
	if err != nil {
		return 0, err
	}
	return parseTokens(text)
}

func hashesOf(v jsontext.Value) ([]uint64, error) {
	if v.Kind() != '[' {
		return nil, fmt.Errorf("%w: %s is not a list of hash ids", ErrValue, quote(string(v)))
	}
	hashes := []uint64{}
	if err := json.Unmarshal(v, &hashes); err != nil {
		return nil, fmt.Errorf("%w: hash ids are whole numbers from 0: %w", ErrValue, err)
	}
	return hashes, nil
}

// unread collects the names of members that nobody reads.
type unread struct {
	names []string
	seen  map[string]bool
}

// mostUnread bounds what a hostile file can make us remember.
const mostUnread = 100

func (u *unread) add(name string) {
	if u.seen[name] || len(u.names) == mostUnread {
		return
	}
	if u.seen == nil {
		u.seen = map[string]bool{}
	}
	u.seen[name] = true
	u.names = append(u.names, name)
}
