package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Spellings are the ways in which a secret may stand in a text: as it is,
// escaped for a URL (once or twice, with large or small digits), escaped for a
// JSON string (quotes, slashes, and whatever encoders write as \u0026, all but
// ASCII included), escaped for HTML, read as Latin-1 by a server that takes
// headers for that, and in base64, wherever it begins in what was encoded (its
// middle: what it begins and ends with depends on its neighbours). It is empty
// for "".
func Spellings(secret string) []string { return slices.Clone(spellings(secret)) }

// known keeps the spellings of the last secrets: the same few keys are masked
// in every text of every call.
var known struct {
	sync.Mutex
	of map[string][]string
}

const mostKnown = 64

func spellings(secret string) []string {
	if secret == "" {
		return nil
	}
	known.Lock()
	defer known.Unlock()
	forms, ok := known.of[secret]
	if !ok {
		if len(known.of) >= mostKnown || known.of == nil {
			known.of = map[string][]string{}
		}
		forms = spell(secret)
		known.of[secret] = forms
	}
	return forms
}

func spell(secret string) []string {
	forms := []string{secret}
	for _, e := range []string{url.QueryEscape(secret), url.PathEscape(secret), (&url.URL{Path: "/" + secret}).EscapedPath()[1:]} {
		forms = append(forms, e, smallDigits(e), url.QueryEscape(e))
	}
	forms = append(forms, jsonForms(secret)...)
	for _, f := range htmlForms(secret) {
		forms = append(forms, f, strings.ReplaceAll(f, `\`, `\\`)) // and such a page in JSON
	}
	forms = append(forms, base64Forms(secret)...)
	if latin := asLatin1(secret); latin != secret {
		forms = append(append(forms, latin, url.QueryEscape(latin)), jsonForms(latin)...)
	}
	slices.Sort(forms)
	forms = slices.Compact(forms)
	// Longer spellings first: a short one may be part of a long one.
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return forms
}

var escapedByte = regexp.MustCompile(`%[0-9A-F]{2}`)

func smallDigits(escaped string) string {
	return escapedByte.ReplaceAllStringFunc(escaped, strings.ToLower)
}

// jsonForms are a text as JSON encoders write it: this language's with and
// without its care for HTML, PHP's slashes, and those that write every
// character that HTML may trip over by its number.
func jsonForms(secret string) []string {
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(secret) != nil {
		return nil
	}
	text := strings.TrimSuffix(plain.String(), "\n")
	text = text[1 : len(text)-1]
	var small, large []string
	for _, c := range `+/=<>&'"` {
		from := string(c)
		if c == '"' {
			from = `\"`
		}
		small = append(small, from, fmt.Sprintf(`\u%04x`, c))
		large = append(large, from, fmt.Sprintf(`\u%04X`, c))
	}
	html := func(s string) string {
		return strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(s)
	}
	inJSON := func(s string) string { // a JSON text in a JSON string
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
	}
	forms := []string{
		text, html(text), strings.ReplaceAll(text, "/", `\/`), strings.ReplaceAll(html(text), "/", `\/`),
		strings.NewReplacer(small...).Replace(text), strings.NewReplacer(large...).Replace(text),
	}
	for _, f := range forms { // Python's and PHP's write nothing but ASCII
		forms = append(forms, onlyASCII(f, `\u%04x`), onlyASCII(f, `\u%04X`))
	}
	for _, f := range forms {
		forms = append(forms, inJSON(f))
	}
	return forms
}

// onlyASCII writes all other characters by their numbers in UTF-16.
func onlyASCII(s, format string) string {
	var b strings.Builder
	for _, c := range s {
		if c < utf8.RuneSelf {
			b.WriteRune(c)
			continue
		}
		for _, u := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&b, format, u)
		}
	}
	return b.String()
}

// htmlForms are a text as pages hold it: this language's, Python's and XML's.
func htmlForms(secret string) []string {
	base := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(secret)
	forms := []string{base}
	for _, quotes := range [][2]string{{"&#34;", "&#39;"}, {"&quot;", "&#x27;"}, {"&quot;", "&#39;"}, {"&quot;", "&#039;"}, {"&quot;", "&apos;"}} {
		forms = append(forms, strings.NewReplacer(`"`, quotes[0], "'", quotes[1]).Replace(base))
	}
	return forms
}

// asLatin1 is a text whose bytes were taken for characters.
func asLatin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// base64Forms are the part of a secret's base64 that its neighbours do not
// change, for each of the three places in a group of bytes at which it may
// begin.
func base64Forms(secret string) (forms []string) {
	if len(secret) < minSecret {
		return nil
	}
	for skip := range 3 {
		first := (skip*8 + 5) / 6            // characters that hold a bit of what is before
		last := (skip + len(secret)) * 8 / 6 // and from here on of what is behind
		padded := append(make([]byte, skip), secret...)
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, enc.EncodeToString(padded)[first:last])
		}
	}
	return forms
}
