package grade

import (
	"strings"
	"unicode/utf8"
)

// hedgeWords before a number make it a bound or an approximation.
var hedgeWords = []string{
	"than or equal to", "at the very least", "at the very most", "no higher than", "no lower than", "exceed", "as many as", "as much as", "as few as", "as little as",
	"in the neighborhood of", "in the neighbourhood of", "in the region of", "in the vicinity of", "on the order of", "in excess of", "upwards of", "more or less", "c.", "plus or minus",
	"less than", "more than", "fewer than", "greater than", "smaller than", "larger than", "at least", "at most", "up to",
	"no more than", "no less than", "no fewer than", "not more than", "not less than", "minimum of", "maximum of", "over", "under", "below", "above",
	"exceeds", "exceeding", "about", "approximately", "approx.", "approx", "around", "roughly", "nearly", "almost", "circa", "ca.", "close to",
	"slightly", "just over", "just under", "an estimated", "estimated at", "somewhere near", "near",
	"etwa", "ungefähr", "rund", "mindestens", "höchstens", "weniger als", "mehr als", "environ", "au moins", "au plus", "moins de", "plus de",
	"aproximadamente", "alrededor de", "unos", "al menos", "menos de", "más de", "circa", "größer als", "kleiner als", "ungefaehr", "knapp",
	"más o menos", "cerca de", "casi", "por lo menos", "como mínimo", "como máximo", "à peu près", "presque", "plus que", "moins que",
	"pelo menos", "no mínimo", "no máximo", "mais de", "quase", "almeno", "al massimo", "più di", "meno di", "quasi", "ongeveer", "minstens", "hoogstens", "meer dan", "minder dan",
	"примерно", "около", "более", "менее", "больше", "меньше", "по крайней мере", "почти", "приблизительно", "как минимум", "как максимум", "не более чем", "порядка",
}

// hedgesByEnd and denialsByEnd find the words by their last byte.
var hedgesByEnd, denialsByEnd = byEnd(hedgeWords), byEnd(denials)

func byEnd(words []string) (table [256][]string) {
	for _, w := range words {
		table[w[len(w)-1]] = append(table[w[len(w)-1]], w)
	}
	return table
}

