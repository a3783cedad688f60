package dataset

import (
	"fmt"
	"strings"
)

// checkChoices refuses a multiple-choice item whose targets are not among its
// choices: no answer could ever be right. What it lets through is what
// grade.Choice understands, so that nothing is refused for its spelling.
func (it *Item) checkChoices() error {
	if len(it.Choices) == 0 {
		return nil
	}
	if err := checkChoice(it.Target, it.Choices); err != nil {
		return err
	}
	for _, t := range it.Targets {
		if err := checkChoice(t, it.Choices); err != nil {
			return err
		}
	}
	return nil
}

// checkChoice accepts the letter of a choice (A is the first), several letters
// that are the answer together, or a choice's text.
func checkChoice(target string, choices []string) error {
	letter, text := letterOf(target, len(choices)), -1
	for i, c := range choices {
		if c == target {
			text = i
			break
		}
		if text < 0 && choiceKey(c) == choiceKey(target) {
			text = i
		}
	}
	switch {
	case letter >= 0 && text >= 0 && text != letter:
		return fmt.Errorf("%w, but twice: %s is the letter of choice %d (%s) and the text of choice %d, so that it cannot be told which is meant",
			ErrTarget, quote(target), letter+1, quote(choices[letter]), text+1)
	case letter >= 0, text >= 0, severalLetters(target, len(choices)):
		return nil
	}
	return fmt.Errorf("%w: %s is neither the text of one of the %s nor a letter %s; correct it with an override, or map the column that holds the answer",
		ErrTarget, quote(target), count(len(choices), "choice"), letters(len(choices)))
}

// letterOf returns the place of a letter among n choices, or -1.
func letterOf(s string, n int) int {
	if len(s) != 1 {
		return -1
	}
	if i := int(s[0]|0x20) - 'a'; i >= 0 && i < min(n, 26) {
		return i
	}
	return -1
}

// severalLetters reports whether s is a list of different letters of n
// choices: "(B)", "A,B", "A and C", ["A","B"], AB.
func severalLetters(s string, n int) bool {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" ,;&/+[]()\"'", r) })
	joined := len(words) == 1 && strings.ToUpper(words[0]) == words[0]
	if joined {
		words = strings.Split(words[0], "")
	}
	var seen uint32
	for i, w := range words {
		if w == "and" && i > 0 && i < len(words)-1 {
			continue
		}
		at := letterOf(w, n)
		// Joined letters must be in order: BAD is a word, ABD an answer.
		if at < 0 || seen>>at&1 != 0 || joined && seen>>at != 0 {
			return false
		}
		seen |= 1 << at
	}
	return seen != 0
}

// choiceKey is a choice's text as people vary it: case, white space, and a
// label such as "B) " or "b. " before it.
func choiceKey(s string) string {
	s = strings.ToLower(strings.Join(strings.Fields(s), " "))
	label := strings.TrimPrefix(s, "(")
	if len(label) > 2 && label[0] >= 'a' && label[0] <= 'z' && strings.ContainsRune(").:", rune(label[1])) && label[2] == ' ' {
		return label[3:]
	}
	return s
}

func letters(n int) string {
	if n == 1 {
		return "A"
	}
	return "A to " + string(rune('A'+min(n, 26)-1))
}
