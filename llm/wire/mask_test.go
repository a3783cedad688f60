package wire_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

func TestMask(t *testing.T) {
	rows := []struct{ name, in, secret, want string }{
		{"plain", "the key hunter2hunter2 is wrong", "hunter2hunter2", "the key [masked] is wrong"},
		{"URL", `Post "https://h/x?a=1&key=a%2Fb%2Bc%3D": EOF`, "a/b+c=", `Post "https://h/x?a=1&key=[masked]": EOF`},
		{"JSON", `{"k":"a\"b\u003cc"}`, `a"b<c`, `{"k":"[masked]"}`},
		{"JSON with slashes", `{"k":"a\/b+c/dd"}`, `a/b+c/dd`, `{"k":"a\/b+c/dd"}`}, // mixed: no encoder writes it
		{"PHP", `{"k":"aaaa\/bbbb"}`, `aaaa/bbbb`, `{"k":"[masked]"}`},
		{".NET", `{"k":"aaaa\u002Bbbbb\u003D"}`, `aaaa+bbbb=`, `{"k":"[masked]"}`},
		{"JSON in JSON", `{"k":"{\"k\":\"a\\\"b\"}"}`, `a"b`, `{"k":"{\"k\":\"[masked]\"}"}`},
		{"URL in a URL", `next=%3Fkey%3Daaaa%252Fbbbb&x`, `aaaa/bbbb`, `next=%3Fkey%3D[masked]&x`},
		{"small digits", `x=aaaa%2fbbbb&x`, `aaaa/bbbb`, `x=[masked]&x`},
		{"Python", `{"k":"aaaa\u00e9\ud83d\ude00bbb"}`, `aaaaé😀bbb`, `{"k":"[masked]"}`},
		{"Python in JSON", `{"k":"{\"k\":\"aaaa\\u00e9bbb\"}"}`, `aaaaébbb`, `{"k":"{\"k\":\"[masked]\"}"}`},
		{".NET beyond ASCII", `{"k":"aaaa\u00E9\u002Bbbb"}`, `aaaaé+bbb`, `{"k":"[masked]"}`},
		{"Latin-1", `{"k":"aaaaÃ©bbb"}`, `aaaaébbb`, `{"k":"[masked]"}`},
		{"Latin-1 in ASCII", `{"k":"aaaa\u00c3\u00a9bbb"}`, `aaaaébbb`, `{"k":"[masked]"}`},
		{"page", `<b>aaaa&lt;&amp;&#34;&#39;bbb</b>`, `aaaa<&"'bbb`, `<b>[masked]</b>`},
		{"Python's page", `<b>aaaa&lt;&amp;&quot;&#x27;bbb</b>`, `aaaa<&"'bbb`, `<b>[masked]</b>`},
		{"bearer unknown", "Authorization: Bearer abc.def-ghi", "", "Authorization: Bearer [masked]"},
		{"parameter unknown", "https://h/x?key=zzz&b=1", "", "https://h/x?key=[masked]&b=1"},
		{"parameter in JSON", `"https://h/x?a=1\u0026key=zzz\u0026b=1"`, "", `"https://h/x?a=1\u0026key=[masked]\u0026b=1"`},
		{"parameter escaped", "url=https%3A%2F%2Fh%2Fx%3Fkey%3Dzzz%26b", "", "url=https%3A%2F%2Fh%2Fx%3Fkey%3D[masked]"},
		{"header unknown", "X-Api-Key: abcdefghijk", "", "X-Api-Key: [masked]"},
		{"Google's header", `{"X-Goog-Api-Key":["abcdefghijk"]}`, "", `{"X-Goog-Api-Key":["[masked]"]}`},
		{"Azure's header", `api-key: 0123456789abcdef0123456789abcdef`, "", `api-key: [masked]`},
		{"header in JSON in JSON", `{\"x-api-key\":\"abcdefghijk\"}`, "", `{\"x-api-key\":\"[masked]\"}`},
		{"OpenAI shape", "Incorrect API key provided: sk-proj-0123456789abcdefXYZ.", "", "Incorrect API key provided: [masked]."},
		{"Anthropic shape", "invalid sk-ant-api03-0123456789_abcdef-AA", "", "invalid [masked]"},
		{"OpenRouter shape", "invalid sk-or-v1-0123456789abcdef0123", "", "invalid [masked]"},
		{"Groq shape", "invalid gsk_0123456789abcdef0123", "", "invalid [masked]"},
		{"Google shape", "API key AIzaSyA0123456789012345678901 expired", "", "API key [masked] expired"},
		{"Google shape escaped", "key%3DAIzaSyA0123456789012345678901%26x", "", "key%3D[masked]%26x"},
		{"Google shape in JSON", `"k\u003dAIzaSyA0123456789012345678901\nx"`, "", `"k\u003d[masked]\nx"`},
		{"Google token", "got ya29.a0AfH6SMBx-0123456789_abc", "", "got [masked]"},
		{"web token", "id eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln", "", "id [masked]"},
		{"AWS", "for AKIAIOSFODNN7EXAMPLE", "", "for [masked]"},
		{"private key", `"private_key":"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n"`, "", `"private_key":"[masked]\n"`},
		{"private key cut", `"-----BEGIN RSA PRIVATE KEY-----\nMIIE`, "", `"[masked]`},
		{"no key", "the task-0123456789abcdefghij of a disk-0123456789abcdefghi", "", "the task-0123456789abcdefghij of a disk-0123456789abcdefghi"},
		{"cut", "the key hunter2h", "hunter2hunter2", "the key [masked]"},
		{"cut at its end", "the key hunter2hunter", "hunter2hunter2", "the key [masked]"},
		{"cut in JSON", `{"k":"a\"bcdef\u003`, `a"bcdef<g`, `{"k":"[masked]`},
		{"cut early", "the key hunter2", "hunter2hunter2", "the key hunter2"}, // as good as nothing of it
		{"beginning only", "the key hunter2h was", "hunter2hunter2", "the key hunter2h was"},
		{"page in JSON", `{"k":"<b>aaaa&#34;\\bbb</b>"}`, `aaaa"\bbb`, `{"k":"<b>[masked]</b>"}`},
		{"cut, repeating", "aaaaaaaaaaaaaaaaaaab", "aaaaaaaaabc", "aaaaaaaaaa[masked]"},
		{"nothing", "all is well", "", "all is well"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.want, wire.Mask(r.in, r.secret))
		})
	}
}

