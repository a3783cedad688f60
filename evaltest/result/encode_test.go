package result_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// fill sets every settable field below v: texts to text, numbers to a number,
// slices and maps to one element. A field added to a contract is filled, and
// so tested, without anybody thinking of it.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1<<53 + 1)
	case reflect.Float64:
		v.SetFloat(0.1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"n":12345678901234567890,"s":"<\u2028>"}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), text)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e, text)
		v.SetMapIndex(reflect.ValueOf("k/~").Convert(v.Type().Key()), e)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(start))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" { // not kept in a file
				fill(v.Field(i), text)
			}
		}
	}
}

// TestTextSurvives: nothing that a model returned is altered on its way
// through a journal, whatever field it stands in.
func TestTextSurvives(t *testing.T) {
	for _, tc := range []struct{ name, reason, text string }{
		{"plain", "", "18"},
		{"lone byte", "encoding/json would make it U+FFFD silently", "a\xffb"},
		{"half a rune", "a stream cut in the middle of a character", "price: \xe2\x82"},
		{"encoded surrogate", "some servers emit CESU-8", "\xed\xa0\xbd\xed\xb8\x80"},
		{"all bytes", "", allBytes()},
		{"a true U+FFFD", "must not be taken for a bad byte", "a\uFFFDb"},
		{"both kinds", "one true, one bad", "\uFFFD\xff"},
		{"separators", "U+2028 is legal JSON; some readers split on it", "a\u2028b\u2029c\u0085d"},
		{"controls", "the marker of go test -json among them", "\x00\x16\x1b[31m\r\n\t\x7f"},
		{"HTML", "no escaping that others would have to undo", "<b>&amp;</b>"},
		{"escapes", "text that looks like JSON's own escapes", `\u0000 \ufffd \n "`},
		{"long", "longer than any buffer on the way", strings.Repeat("0123456789\xff", 1_000)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var want result.Record
			fill(reflect.ValueOf(&want).Elem(), tc.text)
			path := filepath.Join(t.TempDir(), "run.jsonl")
			var h result.Header
			fill(reflect.ValueOf(&h).Elem(), tc.text)
			w, err := result.Create(path, h)
			require.NoError(t, err)
			kept := want
			kept.Attempts = append([]result.Attempt(nil), want.Attempts...)
			require.NoError(t, w.Write(&want))
			assert.Empty(t, cmp.Diff(kept, want, same), "Write changed its argument")
			require.NoError(t, w.Close(result.End{}))

			j := read(t, path)
			require.Len(t, j.Records, 1)
			if diff := cmp.Diff(want, j.Records[0], same); diff != "" {
				t.Errorf("round trip mismatch (-want +got):\n%.2000s", diff)
			}
			h.Format = result.Format
			if diff := cmp.Diff(h, j.Header); diff != "" {
				t.Errorf("header mismatch (-want +got):\n%.2000s", diff)
			}
		})
	}
}

func TestLargeText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w := write(t, path, 1)
	big := record(1)
	big.Response.Text = strings.Repeat("megabytes of it \u00e9\n", 400_000)
	require.NoError(t, w.Write(&big))
	small := record(2)
	require.NoError(t, w.Write(&small))
	require.NoError(t, w.Close(result.End{}))
	j := read(t, path)
	require.Len(t, j.Records, 3)
	assert.True(t, big.Response.Text == j.Records[1].Response.Text)
}

var same = cmpopts.EquateEmpty()

func allBytes() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

// TestFileIsUTF8: what is in the file is JSON that any program reads.
func TestFileIsUTF8(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w := write(t, path, 0)
	rec := record(0)
	rec.Response.Text = "a\xffb"
	require.NoError(t, w.Write(&rec))
	require.NoError(t, w.Abort())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, utf8.Valid(data))
	_, line, _ := strings.Cut(string(data), "\n")
	var got struct {
		Response llm.Response      `json:"response"`
		Bytes    map[string][]byte `json:"bytes"`
	}
	require.NoError(t, json.Unmarshal([]byte(line), &got))
	assert.Equal(t, "a\uFFFDb", got.Response.Text)
	assert.Equal(t, map[string][]byte{"/response/text": []byte("a\xffb")}, got.Bytes)
}

func TestRow(t *testing.T) {
	for _, tc := range []struct{ name, reason, row, want string }{
		{"digits", "no number passes through a float", `{"n":12345678901234567890.10}`, ""},
		{"escapes", "as they stood", `{"a":"\u00e9\/<"}`, ""},
		{"duplicate keys", "the dataset decides about those, not the journal", `{"a":1,"a":2}`, ""},
		{"white space", "the only thing dropped", "{ \"a\" :\t[1, 2] }", `{"a":[1,2]}`},
		{"not JSON", "made in code: kept as bytes", `{"a":`, ""},
		{"bad UTF-8", "kept as bytes", "{\"a\":\"\xff\"}", ""},
		{"newline", "a row may not break the line", "{\"a\":\n1}", `{"a":1}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.jsonl")
			w := write(t, path, 0)
			rec := record(0)
			rec.Item.Row = json.RawMessage(tc.row)
			require.NoError(t, w.Write(&rec))
			require.NoError(t, w.Abort())
			want := tc.want
			if want == "" {
				want = tc.row
			}
			j := read(t, path)
			require.Len(t, j.Records, 1)
			assert.Equal(t, want, string(j.Records[0].Item.Row), tc.reason)
		})
	}
}

// TestRegradable: a record gives back the item that a grader needs.
func TestRegradable(t *testing.T) {
	rec := record(7)
	rec.Item.Targets, rec.Item.Choices = []string{"18.0"}, []string{"17", "18"}
	item := rec.DatasetItem()
	assert.Equal(t, rec.Item, result.ItemOf(item))
}
