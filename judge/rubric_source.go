package judge

import (
	"strings"
	"sync"
	"unicode"

	"github.com/goevals/evals/llm"
)

// A source is the answer that is judged, as a quotation from it is looked for.
type source struct {
	clean string
	plain func() []string // as it stood and as the judge was shown it, in plain form
}

func newSource(answer string, calls []llm.ToolCall) *source {
	all := answer
	if len(calls) > 0 {
		all += "\n" + callsText(calls)
	}
	s := &source{clean: clean(all)}
	s.plain = sync.OnceValue(func() []string { // most replies quote nothing
		forms := []string{plainForm(s.clean)}
		if shown := neutral(visible(all)); shown != all {
			forms = append(forms, plainForm(shown))
		}
		return forms
	})
	return s
}

// repeats reports whether a text of a reply stands in the answer, and so may be
// a quotation of it.
func (s *source) repeats(text string) bool { return strings.Contains(s.clean, text) }

// holds reports whether a quotation stands in the answer. Its parts between
// ellipses stand one after the other.
func (s *source) holds(quote string) bool {
	parts := partsOf(quote)
	if len(parts) == 0 {
		return false
	}
	for _, text := range s.plain() {
		if inOrder(text, parts) {
			return true
		}
	}
	return false
}

func inOrder(text string, parts []string) bool {
	for _, p := range parts {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return true
}

// partsOf returns what stands between the ellipses of a quotation, in plain
// form; none if nothing is quoted.
func partsOf(quote string) []string {
	quote = strings.NewReplacer("[...]", "…", "[…]", "…", "...", "…").Replace(quote)
	var parts []string
	for p := range strings.SplitSeq(quote, "…") {
		if p = strings.Trim(plainForm(clean(p)), " .,;:!?'"); p != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// plainForm lowers a text, makes all quotation marks and dashes one, drops
// emphasis, and makes each run of blanks one space.
func plainForm(s string) string {
	s = strings.Map(func(r rune) rune {
		switch r {
		case '"', '\'', '“', '”', '„', '«', '»', '‘', '’', '`':
			return '\''
		case '–', '—', '−', '‑':
			return '-'
		case '*', '_':
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
