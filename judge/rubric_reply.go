package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// ReasonInventedQuote is the reason of a verdict that rested on words which do
// not stand in the answer, where [RequireQuotes] forbids it.
const ReasonInventedQuote grade.Reason = "judge_invented_quote"

// A finding is what a judge says of one criterion.
type finding struct {
	choice        int // of answers
	reason, quote string
	stands        bool // the quote stands in the answer
}

func (f finding) answer() Choice { return answers[f.choice] }

// wrapper is a key that models put around the entries of all criteria.
const wrapper = "criteria"

// read reads a reply to the form. All of its criteria are answered in it, each
// once and in an offered word, or it is a fault.
func (f rubricForm) read(resp llm.Response, source *source) ([]finding, *fault) {
	text, no := wholeText(resp)
	if no != nil {
		return nil, no
	}
	entries, rest, no := f.object(text, source)
	if no != nil {
		return nil, no
	}
	lines, no := f.lines(rest, source, entries != nil)
	switch {
	case no != nil:
		return nil, no
	case entries == nil:
		entries = lines
	case len(entries) <= mostCriteria: // others cannot be right
		for _, l := range lines {
			if e, ok := find(entries, l.name); ok && (l.no != nil || !sameWord(e.value, l.value)) {
				return nil, faultf(ReasonAmbiguous, "the judge's JSON and its line "+quote(l.text)+" say different things")
			}
		}
	}
	return f.findings(entries, source)
}

// An answered is what a reply says under one name.
type answered struct {
	name   string // in lower case
	text   string // as it stood
	value  string // the word, or what stands for it
	reason string
	quote  string
	parts  []string // the quotations, if there are several
	no     *fault
}

// sameWord reports whether two values are the same answer.
func sameWord(a, b string) bool {
	i, known := answers.word(a)
	k, other := answers.word(b)
	return a == b || known && other && i == k
}

func find(entries []answered, name string) (answered, bool) {
	for _, e := range entries {
		if e.name == name {
			return e, true
		}
	}
	return answered{}, false
}

// findings puts entries in the order of the criteria.
func (f rubricForm) findings(entries []answered, source *source) ([]finding, *fault) {
	found := make([]finding, len(f.criteria))
	seen := make([]bool, len(f.criteria))
	for _, e := range entries {
		i, known := f.index[e.name]
		switch {
		case !known:
			return nil, faultf(ReasonOffMenu, "the judge answers "+quote(e.name)+", which is no criterion")
		case seen[i]:
			return nil, faultf(grade.ReasonDuplicateKey, "the judge answers the criterion "+f.criteria[i].Name+" twice")
		}
		seen[i] = true
	}
	var missing []string
	for i, c := range f.criteria {
		if !seen[i] {
			missing = append(missing, c.Name)
		}
	}
	if len(missing) > 0 {
		return nil, faultf(ReasonNoVerdict, "the judge does not answer "+strings.Join(missing, ", "))
	}
	for _, e := range entries {
		i := f.index[e.name]
		if e.no != nil {
			return nil, e.no
		}
		choice, ok := answers.word(e.value)
		if !ok {
			return nil, faultf(ReasonOffMenu, "the judge's answer to "+f.criteria[i].Name+" is "+quote(e.value)+", not "+answers.words())
		}
		g := finding{choice: choice, reason: strings.TrimSpace(e.reason), quote: strings.TrimSpace(e.quote)}
		g.stands = source.holds(g.quote) || len(e.parts) > 1 && source.holds(e.parts...)
		if f.strict && g.answer().Score > 0 && !g.stands {
			return nil, faultf(ReasonInventedQuote, fmt.Sprintf("the judge's answer to %s is %s and quotes %s, which does not stand in the answer that it judges",
				f.criteria[i].Name, g.answer().Word, quote(g.quote)))
		}
		found[i] = g
	}
	return found, nil
}

// object reads the one JSON object with entries for criteria. entries is nil if
// there is none; rest is the text without it. An object that stands in the
// candidate is a quotation of it, and no answer: the judge's own would have
// reasons of its own.
func (f rubricForm) object(text string, source *source) (entries []answered, rest string, no *fault) {
	spans, isCut := jsonObjects(text)
	if isCut {
		return nil, "", faultf(ReasonTruncated, "the judge's reply ends within its JSON")
	}
	var out strings.Builder
	at, first := 0, ""
	quoted, seen := false, 0
	theirs := sync.OnceValue(func() map[string]bool { return f.objectsIn(source) })
	for _, s := range spans {
		body := text[s.start:s.end]
		fields := f.entriesOf(body)
		if fields == nil {
			continue
		}
		if seen++; seen > mostObjects {
			return nil, "", faultf(ReasonAmbiguous, fmt.Sprintf("the judge's reply holds more than %d JSON objects with answers", mostObjects))
		}
		// What it says against itself is no copy that could help it: see favours.
		if slices.ContainsFunc(fields, f.favours) && (source.repeats(body) || theirs()[keyOfAll(fields)]) {
			quoted = true
			continue
		}
		if entries != nil && body != first {
			return nil, "", faultf(ReasonAmbiguous, "the judge's reply holds two JSON objects with answers: "+quote(first)+" and "+quote(body))
		}
		out.WriteString(text[at:s.start] + "{}")
		at, first, entries = s.end, body, fields
	}
	out.WriteString(text[at:])
	inside := unfenced(text)
	switch {
	case entries != nil:
	case quoted:
		return nil, "", faultf(ReasonNoVerdict, "the judge's JSON stands in the answer too, and may be a quotation of it")
	case strings.HasPrefix(inside, "{") && isObject(inside):
		return nil, "", faultf(ReasonNoVerdict, "the judge's JSON answers no criterion")
	case strings.HasPrefix(inside, "{") && (len(spans) == 0 || spans[0].start > strings.Index(text, "{")):
		return nil, "", faultf(ReasonMalformed, "the judge's reply is not well-formed JSON")
	}
	return entries, out.String(), nil
}

