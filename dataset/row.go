package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A rowReader checks rows and maps their columns. It is not safe for
// concurrent use: each decoding goroutine has its own.
type rowReader struct {
	cols *columns // nil: check only
	dec  jsontext.Decoder
	buf  bytes.Buffer
	name []byte

	vals  [numFields]jsontext.Value
	from  [numFields]string // the mapping's name for the column found
	met   [numFields]bool   // a column was found, in any row so far
	heads []string          // top-level columns taken, if collect
	// collect is set only where heads are wanted: it costs an allocation a row.
	collect bool
}

// read checks one row, which has no line end, and returns its item without ID
// numbering. The item's strings are copies, its Raw is row.
func (r *rowReader) read(row []byte) (Item, error) {
	if err := r.scan(row); err != nil {
		return Item{}, err
	}
	if r.cols == nil {
		return Item{Raw: row}, nil
	}
	it, err := r.item(row)
	if err != nil {
		return Item{}, err
	}
	it.Raw, it.cols = row, r.cols
	return it, nil
}

// scan walks over the row's tokens and notes the values of mapped columns.
// Every byte is checked here, whatever is mapped: a row that passes cannot
// fail later for reasons of syntax.
func (r *rowReader) scan(row []byte) error {
	r.vals, r.from = [numFields]jsontext.Value{}, [numFields]string{}
	r.heads = r.heads[:0]
	r.buf = *bytes.NewBuffer(row) // parsed in place by jsontext
	r.dec.Reset(&r.buf)
	if kind := r.dec.PeekKind(); kind != '{' {
		return r.notObject(kind, row)
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return syntaxError(err, row)
	}
	for r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadValue()
		if err != nil {
			return syntaxError(err, row)
		}
		r.name, err = appendName(r.name[:0], name)
		if err != nil {
			return syntaxError(err, row)
		}
		val, err := r.dec.ReadValue()
		if err != nil {
			return syntaxError(err, row)
		}
		if r.cols == nil {
			continue
		}
		if err := r.note(val); err != nil {
			return err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return syntaxError(err, row)
	}
	if end := int(r.dec.InputOffset()); end < len(row) {
		return r.trailing(row, end)
	}
	return nil
}

// note keeps val if the column r.name is mapped.
func (r *rowReader) note(val jsontext.Value) error {
	for _, ref := range r.cols.heads[string(r.name)] {
		v := val
		if len(ref.path) > 0 {
			var ok bool
			if v, ok = lookup(val, ref.path); !ok {
				continue
			}
		}
		if r.cols.names[ref.field] == "" && !fits(ref, v) {
			continue
		}
		if r.vals[ref.field] != nil {
			f := fieldNames[ref.field]
			return fmt.Errorf("%w: the row has both %q and %q for %s; say which with dataset.Fields(dataset.Mapping{%s: %q})",
				ErrField, r.from[ref.field], ref.name, f, f, r.from[ref.field])
		}
		r.vals[ref.field], r.from[ref.field], r.met[ref.field] = v, ref.name, true
		if r.collect && len(ref.path) == 0 {
			r.heads = append(r.heads, string(r.name))
		}
	}
	return nil
}

// fits reports whether a default column holds what the field wants. Columns
// with these names are often something else (options: an object of settings):
// then they stay metadata. A null is a column that is not there.
func fits(ref ref, v jsontext.Value) bool {
	kind := v.Kind()
	switch {
	case kind == 'n':
		return false
	case ref.field == fieldTargets, ref.name == "options":
		return kind == '['
	case ref.field == fieldGroup:
		return kind == '"' || kind == '0'
	}
	return true
}

// taken returns the top-level columns that fields took whole.
func (c *columns) taken(row []byte) ([]string, error) {
	r := rowReader{cols: c, collect: true}
	if err := r.scan(row); err != nil {
		return nil, err
	}
	return r.heads, nil
}

