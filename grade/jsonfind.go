package grade

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A foundJSON is a JSON value in a reply and where it stood.
type foundJSON struct {
	value any
	text  string // as it stood
	how   string
}

// A noJSON says why a reply has no one JSON value.
type noJSON struct {
	reason Reason
	why    string
}

// findJSON finds the JSON value that a reply answers with. kind is the first
// letter of a wanted value: '{', '[', or 0 for a scalar.
//
//  1. The whole reply, if it is JSON: fences inside its strings are text.
//  2. The last code fence that holds JSON. If it is a json fence that does
//     not parse, the answer is malformed: an earlier draft is not taken for
//     it. Another value of the same kind in the text after the fence makes
//     the reply ambiguous.
//  3. The objects and arrays in the text, each from its bracket to the
//     balancing one, brackets in strings not counted. Those of the wanted
//     kind come first; several that differ make the reply ambiguous.
func findJSON(text string, kind byte, keys keyCase) (foundJSON, *noJSON) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "\ufeff"))
	v, err := parseJSON(text, keys)
	if err == nil {
		return foundJSON{v, text, "the whole reply"}, nil
	}
	if no := duplicateOf(err); no != nil {
		return foundJSON{}, no
	}
	if found, no := findFencedJSON(text, kind, keys); no != nil || found.text != "" {
		return found, no
	}
	return findBareJSON(text, kind, keys)
}

func duplicateOf(err error) *noJSON {
	if errors.Is(err, errDuplicateKey) {
		return &noJSON{ReasonDuplicateKey, err.Error()}
	}
	return nil
}

// findFencedJSON returns neither a value nor a reason if no fence holds JSON.
func findFencedJSON(text string, kind byte, keys keyCase) (foundJSON, *noJSON) {
	blocks := fencedBlocks(text)
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		if !b.mayBeJSON() {
			continue
		}
		v, err := parseJSON(b.content, keys)
		switch no := duplicateOf(err); {
		case no != nil:
			return foundJSON{}, no
		case err != nil && (b.label != "" || looksLikeJSON(b.content)):
			return foundJSON{}, &noJSON{ReasonInvalid, "the last JSON code fence is malformed: " + err.Error()}
		case err != nil, b.label == "" && kind != 0 && !isContainer(v):
			continue
		}
		found := foundJSON{v, b.content, "the last code fence"}
		return found, contradiction(found, text[b.end:], keys)
	}
	return foundJSON{}, nil
}

// contradiction reports an object or array after the answer that is another
// one of the same kind.
func contradiction(found foundJSON, rest string, keys keyCase) *noJSON {
	if !isContainer(found.value) {
		return nil
	}
	for _, span := range jsonSpans(rest) {
		if span[0] != found.text[0] || span == found.text || citation.MatchString(span) {
			continue
		}
		v, err := parseJSON(span, keys)
		if err != nil || !equalJSON(found.value, v, false) {
			return &noJSON{ReasonAmbiguous, "the text after the last code fence holds another value: " + quote(span)}
		}
	}
	return nil
}

func findBareJSON(text string, kind byte, keys keyCase) (foundJSON, *noJSON) {
	spans := jsonSpans(outsideFences(text))
	if len(spans) == 0 {
		spans = jsonSpans(text)
	}
	if kind != 0 {
		spans = preferKind(spans, kind)
	}
	spans = dropCitations(text, spans)
	if len(spans) == 0 {
		if strings.ContainsAny(text, "{[") || looksLikeScalar(text) {
			return foundJSON{}, &noJSON{ReasonInvalid, "the reply holds no well-formed JSON value"}
		}
		return foundJSON{}, &noJSON{ReasonNoAnswer, "the reply holds no JSON"}
	}
	first := spans[0]
	v, err := parseJSON(first, keys)
	if no := duplicateOf(err); no != nil {
		return foundJSON{}, no
	}
	if err != nil {
		return foundJSON{}, &noJSON{ReasonInvalid, err.Error()}
	}
	for _, span := range spans[1:] {
		if span == first {
			continue
		}
		w, err := parseJSON(span, keys)
		if no := duplicateOf(err); no != nil {
			return foundJSON{}, no
		}
		if err != nil || !equalJSON(v, w, false) {
			return foundJSON{}, &noJSON{ReasonAmbiguous,
				"the reply holds different JSON values outside a code fence, such as " + quote(first) + " and " + quote(span)}
		}
	}
	return foundJSON{v, first, "the JSON value in the text"}, nil
}

// outsideFences returns text without its code fences: what is in a program is
// not the answer if there is JSON beside it.
func outsideFences(text string) string {
	var b strings.Builder
	at := 0
	for _, block := range fencedBlocks(text) {
		if !block.mayBeJSON() {
			b.WriteString(text[at:block.start])
			at = block.end
		}
	}
	return b.String() + text[at:]
}

