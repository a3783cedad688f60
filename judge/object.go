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

// A field is one field of an object, as it stood.
type field struct {
	name  string // in lower case
	value jsontext.Value
}

// What a field may say. Names are compared whatever their case.
var (
	wordFields  = map[string]bool{"verdict": true, "grade": true, "decision": true, "judgement": true, "judgment": true, "choice": true}
	passFields  = map[string]bool{"pass": true, "passed": true, "correct": true, "is_correct": true}
	scoreFields = map[string]bool{"score": true}
	whyFields   = map[string]bool{"reasoning": true, "reason": true, "explanation": true, "rationale": true}
)

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

// fieldsOf returns the fields of a well-formed object, duplicates included.
func fieldsOf(text string) []field {
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil
	}
	var fields []field
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil
		}
		key := strings.ToLower(name.String())
		value, err := dec.ReadValue()
		if err != nil {
			return nil
		}
		fields = append(fields, field{key, value.Clone()})
	}
	return fields
}

func (f field) text() string {
	b, err := jsontext.AppendUnquote(nil, f.value)
	if f.value.Kind() != '"' || err != nil {
		return string(f.value)
	}
	return string(b)
}

// object reads the verdict of one object; ok is false if it has no field for
// one. All fields that say something must say the same.
func (m menu) object(text string, s span) (o object, ok bool) {
	o = object{start: s.start, end: s.end, text: text[s.start:s.end]}
	seen := map[string]bool{}
	var names []string
	word, marks := -1, map[grade.Mark]bool{}
	score := -1.0
	for _, f := range fieldsOf(o.text) {
		switch {
		case whyFields[f.name] && f.value.Kind() == '"' && o.said == "":
			o.said = f.text()
			continue
		case !wordFields[f.name] && !(m.decides() && (passFields[f.name] || scoreFields[f.name])):
			continue
		case seen[f.name]:
			o.no = faultf(grade.ReasonDuplicateKey, "the key "+quote(f.name)+" stands twice in the judge's JSON")
			return o, true
		}
		seen[f.name] = true
		names = append(names, quote(f.name))
		mark, no := m.field(f, &word, &score)
		if no != nil {
			o.no = no
			continue // a key that stands twice is the worse fault
		}
		if mark != "" {
			marks[mark] = true
		}
	}
	if len(names) == 0 || o.no != nil {
		return o, len(names) > 0
	}
	o.how = "JSON field " + strings.Join(names, ", ")
	o.decide(m, word, score, marks)
	return o, true
}

// field reads one field for a verdict: its word or score is noted, its mark, if
// it has one by itself, returned.
func (m menu) field(f field, word *int, score *float64) (grade.Mark, *fault) {
	offMenu := func(want string) *fault {
		return faultf(ReasonOffMenu, "the judge's field "+quote(f.name)+" is "+quote(f.text())+", not "+want)
	}
	switch {
	case wordFields[f.name]:
		i, ok := -1, false
		if f.value.Kind() == '"' {
			i, ok = m.word(f.text())
		}
		if !ok {
			return "", offMenu(m.words())
		}
		if *word >= 0 && *word != i && m[i].Mark == m[*word].Mark {
			return "", faultf(ReasonAmbiguous, "two fields of the judge's JSON name different verdicts")
		}
		*word = i
		return m[i].Mark, nil
	case passFields[f.name]:
		switch lowerASCII(f.text()) {
		case "true":
			return grade.Correct, nil
		case "false":
			return grade.Incorrect, nil
		}
		return "", offMenu("true or false")
	}
	x, err := strconv.ParseFloat(string(f.value), 64)
	if f.value.Kind() != '0' || err != nil || x < 0 || x > 1 {
		return "", offMenu("a number of 0..1")
	}
	*score = x
	return "", nil
}

// decide settles on a choice. A score of its own accord decides where nothing
// else does; beside a word or a pass it must not contradict it.
func (o *object) decide(m menu, word int, score float64, marks map[grade.Mark]bool) {
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

// withoutQuotes drops what stands word for word in the candidate, unless the
// reply is nothing else: the judge quotes it. Only verdicts that pass, and those
// that are none, are dropped. Failing ones stay: to drop them would let an
// answer hide the judge's own.
func withoutQuotes(text, candidate string, objects []object, m menu) []object {
	if candidate == "" || len(objects) == 0 || isObject(unfenced(text)) {
		return objects
	}
	kept := objects[:0:0]
	for _, o := range objects {
		if (o.no != nil || m[o.choice].Mark == grade.Correct) && strings.Contains(candidate, o.text) {
			continue
		}
		kept = append(kept, o)
	}
	return kept
}
