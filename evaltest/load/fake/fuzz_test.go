package fake

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"
)

// FuzzBody: what is accepted is JSON, as encoding/json reads it, with the same
// tokens; the cache changes no count; and the bytes are left alone.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","messages":[{"role":"user","content":"a b\tc"}],"max_tokens":4,"stream":true,"stream_options":{"include_usage":true},"user":"u"}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a b"},{"type":"refusal","refusal":"c"}]}],"tools":[{"a" : 1}]}`,
		`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{\"a\": 1}"}}]},{"role":"tool","content":"d"}]}`,
		`{"prompt":"a b","min_tokens":3,"max_new_tokens":5}`, `{"prompt":[1,2,3]}`, `{"prompt":[[1,2]]}`, `{"prompt":["a\u00a0b"]}`,
		`{"messages":[{"role":"\u0075","content":"é\u2003　"}],"n":1}`, `{`, ``, `[]`, `{"messages":[{}]}`, "{\"prompt\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	plain, cached := newParser(&Server{}), newParser(&Server{CacheBlock: 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		same := bytes.Clone(body)
		for _, what := range []target{chat, completions} {
			var o, o2 order
			fault := plain.parse(body, what, &o)
			fault2 := cached.parse(body, what, &o2)
			if (fault == nil) != (fault2 == nil) {
				t.Fatalf("without a cache %v, with it %v", fault, fault2)
			}
			if !bytes.Equal(body, same) {
				t.Fatalf("the body was changed")
			}
			if fault != nil {
				if !json.Valid(fault.object()) {
					t.Fatalf("the error %q is no JSON", fault.object())
				}
				continue
			}
			if plain.prompt.tokens != cached.prompt.tokens || len(cached.prompt.blocks) != cached.prompt.tokens {
				t.Fatalf("%d tokens, %d with a cache of %d blocks", plain.prompt.tokens, cached.prompt.tokens, len(cached.prompt.blocks))
			}
			if want := oracle(t, body, what); plain.prompt.tokens != want {
				t.Fatalf("%d tokens, want %d", plain.prompt.tokens, want)
			}
			if o.tokens < 1 || o.tokens > MaxOutput {
				t.Fatalf("an answer of %d tokens", o.tokens)
			}
		}
	})
}

// oracle counts a body that has been accepted.
func oracle(t *testing.T, body []byte, what target) (n int) {
	var b map[string]any
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatalf("accepted, and not by encoding/json: %v", err)
	}
	count := func(v any) {
		if s, ok := v.(string); ok {
			n += len(strings.Fields(s))
		}
	}
	if what == completions {
		list, ok := b["prompt"].([]any)
		if !ok {
			count(b["prompt"])
			return n
		}
		if inner, ok := list[0].([]any); ok {
			list = inner
		}
		for _, v := range list {
			if count(v); v != nil {
				if _, ok := v.(float64); ok {
					n++
				}
			}
		}
		return n
	}
	var raw struct{ Tools []json.RawMessage }
	_ = json.Unmarshal(body, &struct{ Tools *[]json.RawMessage }{&raw.Tools}) // names of other cases, too
	if b["tools"] != nil {
		var exact map[string]json.RawMessage
		_ = json.Unmarshal(body, &exact)
		_ = json.Unmarshal(exact["tools"], &raw.Tools)
		for _, tool := range raw.Tools {
			var c bytes.Buffer
			_ = json.Compact(&c, tool)
			n += len(strings.Fields(c.String()))
		}
	}
	for _, m := range b["messages"].([]any) {
		m := m.(map[string]any)
		for _, name := range []string{"content", "refusal", "reasoning", "reasoning_content"} {
			count(m[name])
		}
		if parts, ok := m["content"].([]any); ok {
			for _, p := range parts {
				count(p.(map[string]any)["text"])
				count(p.(map[string]any)["refusal"])
			}
		}
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			if f, ok := c.(map[string]any)["function"].(map[string]any); ok {
				count(f["arguments"])
			}
		}
	}
	return n
}

// A readConn reads from a reader.
type readConn struct {
	net.Conn
	io.Reader
}

