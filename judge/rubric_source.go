package judge

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/goevals/evals/llm"
)

// A source is the answer that is judged, as a quotation from it is looked for.
type source struct {
	texts func() []string           // as it stood and, where that differs, as the judge was shown it
	plain func() []string           // the same in plain form
	lines func() map[[4]string]bool // the lines of it that look like a judge's
}

func newSource(answer string, calls []llm.ToolCall) *source {
	all := answer
	if len(calls) > 0 {
		all += "\n" + callsText(calls)
	}
	s := &source{}
	s.texts = sync.OnceValue(func() []string {
		texts := []string{clean(all)}
		if shown := neutral(visible(all)); shown != all {
			texts = append(texts, clean(shown))
		}
		return texts
	})
	s.plain = sync.OnceValue(func() (forms []string) { // most replies quote nothing
		for _, t := range s.texts() {
			forms = append(forms, plainForm(t))
		}
		return forms
	})
	s.lines = sync.OnceValue(func() map[[4]string]bool {
		found := map[[4]string]bool{}
		for _, t := range s.texts() {
			for l := range strings.Lines(t) {
				if x := rubricLine.FindStringSubmatch(strings.TrimSpace(l)); x != nil {
					found[lineEntry(l, x[1], x[2]).key()] = true
				}
			}
		}
		return found
	})
	return s
}

// key is what an entry says, in whatever layout.
func (e answered) key() [4]string {
	value := plainForm(e.value)
	if i, ok := answers.word(e.value); ok {
		value = answers[i].Word
	}
	return [4]string{e.name, value, plainForm(e.reason), plainForm(e.quote)}
}

// hasLine reports whether the answer has a line that says what e says.
func (s *source) hasLine(e answered) bool { return s.lines()[e.key()] }

// repeats reports whether a text of a reply stands in the answer, and so may be
// a quotation of it.
func (s *source) repeats(text string) bool {
	for _, t := range s.texts() {
		if strings.Contains(t, text) {
			return true
		}
	}
	return false
}

// favours reports whether an entry is to the good of the answer. What the answer
// says against itself may stand in it and count all the same: otherwise an
// answer could keep a judge from failing it.
func (f rubricForm) favours(e answered) bool {
	i, known := f.index[e.name]
	if !known {
		return true
	}
	word := "no"
	if f.criteria[i].Weight < 0 {
		word = "yes"
	}
	return !sameWord(e.value, word)
}

// objectsIn are the objects with entries that an answer holds, as keyOfAll has
// them.
func (f rubricForm) objectsIn(s *source) map[string]bool {
	found := map[string]bool{}
	for _, t := range s.texts() {
		spans, _ := jsonObjects(t)
		for _, x := range spans {
			if entries := f.entriesOf(t[x.start:x.end]); entries != nil {
				found[keyOfAll(entries)] = true
			}
		}
	}
	return found
}

// keyOfAll is what entries say, in whatever layout and order.
func keyOfAll(entries []answered) string {
	keys := make([]string, len(entries))
	for i, e := range entries {
		k := e.key()
		keys[i] = strings.Join(k[:], "\n")
	}
	slices.Sort(keys)
	return strings.Join(keys, "\x00")
}

// holds reports whether quotations stand in the answer, each of them. The parts
// of one between ellipses stand one after the other.
func (s *source) holds(quotes ...string) bool {
	for _, q := range quotes {
		parts := partsOf(q)
		if len(parts) == 0 || !slices.ContainsFunc(s.plain(), func(text string) bool { return inOrder(text, parts) }) {
			return false
		}
	}
	return true
}

// inOrder reports whether the parts stand in text one after the other, each from
// the start of a word to the end of one: 12 does not stand in 312.
func inOrder(text string, parts []string) bool {
	at := 0
	for _, p := range parts {
		for {
			i := strings.Index(text[at:], p)
			if i < 0 {
				return false
			}
			from, to := at+i, at+i+len(p)
			if isWordEdge(text, from) && isWordEdge(text, to) {
				at = to
				break
			}
			at = from + 1
		}
	}
	return true
}

// isWordEdge reports whether no ASCII word goes on across an offset. Other
// scripts may have no blanks between words.
func isWordEdge(s string, at int) bool {
	return at == 0 || at == len(s) || !isAlnum(s[at-1]) || !isAlnum(s[at])
}

// partsOf returns what stands between the ellipses of a quotation, in plain
// form; none if nothing is quoted.
func partsOf(quote string) []string {
	quote = strings.NewReplacer("[...]", "…", "[…]", "…", "...", "…").Replace(quote)
	var parts []string
	for p := range strings.SplitSeq(quote, "…") {
		if p = strings.Trim(plainForm(clean(p)), " .,;:!?。'"); p != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// plainForm lowers a text, composes its letters, makes all quotation marks and dashes one, drops
// emphasis, and makes each run of blanks one space.
func plainForm(s string) string {
	s = strings.Map(func(r rune) rune {
		switch r {
		case '"', '\'', '“', '”', '„', '‟', '«', '»', '‘', '’', '‚', '‛', '‹', '›', '′', '″', '`':
			return '\''
		case '–', '—', '−', '‑', '‐', '‒', '―':
			return '-'
		case '*', '_':
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFC.String(s))
	return strings.Join(strings.Fields(s), " ")
}
