package jsonraw_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/internal/jsonraw"
)

func Example() {
	event := []byte(`{"id":"a","choices":[{"delta":{"content":"Hi"}}]}`)
	var choices, delta, content json.RawMessage
	if json.Valid(event) {
		jsonraw.Names{"choices"}.Read(event, &choices)
		list, _ := jsonraw.Elements(choices, 10)
		jsonraw.Names{"delta"}.Read(list[0], &delta)
		jsonraw.Names{"content"}.Read(delta, &content)
	}
	text, _ := jsonraw.Text(content)
	fmt.Println(text)
	// Output: Hi
}

// cases are JSON whose reading is easy to get wrong.
var cases = []struct{ name, reason, in string }{
	{"empty object", "no field", `{}`},
	{"empty list", "no element, yet a list", `[]`},
	{"usual", "what servers send", `{"a":1,"bc":[{"d":"e"},null],"k":{"a":{}},"s":"x"}`},
	{"space", "white space is no part of a value", " {\n\"a\" :\t1 , \"bc\" : [ 1 , { } ] ,\"k\":\r\n\"v\" } "},
	{"spaced list", "white space is no part of an element", " [ 1 , \"a\" ,\t{ \"a\" : 1 } , [ ] , null ]\n"},
	{"other letters", "encoding/json takes any", `{"A":1,"Bc":2,"K":"k"}`},
	{"Kelvin", "its sign folds to k and takes three bytes", "{\"\u212a\":1,\"\u017f\":2}"},
	{"twice", "the last one counts", `{"a":1,"A":2,"s":{"x":1},"s":null}`},
	{"escaped name", "it is the same name", `{"\u0061":1,"b\u0063":2,"\"":3}`},
	{"escaped quotes", "they end no string", `{"a":"\"","bc":"\\","k":"\\\"","s":"a\\\\"}`},
	{"brackets in strings", "they open and close nothing", `{"a":["]","{"],"bc":{"x":"}\"}"},"k":1}`},
	{"bad UTF-8", "encoding/json replaces it", "{\"a\":\"\xff\",\"\xff\":1,\"s\":[\"\xc3\"]}"},
	{"surrogates", "one alone is replaced", `{"a":"\ud800","bc":"\ud83d\ude00"}`},
	{"numbers", "of all spellings", `[0,-1.5e+10,1E3,true,false,null]`},
	{"no object", "a number has no fields", `12`},
	{"a string", "it has none either", `"{\"a\":1}"`},
	{"null", "nor has null", `null`},
	{"deep", "brackets are counted", `{"a":[[[[{"a":[1,[2]]}]]]],"k":1}`},
}

type fields struct {
	A  json.RawMessage `json:"a"`
	Bc json.RawMessage `json:"bc"`
	K  json.RawMessage `json:"k"`
	S  json.RawMessage `json:"s"`
}

var names = jsonraw.Names{"a", "bc", "k", "s"}

// compare compares with encoding/json, which is what all of this must be equal
// to.
func compare(t *testing.T, raw []byte, depth int) {
	var want, got fields
	isObject := json.Unmarshal(raw, &want) == nil
	names.Read(raw, &got.A, &got.Bc, &got.K, &got.S)
	require.Equal(t, want, got, "Read of %q", raw)

	var m map[string]json.RawMessage
	_ = json.Unmarshal(raw, &m) // of no object there are none
	all := map[string]json.RawMessage{}
	jsonraw.Fields(raw, func(name, value []byte) { all[string(name)] = value })
	require.Len(t, all, len(m), "Fields of %q", raw)
	for name, v := range m {
		require.Equal(t, string(v), string(all[name]), "%q of %q", name, raw)
	}
	exact := make([]json.RawMessage, len(names))
	names.ReadExact(raw, exact)
	for i, name := range names {
		require.Equal(t, string(m[name]), string(exact[i]), "ReadExact of %q", raw)
	}

	var elements []json.RawMessage
	isList := json.Unmarshal(raw, &elements) == nil && elements != nil
	list, more := jsonraw.Elements(raw, len(elements))
	require.Equal(t, elements, list, "Elements of %q", raw)
	require.False(t, more)
	if isList && len(elements) > 0 {
		list, more = jsonraw.Elements(raw, len(elements)-1)
		require.Equal(t, elements[:len(elements)-1], list)
		require.True(t, more, "one is left")
	}

	inner := list
	if isObject {
		for _, v := range all {
			inner = append(inner, v)
		}
	}
	for _, v := range inner {
		var s string
		isText := json.Unmarshal(v, &s) == nil && v[0] == '"'
		text, ok := jsonraw.Text(v)
		require.Equal(t, isText, ok, "Text of %q", v)
		require.Equal(t, s, text, "Text of %q", v)
		if depth < 8 {
			compare(t, v, depth+1)
		}
	}
}

