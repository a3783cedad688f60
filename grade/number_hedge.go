package grade

import (
	"strings"
	"unicode/utf8"
)

// hedgeWords before a number make it a bound or an approximation.
var hedgeWords = []string{
	"less than", "more than", "fewer than", "greater than", "smaller than", "larger than", "at least", "at most", "up to",
	"no more than", "no less than", "no fewer than", "not more than", "not less than", "minimum of", "maximum of", "over", "under", "below", "above",
	"exceeds", "exceeding", "about", "approximately", "approx.", "approx", "around", "roughly", "nearly", "almost", "circa", "ca.", "close to",
	"slightly", "just over", "just under", "an estimated", "estimated at", "somewhere near", "near",
	"etwa", "ungefähr", "rund", "mindestens", "höchstens", "weniger als", "mehr als", "environ", "au moins", "au plus", "moins de", "plus de",
	"aproximadamente", "alrededor de", "unos", "al menos", "menos de", "más de", "circa", "примерно", "около", "более", "менее",
}

// hedgeRunes do the same in scripts without blanks.
var hedgeRunes = []string{"大约", "约为", "约", "大概", "超过", "不到", "至少", "最多", "約", "およそ", "약"}

// denials before a number say that it is not the answer.
var denials = []string{
	"not", "isn't", "isn’t", "wasn't", "wasn’t", "aren't", "aren’t", "never", "≠", "!=", "instead of", "rather than", "not equal to", "not the", "cannot be", "can't be", "nicht", "не", "不是",
}

// hedged finds the bound or approximation in front of t. before is the text
// before t, cut at some length.
func hedged(t *numberToken, before string) {
	trimmed := strings.TrimRight(before, " \t*_`\"'({$")
	if trimmed == "" {
		return
	}
	r, n := utf8.DecodeLastRuneInString(trimmed)
	head := trimmed[:len(trimmed)-n]
	found := ""
	switch r {
	case '<', '≤', '≥', '≦', '≧', '⩽', '⩾', '≲', '≳', '≪', '≫', '~', '≈', '≅', '≃', '∼', '～', '±', '∓':
		found = string(r)
	case '>':
		if !arrow(head, before[len(trimmed):]) {
			found = ">"
		}
	case '=':
		for _, op := range []string{"<", ">", "≈", "~"} {
			if strings.HasSuffix(head, op) {
				found = op + "="
			}
		}
		if strings.HasSuffix(head, "!") || strings.HasSuffix(head, "=") {
			found = ""
		}
	default:
		found = hedgeWord(trimmed)
	}
	if found == "" {
		return
	}
	t.hedge = found
	if k := strings.LastIndex(before, found); k >= 0 {
		t.start += k - len(before)
	}
}

// hedgeWord returns the hedge that s ends in, as it stands there, or "".
func hedgeWord(s string) string {
	for _, w := range hedgeWords {
		if k := len(s) - len(w); k >= 0 && hasFoldPrefix(s[k:], w) && !gluesBefore(s[:k]) {
			return s[k:]
		}
	}
	for _, w := range hedgeRunes {
		if strings.HasSuffix(s, w) {
			return w
		}
	}
	return ""
}

// arrow reports whether the ">" behind head is no bound: the end of an arrow,
// of a tag or of quotation marks, or a markdown quotation at the start of a
// line. gap stands between it and the number.
func arrow(head, gap string) bool {
	switch {
	case strings.HasSuffix(head, "-") || strings.HasSuffix(head, "–"):
		return true
	case strings.HasSuffix(head, "="):
		return gap != "" // "=> 18" concludes, "=>18" may be a bound
	case strings.HasSuffix(head, ">"):
		return false
	}
	if k := strings.LastIndexByte(head, '<'); k >= 0 {
		if _, _, end, _ := elementAt(head[k:]+">", 0); end == len(head)-k+1 {
			return true
		}
	}
	line := head[strings.LastIndexByte(head, '\n')+1:]
	return len(line) < len(head) && strings.HasPrefix(gap, " ") && strings.TrimLeft(line, " >") == ""
}

// denied reports whether the words before a number say that it is not meant.
func denied(before string) bool {
	trimmed := strings.TrimRight(before, " \t*_`\"'({$=")
	if strings.HasSuffix(strings.TrimRight(before, " \t*_`\"'({$"), "!=") {
		return true
	}
	for _, w := range denials {
		if k := len(trimmed) - len(w); k >= 0 && hasFoldPrefix(trimmed[k:], w) && !gluesBefore(trimmed[:k]) {
			return true
		}
	}
	return false
}

// hedgesBehind follow a number and make it a bound or an approximation.
var hedgesBehind = []string{
	"or more", "or less", "or fewer", "or greater", "or higher", "or lower", "or above", "or below", "or so", "or over", "or under", "and above", "and up", "and over",
	"at most", "at least", "at minimum", "at a minimum", "give or take", "approximately", "approx", "minimum", "maximum", "plus or minus", "oder mehr", "oder weniger", "以上", "以下", "左右",
}

// hedgedBehind finds the bound or approximation behind t: "18 or more",
// "18 <= x".
func hedgedBehind(t *numberToken, after string) {
	rest := strings.TrimLeft(after, " \t*_`\"')}$,(")
	skipped := len(after) - len(rest)
	if t.hedge != "" || rest == "" {
		return
	}
	r, n := utf8.DecodeRuneInString(rest)
	switch r {
	case '<', '>':
		// A closing or unknown tag is no bound.
		if _, _, end, _ := elementAt(rest+">", 0); r == '<' && (end >= 0 || strings.HasPrefix(rest, "<|")) {
			return
		}
		t.hedge = string(r)
	case '≤', '≥', '⩽', '⩾', '≲', '≳', '±':
		t.hedge = string(r)
	default:
		for _, w := range hedgesBehind {
			if hasFoldPrefix(rest, w) && !isGlue(firstRune(rest[len(w):])) {
				t.hedge, n = w, len(w)
				break
			}
		}
	}
	if t.hedge != "" {
		t.end += skipped + n
	}
}

// rejected reports whether the words behind a number take it back.
func rejected(after string) bool {
	rest := strings.TrimLeft(after, " *_`\"')}$")
	for _, p := range []string{"(wrong", "(incorrect", "(not correct", "(no)", "❌", "✗", "✘"} {
		if hasFoldPrefix(rest, p) {
			return true
		}
	}
	for _, p := range []string{"is ", "was ", "would be ", "cannot be ", "can't be "} {
		if tail, ok := strings.CutPrefix(rest, p); ok {
			for _, w := range []string{"wrong", "incorrect", "not correct", "not right", "not the answer", "not the correct", "false", "too high", "too low"} {
				if hasFoldPrefix(tail, w) {
					return true
				}
			}
		}
	}
	return false
}