func (c readConn) Read(b []byte) (int, error) { return c.Reader.Read(b) }

// FuzzRequest: requests read byte by byte are the same as those read whole; what
// is accepted net/http accepts too, with the same body and the same rest; and
// nothing takes more memory than its limits.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"POST /v1/completions?a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.0\r\n\r\n",
		"POST http://h/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3;a\r\nabc\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\nConnection: a, close\r\n\r\n",
		"\r\nGET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n", "a\r\n\r\n", "GET / HTTP/1.1\r\n a: b\r\n\r\n", "",
	} {
		f.Add([]byte(seed))
	}
	type one struct {
		body, path string
		close      bool
	}
	read := func(in io.Reader) (all []one, last error) {
		r := reader{conn: readConn{Reader: in}, maxBody: 1000}
		for {
			var h head
			body, _, err := r.next(&h, func() error { return nil })
			if err != nil {
				return all, err
			}
			all = append(all, one{string(body), string(h.path()), h.close})
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, last := read(bytes.NewReader(text))
		slow, lastSlow := read(iotest.OneByteReader(bytes.NewReader(text)))
		if len(all) != len(slow) || last.Error() != lastSlow.Error() {
			t.Fatalf("%d requests and %v, byte by byte %d and %v", len(all), last, len(slow), lastSlow)
		}
		std := bufio.NewReader(bytes.NewReader(text))
		for i, got := range all {
			if got != slow[i] {
				t.Fatalf("%+v, byte by byte %+v", got, slow[i])
			}
			for next, _ := std.Peek(2); len(next) > 0 && (next[0] == '\n' || string(next) == "\r\n"); next, _ = std.Peek(2) {
				_, _ = std.Discard(1) // net/http's server does this, ReadRequest does not
			}
			want, err := http.ReadRequest(std)
			if err != nil {
				return // it looks at more than is needed here
			}
			body, err := io.ReadAll(want.Body)
			if err != nil {
				return // a trailer that it does not like
			}
			if want.ContentLength >= 0 && string(body) != got.body {
				t.Fatalf("the body is %q, net/http has %q", got.body, body)
			}
		}
	})
}

// FuzzWords: words are those of strings.Fields, however they are cut.
func FuzzWords(f *testing.F) {
	f.Add("a b\tc")
	f.Add(" é\u0085x　\u2003 ")
	f.Fuzz(func(t *testing.T, text string) {
		want := strings.Fields(text)
		if n := countWords([]byte(text)); n != len(want) {
			t.Fatalf("%d words, want %d", n, len(want))
		}
		if !utf8.ValidString(text) {
			return
		}
		rest := []byte(text)
		for i, w := range want {
			if got := string(nextWord(&rest)); got != w {
				t.Fatalf("word %d is %q, want %q", i, got, w)
			}
		}
		if rest := nextWord(&rest); len(rest) > 0 {
			t.Fatalf("%q is left", rest)
		}
	})
}

// TestHostile: bodies of the largest size, made to be slow, are not.
func TestHostile(t *testing.T) {
	const size = 4 << 20
	for name, body := range map[string]string{
		"depth":  `{"x":` + strings.Repeat("[", size),
		"names":  `{"messages":[` + strings.Repeat(`{},`, size/3),
		"nested": `{"messages":[{"role":"user","content":[` + strings.Repeat(`{"text":"a"},`, size/13),
		"escape": `{"prompt":"` + strings.Repeat(`\u0020a`, size/7) + `"}`,
		"words":  `{"prompt":"` + strings.Repeat(` a`, size/2) + `"}`,
		"tokens": `{"prompt":[` + strings.Repeat(`1,`, size/2) + `1]}`,
	} {
		begun := time.Now()
		var o order
		newParser(&Server{CacheBlock: 16}).parse([]byte(body), completions, &o)
		newParser(&Server{CacheBlock: 16}).parse([]byte(body), chat, &o)
		if took := time.Since(begun); took > 20*time.Second { // some 0.2 s; quadratic is minutes
			t.Errorf("%s: %v", name, took)
		}
	}
}
