package grade

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file and extract_*.go prepare a response's text for graders. They are
// shared by the graders of this package: what is reasoning, where the model's
// own turn ends and where an answer is announced must mean the same for a
// number, a letter and a word. Every function here is pure, never panics on
// hostile text and takes time linear in it.
//
//  1. stripReasoning removes what the model thought aloud.
//  2. finalTurn cuts what follows the answer: invented further questions.
//  3. answerMarks finds the places that announce an answer. The last wins.
//  4. unwrap peels the wrapping off a short answer: **B**, $B$, \(B\), (B).

// answerText is steps 1 and 2: the part of text in which an answer may stand.
// input is the item's question; it tells an echoed question from an invented
// one and may be empty. If incomplete is set, the answer never left its
// reasoning block and nothing in rest may be graded.
func answerText(text, input string) (rest string, incomplete bool) {
	rest, incomplete = stripReasoning(text)
	if incomplete {
		return rest, true
	}
	return finalTurn(rest, input), false
}

// unwrap returns s without the wrapping that models put around a short answer:
// blank space, markdown emphasis and code, LaTeX math and text commands,
// brackets, quotation marks, and sentence punctuation at its end. It peels
// whole pairs only, from the outside inward, and never looks inside: "(3.14)."
// is "3.14", "a) b" and "f(x)" stay as they are.
func unwrap(s string) string {
	for {
		t := trimBlank(s)
		t = strings.TrimRight(t, ".,;:!?。．，！？")
		t = trimBlank(t)
		if t == "" {
			return t
		}
		t = peel(t)
		if len(t) == len(s) {
			return t
		}
		s = t
	}
}

// wrappers are the pairs that unwrap peels, longer ones first.
var wrappers = []struct{ open, close string }{
	{`\boxed{`, "}"}, {`\fbox{`, "}"}, {`\text{`, "}"}, {`\textbf{`, "}"}, {`\textrm{`, "}"},
	{`\mathrm{`, "}"}, {`\mathbf{`, "}"}, {`\mathit{`, "}"}, {`\mathsf{`, "}"},
	{`\(`, `\)`}, {`\[`, `\]`}, {"$$", "$$"}, {"$", "$"},
	{"***", "***"}, {"**", "**"}, {"*", "*"}, {"__", "__"}, {"_", "_"}, {"~~", "~~"},
	{"```", "```"}, {"``", "``"}, {"`", "`"},
	{"(", ")"}, {"[", "]"}, {"{", "}"}, {"（", "）"}, {"【", "】"}, {"「", "」"},
	{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"«", "»"}, {"„", "“"}, {"„", "”"},
}

// peel removes one pair of wrappers.
func peel(t string) string {
	for _, w := range wrappers {
		if len(t) >= len(w.open)+len(w.close) && strings.HasPrefix(t, w.open) && strings.HasSuffix(t, w.close) {
			inner := t[len(w.open) : len(t)-len(w.close)]
			// "(a) or (b)" is not wrapped in one pair: a closer directly
			// followed by another opener, or any closer before the end.
			if w.open != w.close && !balanced(inner, w.open, w.close) {
				continue
			}
			if w.open == w.close && strings.Contains(inner, w.open) {
				continue
			}
			return inner
		}
	}
	return t
}

// balanced reports whether inner never closes more than it opens. It looks at
// the last rune of open and the first of close only, and no further than
// maxUnwrap bytes: longer text is no short answer and is left as it is.
func balanced(inner, open, close string) bool {
	const maxUnwrap = 1 << 10
	if len(inner) > maxUnwrap {
		return false
	}
	o, _ := utf8.DecodeLastRuneInString(open)
	c, _ := utf8.DecodeLastRuneInString(close)
	depth := 0
	for _, r := range inner {
		switch r {
		case o:
			depth++
		case c:
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

// trimBlank trims Unicode space and the invisible characters that models and
// web pages leave around words.
func trimBlank(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || isInvisible(r) })
}

// isInvisible reports zero-width and direction characters.
func isInvisible(r rune) bool {
	switch {
	case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2064,
		r >= 0x2066 && r <= 0x2069, r == 0xFEFF, r == 0x00AD:
		return true
	}
	return false
}

// isBlank reports whether s has nothing visible in it.
func isBlank(s string) bool { return trimBlank(s) == "" }

// hasWord reports whether s holds a letter or a digit.
func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r)
	})
}

// hasFoldPrefix is strings.HasPrefix, blind to the case of ASCII letters.
// prefix must be lower case.
func hasFoldPrefix(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}

// gluesBefore reports whether s ends in a rune that makes what follows part of
// a longer word: a letter of a script that puts blanks between words, a digit,
// or an underscore after one of those. Han, kana, Hangul, Thai and other
// scripts write numbers and words without a blank.
func gluesBefore(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	if r == '_' {
		r, _ = utf8.DecodeLastRuneInString(s[:len(s)-n])
	}
	return isGlue(r)
}

// isGlue reports whether r belongs to a word written without blanks inside.
func isGlue(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return r != utf8.RuneError && (unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) && unicode.IsLetter(r) ||
		unicode.IsDigit(r))
}
