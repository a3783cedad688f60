package grade

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// holds reports whether key occurs in text: as a word of its own, or anywhere
// with inside. Both are normal, and key is not empty.
func holds(text, key string, inside bool) bool {
	if inside {
		return strings.Contains(text, key)
	}
	for at := 0; ; {
		i := strings.Index(text[at:], key)
		if i < 0 {
			return false
		}
		at += i
		if startsWord(text, at) && endsWord(text, at+len(key)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
}

// startsWord reports whether a word that begins at text[at] does not go on to
// the left.
func startsWord(text string, at int) bool {
	left, size := utf8.DecodeLastRuneInString(text[:at])
	if size == 0 {
		return true
	}
	first, _ := utf8.DecodeRuneInString(text[at:])
	before, _ := utf8.DecodeLastRuneInString(text[:at-size])
	switch {
	case !isWordRune(first):
		return true
	case isWordRune(left):
		return !joined(left, first) && !isNegation(left)
	case left == ' ' && unicode.IsDigit(before):
		return !startsGroup(text[at:])
	case unicode.IsDigit(first):
		return !extendsNumber(left, before)
	case strings.ContainsRune(`-'.@&/#`, left):
		return !isWordRune(before)
	}
	return true
}

// extendsNumber reports whether a rune directly before a digit makes it part
// of another number: a sign, a decimal point, a separator, a bound. before is
// the rune before that one.
func extendsNumber(left, before rune) bool {
	switch left {
	case '-', '.', '<', '≤', '≥', '≈', '~', '±', '/', '^':
		return true
	case '>':
		return before != '-' && before != '=' // an arrow
	case '=':
		return before == '<' || before == '>' || before == '!' || before == '~'
	case ',', '\'', ':':
		return unicode.IsDigit(before)
	case '@', '&', '#':
		return isWordRune(before)
	}
	return false
}

// endsWord reports whether a word that ends before text[end] does not go on to
// the right. Korean joins its particles to the word before them.
func endsWord(text string, end int) bool {
	right, size := utf8.DecodeRuneInString(text[end:])
	if size == 0 {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	after, _ := utf8.DecodeRuneInString(text[end+size:])
	if !isWordRune(last) {
		return true
	}
	if isWordRune(right) {
		return !joined(last, right) || unicode.Is(unicode.Hangul, right)
	}
	switch right {
	case '\'':
		return !isWordRune(after) || possessive(text[end+size:])
	case '-', '@', '&', '/', '.':
		return !isWordRune(after)
	case '+', '#', '^':
		return false
	case ',', ':':
		return !(unicode.IsDigit(last) && unicode.IsDigit(after))
	case ' ':
		return !(unicode.IsDigit(last) && startsGroup(text[end+size:]))
	}
	return true
}

// startsGroup reports whether s begins with exactly three digits, as what
// follows the space in 2 602 does.
func startsGroup(s string) bool {
	n := 0
	for n < len(s) && n < 4 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n == 3
}

// possessive reports an s that ends a word: Paris's.
func possessive(s string) bool {
	t, ok := strings.CutPrefix(s, "s")
	if !ok {
		t, ok = strings.CutPrefix(s, "S")
	}
	r, _ := utf8.DecodeRuneInString(t)
	return ok && !isWordRune(r)
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '_'
}

// joined reports whether two word runes side by side belong to one word. In
// scripts without spaces nothing tells.
func joined(left, right rune) bool {
	return unicode.IsMark(right) || !isUnspaced(left) && !isUnspaced(right)
}

// unspaced are the scripts that are written without spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

func isUnspaced(r rune) bool { return r >= 0x0E00 && unicode.In(r, unspaced...) }

// isNegation reports a character that turns the Chinese or Japanese word
// behind it into its opposite: 可能, 不可能.
func isNegation(r rune) bool { return strings.ContainsRune("不無无非未没沒", r) }
