package result

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// MaxLine is the longest line of a journal, in bytes. Write refuses a longer
// record, and readers refuse a longer line rather than fill the memory.
const MaxLine = 256 << 20

// The lines of a journal. A line is a header (the first), an end, or else a
// record. Bytes holds, by JSON pointer, every text of the line that is not
// UTF-8, and a row that is not JSON.
type (
	headerLine struct {
		Header
		Bytes map[string]string `json:"bytes,omitempty"`
	}
	recordLine struct {
		Record
		End   *End              `json:"end,omitempty"`
		Bytes map[string]string `json:"bytes,omitempty"`
	}
	endLine struct {
		End *End `json:"end"`
	}
)

// Writing refuses bad UTF-8 instead of replacing it silently: that is how the
// rare line that needs a "bytes" field is found without looking at every text
// twice. The tags' meaning is encoding/json's.
var (
	writing = json.JoinOptions(jsonv1.DefaultOptionsV1(),
		jsontext.AllowInvalidUTF8(false), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false),
		jsontext.PreserveRawStrings(true))
	reading = json.JoinOptions(jsonv1.DefaultOptionsV1(),
		jsontext.AllowInvalidUTF8(false), json.MatchCaseInsensitiveNames(false))
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// release gives a buffer back unless one large record made it huge.
func release(b *bytes.Buffer) {
	if b.Cap() <= 1<<20 {
		b.Reset()
		buffers.Put(b)
	}
}

// encodeRecord appends rec's line to b, newline included.
func encodeRecord(b *bytes.Buffer, rec *Record) error {
	if rec.Item.ID == "" || rec.Outcome == "" {
		return fmt.Errorf("result: record of item %.100q with outcome %q: both are needed", rec.Item.ID, rec.Outcome)
	}
	start := b.Len()
	line, err := appendRecord(b.AvailableBuffer(), rec)
	b.Write(line)
	if err != nil {
		b.Truncate(start)
		line := recordLine{Record: *rec}
		if line.Bytes, err = lift(&line.Record); err == nil {
			err = json.MarshalWrite(b, &line, writing)
		}
	}
	if err != nil {
		b.Truncate(start)
		return fmt.Errorf("result: record of item %.100q cannot be written: %w", rec.Item.ID, err)
	}
	b.WriteByte('\n')
	if n := b.Len() - start; n > MaxLine {
		b.Truncate(start)
		return fmt.Errorf("result: record of item %.100q has %d bytes; a journal's line holds at most %d", rec.Item.ID, n, MaxLine)
	}
	return nil
}

func encodeHeader(b *bytes.Buffer, h Header) error {
	line := headerLine{Header: h}
	var err error
	if line.Bytes, err = lift(&line.Header); err == nil {
		err = json.MarshalWrite(b, &line, writing)
	}
	if err != nil {
		return fmt.Errorf("result: header cannot be written: %w", err)
	}
	b.WriteByte('\n')
	return nil
}

func encodeEnd(b *bytes.Buffer, end End) error {
	end.Reason = strings.ToValidUTF8(end.Reason, "\uFFFD") // our own words
	for k, v := range end.Fingerprint {                    // a model's name for itself
		if !utf8.ValidString(v) {
			end.Fingerprint = maps.Clone(end.Fingerprint)
			end.Fingerprint[k] = strings.ToValidUTF8(v, "\uFFFD")
		}
	}
	if err := json.MarshalWrite(b, endLine{&end}, writing); err != nil {
		return fmt.Errorf("result: end cannot be written: %w", err)
	}
	b.WriteByte('\n')
	return nil
}

func unmarshal(data []byte, v any) error { return json.Unmarshal(data, v, reading) }

func decodeHeader(data []byte) (Header, error) {
	var line headerLine
	if err := json.Unmarshal(data, &line, reading); err != nil {
		return Header{}, err
	}
	return line.Header, lower(&line.Header, line.Bytes)
}

