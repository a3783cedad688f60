package grade

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// normal is the normalisation of [Exact]'s steps 1 to 4. It keeps what can
// tell two answers apart: it is NFC, not NFKC, because NFKC reads x² as x2.
func normal(s string, matchCase bool) string {
	s = width.Fold.String(norm.NFC.String(strings.ToValidUTF8(s, "\ufffd")))
	s = strings.Map(plain, s)
	if !matchCase {
		// Folding can undo composition: ΐ folds to three runes.
		s = norm.NFC.String(cases.Fold().String(s))
	}
	return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
}

// plain maps typographic characters to those of a keyboard and drops what
// cannot be seen.
func plain(r rune) rune {
	switch r {
	case '‘', '’', '‛', 'ʼ', '′':
		return '\''
	case '“', '”', '„', '‟', '″':
		return '"'
	case '‐', '‑', '‒', '–', '−':
		return '-'
	}
	if isInvisible(r) {
		return -1
	}
	return r
}

// maxPeel is how many layers of wrapping are taken off an answer: enough for
// every honest one, and a bound on the work for others.
const maxPeel = 32

// layers yields s and then s with one layer of wrapping less at a time: s is
// normal. It never yields an empty text.
func layers(s string, yield func(string) bool) {
	for range maxPeel {
		if s == "" || !yield(s) {
			return
		}
		t := strings.TrimSpace(peelLayer(s))
		if len(t) == len(s) {
			return
		}
		s = t
	}
}

// peelLayer takes one layer off s: a pair around all of it, or punctuation at
// one edge.
func peelLayer(s string) string {
	if t := peelPair(s); len(t) < len(s) {
		return t
	}
	last, size := utf8.DecodeLastRuneInString(s)
	if strings.ContainsRune(".,;:!?…。、", last) {
		return strings.TrimRight(s[:len(s)-size], string(last))
	}
	first, size := utf8.DecodeRuneInString(s)
	if strings.ContainsRune(",;:!?…。、¿¡", first) {
		return s[size:]
	}
	// ".5" and ".net" keep their dot, "... yes" does not.
	if t := strings.TrimLeft(s, "."); len(s)-len(t) >= 2 {
		return t
	}
	return peelOdd(s)
}

// peelOdd takes a bracket off an edge whose partner is not there: "(3.14".
func peelOdd(s string) string {
	const open, shut = "([{", ")]}"
	if i := strings.IndexByte(open, s[0]); i >= 0 && strings.IndexByte(s, shut[i]) < 0 {
		return s[1:]
	}
	if i := strings.IndexByte(shut, s[len(s)-1]); i >= 0 && strings.IndexByte(s, open[i]) < 0 {
		return s[:len(s)-1]
	}
	return s
}

// pairs are what may stand around an answer. The text inside may not hold the
// closing one, except where nested is set and the inside is balanced.
var pairs = []struct {
	open, shut string
	nested     bool
}{
	{"\\boxed{", "}", true}, {"\\text{", "}", true}, {"\\textbf{", "}", true}, {"\\mathrm{", "}", true},
	{"\\mathbf{", "}", true}, {"\\textit{", "}", true}, {"\\mathit{", "}", true},
	{"$$", "$$", false}, {"$", "$", false}, {"\\(", "\\)", false}, {"\\[", "\\]", false},
	{"***", "***", false}, {"**", "**", false}, {"*", "*", false}, {"__", "__", false}, {"_", "_", false},
	{"<b>", "</b>", false}, {"<strong>", "</strong>", false}, {"<i>", "</i>", false}, {"<em>", "</em>", false}, {"<code>", "</code>", false},
	{"```", "```", false}, {"``", "``", false}, {"`", "`", false},
	{"\"", "\"", false}, {"'", "'", false}, {"«", "»", false}, {"»", "«", false}, {"‹", "›", false},
	{"「", "」", false}, {"『", "』", false}, {"｢", "｣", false}, {"【", "】", false},
	{"(", ")", true}, {"[", "]", true},
}

// peelPair takes one pair off s, or the mark of a heading, quotation or list.
func peelPair(s string) string {
	if t := strings.TrimLeft(s, "#"); len(t) < len(s) && strings.HasPrefix(t, " ") {
		return t[1:]
	}
	for _, mark := range []string{"> ", "* ", "- ", "• "} {
		t, ok := strings.CutPrefix(s, mark)
		// "- 5" is minus five.
		if r, _ := utf8.DecodeRuneInString(t); ok && (mark != "- " || unicode.IsLetter(r)) {
			return t
		}
	}
	for _, p := range pairs {
		if len(s) < len(p.open)+len(p.shut)+1 || !strings.HasPrefix(s, p.open) || !strings.HasSuffix(s, p.shut) {
			continue
		}
		inner := s[len(p.open) : len(s)-len(p.shut)]
		switch {
		case strings.TrimSpace(inner) == "":
		case !p.nested && strings.Contains(inner, p.shut):
		case p.nested && !encloses(inner, p.open[len(p.open)-1], p.shut[0]):
		case (p.open == "(" || p.open == "[") && strings.ContainsAny(inner, ",;"):
			// (0, 1) and [0, 1] are two intervals, and (1, 2) is a pair.
		default:
			return inner
		}
	}
	return s
}

// encloses reports whether inner never closes a bracket that it did not open,
// and opens none that it does not close.
func encloses(inner string, open, shut byte) bool {
	depth := 0
	for i := 0; i < len(inner); i++ {
		switch inner[i] {
		case open:
			depth++
		case shut:
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

// targetKey is the form in which a target is compared: what is around the
// target for show is taken off, what may be part of it is kept.
func targetKey(s string, matchCase bool) string {
	s = normal(s, matchCase)
	key := s
	layers(s, func(layer string) bool {
		key = layer
		return !meaningfulEdge(layer)
	})
	return key
}

// meaningfulEdge reports an edge that is more than punctuation: 5! is no 5,
// and __init__ no init.
func meaningfulEdge(s string) bool {
	if n := len(s); n >= 2 && s[n-1] == '!' && (s[n-2] >= '0' && s[n-2] <= '9' || s[n-2] == ')') {
		return true
	}
	return len(s) > 2 && s[0] == '_' && s[len(s)-1] == '_' && !strings.Contains(s, " ")
}

// equalsKey reports whether s, as it stands or without some of the wrapping
// around it, is the text whose targetKey is key.
func equalsKey(s, key string, matchCase bool) bool {
	found := false
	layers(normal(s, matchCase), func(layer string) bool {
		found = layer == key
		return !found && len(layer) > len(key)
	})
	return found
}
