package judge

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/grade"
)

// An object is a JSON object in a reply that has a field for a verdict.
type object struct {
	start, end int
	text       string
	no         *fault // why its verdict is not legal
	statement
}

// half is the score from which a verdict of two words passes.
const half = 0.5

// objects returns the verdicts in JSON that a text holds, in order. It is a
// fault if the JSON is cut or, where the reply is meant to be JSON, malformed,
// or if there is JSON without a verdict and nothing else in the reply.
func (m menu) objects(text string) ([]object, *fault) {
	spans, isCut := jsonObjects(text)
	if isCut {
		return nil, faultf(ReasonTruncated, "the judge's reply ends within its JSON")
	}
	var found []object
	for _, s := range spans {
		if o, ok := m.object(text, s); ok {
			found = append(found, o)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	if inside := unfenced(text); strings.HasPrefix(inside, "{") {
		if isObject(inside) {
			return nil, faultf(ReasonNoVerdict, "the judge's JSON has no field for a verdict")
		}
		if len(spans) == 0 || spans[0].start > strings.Index(text, "{") {
			return nil, faultf(ReasonMalformed, "the judge's reply is not well-formed JSON")
		}
	}
	return nil, nil
}

type span struct{ start, end int }

// jsonObjects returns the outermost well-formed objects of a text, and whether
// it ends within one. Linear: what was read of something malformed is not read
// again, so that a part of it is not taken for the whole.
func jsonObjects(text string) (found []span, isCut bool) {
	data := []byte(text)
	for at := 0; at < len(data); {
		k := bytes.IndexByte(data[at:], '{')
		if k < 0 {
			break
		}
		at += k
		n, err := scanObject(data[at:])
		switch {
		case err == nil:
			found = append(found, span{at, at + n})
		case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
			// A brace that nothing of JSON follows is prose: "the set {".
			rest := bytes.TrimLeft(data[at+1:], " \t\n")
			if len(rest) > 0 && rest[0] == '"' {
				return found, true
			}
		}
		at += max(n, 1)
	}
	return found, false
}

// scanObject reads one object from the start of data and returns how many bytes
// it, or its well-formed beginning, takes.
func scanObject(data []byte) (n int, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
	for {
		if _, err := dec.ReadToken(); err != nil {
			return int(dec.InputOffset()), err
		}
		if dec.StackDepth() == 0 {
			return int(dec.InputOffset()), nil
		}
	}
}

// isObject reports whether a text is one JSON object and nothing else.
func isObject(s string) bool {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "{") {
		return false
	}
	n, err := scanObject([]byte(s))
	return err == nil && n == len(s)
}

// unfenced returns a text without the code fence around the whole of it.
func unfenced(s string) string {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "```") {
		return s
	}
	s = strings.TrimLeft(s, "`")
	if k := strings.IndexAny(s, "\n{"); k >= 0 && !strings.ContainsAny(strings.TrimSpace(s[:k]), " `:") {
		s = s[k:]
	}
	return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(s), "`"))
}

// object reads the verdict of one object; ok is false if it has no field for
// one. All fields that say something must say the same.
func (m menu) object(text string, s span) (o object, ok bool) {
	o = object{start: s.start, end: s.end, text: text[s.start:s.end]}
	seen := map[string]bool{}
	var names []string
	t := tally{word: -1, marks: map[grade.Mark]bool{}, score: -1}
	for _, f := range fieldsOf(o.text) {
		key := keyOf(f.name)
		switch {
		case whyFields[key] && f.value.Kind() == '"' && o.said == "":
			o.said = f.text()
			continue
		case !m.speaks(key) || softFields[key] && !m.soft(f, &t):
			continue
		case seen[f.name]:
			o.no = faultf(grade.ReasonDuplicateKey, "the key "+quote(f.name)+" stands twice in the judge's JSON")
			return o, true
		}
		seen[f.name] = true
		names = append(names, quote(f.name))
		if no := m.field(f, key, &t); no != nil {
			o.no = no // and on: a key that stands twice is the worse fault
		}
	}
	if len(names) == 0 || o.no != nil {
		return o, len(names) > 0
	}
	o.how = "JSON field " + strings.Join(names, ", ")
	o.decide(m, t)
	if o.no == nil && m[o.choice].Mark == grade.Correct {
		o.no = m.doubted(o, t)
	}
	return o, true
}