// item makes an item of the noted values.
func (r *rowReader) item(row []byte) (Item, error) {
	var it Item
	var err error
	if v := r.vals[fieldID]; v != nil && v.Kind() != 'n' {
		if it.ID, err = idText(v); err != nil {
			return it, r.wrong(fieldID, err)
		}
	}
	if r.cols.names[fieldInput] == WholeRow {
		it.Input = string(row)
	} else if it.Input, err = r.required(fieldInput, row); err != nil {
		return it, err
	}
	if v := r.vals[fieldChoices]; v != nil && v.Kind() != 'n' {
		if it.Choices, err = choiceTexts(v); err != nil {
			return it, r.wrong(fieldChoices, err)
		}
	}
	if v := r.vals[fieldGroup]; v != nil && v.Kind() != 'n' {
		if it.Group, err = scalarText(v); err != nil {
			return it, r.wrong(fieldGroup, err)
		}
	}
	err = r.targets(&it, row)
	return it, err
}

// required is the text of a field that every row must have.
func (r *rowReader) required(f field, row []byte) (string, error) {
	if r.cols.names[f] == NoColumn {
		return "", nil
	}
	if r.vals[f] == nil {
		return "", r.missing(f, row)
	}
	s, err := anyText(r.vals[f])
	if err != nil {
		return "", r.wrong(f, err)
	}
	return s, nil
}

func (r *rowReader) targets(it *Item, row []byte) error {
	var more []string
	var err error
	if v := r.vals[fieldTargets]; v != nil && v.Kind() != 'n' {
		if more, err = listTexts(v); err != nil {
			return r.wrong(fieldTargets, err)
		}
	}
	v := r.vals[fieldTarget]
	switch {
	case r.cols.names[fieldTarget] == WholeRow:
		it.Target = string(row)
	case v == nil && len(more) > 0:
		it.Target, more = more[0], more[1:]
	case v != nil && v.Kind() == '[' && !r.cols.mapping.TargetJSON:
		list, err := targetList(v)
		if err != nil {
			return r.wrong(fieldTarget, err)
		}
		it.Target, more = list[0], append(list[1:len(list):len(list)], more...)
	default:
		if it.Target, err = r.required(fieldTarget, row); err != nil {
			return err
		}
	}
	if len(more) > 0 {
		it.Targets = more
	}
	if !r.cols.mapping.TargetIndex {
		return nil
	}
	if err := r.indexToLetter(&it.Target, len(it.Choices)); err != nil {
		return err
	}
	for i := range it.Targets {
		if err := r.indexToLetter(&it.Targets[i], len(it.Choices)); err != nil {
			return err
		}
	}
	return nil
}

func (r *rowReader) indexToLetter(target *string, choices int) error {
	i, err := strconv.Atoi(*target)
	if err != nil || i < 0 || i >= choices || i > 25 {
		return fmt.Errorf("%w: %s is not the number of one of the %s, counted from 0, as Mapping.TargetIndex says", ErrRow, quote(*target), count(choices, "choice"))
	}
	*target = string(rune('A' + i))
	return nil
}

func (r *rowReader) wrong(f field, err error) error {
	return fmt.Errorf("%w: column %q (%s): %w", ErrRow, r.from[f], fieldNames[f], err)
}

// errNoColumn is part of the text of errors about rows without a column for a
// field, and has a hint of its own.
var errNoColumn = errors.New("no column")

func (r *rowReader) missing(f field, row []byte) error {
	names := columnNames(row)
	if r.cols.names[f] == "" {
		for _, name := range names {
			if r.cols.isDefault(f, name) { // then it was passed over for its null
				r.from[f] = name
				return r.wrong(f, errNull)
			}
		}
	}
	return fmt.Errorf("%w: %w for %s: it would be %s, but %s", ErrField, errNoColumn, fieldNames[f], r.cols.want(f), hasColumns("the row", names))
}

// hasColumns says which columns a row has.
func hasColumns(row string, names []string) string {
	if len(names) == 0 {
		return row + " is an empty object"
	}
	more := ""
	if len(names) > 12 {
		names, more = names[:12], ", …"
	}
	return row + " has " + quoteAll(names) + more
}

// columnNames lists the top-level columns of a checked row.
func columnNames(row []byte) []string {
	var names []string
	dec := jsontext.NewDecoder(bytes.NewBuffer(row))
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return names
		}
		names = append(names, tok.String())
		if err := dec.SkipValue(); err != nil {
			return names
		}
	}
	return names
}