// entriesOf returns the entries of an object, nil if it has none for a
// criterion. Keys that explain are left out, all others are kept: one that is no
// criterion is a fault, whatever it says.
func (f rubricForm) entriesOf(object string) []answered {
	fields := fieldsOf(object)
	var inner []field
	for _, x := range fields {
		if x.name == wrapper && x.value.Kind() == '{' {
			inner = append(inner, fieldsOf(string(x.value))...)
		} else {
			inner = append(inner, x)
		}
	}
	var entries []answered
	ours := false
	for _, x := range inner {
		if whyFields[x.name] {
			continue
		}
		_, known := f.index[x.name]
		ours = ours || known
		entries = append(entries, entryOf(x))
	}
	if !ours {
		return nil
	}
	return entries
}

// entryOf reads the value of a key: an object with an answer, or the word alone.
func entryOf(x field) answered {
	e := answered{name: x.name, text: x.text(), value: x.text()}
	switch x.value.Kind() {
	case '"':
		return e
	case '{':
	default:
		e.no = noWord(x.name, x)
		return e
	}
	e.value = ""
	seen := map[string]bool{}
	for _, y := range fieldsOf(string(x.value)) {
		known := true
		switch {
		case y.name == "answer" && y.value.Kind() == '"':
			e.value = y.text()
		case y.name == "answer":
			e.value, e.no = y.text(), noWord(x.name, y)
		case y.name == "quote" && y.value.Kind() == '"':
			e.quote = y.text()
		case whyFields[y.name] && y.value.Kind() == '"':
			e.reason = y.text()
		default:
			known = false
		}
		if known && seen[y.name] {
			e.no = faultf(grade.ReasonDuplicateKey, "the key "+quote(y.name)+" stands twice in the judge's answer to "+quote(x.name))
			return e
		}
		seen[y.name] = known
	}
	return e
}

// rubricLine is a line with the answer to one criterion.
var rubricLine = regexp.MustCompile("(?i)^[ \\t*_#+•`-]*" + marker + "[ \\t*_`\"'\\[(]+([a-z0-9_-]{1,64}?)[ \\t*_`\"'\\])]*[:：](.*)$")

// lines reads the lines with answers. Unless beside JSON, they must be the last
// ones of the text: others may be quotations. What an earlier line says must not
// be something else.
func (f rubricForm) lines(text string, source *source, beside bool) ([]answered, *fault) {
	var last, earlier []answered
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if isBlankLine(l) {
			continue
		}
		x := rubricLine.FindStringSubmatch(l)
		if x == nil {
			earlier, last = append(earlier, last...), nil
			continue
		}
		last = append(last, lineEntry(l, x[1], x[2]))
	}
	if beside {
		return append(earlier, last...), nil
	}
	if len(last) > mostCriteria {
		return last, nil // some of them stand twice or are none
	}
	if len(last) == 0 {
		return nil, faultf(ReasonNoVerdict, "the judge's reply does not end with a line "+marker+" for each criterion")
	}
	for _, e := range last {
		if f.favours(e) && (source.repeats(e.text) || source.hasLine(e)) {
			return nil, faultf(ReasonNoVerdict, "the judge's line "+quote(e.text)+" stands in the answer too, and may be a quotation of it")
		}
	}
	for _, e := range earlier {
		if l, ok := find(last, e.name); ok && (e.no != nil || l.value != e.value) {
			return nil, faultf(ReasonAmbiguous, "the judge says "+quote(e.text)+" and then "+quote(l.text))
		}
	}
	return last, nil
}

var (
	// quotation is one quotation, quotations is from the first mark to the last:
	// a quotation may hold marks itself.
	quotation  = regexp.MustCompile(`["“„«]([^"“”„«»]+)["”“»]`)
	quotations = regexp.MustCompile(`["“”„«](.*)["“”»]|^['‘‚](.*)['’]$`)
)

// lineEntry reads what stands behind the colon: a word, and behind a | or a dash
// why.
func lineEntry(text, name, behind string) answered {
	e := answered{name: strings.ToLower(name), text: text, value: strings.TrimSpace(behind)}
	pieces := behindWord.Split(e.value, -1)
	if at := behindWord.FindStringIndex(e.value); at != nil {
		e.reason, e.value = strings.TrimSpace(e.value[at[1]:]), strings.TrimSpace(e.value[:at[0]])
	}
	if x := quotations.FindStringSubmatch(e.reason); x != nil {
		e.quote = x[1] + x[2]
	}
	for _, x := range quotation.FindAllStringSubmatch(e.reason, -1) {
		e.parts = append(e.parts, x[1])
	}
	for _, p := range pieces[1:] {
		if _, ok := answers.word(p); ok && !sameWord(p, e.value) && !quotations.MatchString(strings.TrimSpace(p)) {
			e.no = faultf(ReasonAmbiguous, "the judge's line "+quote(text)+" gives two answers")
		}
	}
	if i, ok := answers.word(e.value); ok {
		e.value = answers[i].Word // so that two spellings are one
	}
	return e
}

// behindWord is what stands between the word and the reason.
var behindWord = regexp.MustCompile(`\||[ ][-–—][ ]`)

// noWord is the fault of a value that is no text.
func noWord(name string, f field) *fault {
	return faultf(ReasonOffMenu, "the judge's answer to "+quote(name)+" is "+quote(f.text())+", not one of the words "+answers.words())
}
