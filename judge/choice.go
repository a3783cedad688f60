package judge

import (
	"fmt"
	"math"
	"strings"

	"github.com/goevals/evals/grade"
)

// A Choice is a verdict that a judge is offered.
type Choice struct {
	// Word is what the judge writes: printable ASCII without blanks at its ends.
	// Case does not matter when it is read.
	Word string
	// Also are other spellings of Word that are legal in a reply.
	Also []string
	// Means explains the word to the judge: "the answer is correct".
	Means string
	// Mark is what the verdict is: grade.Correct, grade.Incorrect, or
	// grade.Ungraded for a judge that may say that it cannot tell.
	Mark grade.Mark
	// Score lies in 0..1: above 0 for Correct, 0 for Ungraded. Incorrect with
	// a score above 0 is partial credit.
	Score float64
}

// Verdicts returns the choices that a judge offers unless told otherwise: C for
// correct, with a score of 1, and I for incorrect, with 0.
func Verdicts() []Choice {
	return []Choice{
		{Word: "C", Also: []string{"correct"}, Means: "the answer is correct", Mark: grade.Correct, Score: 1},
		{Word: "I", Also: []string{"incorrect"}, Means: "the answer is incorrect", Mark: grade.Incorrect},
	}
}

// A menu is what was offered, checked.
type menu []Choice

// newMenu panics on choices that cannot be meant, naming who asked for them.
func newMenu(who string, offered []Choice) menu {
	if len(offered) == 0 {
		return Verdicts()
	}
	if len(offered) < 2 {
		panic(fmt.Sprintf("judge: %s: %d choice; offer at least two", who, len(offered)))
	}
	seen := map[string]bool{}
	for _, c := range offered {
		if err := c.check(); err != "" {
			panic(fmt.Sprintf("judge: %s: choice %q: %s", who, c.Word, err))
		}
		for _, w := range append([]string{c.Word}, c.Also...) {
			key := strings.ToLower(w)
			if !isWord(w) {
				panic(fmt.Sprintf("judge: %s: choice %q: %q is no word; write printable ASCII that begins and ends with a letter or digit", who, c.Word, w))
			}
			if seen[key] {
				panic(fmt.Sprintf("judge: %s: %q stands twice: a reply could mean either", who, w))
			}
			seen[key] = true
		}
	}
	return append(menu(nil), offered...)
}

func (c Choice) check() string {
	switch {
	case c.Mark != grade.Correct && c.Mark != grade.Incorrect && c.Mark != grade.Ungraded:
		return fmt.Sprintf("its mark is %q; give grade.Correct, grade.Incorrect or grade.Ungraded", c.Mark)
	case math.IsNaN(c.Score) || c.Score < 0 || c.Score > 1:
		return fmt.Sprintf("its score %v lies outside of 0..1", c.Score)
	case c.Mark == grade.Correct && c.Score == 0:
		return "it is correct with a score of 0; give a score above 0"
	case c.Mark == grade.Ungraded && c.Score != 0:
		return fmt.Sprintf("it is ungraded with a score of %v; leave the score 0", c.Score)
	}
	return ""
}

// meaning explains the word: Means, or its mark in words.
func (c Choice) meaning() string {
	if c.Means != "" {
		return c.Means
	}
	return "the answer is " + string(c.Mark)
}

// isWord reports what wrapping cannot change: printable ASCII from a letter or
// digit to another.
func isWord(w string) bool {
	for i := range len(w) {
		if w[i] < ' ' || w[i] > '~' {
			return false
		}
	}
	return w != "" && isAlnum(w[0]) && isAlnum(w[len(w)-1])
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// find returns the index of the choice that is called w, whatever its case.
func (m menu) find(w string) (int, bool) {
	w = lowerASCII(w)
	for i, c := range m {
		if w == lowerASCII(c.Word) {
			return i, true
		}
		for _, also := range c.Also {
			if w == lowerASCII(also) {
				return i, true
			}
		}
	}
	return -1, false
}

// lowerASCII lowers ASCII letters only: a letter of another script that folds
// to one of these is another letter.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// words lists the offered words for a person or a model: C or I.
func (m menu) words() string {
	var b strings.Builder
	for i, c := range m {
		switch {
		case i > 0 && i == len(m)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(c.Word)
	}
	return b.String()
}

// decides reports whether the menu has both a verdict that passes and one that
// does not, so that true and false, and scores, say something.
func (m menu) decides() bool { return m.best() >= 0 && m.worst() >= 0 }

// best is the index of the passing choice with the highest score; -1 if none.
func (m menu) best() int {
	at := -1
	for i, c := range m {
		if c.Mark == grade.Correct && (at < 0 || c.Score > m[at].Score) {
			at = i
		}
	}
	return at
}

// worst is the index of the failing choice with the lowest score; -1 if none.
func (m menu) worst() int {
	at := -1
	for i, c := range m {
		if c.Mark == grade.Incorrect && (at < 0 || c.Score < m[at].Score) {
			at = i
		}
	}
	return at
}

// scored is the index of the choice that has exactly this score; -1 if none
// has, or several have.
func (m menu) scored(score float64) int {
	at := -1
	for i, c := range m {
		if c.Mark != grade.Ungraded && c.Score == score {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}