// lookup follows a path into nested objects of a checked value.
func lookup(v jsontext.Value, path []string) (jsontext.Value, bool) {
	for _, key := range path {
		if v.Kind() != '{' {
			return nil, false
		}
		dec := jsontext.NewDecoder(bytes.NewBuffer(v))
		_, _ = dec.ReadToken() // the brace; v is checked
		found := false
		for !found && dec.PeekKind() == '"' {
			tok, err := dec.ReadToken()
			if err != nil {
				return nil, false
			}
			match := tok.String() == key
			val, err := dec.ReadValue()
			if err != nil {
				return nil, false
			}
			if match {
				v, found = val, true
			}
		}
		if !found {
			return nil, false
		}
	}
	return v, true
}

func appendName(dst []byte, quoted jsontext.Value) ([]byte, error) {
	if len(quoted) < 2 || quoted[0] != '"' {
		return dst, errors.New("object key is not a string")
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return append(dst, quoted[1:len(quoted)-1]...), nil
	}
	return jsontext.AppendUnquote(dst, []byte(quoted))
}

var errNull = errors.New("is null")

// anyText is the text of a string, and the JSON of everything else but null.
func anyText(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case 'n':
		return "", errNull
	case '"':
		if bytes.IndexByte(v, '\\') < 0 {
			return string(v[1 : len(v)-1]), nil
		}
		b, err := jsontext.AppendUnquote(make([]byte, 0, len(v)), []byte(v))
		return string(b), err
	}
	return string(v), nil
}

// scalarText is the text of a string, number or boolean.
func scalarText(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case '{':
		return "", errors.New("is an object, not a text or number")
	case '[':
		return "", errors.New("is a list, not a text or number")
	}
	return anyText(v)
}

func idText(v jsontext.Value) (string, error) {
	if k := v.Kind(); k != '"' && k != '0' {
		return "", fmt.Errorf("an id is a text or a number, not %s", quote(string(v)))
	}
	s, err := anyText(v)
	if err == nil && s == "" {
		err = errors.New("the id is empty")
	}
	return s, err
}

// elements returns the values of a checked list.
func elements(v jsontext.Value) []jsontext.Value {
	var vs []jsontext.Value
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	_, _ = dec.ReadToken() // the bracket; v is checked
	for k := dec.PeekKind(); k != ']' && k != jsontext.KindInvalid; k = dec.PeekKind() {
		e, err := dec.ReadValue()
		if err != nil {
			break
		}
		vs = append(vs, slices.Clone(e))
	}
	return vs
}

// listTexts is a list of strings, numbers and booleans.
func listTexts(v jsontext.Value) ([]string, error) {
	if v.Kind() != '[' {
		return nil, fmt.Errorf("is not a list but %s", quote(string(v)))
	}
	var texts []string
	for i, e := range elements(v) {
		s, err := scalarText(e)
		if err != nil {
			return nil, fmt.Errorf("element %d %w", i+1, err)
		}
		texts = append(texts, s)
	}
	return texts, nil
}

// targetList reads a list of accepted answers. A list that holds objects,
// lists or nulls is one answer in JSON (expected tool calls, for instance).
func targetList(v jsontext.Value) ([]string, error) {
	es := elements(v)
	if len(es) == 0 {
		return nil, errors.New("is an empty list: no answer is right; Mapping.TargetJSON says that the empty list is the answer")
	}
	for _, e := range es {
		if k := e.Kind(); k == '{' || k == '[' || k == 'n' {
			return []string{string(v)}, nil
		}
	}
	return listTexts(v)
}

// choiceTexts reads ["x", "y"] or {"A": "x", "B": "y"}.
func choiceTexts(v jsontext.Value) ([]string, error) {
	if v.Kind() != '{' {
		texts, err := listTexts(v)
		if err == nil && len(texts) == 0 {
			err = errors.New("is an empty list")
		}
		return texts, err
	}
	var labelled map[string]json.RawMessage
	if err := json.Unmarshal(v, &labelled); err != nil {
		return nil, err
	}
	names := columnNames(v)
	var texts []string
	for i, name := range names {
		if i > 25 || name != string(rune('A'+i)) {
			return nil, fmt.Errorf("is an object whose keys are not A, B, C, … in order: key %d is %s", i+1, quote(name))
		}
		s, err := scalarText(jsontext.Value(labelled[name]))
		if err != nil {
			return nil, fmt.Errorf("choice %s %w", name, err)
		}
		texts = append(texts, s)
	}
	if len(texts) == 0 {
		return nil, errors.New("is an empty object")
	}
	return texts, nil
}
