package main

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/grade"
)

// A verdict is one line of output. id, response and target stand as they stood
// in the row.
type verdict struct {
	ID       jsontext.Value `json:"id"`
	Response jsontext.Value `json:"response"`
	Target   jsontext.Value `json:"target"`
	Verdict  grade.Mark     `json:"verdict"`
	Answer   string         `json:"answer"`
	How      string         `json:"how"`
	Score    float64        `json:"score"`
	Reason   grade.Reason   `json:"reason,omitempty"`
	Why      string         `json:"why,omitempty"`
	Warning  string         `json:"warning,omitempty"`
}

const replacedWarning = "the row held bytes or escapes that are no Unicode text; each was graded as U+FFFD"

// line encodes a verdict, with its newline.
func line(r *row, v grade.Verdict) ([]byte, error) {
	out := verdict{r.ID, r.Response, r.Target, v.Mark, v.Answer, v.How, v.Score, v.Reason, v.Why, ""}
	if len(out.Target) == 0 {
		out.Target = jsontext.Value("null")
		if len(r.Targets) > 0 {
			out.Target = r.Targets
		}
	}
	if r.replaced {
		out.Warning = replacedWarning
	}
	b, err := json.Marshal(out, jsontext.AllowInvalidUTF8(true))
	return append(printable(b), '\n'), err
}

// printable escapes what a terminal may obey or hide: C1 controls,
// bidirectional and zero-width characters, line separators. Outside of ASCII
// there are only the characters of JSON strings, where an escape means the
// same. ASCII controls are escaped by JSON itself, DEL is not.
func printable(b []byte) []byte {
	out := make([]byte, 0, len(b)+1)
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r < 0x7f || unicode.IsPrint(r):
			out = append(out, b[i:i+size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = appendEscape(appendEscape(out, high), low)
		default:
			out = appendEscape(out, r)
		}
		i += size
	}
	return out
}

func appendEscape(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
