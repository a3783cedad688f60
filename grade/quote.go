package grade

import (
	"strconv"
	"unicode/utf8"
)

// quoteLimit is how many bytes of a text from outside an explanation repeats.
const quoteLimit = 160

// quote returns s as a Go string literal, nothing unprintable in it, cut after
// quoteLimit bytes: what a Why or an error shows of a text from outside.
func quote(s string) string { return quoteAt(s, quoteLimit) }

func quoteAt(s string, limit int) string {
	if len(s) <= limit {
		return strconv.Quote(s)
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "… (" + strconv.Itoa(len(s)) + " bytes)"
}
