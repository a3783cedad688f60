package judge

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goevals/evals/grade"
)

// A field is one field of an object, as it stood.
type field struct {
	name  string // in lower case
	value jsontext.Value
}

// What a field may say, by its key.
var (
	wordFields = map[string]bool{"verdict": true, "grade": true, "decision": true, "judgement": true, "judgment": true, "choice": true}
	// softFields are names that data has too. They speak of the verdict where
	// they hold an offered word, and against it where they deny it.
	softFields  = map[string]bool{"result": true, "label": true, "outcome": true}
	passFields  = map[string]bool{"pass": true, "passed": true, "correct": true, "iscorrect": true}
	failFields  = map[string]bool{"fail": true, "failed": true, "incorrect": true, "isincorrect": true}
	scoreFields = map[string]bool{"score": true}
	whyFields   = map[string]bool{"reasoning": true, "reason": true, "explanation": true, "rationale": true}
)

var keySpace = strings.NewReplacer("_", "", "-", "", " ", "")

// keyOf is a field's name without what tells no two of them apart: case, blanks
// and hyphens, and "final" before it.
func keyOf(name string) string {
	key := keySpace.Replace(name)
	for _, prefix := range []string{"final", "overall"} {
		if rest, ok := strings.CutPrefix(key, prefix); ok && rest != "" {
			return rest
		}
	}
	return key
}

// speaks reports whether a field of this key has something to say to a menu.
func (m menu) speaks(key string) bool {
	return wordFields[key] || softFields[key] || m.decides() && (passFields[key] || failFields[key] || scoreFields[key])
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

// A tally is what the fields of an object have said so far.
type tally struct {
	word  int // index of the choice that was named; -1 if none
	marks map[grade.Mark]bool
	score float64 // -1 if there is none
	deny  string  // a soft field that denies what the others say
}

// soft reports whether a soft field names a choice.
func (m menu) soft(f field, t *tally) bool {
	if f.value.Kind() == '"' {
		if _, ok := m.word(f.text()); ok {
			return true
		}
	}
	if m.decides() && denial.MatchString(f.text()) {
		t.deny = f.name + ": " + f.text()
	}
	return false
}

// field reads one field for a verdict.
func (m menu) field(f field, key string, t *tally) *fault {
	offMenu := func(want string) *fault {
		return faultf(ReasonOffMenu, "the judge's field "+quote(f.name)+" is "+quote(f.text())+", not "+want)
	}
	kind := f.value.Kind()
	switch {
	case (wordFields[key] || softFields[key]) && kind == '"':
		i, ok := m.word(f.text())
		if !ok {
			return offMenu(m.words())
		}
		if t.word >= 0 && t.word != i && m[i].Mark == m[t.word].Mark {
			return faultf(ReasonAmbiguous, "two fields of the judge's JSON name different verdicts")
		}
		t.word = i
		t.marks[m[i].Mark] = true
	case wordFields[key] && !(m.decides() && (kind == 't' || kind == 'f')):
		return offMenu(m.words())
	case wordFields[key], passFields[key], failFields[key]:
		says := lowerASCII(f.text())
		if says != "true" && says != "false" {
			return offMenu("true or false")
		}
		mark := grade.Incorrect
		if (says == "true") != failFields[key] {
			mark = grade.Correct
		}
		t.marks[mark] = true
	default:
		x, err := strconv.ParseFloat(string(f.value), 64)
		if kind != '0' || err != nil || x < 0 || x > 1 {
			return offMenu("a number of 0..1")
		}
		t.score = x
	}
	return nil
}