// preferKind keeps the values of the wanted kind, or all if there is none.
func preferKind(spans []string, kind byte) []string {
	var kept []string
	for _, s := range spans {
		if s[0] == kind {
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		return spans
	}
	return kept
}

var (
	citation   = regexp.MustCompile(`^\[\d{1,3}(, ?\d{1,3})*\]$`)
	correction = regexp.MustCompile(`(?i)\b(actually|wait|correction|corrected|sorry|instead|rather|should be|no)\b`)
)

// dropCitations drops arrays such as [3] that follow an array that is none: a
// footnote is no second answer, unless the reply corrects itself.
func dropCitations(text string, spans []string) []string {
	if len(spans) < 2 || citation.MatchString(spans[0]) {
		return spans
	}
	after := text[strings.Index(text, spans[0])+len(spans[0]):]
	if correction.MatchString(after) {
		return spans
	}
	kept := spans[:1]
	for _, s := range spans[1:] {
		if !citation.MatchString(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

func isContainer(v any) bool {
	switch v.(type) {
	case jsonObject, jsonArray:
		return true
	}
	return false
}

func looksLikeJSON(s string) bool {
	return s != "" && (s[0] == '{' || s[0] == '[') && strings.ContainsAny(s, `":`)
}

func looksLikeScalar(s string) bool {
	return s != "" && (s[0] == '"' || s[0] == '-' || s[0] >= '0' && s[0] <= '9')
}

// jsonSpans returns the outermost objects and arrays in a text that are
// syntactically JSON, in order. It takes time linear in the text: after a
// failure the search goes on behind what was read, and behind the balancing
// bracket if there is one. A value inside something that only resembles JSON,
// such as an object in single quotes or one that was cut, is not taken for
// the answer.
func jsonSpans(text string) []string {
	var spans []string
	var closers []int32
	data := []byte(text)
	for at := 0; at < len(text); {
		i := strings.IndexAny(text[at:], "{[")
		if i < 0 {
			break
		}
		at += i
		n, ok := scanJSON(data[at:])
		if ok {
			spans = append(spans, text[at:at+n])
			at += n
			continue
		}
		if isLaTeXBrace(text, at) {
			at++ // \boxed{{"a":1}}: the brace is not JSON's
			continue
		}
		if closers == nil {
			closers = balance(text)
		}
		switch end := closers[at]; {
		case end > 0:
			at = max(at+n, int(end)+1)
		case text[at] == '{':
			return spans // cut before its end: what is inside is a part
		default:
			at += max(n, 1)
		}
	}
	return spans
}

func isLaTeXBrace(text string, at int) bool {
	if text[at] != '{' {
		return false
	}
	i := at
	for i > 0 && (text[i-1] >= 'a' && text[i-1] <= 'z' || text[i-1] >= 'A' && text[i-1] <= 'Z') {
		i--
	}
	return i < at && i > 0 && text[i-1] == '\\'
}

// scanJSON reads one value from the start of data and returns how many bytes
// it, or its well-formed beginning, takes. The decoder reads a bytes.Buffer in
// place: a failure near the start costs little, however long data is.
func scanJSON(data []byte) (n int, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
	for {
		if _, err := dec.ReadToken(); err != nil {
			return int(dec.InputOffset()), false
		}
		if dec.StackDepth() == 0 {
			return int(dec.InputOffset()), true
		}
	}
}

// balance returns, for each opening bracket, the place of its closing one, or
// 0. A closing bracket that does not fit is skipped.
func balance(text string) []int32 {
	closers := make([]int32, len(text))
	var open []int32
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			open = append(open, int32(i))
		case '}', ']':
			if n := len(open); n > 0 && text[open[n-1]] == c-2 {
				closers[open[n-1]] = int32(i)
				open = open[:n-1]
			}
		}
	}
	return closers
}

// A fencedBlock is the inside of a Markdown code fence.
type fencedBlock struct {
	label   string // json, python, …, in lower case
	content string // trimmed
	start   int    // where its inside begins in the text
	end     int    // where the text goes on behind it
}

func (b fencedBlock) mayBeJSON() bool {
	switch b.label {
	case "", "json", "json5", "jsonc", "jsonl":
		return b.content != ""
	}
	return false
}

// fence is a line that opens or closes a code block.
var fence = regexp.MustCompile("^[ \t>]*(```+|~~~+)[ \t]*([A-Za-z0-9_+-]*)(.*)$")

// fencedBlocks returns the code fences of a text in order. A fence that is
// never closed runs to the end. A closing fence may have text behind it, as
// models write it.
func fencedBlocks(text string) []fencedBlock {
	var blocks []fencedBlock
	var mark, label string // of the open block
	start, quoted := 0, false
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := strings.TrimRight(text[at:end], "\r\n")
		switch m := fenceLine(line); {
		case m == nil:
		case mark == "" && closesAtOnce(m[3], m[1]):
			inside := strings.TrimSpace(m[3])
			content := strings.TrimSpace(inside[:len(inside)-len(m[1])])
			blocks = append(blocks, fencedBlock{strings.ToLower(m[2]), content, at + len(line) - len(m[3]), at + len(line)})
		case mark == "":
			mark, label = m[1], strings.ToLower(m[2])
			start = at + len(line) - len(m[3])
			quoted = strings.HasPrefix(strings.TrimLeft(line, " \t"), ">")
		case strings.HasPrefix(m[1], mark):
			content := text[start:at]
			if quoted {
				content = quoteMark.ReplaceAllString(content, "")
			}
			blocks = append(blocks, fencedBlock{label, strings.TrimSpace(content), start, at + strings.Index(line, m[1]) + len(m[1])})
			mark = ""
		}
		at = end
	}
	if mark != "" {
		blocks = append(blocks, fencedBlock{label, strings.TrimSpace(text[start:]), start, len(text)})
	}
	return blocks
}

// quoteMark begins the lines of a Markdown quotation.
var quoteMark = regexp.MustCompile(`(?m)^[ \t]*>[ \t]?`)

// closesAtOnce reports a fence whose closing mark stands on the line of its
// opening one, something between them.
func closesAtOnce(rest, mark string) bool {
	inside, ok := strings.CutSuffix(strings.TrimSpace(rest), mark)
	return ok && strings.TrimSpace(inside) != "" && !strings.Contains(inside, mark)
}

// fenceLine keeps the regular expression away from lines that cannot match.
func fenceLine(line string) []string {
	if trimmed := strings.TrimLeft(line, " \t>"); !strings.HasPrefix(trimmed, "```") && !strings.HasPrefix(trimmed, "~~~") {
		return nil
	}
	return fence.FindStringSubmatch(line)
}
