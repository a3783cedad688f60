package grade

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// brokenOff says why text, which has no answer marker, ends in the middle of a
// sentence; "" if it does not.
func brokenOff(text string) string {
	if k := strings.LastIndex(text, "<<"); k >= 0 && !strings.Contains(text[k:], ">>") {
		return "the text breaks off inside a calculation"
	}
	t := strings.TrimRight(text, " \t\n*_`$({[")
	word := t[strings.LastIndexFunc(t, func(r rune) bool { return notWord(r) })+1:]
	switch strings.ToLower(word) {
	case "the", "a", "an", "of", "and", "or", "to", "for", "by", "from", "per", "equals", "gives", "because", "since", "than", "her", "his", "their":
		return "the text breaks off behind " + quote(word)
	}
	r, n := utf8.DecodeLastRuneInString(t)
	if strings.ContainsRune("=×÷·", r) && n > 0 && r != utf8.RuneError {
		return "the text breaks off behind " + quote(string(r))
	}
	if loops(t) {
		return "the text breaks off inside a line that it repeats"
	}
	return ""
}

// loops reports that text, which was cut, says the same line again and again
// with other numbers: its last line is the beginning of one that stands in
// front of it three times.
func loops(text string) bool {
	const far, times = 4096, 3
	lines := strings.Split(text[max(0, len(text)-far):], "\n")
	if len(lines) < times+1 {
		return false
	}
	lines = lines[len(lines)-times-1:]
	for k := range lines {
		lines[k] = withoutDigits(lines[k])
	}
	last := lines[times]
	for _, line := range lines[:times] {
		if line != lines[0] || !strings.HasPrefix(line, last) || strings.Trim(line[len(last):], " .!") == "" {
			return false
		}
	}
	return true
}

// withoutDigits returns s with each run of digits as one 0.
func withoutDigits(s string) string {
	var b strings.Builder
	digit := false
	for _, r := range s {
		if unicode.IsDigit(r) {
			if !digit {
				b.WriteByte('0')
			}
			digit = true
			continue
		}
		digit = false
		b.WriteRune(r)
	}
	return b.String()
}
