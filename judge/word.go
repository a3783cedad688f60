package judge

import (
	"regexp"
	"strings"
)

// word returns the choice that a value names and nothing else: the word alone,
// wrapped as models wrap words, or with a second spelling or its meaning behind
// it.
func (m menu) word(value string) (int, bool) {
	s := unwrap(value)
	if i, ok := m.find(s); ok {
		return i, true
	}
	for _, sep := range []string{"(", " - ", " – ", " — ", ": ", ", "} {
		head, tail, ok := strings.Cut(s, sep)
		if ok && sep == "(" {
			tail, ok = strings.CutSuffix(tail, ")")
		}
		if !ok {
			continue
		}
		if i, ok := m.find(unwrap(head)); ok && m.isOther(i, unwrap(tail)) {
			return i, true
		}
	}
	return -1, false
}

// isOther reports whether s is another name of choice i, or what it means.
func (m menu) isOther(i int, s string) bool {
	k, ok := m.find(s)
	return ok && k == i || lowerASCII(s) == lowerASCII(unwrap(m[i].meaning()))
}

// wrappings are what models put around a word. An opening one without its end is
// none: the reply was cut, and who knows before what.
var wrappings = [][2]string{
	{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"«", "»"}, {"[", "]"}, {"(", ")"}, {"{", "}"}, {"<", ">"},
	{"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}, {`\boxed{`, "}"}, {`\text{`, "}"}, {`\textbf{`, "}"}, {`\mathbf{`, "}"}, {`\mathrm{`, "}"},
}

// unwrap drops emphasis, final punctuation and wrappings around a word.
func unwrap(s string) string {
	const emphasis = " \t*_`"
	for {
		t := strings.TrimRight(strings.Trim(s, emphasis), ".!。"+emphasis)
		t = strings.TrimPrefix(t, "<|begin_of_box|>")
		for _, w := range wrappings {
			if len(t) >= len(w[0])+len(w[1]) && strings.HasPrefix(t, w[0]) && strings.HasSuffix(t, w[1]) {
				t = t[len(w[0]) : len(t)-len(w[1])]
				break
			}
		}
		if t == s {
			return s
		}
		s = t
	}
}

// phrase is a whole reply that names a verdict in a sentence. Its groups are
// what it speaks of, an article and the word.
var phrase = regexp.MustCompile(`(?i)^(this is|it is|that is|it's|that's|(?:the answer|the response) is|(?:my|the) (?:grade|verdict) is|verdict is)(?: (an?))? ([^ ].*)$`)

// whole returns the choice that the whole reply names. In a sentence a single
// letter must be written as it was offered, and be a grade: "this is a" names no
// A, and "the answer is C" answers a question with several choices.
func (m menu) whole(text string) (int, bool) {
	const most = 200
	s := strings.TrimSpace(unfenced(text))
	if len(s) > most || strings.Contains(s, "\n") {
		return -1, false
	}
	if i, ok := m.word(s); ok {
		return i, true
	}
	x := phrase.FindStringSubmatch(strings.Trim(s, "*_` "))
	if x == nil {
		return -1, false
	}
	w := unwrap(x[3])
	i, ok := m.find(w)
	if ok && len(w) == 1 {
		of := lowerASCII(x[1])
		ok = w == m[i].Word && (x[2] != "" || of == "this is" || strings.HasSuffix(of, "grade is") || strings.HasSuffix(of, "verdict is"))
	}
	return i, ok
}
