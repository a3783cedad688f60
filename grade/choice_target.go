package grade

import (
	"fmt"
	"strings"

	"github.com/goevals/evals/dataset"
)

// choiceOptions are the options of one item.
type choiceOptions struct {
	n       int
	texts   []optionText // empty if unknown
	longest int          // the length beyond which nothing is an option's text
	input   string       // the question
	// asksWrong: the question asks for what is wrong, or says not.
	asksWrong bool
}

func (g choiceGrader) options(item dataset.Item) (choiceOptions, error) {
	refuse := func(reason string) (choiceOptions, error) {
		return choiceOptions{}, &TargetError{g.Name(), item.ID, item.Target, reason}
	}
	n := len(item.Choices)
	switch {
	case n == 0 && g.count == 0:
		return refuse("the item has no choices: fill Choices, or say how many there are with ChoiceCount")
	case n == 0:
		return choiceOptions{n: g.count}, nil
	case n == 1:
		return refuse("the item has one choice: give at least two")
	case n > maxChoices:
		return refuse(fmt.Sprintf("the item has %d choices: there are letters for %d", n, maxChoices))
	}
	opts := choiceOptions{n: n, texts: make([]optionText, n)}
	labelled := true
	for i, c := range item.Choices {
		m := label.FindStringSubmatch(c)
		labelled = labelled && m != nil && m[1] == string(rune('A'+i)) && len(m[0]) < len(c)
	}
	for i, c := range item.Choices {
		if labelled {
			c = c[len(label.FindString(c)):] // "A) Paris", "B) London", …
		}
		opts.texts[i] = newOptionText(c)
		opts.longest = max(opts.longest, 4*len(c)+64)
	}
	return opts, nil
}

// targets reads the accepted answers.
func (o choiceOptions) targets(item dataset.Item) ([]choiceSet, error) {
	var sets []choiceSet
	for _, t := range accepted(item) {
		set, problem := o.target(t)
		if problem != "" {
			return nil, &TargetError{"choice", item.ID, t, problem}
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// target reads one: an option's text, a letter, or several letters.
func (o choiceOptions) target(t string) (choiceSet, string) {
	byText := o.withText(t)
	if m := label.FindStringSubmatch(t); byText == 0 && m != nil && len(m[0]) < len(t) {
		byText = o.withText(t[len(m[0]):]) // "B) Paris"
		if i, ok := o.index(m[1]); byText != 0 && (!ok || byText != 1<<i) {
			return 0, "it has the label of one option and the text of another"
		}
	}
	byLetter := o.letters(unwrap(t))
	switch {
	case byText.size() > 1:
		return 0, "several options have this text: give the letter"
	case byText != 0 && byLetter.size() == 1 && byText != byLetter:
		return 0, fmt.Sprintf("it is the letter of option %s and the text of option %s", byLetter, byText)
	case byText != 0:
		return byText, ""
	case byLetter != 0:
		return byLetter, ""
	}
	last := string(rune('A' + o.n - 1))
	if len(o.texts) == 0 {
		return 0, "it is no letter from A to " + last
	}
	return 0, fmt.Sprintf("it is none of the %d options: give a letter from A to %s or an option's text", o.n, last)
}

// letters reads a target that is a letter, or a list of them: A, "A,B",
// "A and B", ["A","B"], AB.
func (o choiceOptions) letters(t string) choiceSet {
	words := strings.FieldsFunc(t, func(r rune) bool { return strings.ContainsRune(" ,;&/+[]()\"'", r) })
	if len(words) == 1 && len(words[0]) > 1 {
		words = strings.Split(words[0], "") // AB
		for i := 1; i < len(words); i++ {
			if words[i] <= words[i-1] {
				return 0
			}
		}
		if words[0] < "A" || words[0] > "Z" {
			return 0
		}
	}
	var set choiceSet
	for _, w := range words {
		if w == "and" && len(words) > 2 {
			continue
		}
		i, ok := o.index(w)
		if !ok {
			return 0
		}
		set |= 1 << i
	}
	return set
}

// index returns the place of a letter among the options.
func (o choiceOptions) index(letter string) (int, bool) {
	if len(letter) != 1 {
		return 0, false
	}
	i := int(letter[0]|0x20) - 'a'
	return i, i >= 0 && i < o.n
}
