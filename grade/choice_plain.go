package grade

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

var (
	struckOut = regexp.MustCompile(`(?s)~~.+?~~`)
	texText   = regexp.MustCompile(`\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|boxed|fbox|emph|underline)\s*\{([^{}]*)\}`)
	// answerTag are the tags around an answer that answerMarks leaves out.
	answerTag = regexp.MustCompile(`(?i)</?(?:result|choice|option|selection|selected|letter|label|output|response)>`)
	chatToken = regexp.MustCompile(`<\|[a-zA-Z_]{1,40}\|>`)
	htmlTag   = regexp.MustCompile(`(?i)</?(?:b|i|u|strong|em|code|span|p|div|br|mark)(?:\s[^<>]{0,200})?/?>`)
	emphasis  = strings.NewReplacer("`", "", "$", "", `\(`, "", `\)`, "", `\[`, "", `\]`, "", "__", "", `\,`, " ", `\ `, " ")
	// ticks say with a picture what a word says.
	ticks = strings.NewReplacer(
		"✅", " correct ", "✔", " correct ", "✓", " correct ", "☑", " correct ", "🗸", " correct ",
		"❌", " incorrect ", "✗", " incorrect ", "✘", " incorrect ", "✖", " incorrect ", "✕", " incorrect ",
		"❎", " incorrect ", "🚫", " incorrect ", "⛔", " incorrect ")
)

// plainText makes characters plain without touching the text's lines. What is
// struck out is withdrawn.
func plainText(s string) string {
	s = width.Fold.String(norm.NFC.String(strings.ToValidUTF8(s, "\ufffd")))
	s = strings.Map(plain, ticks.Replace(s))
	s = strings.Map(withoutPictures, withoutFences(s))
	if strings.Contains(s, "<|") {
		s = chatToken.ReplaceAllString(s, " ")
	}
	if strings.Contains(s, "</") {
		s = answerTag.ReplaceAllString(s, " ")
	}
	if strings.Contains(s, "~~") {
		s = struckOut.ReplaceAllString(s, " ")
	}
	return s
}

// withoutPictures turns emoji and ornaments into space, and letters in circles,
// in squares and of mathematics into letters.
func withoutPictures(r rune) rune {
	switch {
	case r < 0x2100:
		return r
	case r >= 'Ⓐ' && r <= 'Ⓩ':
		return 'A' + r - 'Ⓐ'
	case r >= 'ⓐ' && r <= 'ⓩ':
		return 'a' + r - 'ⓐ'
	case r >= 0x1F130 && r <= 0x1F149, r >= 0x1F150 && r <= 0x1F169, r >= 0x1F170 && r <= 0x1F189:
		return 'A' + (r-0x1F130)%0x20
	case r >= 0x1D400 && r <= 0x1D6A3:
		if s := norm.NFKC.String(string(r)); len(s) == 1 {
			return rune(s[0])
		}
	case r == '\uFE0F', r >= 0x1F3FB && r <= 0x1F3FF:
		return -1
	case r >= 0x25A0 && r <= 0x27BF && !isUnspaced(r), r >= 0x1F300 && r <= 0x1FAFF:
		return ' '
	}
	return r
}

// withoutFences blanks the lines that open or close a code fence. What is
// inside stays: models fence answers that are no code.
func withoutFences(s string) string {
	if !strings.Contains(s, "```") && !strings.Contains(s, "~~~") {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		if m := fenceLine(strings.TrimRight(line, "\r\n")); m != nil && isBlank(m[3]) {
			line = line[len(strings.TrimRight(line, "\r\n")):]
		}
		b.WriteString(line)
	}
	return b.String()
}

// undress removes what makes words look nice.
func undress(s string) string {
	s = withoutStars(emphasis.Replace(s))
	for range 3 {
		if !strings.Contains(s, "\\") {
			break
		}
		s = texText.ReplaceAllString(s, "$1")
	}
	if strings.Contains(s, "</") || strings.Contains(s, "<br") {
		s = htmlTag.ReplaceAllString(s, "")
	}
	return s
}

// withoutStars drops the stars of emphasis and of lists, and keeps those of a
// product or a power: 2*3, x**2.
func withoutStars(s string) string {
	if !strings.Contains(s, "*") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], "*"))
		if n == 0 {
			b.WriteByte(s[i])
			i++
			continue
		}
		left, _ := utf8.DecodeLastRuneInString(s[:i])
		right, _ := utf8.DecodeRuneInString(s[i+n:])
		if n == 1 && (isWordRune(left) || left == ')') && (isWordRune(right) || right == '(') || n == 2 && isWordRune(left) && unicode.IsDigit(right) {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}
