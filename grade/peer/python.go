package peer

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// What Python's str, re and float do where Go's counterparts differ.

// asciiSpace and asciiPunctuation are Python's string.whitespace and
// string.punctuation.
const (
	asciiSpace       = " \t\n\r\v\f"
	asciiPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
)

// isSpace is str.isspace of one character, and \s. Python counts the four
// ASCII separators; Go does not.
func isSpace(r rune) bool { return unicode.IsSpace(r) || '\x1c' <= r && r <= '\x1f' }

// isWord is \w.
func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// strip is str.strip without an argument.
func strip(s string) string { return strings.TrimFunc(s, isSpace) }

// decimal returns the value of a decimal digit of any script. Every range of
// Nd starts at a zero and holds whole runs of ten: Unicode promises it.
func decimal(r rune) (value int, ok bool) {
	if '0' <= r && r <= '9' {
		return int(r - '0'), true
	}
	if r < 0x80 || !unicode.Is(unicode.Nd, r) {
		return 0, false
	}
	for _, span := range unicode.Nd.R16 {
		if rune(span.Lo) <= r && r <= rune(span.Hi) {
			return int(r-rune(span.Lo)) % 10, true
		}
	}
	for _, span := range unicode.Nd.R32 {
		if rune(span.Lo) <= r && r <= rune(span.Hi) {
			return int(r-rune(span.Lo)) % 10, true
		}
	}
	return 0, false
}

// digits is how a class that holds \d is written for Go's regexp, whose \d is
// ASCII.
const digits = `\p{Nd}`

// casefold is str.casefold for comparisons: two strings are equal under it if
// they are under Python's. The folded strings differ for Cherokee, whose two
// cases cases.Fold swaps instead of joining; small letters are therefore made
// capital first.
func casefold(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case 0xab70 <= r && r <= 0xabbf:
			return r - 0xab70 + 0x13a0
		case 0x13f8 <= r && r <= 0x13fd:
			return r - 8
		}
		return r
	}, s)
	return cases.Fold().String(s) // a Caser may keep state: one a call
}

// lower is str.lower: full mappings and the final sigma, unlike strings.ToLower.
func lower(s string) string {
	return cases.Lower(language.Und, cases.HandleFinalSigma(true)).String(s)
}

var pyFloat = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// parseFloat is float(s) for what it reads as a finite number. Python takes
// digits of any script and white space around them, and no hexadecimal;
// strconv is the other way about. Underscores, which Python allows between
// digits, never reach it: the one caller's project removes them before.
func parseFloat(s string) (value float64, ok bool) {
	s = strings.Map(func(r rune) rune {
		if d, ok := decimal(r); ok {
			return '0' + rune(d)
		}
		return r
	}, strip(s))
	if !pyFloat.MatchString(s) {
		return 0, false
	}
	// Overflow is the only error left. Python reads it as infinite, and its
	// callers here refuse that.
	value, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false
	}
	return value, true
}

// dropFinalDot is re.sub(r"\.$", "", s): $ also stands before a last newline.
func dropFinalDot(s string) string {
	if rest, ok := strings.CutSuffix(s, "."); ok {
		return rest
	}
	if rest, ok := strings.CutSuffix(s, ".\n"); ok {
		return rest + "\n"
	}
	return s
}

// last returns the last match of re in s as FindAll finds it, which is not the
// rightmost that there is: matches do not overlap.
func last(re *regexp.Regexp, s string) (match string, ok bool) {
	all := re.FindAllString(s, -1)
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], true
}

// reversed returns words in the other order.
func reversed(words []string) []string {
	words = slices.Clone(words)
	slices.Reverse(words)
	return words
}