// decodeLine reads a line after the first: end is nil for a record.
func decodeLine(data []byte, rec *Record) (end *End, err error) {
	if bytes.HasPrefix(data, []byte(`{"format":`)) {
		return nil, errors.New("a second header: two journals were joined, or written to at once")
	}
	var line recordLine
	if err := json.Unmarshal(data, &line, reading); err != nil {
		return nil, err
	}
	if line.End != nil {
		return line.End, nil
	}
	if err := lower(&line.Record, line.Bytes); err != nil {
		return nil, err
	}
	if line.Item.ID == "" || line.Outcome == "" {
		return nil, errors.New("neither a record (item.id and outcome) nor an end")
	}
	*rec = line.Record
	return nil, nil
}

// lift replaces, in the struct that p points to, every text that is not UTF-8
// by one that is, and returns what it replaced in base64 by JSON pointer. What
// it changes below p is copied first: the caller's record stays as it was.
func lift(p any) (map[string]string, error) {
	out := map[string]string{}
	err := walk(reflect.ValueOf(p).Elem(), "", true, func(path string, v reflect.Value) error {
		if v.Kind() == reflect.String {
			if s := v.String(); !utf8.ValidString(s) {
				out[path] = base64.StdEncoding.EncodeToString([]byte(s))
				v.SetString(strings.ToValidUTF8(s, "\uFFFD"))
			}
			return nil
		}
		// A row or tool schema. jsontext.Value.IsValid is the writer's own test.
		if raw := v.Bytes(); len(raw) > 0 && !jsontext.Value(raw).IsValid(writing) {
			out[path] = base64.StdEncoding.EncodeToString(raw)
			v.SetZero()
		}
		return nil
	})
	if len(out) == 0 {
		return nil, err
	}
	return out, err
}

// lower puts back what lift took out.
func lower(p any, lifted map[string]string) error {
	if len(lifted) == 0 {
		return nil
	}
	left := len(lifted)
	err := walk(reflect.ValueOf(p).Elem(), "", false, func(path string, v reflect.Value) error {
		text, ok := lifted[path]
		if !ok {
			return nil
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return fmt.Errorf("bytes of %s: %w", path, err)
		}
		left--
		if v.Kind() == reflect.String {
			v.SetString(string(raw))
		} else {
			v.SetBytes(raw)
		}
		return nil
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("bytes: %d of %d texts are not in the line", left, len(lifted))
	}
	return err
}

// walk calls f for every string and []byte below v with its JSON pointer. With
// clone, everything behind a pointer, slice or map is copied on the way, so
// that f may change it.
func walk(v reflect.Value, path string, clone bool, f func(string, reflect.Value) error) error {
	switch v.Kind() {
	case reflect.String:
		return f(path, v)
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().Kind() != reflect.Struct {
			return nil
		}
		if clone {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(v.Elem())
			v.Set(p)
		}
		return walk(v.Elem(), path, clone, f)
	case reflect.Slice:
		return walkSlice(v, path, clone, f)
	case reflect.Map:
		return walkMap(v, path, clone, f)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			below := path + "/" + name
			if field.Anonymous && name == "" {
				below = path
			}
			if err := walk(v.Field(i), below, clone, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func walkSlice(v reflect.Value, path string, clone bool, f func(string, reflect.Value) error) error {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return f(path, v)
	}
	if clone && v.Len() > 0 {
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(s, v)
		v.Set(s)
	}
	for i := range v.Len() {
		if err := walk(v.Index(i), path+"/"+strconv.Itoa(i), clone, f); err != nil {
			return err
		}
	}
	return nil
}

// walkMap handles maps from strings to strings. A bad key has no place in a
// JSON pointer, so it is an error.
func walkMap(v reflect.Value, path string, clone bool, f func(string, reflect.Value) error) error {
	if v.IsNil() || v.Type().Elem().Kind() != reflect.String {
		return nil
	}
	if clone {
		m := reflect.MakeMap(v.Type())
		for it := v.MapRange(); it.Next(); {
			m.SetMapIndex(it.Key(), it.Value())
		}
		v.Set(m)
	}
	for _, key := range v.MapKeys() {
		name := key.String()
		if !utf8.ValidString(name) {
			return fmt.Errorf("key %q of %s is not UTF-8", name, path)
		}
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		below := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		if err := f(below, value); err != nil {
			return err
		}
		v.SetMapIndex(key, value)
	}
	return nil
}
