package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// A member is one field of a JSON object. Objects are kept as lists, so that
// what the SDK or a schema wrote stays in its order: models write their answer's
// fields in the order of the schema's.
type member struct {
	name  string
	value json.RawMessage
}

// members are the fields of a JSON object, in their order; ok is false if raw
// is none. Of a name that stands there twice the last value counts.
func members(raw json.RawMessage) (list []member, ok bool) {
	at := map[string]int{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		t, err := dec.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return nil, false
		}
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return nil, false
		}
		if i, twice := at[name]; twice {
			list[i].value = v
			continue
		}
		at[name] = len(list)
		list = append(list, member{name, v})
	}
	_, err := dec.Token()
	return list, err == nil
}

func object(list []member) (json.RawMessage, error) {
	out := []byte{'{'}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), bytes.TrimSpace(m.value)...)
	}
	return append(out, '}'), nil
}

func find(list []member, name string) int {
	return slices.IndexFunc(list, func(m member) bool { return m.name == name })
}

// set puts value at path into the object raw, byte for byte. Objects on the
// way are made where they are missing.
func set(raw, value json.RawMessage, path ...string) (json.RawMessage, error) {
	if len(path) == 0 {
		return value, nil
	}
	list, ok := members(raw)
	if !ok {
		return nil, fmt.Errorf("the request's body is no JSON object where %q belongs", path[0])
	}
	i := find(list, path[0])
	if i < 0 {
		i, list = len(list), append(list, member{path[0], json.RawMessage("{}")})
	}
	var err error
	if list[i].value, err = set(list[i].value, value, path[1:]...); err != nil {
		return nil, err
	}
	return object(list)
}

// merge patches into with patch, as RFC 7396 says: objects field by field, all
// else whole, and a null removes.
func merge(into, patch json.RawMessage) (json.RawMessage, error) {
	fields, ok := members(patch)
	if !ok {
		return patch, nil
	}
	list, ok := members(into)
	if !ok {
		list = nil
	}
	for _, f := range fields {
		i := find(list, f.name)
		if isNull(f.value) {
			if i >= 0 {
				list = slices.Delete(list, i, i+1)
			}
			continue
		}
		var old json.RawMessage
		if i >= 0 {
			old = list[i].value
		}
		v, err := merge(old, f.value)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			list = append(list, member{f.name, v})
		} else {
			list[i].value = v
		}
	}
	return object(list)
}

func isNull(v json.RawMessage) bool { return v == nil || string(bytes.TrimSpace(v)) == "null" }
