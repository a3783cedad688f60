package token

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// A component is a normalizer, pre-tokenizer or decoder of a tokenizer.json.
type component struct {
	Type          string      `json:"type"`
	Normalizers   []component `json:"normalizers"`
	PreTokenizers []component `json:"pretokenizers"`
	Decoders      []component `json:"decoders"`

	// ByteLevel
	AddPrefixSpace *bool `json:"add_prefix_space"`
	UseRegex       *bool `json:"use_regex"` // default: true
	// Split
	Pattern  *pattern `json:"pattern"`
	Behavior string   `json:"behavior"`
	Invert   bool     `json:"invert"`
	// Digits
	IndividualDigits bool `json:"individual_digits"`
}

type pattern struct {
	Regex  *string `json:"Regex"`
	String *string `json:"String"`
}

// The types whose members are read. Those of another type may have any shape.
var (
	preTokenizers = map[string]bool{"ByteLevel": true, "Split": true, "Digits": true}
	forms         = map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}
)

// UnmarshalJSONFrom reads the type first and the rest only if it is known.
func (c *component) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(value, &kind); err != nil {
		return err
	}
	c.Type = kind.Type
	if _, form := forms[c.Type]; form || c.Type != "Sequence" && !preTokenizers[c.Type] {
		return nil
	}
	type plain component // without this method
	return json.Unmarshal(value, (*plain)(c))
}

// maxComponent bounds a component in bytes, since one inside of another is
// read twice. The largest in use has two thousand.
const maxComponent = 1 << 16

// read decodes a component; it returns nil for none.
func read(value jsontext.Value) (*component, error) {
	if value == nil || value.Kind() == 'n' {
		return nil, nil
	}
	if len(value) > maxComponent {
		return nil, fmt.Errorf("%w: it has %d bytes, more than %d", ErrUnsupported, len(value), maxComponent)
	}
	c := new(component)
	return c, json.Unmarshal(value, c)
}

var errMissingType = errors.New("a component without a type")

func unknown(c component) error {
	if c.Type == "" {
		return errMissingType
	}
	return fmt.Errorf("%w: type %s", ErrUnsupported, quote(c.Type))
}

// newNormalizer returns nil if the value changes nothing.
func newNormalizer(value jsontext.Value) (func(string) string, error) {
	c, err := read(value)
	if c == nil || err != nil {
		return nil, err
	}
	list, err := unicodeForms(nil, *c)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return func(s string) string {
		for _, f := range list {
			s = f(s)
		}
		return s
	}, nil
}

func unicodeForms(list []func(string) string, c component) ([]func(string) string, error) {
	if form, ok := forms[c.Type]; ok {
		return append(list, normalForm(form)), nil
	}
	if c.Type != "Sequence" {
		return nil, unknown(c)
	}
	for _, each := range c.Normalizers {
		var err error
		if list, err = unicodeForms(list, each); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// newPreTokenizer returns the splitter of a pre-tokenizer that ends in
// ByteLevel: the alphabet of the vocabulary is read as bytes, so nothing can
// come after the text was spelled in it.
func newPreTokenizer(value jsontext.Value) (splitter, error) {
	c, err := read(value)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("%w: there is none, only one that ends in ByteLevel is", ErrUnsupported)
	}
	list := flatten(nil, *c)
	var out sequence
	for i, each := range list {
		s, err := newSplitter(each)
		if err != nil {
			return nil, err
		}
		if each.Type == "ByteLevel" && i < len(list)-1 {
			return nil, fmt.Errorf("%w: ByteLevel before %s", ErrUnsupported, quote(list[i+1].Type))
		}
		if s != nil {
			out = append(out, s)
		}
	}
	if len(list) == 0 || list[len(list)-1].Type != "ByteLevel" {
		return nil, fmt.Errorf("%w: it does not end in ByteLevel", ErrUnsupported)
	}
	if len(out) == 1 {
		return out[0], nil
	}
	return out, nil
}

func flatten(list []component, c component) []component {
	if c.Type != "Sequence" {
		return append(list, c)
	}
	for _, each := range c.PreTokenizers {
		list = flatten(list, each)
	}
	return list
}

// newSplitter returns the splitter of a pre-tokenizer that is not a sequence;
// nil if it splits nothing.
func newSplitter(c component) (splitter, error) {
	switch c.Type {
	case "ByteLevel":
		if c.AddPrefixSpace == nil || *c.AddPrefixSpace {
			return nil, fmt.Errorf("%w: ByteLevel with add_prefix_space, which puts a space before each text", ErrUnsupported)
		}
		if c.UseRegex != nil && !*c.UseRegex {
			return nil, nil
		}
		return newPattern(gpt2Pattern, false)
	case "Digits":
		needClasses()
		limit := 0
		if c.IndividualDigits {
			limit = 1
		}
		return scanning{scan: func(s string) int { return run(s, 0, number, limit) }}, nil
	case "Split":
		return newSplit(c)
	}
	return nil, unknown(c)
}

func newSplit(c component) (splitter, error) {
	// Isolated keeps what matches and what is between; Removed with invert
	// keeps what matches.
	drop := c.Behavior == "Removed" && c.Invert
	if !drop && c.Behavior != "Isolated" {
		return nil, fmt.Errorf("%w: Split with behavior %s and invert %t", ErrUnsupported, quote(c.Behavior), c.Invert)
	}
	switch {
	case c.Pattern == nil || c.Pattern.Regex == nil && c.Pattern.String == nil:
		return nil, errors.New("type Split without a pattern")
	case c.Pattern.String != nil && *c.Pattern.String == "":
		return nil, errors.New("type Split with an empty pattern")
	case c.Pattern.String != nil:
		return literal{*c.Pattern.String, drop}, nil
	}
	s, err := newPattern(*c.Pattern.Regex, drop)
	if err != nil {
		return nil, fmt.Errorf("%w: the pattern %s: %w", ErrUnsupported, quote(*c.Pattern.Regex), err)
	}
	return s, nil
}

// checkDecoder refuses decoders that would make other text than the bytes of
// the tokens one after the other.
func checkDecoder(value jsontext.Value) error {
	c, err := read(value)
	if c == nil || err != nil {
		return err
	}
	if c.Type == "Sequence" && len(c.Decoders) == 1 {
		c = &c.Decoders[0]
	}
	if c.Type != "ByteLevel" {
		return unknown(*c)
	}
	return nil
}

// quote shows text from a file: escaped, and not all of a long one.
func quote(s string) string {
	const most = 80
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}
