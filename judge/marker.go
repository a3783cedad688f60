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
// few words that lead up to it are allowed. A quoted line (>) is no such line,
// and "the answer: GRADE: C" is a quotation.
var markerLine = regexp.MustCompile("(?i)^[ \\t*_#+•`-]*(?:\\d{1,2}[.)][ \\t*_`]*)?" +
	"(?:(?:my|the|final|overall|so|therefore|thus|hence|in conclusion|conclusion|verdict|decision|judge?ment|assessment|evaluation)\\b[ ,:*_]*)*" +
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
	if s[0] == '$' || s[0] == '\\' { // LaTeX around the whole line
		s = unwrap(s)
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
	case announcesQuotation(l.before):
		return statement{}, faultf(ReasonNoVerdict, "the judge's line "+quote(l.text)+" is announced as a quotation: "+quote(l.before))
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
	if other := m.contrary(said, l.choice); other != "" {
		return statement{}, faultf(ReasonAmbiguous, "the judge says "+quote(other)+" and then "+quote(l.text))
	}
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