// TestMaskOfACutKey cuts a key at every place, in every spelling. Where one
// spelling is cut another may seem to begin.
func TestMaskOfACutKey(t *testing.T) {
	key := strings.Repeat(`é<"`, 6) + "topsecret"
	for _, form := range wire.Spellings(key) {
		for n := 8; n <= len(form); n++ {
			require.Equal(t, "x[masked]", wire.MaskSecrets("x"+form[:n], key), "%d bytes of %s", n, form)
		}
	}
}

// TestBase64 looks for a key inside of what was encoded, wherever it began.
func TestBase64(t *testing.T) {
	const key = "topsecret/key+0123456"
	for _, before := range []string{"", "a", "ab", "user:", "Bearer "} {
		for _, after := range []string{"", "x", "xy", " is wrong"} {
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				text := "see " + enc.EncodeToString([]byte(before+key+after))
				got := wire.Mask(text, key)
				assert.Contains(t, got, "[masked]", "%q", before+key+after)
				// What is left at the ends is at most a byte's worth.
				assert.Less(t, len(got), len("see [masked]")+(len(before)+len(after))*4/3+8, "%q", got)
			}
		}
	}
}

// FuzzMask: a key survives in no spelling.
func FuzzMask(f *testing.F) {
	f.Add("the key ", "sk-0123456789", " is wrong")
	f.Add(`{"error":"`, `a"b/c+d=<&>'`, `"}`)
	f.Add("", "hunter2hunter2", "")
	f.Add("hunter2", "hunter2hunter2", "hunter2")
	f.Add("0", `a"b/c+d=<&>"`, "\x8c\x8c")
	f.Fuzz(func(t *testing.T, before, key, after string) {
		// What Mask writes itself may hold the letters of an odd key.
		if len(key) < 8 || !utf8.ValidString(key) || strings.ContainsAny(key, "[]") {
			t.Skip()
		}
		inJSON, err := json.Marshal(key)
		require.NoError(t, err)
		for name, form := range map[string]string{
			"plain": key, "JSON": string(inJSON[1 : len(inJSON)-1]), // the key may end in a quote of its own
			"query": url.QueryEscape(key), "path": url.PathEscape(key),
			"base64": base64.StdEncoding.EncodeToString([]byte(key)),
		} {
			if got := wire.Mask(before+form+after, key); strings.Contains(got, key) || len(form) > len("[masked]") && strings.Contains(got, form) {
				t.Errorf("as %s: %q in %q", name, key, got)
			}
		}
	})
}

func BenchmarkMask(b *testing.B) {
	text := strings.Repeat("an answer of a model, ", 50)
	for b.Loop() {
		wire.Mask(text, "sk-0123456789abcdefghij")
	}
}

