package gate

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxQuoted is how many characters of a text from outside are shown.
const maxQuoted = 60

// quoted is a text from outside as one visible word: ids, groups and models
// come from files that may hold what a terminal obeys.
func quoted(s string) string { return strconv.Quote(clip(s)) }

func clip(s string) string {
	if utf8.RuneCountInString(s) <= maxQuoted {
		return s
	}
	n := 0
	for i := range s {
		if n == maxQuoted {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// firstOf quotes the first few of some names and says how many more there are.
func firstOf(names []string, few int) string {
	var b strings.Builder
	for i, s := range names {
		if i == few {
			b.WriteString(" and " + strconv.Itoa(len(names)-few) + " more")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(s))
	}
	return b.String()
}