// doubted returns a fault if a verdict that passes holds another one.
func (m menu) doubted(o object, t tally) *fault {
	other := t.deny
	if other == "" {
		other = m.contrary(o.said, o.choice)
	}
	if other == "" {
		other = m.inner(o.text, o.choice)
	}
	if other == "" {
		return nil
	}
	return faultf(ReasonAmbiguous, "the judge's JSON says "+quote(m[o.choice].Word)+" and "+quote(other))
}

// inner returns a field of an object within an object, at any depth, that says
// something else than choice i; "" if none does.
func (m menu) inner(text string, i int) string {
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true))
	name := ""
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return ""
		}
		kind, n := dec.StackIndex(dec.StackDepth())
		if kind == '{' && n%2 == 1 && tok.Kind() == '"' {
			name = strings.ToLower(tok.String())
			continue
		}
		if dec.StackDepth() < 2 || kind != '{' || !m.speaks(keyOf(name)) {
			continue
		}
		t, key, f := tally{word: -1, marks: map[grade.Mark]bool{}, score: -1}, keyOf(name), field{name: name}
		switch tok.Kind() {
		case '"':
			f.value, err = jsontext.AppendQuote(nil, tok.String())
		case 't', 'f', '0':
			f.value = jsontext.Value(tok.String())
		default:
			continue
		}
		if err != nil || softFields[key] && !m.soft(f, &t) && t.deny == "" || scoreFields[key] {
			continue
		}
		no := m.field(f, key, &t)
		if t.deny != "" || no == nil && (t.marks[grade.Incorrect] || t.marks[grade.Ungraded] || t.word >= 0 && t.word != i) {
			return name + ": " + f.text()
		}
	}
}

// decide settles on a choice. A score of its own accord decides where nothing
// else does; beside a word or a pass it must not contradict it.
func (o *object) decide(m menu, t tally) {
	word, score, marks := t.word, t.score, t.marks
	if score >= 0 {
		switch i := m.scored(score); {
		case i >= 0:
			marks[m[i].Mark] = true
			if word < 0 {
				word = i
			}
		case len(m) > 2 && len(marks) == 0:
			o.no = faultf(ReasonOffMenu, "the judge's score "+strconv.FormatFloat(score, 'g', -1, 64)+" is none that was offered")
			return
		case score < half:
			marks[grade.Incorrect] = true
		case score > half:
			marks[grade.Correct] = true
		case len(marks) == 0:
			o.no = faultf(ReasonOffMenu, "the judge's score of 0.5 is neither right nor wrong")
			return
		}
	}
	switch {
	case len(marks) > 1 && marks[grade.Incorrect] && m.worst() >= 0:
		o.choice, o.why = m.worst(), "the judge's reply contradicts itself, and so does not pass: "+quote(o.text)
	case len(marks) > 1:
		o.no = faultf(ReasonContradictory, "the judge's reply contradicts itself: "+quote(o.text))
	case word >= 0:
		o.choice = word
	case marks[grade.Correct]:
		o.choice = m.best()
	default:
		o.choice = m.worst()
	}
}

// withoutQuotes drops what stands word for word in the candidate, white space
// aside, unless the reply is nothing else: the judge quotes it. A whole reply is
// a quotation too if even the reasons in it are the candidate's. Only verdicts
// that pass, and those that are none, are dropped. Failing ones stay: to drop
// them would let an answer hide the judge's own.
func withoutQuotes(text, candidate string, objects []object, m menu) []object {
	if candidate == "" || len(objects) == 0 {
		return objects
	}
	candidate = squeeze(candidate)
	alone := isObject(unfenced(text))
	kept := objects[:0:0]
	for _, o := range objects {
		if (o.no != nil || m[o.choice].Mark == grade.Correct) && (!alone || len(o.said) >= minCopied) && strings.Contains(candidate, squeeze(o.text)) {
			continue
		}
		kept = append(kept, o)
	}
	return kept
}

// minCopied is how many bytes of reasons a judge does not write by chance as
// they stand in the candidate.
const minCopied = 8

// squeeze drops white space.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\t' {
			return -1
		}
		return r
	}, s)
}
