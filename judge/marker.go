package judge

import (
	"regexp"
	"strings"

	"github.com/goevals/evals/grade"
)

// marker begins the line that a judge ends its reply with. It is a constant:
// small models do not repeat a nonce. What keeps a quotation out is the place:
// the last line, from its start.
const marker = "GRADE"

// markerLine is a line with the marker at its start: emphasis, list marks and a
// few words that lead up to it are allowed. A quoted line (>) is no such line.
var markerLine = regexp.MustCompile("(?i)^[ \\t*_#+•`-]*(?:(?:my|the|final|overall|so|therefore|thus|hence)\\b[ ,*_]*)*" +
	marker + "[ \\t*_`]*[:：](.*)$")

// A line is a line of a reply that states a verdict, or tries to.
type line struct {
	text   string
	value  string // what stands behind the marker
	choice int
	ok     bool // the value is legal
	last   bool // nothing but blank lines follows
	fenced bool // it stands in a code block
	before string
}

// markers returns the lines that begin with the marker, in order. Lines that
// are nothing but a fence or a rule count as blank.
func (m menu) markers(text string) []line {
	var found []line
	fenced, before := false, ""
	all := strings.Split(text, "\n")
	for i := 0; i < len(all); i++ {
		text := strings.TrimSpace(all[i])
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			fenced = !fenced
		}
		if isBlankLine(text) {
			continue
		}
		if len(found) > 0 {
			found[len(found)-1].last = false
		}
		if x := matchMarker(text); x != nil {
			l := line{text: text, value: strings.TrimSpace(x[1]), last: true, fenced: fenced, before: before}
			if strings.Trim(l.value, "*_ `") == "" { // the word may stand in the next line
				if k := i + 1; k < len(all) {
					l.value, i = strings.TrimSpace(all[k]), k
				}
			}
			l.choice, l.ok = m.word(l.value)
			found = append(found, l)
		}
		before = text
	}
	return found
}

// matchMarker keeps the regular expression away from lines that cannot match.
func matchMarker(s string) []string {
	if !strings.ContainsAny(s, ":：") || !strings.Contains(lowerASCII(s), "grade") {
		return nil
	}
	return markerLine.FindStringSubmatch(s)
}

// isBlankLine reports a line without a word: empty, a fence, a rule.
func isBlankLine(s string) bool {
	if strings.HasPrefix(s, "```") || strings.HasPrefix(s, "~~~") {
		return !strings.ContainsAny(strings.TrimLeft(s, "`~"), " :")
	}
	return strings.Trim(s, "-*_= ") == ""
}

// stateInWords returns the verdict of a reply without JSON.
func (m menu) stateInWords(text, candidate string) (statement, *fault) {
	if i, ok := m.whole(text); ok {
		return statement{choice: i, how: "the whole reply " + quote(strings.TrimSpace(text))}, nil
	}
	lines := m.markers(text)
	if len(lines) == 0 {
		return statement{}, faultf(ReasonNoVerdict, "the judge's reply has no line that begins with "+marker+":")
	}
	l := lines[len(lines)-1]
	switch {
	case !l.last:
		return statement{}, faultf(ReasonNoVerdict, "the judge's line "+quote(l.text)+" is not the last one: it may be a quotation")
	case !l.ok:
		return statement{}, faultf(ReasonOffMenu, "the judge's verdict "+quote(l.value)+" is not "+m.words())
	case l.fenced && outsideFences(text) != "":
		return statement{}, faultf(ReasonNoVerdict, "the judge's line "+quote(l.text)+" stands in a code block: it may be a quotation")
	}
	if m[l.choice].Mark == grade.Correct {
		for _, earlier := range lines {
			if earlier.ok && earlier.choice != l.choice {
				return statement{}, faultf(ReasonAmbiguous, "the judge says "+quote(earlier.text)+" and then "+quote(l.text))
			}
		}
		if m.copied(l, candidate) {
			return statement{}, faultf(ReasonNoVerdict, "the judge's line "+quote(l.text)+" stands in the answer too, and may be a quotation of it")
		}
	}
	said := text[:max(0, strings.LastIndex(text, l.text))]
	return statement{choice: l.choice, how: "line " + quote(l.text), said: strings.TrimSpace(said)}, nil
}

// copied reports whether a line that passes seems to be copied from the
// candidate: it stands there too, and what comes before it in the reply
// announces something or is the end of what comes before it there.
func (m menu) copied(l line, candidate string) bool {
	for _, c := range m.markers(candidate) {
		if c.ok && c.choice == l.choice && (strings.HasSuffix(l.before, ":") || c.before != "" && strings.HasSuffix(l.before, c.before)) {
			return true
		}
	}
	return false
}

// outsideFences returns what of a text stands in no code block.
func outsideFences(text string) string {
	var b strings.Builder
	fenced := false
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") {
			fenced = !fenced
		} else if !fenced && !isBlankLine(l) {
			b.WriteString(l)
		}
	}
	return b.String()
}

// word returns the choice that a value names and nothing else: the word alone,
// wrapped as models wrap words, or two spellings of one choice.
func (m menu) word(value string) (int, bool) {
	s := unwrap(value)
	if i, ok := m.find(s); ok {
		return i, true
	}
	for _, sep := range []string{"(", " - ", " – ", " — ", ": ", ", "} {
		head, tail, ok := strings.Cut(s, sep)
		if !ok {
			continue
		}
		i, first := m.find(unwrap(head))
		k, second := m.find(unwrap(tail))
		return i, first && second && i == k
	}
	return -1, false
}

// unwrap drops emphasis, quotation marks, brackets and final punctuation around
// a word.
func unwrap(s string) string {
	return strings.TrimRight(strings.Trim(strings.TrimRight(strings.Trim(s, " *_`"), " .!;,"), " *_`\"'“”‘’«»[](){}<>"), " .!;,*_`")
}

// phrase is a whole reply that names a verdict in a sentence.
var phrase = regexp.MustCompile(`^(?i:(?:this|it|that|the answer|the response|my (?:grade|verdict)|the (?:grade|verdict)) is|it's|that's|i (?:choose|pick|say)|verdict is)(?i: an?)? ([^ ].*)$`)

// whole returns the choice that the whole reply names. In a sentence a single
// letter must be written as it was offered: "this is a" names no A.
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
	w := unwrap(x[1])
	i, ok := m.find(w)
	return i, ok && (len(w) > 1 || w == m[i].Word)
}