func lowerByte(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

// hedgeRunes do the same in scripts without blanks.
var hedgeRunes = []string{"大约", "约为", "约", "大概", "超过", "不到", "至少", "最多", "約", "およそ", "약", "大于", "小于", "多于", "少于", "等于或大于", "将近", "接近", "几乎", "至多", "少なくとも", "多くとも", "ほぼ", "およそ", "적어도", "최소", "최대", "거의", "대략"}

// denials before a number say that it is not the answer.
var denials = []string{
	"not", "isn't", "isn’t", "wasn't", "wasn’t", "aren't", "aren’t", "never", "≠", "!=", "wrong to say", "incorrect to say", "anything but", "anything other than", "other than", "instead of", "rather than", "not equal to", "not the", "cannot be", "can't be", "nicht", "не", "不是",
}

// hedged finds the bound or approximation in front of t. before and after are
// the text around t, cut at some length.
func hedged(t *numberToken, before, after string) {
	trimmed := strings.TrimRight(before, " \t*_`\"'({$")
	if trimmed == "" {
		return
	}
	r, n := utf8.DecodeLastRuneInString(trimmed)
	head := trimmed[:len(trimmed)-n]
	found := ""
	switch r {
	case '<':
		// The brackets of a template that was copied: "<42>".
		if !strings.HasSuffix(before, "<") || !strings.HasPrefix(after, ">") || strings.HasPrefix(after, ">=") {
			found = "<"
		}
	case '≤', '≥', '≦', '≧', '⩽', '⩾', '≲', '≳', '≪', '≫', '~', '≈', '≅', '≃', '∼', '～', '±', '∓':
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
	if s == "" {
		return ""
	}
	for _, w := range hedgesByEnd[lowerByte(s[len(s)-1])] {
		if w == "up to" && addsUp(s) {
			continue
		}
		if k := len(s) - len(w); k >= 0 && strings.EqualFold(s[k:], w) && !gluesBefore(s[:k]) {
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

// addsUp reports that the "to" that s ends in tells a result: "adds up to 18",
// "rounded to 18".
func addsUp(s string) bool {
	w := strings.FieldsFunc(strings.ToLower(s[max(0, len(s)-24):]), notWord)
	for _, word := range w[max(0, len(w)-3):] {
		for _, verb := range []string{"add", "sum", "round", "total", "comes", "came", "amount", "works", "equal"} {
			if strings.HasPrefix(word, verb) {
				return true
			}
		}
	}
	return false
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
	if trimmed == "" {
		return false
	}
	for _, w := range denialsByEnd[lowerByte(trimmed[len(trimmed)-1])] {
		if k := len(trimmed) - len(w); k >= 0 && strings.EqualFold(trimmed[k:], w) && !gluesBefore(trimmed[:k]) {
			return true
		}
	}
	return false
}

// hedgesBehind follow a number and make it a bound or an approximation.
var hedgesBehind = []string{
	"or more", "or less", "or fewer", "or greater", "or higher", "or lower", "or above", "or below", "or so", "or over", "or under", "and above", "and up", "and over",
	"at most", "at least", "at minimum", "at a minimum", "give or take", "approximately", "approx", "minimum", "maximum", "plus or minus", "or thereabouts", "or around", "more or less", "at the most", "at the least", "at the very least", "at the very most", "or better",
	"oder mehr", "oder weniger", "o más", "o menos", "ou plus", "ou moins", "ou mais", "ou menos", "или более", "или больше", "или менее", "или меньше",
	"以上", "以下", "左右", "上下", "未满", "未満", "ほど", "くらい", "ぐらい", "程度", "이상", "이하", "미만", "정도",
}

// hedgedBehind finds the bound or approximation behind t: "18 or more",
// "18 <= x".
func hedgedBehind(t *numberToken, before, after string) {
	rest := strings.TrimLeft(after, " \t*_`\"')}$,(")
	skipped := len(after) - len(rest)
	if t.hedge != "" || rest == "" {
		return
	}
	r, n := utf8.DecodeRuneInString(rest)
	switch r {
	case '<', '>':
		// A closing or unknown tag is no bound.
		if _, _, end, _ := elementAt(rest+">", 0); r == '<' && (end >= 0 || strings.HasPrefix(rest, "<|") || strings.HasPrefix(rest, "<!--")) {
			return
		}
		if r == '>' && skipped == 0 && strings.HasSuffix(before, "<") {
			return
		}
		t.hedge = string(r)
	case '≤', '≥', '⩽', '⩾', '≲', '≳', '±':
		t.hedge = string(r)
	default:
		at := 0
		if t.hedge, at = hedgeBehindUnit(rest); t.hedge != "" {
			n = at + len(t.hedge)
		}
	}
	if t.hedge != "" {
		t.end += skipped + n
	}
}

// hedgeBehindUnit finds the hedge at the start of rest, or behind a unit of at
// most two words: "eggs or more". It returns where it begins.
func hedgeBehindUnit(rest string) (hedge string, at int) {
	if k := strings.IndexFunc(rest, func(r rune) bool { return strings.ContainsRune(".;:!?\n(,。，", r) || '0' <= r && r <= '9' }); k >= 0 {
		rest = rest[:k]
	}
	for at := range len(rest) {
		for _, w := range hedgesByStart[lowerByte(rest[at])] {
			if !hasFoldPrefix(rest[at:], w) || isGlue(firstRune(rest[at+len(w):])) || gluesBefore(rest[:at]) {
				continue
			}
			unit := strings.FieldsFunc(rest[:at], notWord)
			switch {
			case at == 0:
				return w, 0
			case len(unit) == 0 || len(unit) > 2 || eqWords[strings.ToLower(unit[len(unit)-1])]:
				return "", 0 // "18 is the minimum" is a value
			case !isGlue(firstRune(w)) || strings.HasPrefix(w, "o") || strings.HasPrefix(w, "at "):
				return w, at
			}
		}
	}
	return "", 0
}

// hedgesByStart finds hedgesBehind by their first byte.
var hedgesByStart = func() (table [256][]string) {
	for _, w := range hedgesBehind {
		table[w[0]] = append(table[w[0]], w)
	}
	return table
}()

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
			if tail == "not" || hasFoldPrefix(tail, "not") && strings.IndexByte(".,;!\n", tail[3]) >= 0 {
				return true
			}
		}
	}
	return false
}