func TestSecrets(t *testing.T) {
	req, err := http.NewRequest("GET", "https://user:passpass@h/x?key=querysecret&q=harmless", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer bearersecret")
	req.Header.Set("X-Goog-Api-Key", "googlesecret")
	req.Header.Set("Api-Key", "azuresecret")
	req.Header.Set("X-Api-Key", "x") // a local server's
	req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("u:basicsecret")))
	got := wire.Secrets(req)
	for _, want := range []string{"bearersecret", "googlesecret", "azuresecret", "basicsecret", "querysecret", "passpass"} {
		assert.Contains(t, got, want)
	}
	assert.NotContains(t, got, "harmless")
	assert.NotContains(t, got, "x", "a placeholder stands in any text")
}

// TestSecretsOfOneHeader: no part of a key is left beside what is masked.
func TestSecretsOfOneHeader(t *testing.T) {
	rows := []struct {
		name, reason, header, value string
		want                        []string
	}{
		{"space", "a part of the key", "X-Api-Key", "topsecret and the rest", []string{"topsecret and the rest", "and the rest"}},
		{"space at the end", "what is behind it is no secret by itself", "X-Api-Key", "topsecret xy", []string{"topsecret xy"}},
		{"scheme", "no part of the key", "Authorization", "Bearer topsecret", []string{"topsecret"}},
		{"key of words", "what stands behind the scheme is all of the key", "Authorization", "Bearer topsecret xy", []string{"topsecret xy"}},
		{"no scheme", "a word in front of it is none", "Authorization", "topsecret xy", []string{"topsecret xy"}},
		{"scheme in a key's header", "gateways want it", "X-Acme-Token", "token topsecret", []string{"topsecret"}},
		{"gateway", "names that gateways invent", "Cf-Aig-Authorization", "Bearer topsecret", []string{"topsecret"}},
		{"observer", "names that gateways invent", "Helicone-Auth", "Bearer topsecret", []string{"topsecret"}},
		{"cookie", "its value stands alone elsewhere", "Cookie", "a=1; session=topsecret", []string{"a=1; session=topsecret", "topsecret"}},
		{"spaces around", "nobody sends them back", "Api-Key", "  topsecret ", []string{"topsecret"}},
		{"no key", "a header that looks like one is left readable", "Idempotency-Key", "harmless-value", nil},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.want, wire.Secrets(&http.Request{Header: http.Header{r.header: {r.value}}}), r.reason)
		})
	}
}

func TestMaskError(t *testing.T) {
	inner := &url.Error{Op: "Post", URL: "https://h/x?key=topsecret", Err: context.Canceled}
	err := wire.MaskError(fmt.Errorf("calling: %w", inner), "topsecret")
	assert.NotContains(t, err.Error(), "topsecret")
	assert.NotContains(t, fmt.Sprintf("%+v", err), "topsecret")
	require.ErrorIs(t, err, context.Canceled)
	assert.NoError(t, errors.Unwrap(err), "who walks the tree must not find the text")
	plain := errors.New("plain")
	assert.Same(t, plain, wire.MaskError(plain, "topsecret"))
	assert.NoError(t, wire.MaskError(nil, "x"))
}

// TestNoKeyIsShown sends keys in every place and has the server echo them.
func TestNoKeyIsShown(t *testing.T) {
	const bearer, query = "bearer-secret-1", "query-secret-2"
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"error":"bad key %s, %s"}`, r.Header.Get("Authorization"), r.URL.Query().Get("key"))
	}
	var c wire.Capture
	ctx := wire.WithCapture(t.Context(), &c)
	send := func(rt http.RoundTripper) error {
		req, err := http.NewRequestWithContext(ctx, "POST", chatURL+"?key="+query, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+bearer)
		resp, err := rt.RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		return err
	}
	clean := func(s string) {
		t.Helper()
		assert.NotContains(t, s, bearer)
		assert.NotContains(t, s, query)
	}
	require.NoError(t, send(wire.Transport{Base: &llmtest.Memory{Handler: http.HandlerFunc(echo)}}))
	clean(fmt.Sprintf("%+v", c.Get()))
	clean(string(c.Get().Body))
	assert.Contains(t, string(c.Get().Body), "bad key Bearer [masked], [masked]")
	assert.Equal(t, "Bearer [masked]", c.Get().Header.Get("X-Echo"))
	err := send(wire.Transport{Base: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("dial %s with %s", r.URL, r.Header.Get("Authorization"))
	})})
	require.Error(t, err)
	clean(err.Error())
	clean(c.Get().Err.Error())
}
