package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/llm/wire"
)

// canonical is a JSON text in the one spelling that requests are compared and
// stored in: keys sorted, no white space, numbers and strings spelled one way.
// ok is false if b is not exactly one JSON value in UTF-8.
func canonical(b []byte, ignore [][]string) (out []byte, ok bool) {
	v, ok := decode(b)
	if !ok {
		return nil, false
	}
	for _, path := range ignore {
		drop(v, path)
	}
	return appendValue(nil, v), true
}

func decode(b []byte) (any, bool) {
	if !utf8.Valid(b) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil, false
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, false
	}
	return v, true
}

// drop removes the field at path.
func drop(v any, path []string) {
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(v, path[0])
			return
		}
		drop(v[path[0]], path[1:])
	case []any:
		if path[0] == "*" && len(path) > 1 {
			for _, e := range v {
				drop(e, path[1:])
			}
		}
	}
}

func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case json.Number:
		return append(dst, number(v.String())...)
	case string:
		return appendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, e)
		}
		return append(dst, ']')
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		dst = append(dst, '{')
		for i, k := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, k), ':')
			dst = appendValue(dst, v[k])
		}
		return append(dst, '}')
	}
	panic(fmt.Sprintf("cassette: encoding/json decoded a %T", v))
}

func appendString(dst []byte, s string) []byte {
	// The only error is for invalid UTF-8, which decode has replaced.
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

// number is the one spelling of a JSON number: 1.50, 15e-1 and 1.5 are 1.5,
// exactly, whatever its size. An exponent beyond an int32 stays as it is.
func number(s string) string {
	sign := ""
	t := s
	if strings.HasPrefix(t, "-") {
		sign, t = "-", t[1:]
	}
	exp := 0
	if i := strings.IndexAny(t, "eE"); i >= 0 {
		e, err := strconv.ParseInt(t[i+1:], 10, 32)
		if err != nil {
			return s
		}
		exp, t = int(e), t[:i]
	}
	whole, frac, _ := strings.Cut(t, ".")
	exp -= len(frac)
	digits := strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return "0"
	}
	n := len(digits)
	digits = strings.TrimRight(digits, "0")
	exp += n - len(digits)
	switch {
	case exp == 0:
		return sign + digits
	case exp > 0 && exp <= 20:
		return sign + digits + strings.Repeat("0", exp)
	case exp < 0 && exp >= -20:
		if pad := -exp - len(digits) + 1; pad > 0 {
			digits = strings.Repeat("0", pad) + digits
		}
		return sign + digits[:len(digits)+exp] + "." + digits[len(digits)+exp:]
	}
	return sign + digits + "e" + strconv.Itoa(exp)
}

// requestKey is what requests are compared by.
func requestKey(method, target, host string, canon []byte) [32]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", method, target, host)
	h.Write(canon)
	return [32]byte(h.Sum(nil))
}

// target is a URL's path and query without key parameters and without a
// project of Vertex AI's.
func target(u *url.URL) string {
	p := withoutAccount(u.EscapedPath())
	if p == "" {
		p = "/"
	}
	if q := withoutKeys(u.Query()); q != "" {
		p += "?" + q
	}
	return p
}

// withoutKeys is a query without its key parameters, sorted.
func withoutKeys(q url.Values) string {
	for k := range q {
		if wire.IsSecretParam(k) {
			q.Del(k)
		}
	}
	return q.Encode()
}

// plainBody is a body that is not JSON as it is compared: SDKs put a random
// boundary into a multipart body.
func plainBody(h http.Header, b []byte) []byte {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(media, "multipart/") || params["boundary"] == "" {
		return b
	}
	return bytes.ReplaceAll(b, []byte(params["boundary"]), []byte("boundary"))
}
