package grade

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/cases"
)

// The tree that JSON is compared as. A leaf is nil, a bool, a string or a
// jsonNumber. An array is a map from index to element: go-cmp compares the
// entries of a map once each and in order, but the elements of a slice twice a
// level, which doubles the work with every level of nesting.
type (
	jsonObject map[string]any
	jsonArray  map[int]any
)

// errDuplicateKey marks JSON in which an object has the same key twice.
var errDuplicateKey = errors.New("duplicate key")

// keyCase says whether keys that are the same after case folding count as
// duplicates: a decoder that ignores case would let one overwrite the other.
type keyCase bool

const (
	foldKeys  keyCase = true
	exactKeys keyCase = false
)

// parseJSON reads text as exactly one JSON value with white space around it.
// Invalid UTF-8, more than one value and nesting beyond 10,000 levels are
// errors. A duplicate key is errDuplicateKey, but only in text that is
// otherwise JSON.
func parseJSON(text string, keys keyCase) (any, error) {
	r := newJSONReader(text, keys)
	v, err := r.value()
	if err != nil {
		return nil, err
	}
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("more text after the JSON value, at byte %d", r.dec.InputOffset())
	}
	return v, r.duplicate
}

// A jsonReader reads one value after another from one text.
type jsonReader struct {
	dec  *jsontext.Decoder
	keys keyCase
	fold cases.Caser
	// duplicate is the first duplicate key. It is kept apart from syntax
	// errors: a text that is no JSON at all is not a duplicate-key case.
	duplicate error
}

func newJSONReader(text string, keys keyCase) *jsonReader {
	return &jsonReader{
		dec:  jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true)),
		keys: keys,
		fold: cases.Fold(),
	}
}

// value reads one value. The decoder's own limit on nesting bounds the
// recursion.
func (r *jsonReader) value() (any, error) {
	tok, err := r.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return tok.String(), nil
	case '0':
		return canonicalNumber(tok.String()), nil
	case 't', 'f':
		return tok.Bool(), nil
	}
	return nil, nil // null
}

func (r *jsonReader) object() (any, error) {
	obj := jsonObject{}
	var folded map[string]string
	if r.keys == foldKeys {
		folded = map[string]string{}
	}
	for r.dec.PeekKind() != '}' {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := tok.String()
		if _, ok := obj[key]; ok {
			r.duplicateKey(key, key)
		} else if r.keys == foldKeys {
			f := r.fold.String(key)
			if other, ok := folded[f]; ok {
				r.duplicateKey(other, key)
			}
			folded[f] = key
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		obj[key] = v
	}
	_, err := r.dec.ReadToken()
	return obj, err
}

func (r *jsonReader) duplicateKey(a, b string) {
	if r.duplicate != nil {
		return
	}
	if a == b {
		r.duplicate = fmt.Errorf("%w %s", errDuplicateKey, quote(a))
		return
	}
	r.duplicate = fmt.Errorf("%w %s: it differs from %s in case only", errDuplicateKey, quote(b), quote(a))
}

func (r *jsonReader) array() (any, error) {
	arr := jsonArray{}
	for i := 0; r.dec.PeekKind() != ']'; i++ {
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		arr[i] = v
	}
	_, err := r.dec.ReadToken()
	return arr, err
}

// A jsonNumber is a number in one form for each value: 42, 42.0 and 4.2e1 are
// the same, and nothing is rounded, whatever its size.
type jsonNumber struct {
	neg    bool
	digits string // without zeros at either end; empty for 0
	exp    string // the power of ten of the last digit
	text   string // as it stood, for explanations
}

// equal ignores how the number was written.
func (n jsonNumber) equal(m jsonNumber) bool {
	return n.neg == m.neg && n.digits == m.digits && n.exp == m.exp
}

// canonicalNumber reads a JSON number literal; the caller has checked its
// syntax.
func canonicalNumber(lit string) jsonNumber {
	n := jsonNumber{text: lit}
	rest, neg := strings.CutPrefix(lit, "-")
	mantissa, exp := rest, ""
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa, exp = rest[:i], rest[i+1:]
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+frac, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return n // 0 and -0 are one value
	}
	n.neg, n.digits = neg, significant
	n.exp = addExponent(exp, len(digits)-len(significant)-len(frac))
	return n
}

// addExponent adds shift to a decimal exponent. An exponent beyond int64 is
// kept as text: such a number equals only one that is written alike, which
// can miss an equality but never invent one.
func addExponent(exp string, shift int) string {
	exp = strings.TrimPrefix(exp, "+")
	if exp == "" {
		exp = "0"
	}
	e, err := strconv.ParseInt(exp, 10, 64)
	const limit = 1 << 62
	if err != nil || e > limit || e < -limit {
		return "written " + exp + ", shifted " + strconv.Itoa(shift)
	}
	return strconv.FormatInt(e+int64(shift), 10)
}
