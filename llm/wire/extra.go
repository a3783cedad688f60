package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// mergeExtra returns the JSON object body with the fields of extra in it. The
// order of the fields that stay is kept, so that equal requests stay equal
// bytes.
func mergeExtra(body []byte, extra map[string]json.RawMessage) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("wire: extra fields need a request whose body is a JSON object; this one has %d bytes and begins with %.1q", len(body), body)
	}
	if err := checkExtra(extra); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	put := func(name string, v []byte) error {
		if v == nil || string(bytes.TrimSpace(v)) == "null" {
			return nil
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, err := json.Marshal(name)
		out = append(append(append(out, key...), ':'), bytes.TrimSpace(v)...)
		return err
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("wire: reading the request's body: %w", err)
		}
		name, _ := t.(string)
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("wire: reading the request's field %q: %w", name, err)
		}
		if x, ok := extra[name]; ok {
			if seen[name] {
				continue
			}
			seen[name] = true
			err = put(name, x)
		} else {
			err = putAsIs(&out, name, v)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("wire: reading the request's body: %w", err)
	}
	var names []string
	for name := range extra {
		if !seen[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := put(name, extra[name]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func checkExtra(extra map[string]json.RawMessage) error {
	for name, v := range extra {
		if v != nil && !json.Valid(v) {
			return fmt.Errorf("wire: the extra field %q is not JSON: its %d bytes begin with %.1q", name, len(v), v)
		}
	}
	return nil
}

// putAsIs appends a field that the SDK sent, null included.
func putAsIs(out *[]byte, name string, v []byte) error {
	key, err := json.Marshal(name)
	if len(*out) > 1 {
		*out = append(*out, ',')
	}
	*out = append(append(append(*out, key...), ':'), v...)
	return err
}