func TestLikeEncodingJSON(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.True(t, json.Valid([]byte(c.in)), c.reason)
			compare(t, []byte(c.in), 0)
		})
	}
}

// TestNoCopy: what is returned cannot grow into what stands behind it.
func TestNoCopy(t *testing.T) {
	raw := []byte(`{"a":1,"k":[2,3]}`)
	var a, k json.RawMessage
	jsonraw.Names{"a", "k"}.Read(raw, &a, &k)
	_ = append(a, "XX"...)
	list, _ := jsonraw.Elements(k, 2)
	_ = append(list[0], "XX"...)
	assert.Equal(t, `{"a":1,"k":[2,3]}`, string(raw))
	n := testing.AllocsPerRun(100, func() {
		var a, k json.RawMessage
		jsonraw.Names{"a", "k"}.Read(raw, &a, &k)
	})
	assert.Zero(t, n, "reading fields allocates nothing")
}

// TestUnequalLists: a name without a place, or a place without a name, is found
// by the first reading, of whatever it is.
func TestUnequalLists(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		names        jsonraw.Names
		places       int
		fails        string
	}{
		{"as many", "the rule", jsonraw.Names{"a", "b"}, 2, ""},
		{"none", "reads nothing", nil, 0, ""},
		{"a name more", "it has no place", jsonraw.Names{"a", "b"}, 1, `2 names and 1 places for their values, want as many: a, b`},
		{"a place more", "one of those before it lacks a name, perhaps", jsonraw.Names{"a", "b"}, 3, `2 names and 3 places`},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, raw := range []string{`{"a":1}`, `null`} {
				values := make([]json.RawMessage, row.places)
				var into []*json.RawMessage
				for i := range values {
					into = append(into, &values[i])
				}
				for way, read := range map[string]func(){
					"Read":      func() { row.names.Read([]byte(raw), into...) },
					"ReadExact": func() { row.names.ReadExact([]byte(raw), values) },
				} {
					if row.fails == "" {
						assert.NotPanics(t, read, "%s of %s: %s", way, raw, row.reason)
						continue
					}
					func() {
						defer func() { assert.Contains(t, recover(), row.fails, "%s of %s: %s", way, raw, row.reason) }()
						read()
					}()
				}
			}
		})
	}
}

func FuzzLikeEncodingJSON(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.in))
	}
	for _, s := range []string{``, `{`, `[`, `{"a`, `{"a\`, `{"a":`, `{"a":"\`, `[1,`, `[,]`, `{,}`, `]`, `:`, `{"a"1}`, `{{}}`, `{a:1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if json.Valid(raw) {
			compare(t, raw, 0)
			return
		}
		// Of anything else something is read, in the end.
		var a fields
		names.Read(raw, &a.A, &a.Bc, &a.K, &a.S)
		list, _ := jsonraw.Elements(raw, 1000)
		for _, v := range list {
			jsonraw.Text(v)
		}
	})
}
