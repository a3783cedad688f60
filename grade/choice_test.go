package grade_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// A choiceRow is one reply. want is the letters that must be right, "none" or
// "ambiguous".
type choiceRow struct {
	name, reason string
	n            int      // how many options there are
	texts        []string // or the options themselves
	reply        string
	want         string
}

var (
	cities = []string{"London", "Paris", "Rome", "Berlin"}
	zips   = []string{"94107", "94106"}
	withNo = []string{"Paris", "London", "Rome", "None of the above"}
)

var choiceRows = []choiceRow{
	// Wrappers.
	{name: "dollars", reason: "the prompt's $LETTER is copied", n: 4, reply: "Both others fail the unit check.\nANSWER: $B$", want: "B"},
	{name: "bold", reason: "Markdown", n: 4, reply: "ANSWER: **B**", want: "B"},
	{name: "bold line", reason: "Markdown around marker and letter", n: 4, reply: "**ANSWER: (B)**", want: "B"},
	{name: "latex inline", reason: "math brackets", n: 4, reply: `ANSWER: \(B\)`, want: "B"},
	{name: "latex display", reason: "math brackets", n: 4, reply: `ANSWER: \[B\]`, want: "B"},
	{name: "backticks", reason: "code", n: 4, reply: "ANSWER: `B`", want: "B"},
	{name: "double quotes", reason: "quoted", n: 4, reply: `ANSWER: "B"`, want: "B"},
	{name: "single quotes", reason: "quoted", n: 4, reply: `ANSWER: 'B'.`, want: "B"},
	{name: "curly quotes", reason: "quoted", n: 4, reply: `ANSWER: “B”`, want: "B"},
	{name: "boxed", reason: "LaTeX", n: 4, reply: `So we get \boxed{B}.`, want: "B"},
	{name: "boxed text", reason: "LaTeX", n: 4, reply: `$$\boxed{\text{B}}$$`, want: "B"},
	{name: "boxed brackets", reason: "LaTeX", n: 4, reply: `\boxed{\textbf{(B)}}`, want: "B"},
	{name: "boxed label and text", reason: "LaTeX", texts: cities, reply: `\boxed{\text{B) Paris}}`, want: "B"},
	{name: "mathrm", reason: "LaTeX", n: 4, reply: `The answer is $\mathrm{B}$.`, want: "B"},
	{name: "bold marker", reason: "the colon inside of the emphasis", n: 4, reply: "**Answer:** B", want: "B"},
	{name: "italic", reason: "Markdown", n: 4, reply: "*Answer*: _B_", want: "B"},
	{name: "html", reason: "tags", n: 4, reply: "Answer: <b>B</b>", want: "B"},
	{name: "answer tag", reason: "XML", n: 4, reply: "<answer>B</answer>", want: "B"},
	{name: "answer tag with text", reason: "XML", texts: cities, reply: "<answer>\n(B) Paris\n</answer>", want: "B"},
	{name: "hashes", reason: "GSM8K's marker", n: 4, reply: "Because it moves.\n#### B", want: "B"},
	{name: "json field", reason: "structured", n: 4, reply: `{"reason": "A is too small", "answer": "B"}`, want: "B"},
	{name: "full width", reason: "Chinese typography", n: 4, reply: "答案：Ｂ", want: "B"},
	{name: "heading", reason: "marker on its own line", n: 4, reply: "It moves.\n\n## Answer\n\nB", want: "B"},
	{name: "double brackets", reason: "nested wrappers", n: 4, reply: "ANSWER: **(B)**.", want: "B"},

	// Markers.
	{name: "german twice", reason: "the next marker's first letter is no answer", n: 4, reply: "Antwort:\n\nAntwort: C", want: "C"},
	{name: "german inline", reason: "the same on one line", n: 4, reply: "Antwort: Antwort: C", want: "C"},
	{name: "spanish", reason: "language", n: 4, reply: "Respuesta: C", want: "C"},
	{name: "french", reason: "language", n: 4, reply: "La réponse est C.", want: "C"},
	{name: "russian", reason: "language", n: 4, reply: "Ответ: C", want: "C"},
	{name: "chinese glued", reason: "no spaces", n: 4, reply: "所以答案是B。", want: "B"},
	{name: "japanese", reason: "no spaces", n: 4, reply: "答えはBです。", want: "B"},
	{name: "korean", reason: "a particle follows", n: 4, reply: "정답은 B입니다.", want: "B"},
	{name: "portuguese", reason: "language", n: 4, reply: "Resposta: **D**", want: "D"},
	{name: "last marker", reason: "earlier ones are withdrawn", n: 4, reply: "ANSWER: A\nHmm, actually, ANSWER: B", want: "B"},
	{name: "final answer", reason: "marker", n: 4, reply: "A looks right at first.\nFinal answer: D", want: "D"},
	{name: "correct option", reason: "marker", n: 4, reply: "The correct option is (C).", want: "C"},
	{name: "correct choice colon", reason: "marker", n: 4, reply: "**Correct choice:** C", want: "C"},
	{name: "answer without is", reason: "marker", n: 4, reply: "Answer C", want: "C"},
	{name: "because", reason: "an explanation with an article follows", n: 4, reply: "The answer is B because a car moves.", want: "B"},
	{name: "A because", reason: "A is a letter before an explanation", n: 4, reply: "The answer is A because a car moves.", want: "A"},
	{name: "A is correct", reason: "the letter is called right", n: 4, reply: "ANSWER: A is correct", want: "A"},
	{name: "comma explanation", reason: "an article follows", n: 4, reply: "ANSWER: B, a safe choice", want: "B"},
	{name: "option word", reason: "filler", n: 4, reply: "The answer is option D.", want: "D"},
	{name: "most likely", reason: "filler", n: 4, reply: "The answer is most likely D.", want: "D"},
	{name: "lower after marker", reason: "anchored", n: 4, reply: "answer: d", want: "D"},
	{name: "lower with text", reason: "anchored", n: 4, reply: "The answer is b) 4", want: "B"},
	{name: "cut tail", reason: "an invented next question does not count", n: 4, reply: "ANSWER: B\n\nQuestion: What next?\nA) x\nANSWER: C", want: "B"},
	{name: "think", reason: "reasoning is no answer", n: 4, reply: "<think>ANSWER: A</think>ANSWER: B", want: "B"},

	// No letter at all.
	{name: "don't know", reason: "letters inside of words", n: 4, reply: "ANSWER: Don't know", want: "none"},
	{name: "none of the above", reason: "letters inside of words", n: 4, reply: "ANSWER: None of the above", want: "none"},
	{name: "none is an option", reason: "an option has this text", texts: withNo, reply: "ANSWER: None of the above", want: "D"},
	{name: "cannot be determined", reason: "words", n: 4, reply: "ANSWER: Cannot be determined", want: "none"},
	{name: "article", reason: "A is an article", n: 10, reply: "A perfect answer cannot be found.", want: "none"},
	{name: "article after marker", reason: "A is an article", n: 4, reply: "ANSWER: A car moves", want: "none"},
	{name: "small article", reason: "a is an article", n: 4, reply: "The answer is a matter of taste.", want: "none"},
	{name: "pronoun", reason: "I is a pronoun", n: 10, reply: "ANSWER: I do not know", want: "none"},
	{name: "I think", reason: "I is a pronoun", n: 10, reply: "I think we cannot tell.", want: "none"},
	{name: "beyond", reason: "there are four options", n: 4, reply: "ANSWER: E", want: "none"},
	{name: "beyond boxed", reason: "there are four options", n: 4, reply: `\boxed{F}`, want: "none"},
	{name: "non-ASCII neighbour", reason: "a letter inside of a word", n: 4, reply: "ANSWER: Bär", want: "none"},
	{name: "accent", reason: "another letter", n: 4, reply: "ANSWER: Á", want: "none"},
	{name: "combining accent", reason: "another letter in two runes", n: 4, reply: "ANSWER: A\u0301", want: "none"},
	{name: "cyrillic neighbour", reason: "a letter inside of a word", n: 4, reply: "ANSWER: Bж", want: "none"},
	{name: "hyphen", reason: "a letter inside of a word", n: 4, reply: "ANSWER: A-levels", want: "none"},
	{name: "apostrophe", reason: "a letter inside of a word", n: 4, reply: "ANSWER: D'oh", want: "none"},
	{name: "C++", reason: "a name", n: 4, reply: "ANSWER: C++", want: "none"},
	{name: "formula", reason: "a formula", n: 4, reply: "The answer is A + 3.", want: "none"},
	{name: "equation", reason: "a formula", n: 4, reply: "The answer is C = 12 cm", want: "none"},
	{name: "vitamin", reason: "a name", n: 4, reply: "The answer is B vitamins.", want: "none"},
	{name: "words only", reason: "nothing to read", n: 4, reply: "The cat sat on the mat.", want: "none"},
	{name: "last marker without letter", reason: "the final answer counts, not one before", n: 4, reply: "ANSWER: A\nFinal answer: something else", want: "none"},
	{name: "negated", reason: "B is excluded, nothing is chosen", n: 4, reply: "The answer is not B.", want: "none"},
	{name: "negated short", reason: "B is excluded, nothing is chosen", n: 4, reply: "not B", want: "none"},
	{name: "negated after marker", reason: "B is excluded", n: 4, reply: "ANSWER: not B", want: "none"},
	{name: "wrong", reason: "A is called wrong", n: 4, reply: "A is wrong.", want: "none"},
	{name: "wrong after marker", reason: "A is called wrong", n: 4, reply: "ANSWER: A is wrong", want: "none"},
	{name: "not picked", reason: "the phrase is denied", n: 4, reply: "I would not pick B.", want: "none"},
	{name: "doubted", reason: "the clause is denied", n: 4, reply: "I do not think B is correct.", want: "none"},
	{name: "condition", reason: "the clause is a condition", n: 4, reply: "If B is correct then pigs fly.", want: "none"},
	{name: "others pick", reason: "not the model's choice", n: 4, reply: "Many people choose B here.", want: "none"},
	{name: "condition phrase", reason: "the clause is a condition", n: 4, reply: "If I choose B, it fails.", want: "none"},
	{name: "open question", reason: "the clause is open", n: 4, reply: "I doubt whether it is B.", want: "none"},
	{name: "pronoun after so", reason: "I is a pronoun", n: 10, reply: "We cannot tell, so I, for one, give up.", want: "none"},
	{name: "article before a preposition", reason: "A is an article or worse", n: 4, reply: "ANSWER: A with a hat", want: "none"},
	{name: "second box without letter", reason: "the last box counts", n: 4, reply: `\boxed{A}, no: \boxed{12}`, want: "none"},
	{name: "struck out", reason: "withdrawn", n: 4, reply: "ANSWER: ~~A~~ B", want: "B"},
	{name: "options echoed", reason: "a list of the options chooses none", texts: cities, reply: "A) London\nB) Paris\nC) Rome\nD) Berlin", want: "none or ambiguous"},

	// The whole reply and lines of their own.
	{name: "small letter alone", reason: "the whole reply", n: 4, reply: "d", want: "D"},
	{name: "letter with stop", reason: "the whole reply", n: 4, reply: "B.", want: "B"},
	{name: "letter in brackets", reason: "the whole reply", n: 4, reply: "(c)", want: "C"},
	{name: "bold letter", reason: "the whole reply", n: 4, reply: "**A**", want: "A"},
	{name: "label", reason: "a label's shape", n: 4, reply: "b. 4", want: "B"},
	{name: "label bracket", reason: "a label's shape", n: 4, reply: "b) 4", want: "B"},
	{name: "label a", reason: "a label's shape", n: 4, reply: "a) 4", want: "A"},
	{name: "label colon", reason: "a label's shape", texts: cities, reply: "B: Paris", want: "B"},
	{name: "label A colon", reason: "A: is a label here", texts: cities, reply: "A: London", want: "A"},
	{name: "q and a", reason: "A: is a marker here", n: 4, reply: "A: B", want: "B"},
	{name: "last line", reason: "a letter on its own line", n: 4, reply: "Two of them fail.\nThe first is too small.\n\nB", want: "B"},
	{name: "last line bold", reason: "a letter on its own line", n: 4, reply: "Two of them fail.\n\n**B**", want: "B"},
	{name: "first line", reason: "a letter on its own line", n: 4, reply: "B\n\nThe others are too small.", want: "B"},
	{name: "first line label", reason: "a labelled line, then prose", texts: cities, reply: "B) Paris\n\nParis is the capital of France.", want: "B"},
	{name: "echo then letter", reason: "the letter alone chooses", texts: cities, reply: "A) London\nB) Paris\nC) Rome\nD) Berlin\n\nB", want: "B"},
	{name: "initial", reason: "a name, not a label", texts: cities, reply: "A. Smith wrote it.", want: "none"},
	{name: "dash", reason: "a letter and its explanation", n: 4, reply: "B - it moves", want: "B"},

	// Phrases.
	{name: "lean", reason: "the choice is stated, prose follows", n: 10, reply: "I lean to option F. A perfect answer cannot be found. Dogs differ.", want: "F"},
	{name: "lean plain", reason: "the choice is stated, prose follows", n: 10, reply: "I lean to F. A perfect answer cannot be found. Dogs differ.", want: "F"},
	{name: "would pick", reason: "an article follows the dash", n: 4, reply: "I would pick B — a safe choice.", want: "B"},
	{name: "go with", reason: "phrase", n: 4, reply: "I'll go with C.", want: "C"},
	{name: "going with", reason: "phrase", n: 4, reply: "Going with (C).", want: "C"},
	{name: "choose small", reason: "anchored", n: 4, reply: "I'd choose d.", want: "D"},
	{name: "is correct", reason: "phrase", n: 4, reply: "Option C is correct.", want: "C"},
	{name: "is the best answer", reason: "phrase", n: 4, reply: "(C) is the best answer here.", want: "C"},
	{name: "excluded then so", reason: "a conclusion", n: 4, reply: "A is wrong, so B.", want: "B"},
	{name: "excluded then so it is", reason: "a conclusion", n: 4, reply: "A is too small and C is too big, so it is B.", want: "B"},
	{name: "not but", reason: "A is excluded, B is stated", n: 4, reply: "The answer is not A but B.", want: "B"},
	{name: "it is", reason: "phrase", n: 4, reply: "It's D.", want: "D"},
	{name: "chinese phrase", reason: "no spaces", n: 4, reply: "我选B", want: "B"},
	{name: "chinese options", reason: "one is called wrong", n: 4, reply: "选项A错误，选项B正确。", want: "B"},
	{name: "wrong then right", reason: "only one is called right", n: 4, reply: "A is incorrect. B is correct.", want: "B"},
	{name: "correction", reason: "the first is taken back", n: 4, reply: "ANSWER: A. No wait, B.", want: "B"},
	{name: "correction phrase", reason: "the first is taken back", n: 4, reply: "I pick A. Actually, C.", want: "C"},
	{name: "matches option", reason: "phrase", n: 4, reply: "The result is 12, which matches option C.", want: "C"},

	// Several.
	{name: "capitals", reason: "AB is not A", n: 4, reply: "ANSWER: AB", want: "ambiguous"},
	{name: "hedge either", reason: "two options", n: 4, reply: "Either A or B would do.", want: "ambiguous"},
	{name: "hedge or", reason: "two options", n: 4, reply: "The answer is C or D", want: "ambiguous"},
	{name: "hedge slash", reason: "two options", n: 4, reply: "ANSWER: A/B", want: "ambiguous"},
	{name: "hedge brackets", reason: "two options", n: 4, reply: "ANSWER: (A) or (B)", want: "ambiguous"},
	{name: "hedge maybe", reason: "two options", n: 4, reply: "ANSWER: A, or maybe B", want: "ambiguous"},
	{name: "hedge question", reason: "two options", n: 4, reply: "Is it A or B?", want: "ambiguous"},
	{name: "hedge between", reason: "two options", n: 4, reply: "The answer is between A and B", want: "ambiguous"},
	{name: "hedge texts", reason: "two options by text", texts: zips, reply: "It is 94106 or 94107", want: "ambiguous"},
	{name: "hedge texts free", reason: "two options by text", texts: cities, reply: "Paris and London are both fine cities.", want: "ambiguous"},
	{name: "and", reason: "the item wants one", n: 4, reply: "ANSWER: A and B", want: "ambiguous"},
	{name: "contradiction", reason: "B is Paris", texts: cities, reply: "ANSWER: B) London", want: "ambiguous"},
	{name: "contradiction colon", reason: "A is London", texts: cities, reply: "A: Paris", want: "ambiguous"},
	{name: "contradiction brackets", reason: "B is Paris", texts: cities, reply: "ANSWER: London (B)", want: "ambiguous"},
	{name: "contradiction sentence", reason: "B is Paris", texts: cities, reply: "The answer is B, London.", want: "ambiguous"},
	{name: "two phrases", reason: "neither is taken back", n: 4, reply: "I pick A because it moves. B is correct.", want: "ambiguous"},
	{name: "after the marker", reason: "the marker's answer is contradicted", n: 4, reply: "ANSWER: A\nOn the whole I think B is correct.", want: "ambiguous"},
	{name: "two lines", reason: "the item wants one", n: 4, reply: "Answer:\nA\nB", want: "ambiguous"},

	// Texts.
	{name: "text after marker", reason: "the text of one option", texts: cities, reply: "ANSWER: Paris", want: "B"},
	{name: "text sentence", reason: "the text of one option", texts: cities, reply: "The answer is Paris, because it is the capital.", want: "B"},
	{name: "text alone", reason: "the whole reply", texts: zips, reply: "94106", want: "B"},
	{name: "text bold", reason: "the whole reply", texts: cities, reply: "**paris.**", want: "B"},
	{name: "text in it is", reason: "phrase", texts: zips, reply: "It is 94106.", want: "B"},
	{name: "letter and text", reason: "both say B", texts: cities, reply: "ANSWER: B) Paris", want: "B"},
	{name: "letter and text without label", reason: "both say B", texts: cities, reply: "ANSWER: B Paris", want: "B"},
	{name: "text and letter", reason: "both say B", texts: cities, reply: "ANSWER: Paris (B)", want: "B"},
	{name: "text of a sentence", reason: "an option that is a sentence", texts: []string{"It moves.", "A car moves."}, reply: "ANSWER: A car moves.", want: "B"},
	{name: "both as option", reason: "an option's text names letters", texts: []string{"x", "y", "Both A and B", "Neither"}, reply: "ANSWER: Both A and B", want: "C"},
	{name: "unknown text", reason: "no option's text", texts: cities, reply: "ANSWER: Madrid", want: "none"},
	{name: "part of a text", reason: "not the whole text", texts: []string{"New York", "York"}, reply: "ANSWER: York", want: "B"},
	{name: "labelled options", reason: "the labels are no part of the texts", texts: []string{"A) London", "B) Paris"}, reply: "ANSWER: Paris", want: "B"},
	{name: "same text twice", reason: "the text does not tell which", texts: []string{"x", "x"}, reply: "ANSWER: x", want: "ambiguous"},
}

func gradeChoice(t *testing.T, r choiceRow, target string) grade.Verdict {
	t.Helper()
	var opts []grade.ChoiceOption
	if r.n > 0 {
		opts = append(opts, grade.ChoiceCount(r.n))
	}
	item := dataset.Item{ID: r.name, Target: target, Choices: r.texts}
	v, err := grade.Choice(opts...).Grade(context.Background(), item, llm.Response{Text: r.reply})
	require.NoError(t, err)
	require.NoError(t, v.Check())
	return v
}

func TestChoice(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range choiceRows {
		require.False(t, seen[r.name], "duplicate row %q", r.name)
		seen[r.name] = true
		t.Run(r.name, func(t *testing.T) {
			testChoiceRow(t, r)
		})
	}
}

// testChoiceRow grades the reply against every letter as the target.
func testChoiceRow(t *testing.T, r choiceRow) {
	t.Helper()
	n := max(r.n, len(r.texts))
	for i := range n {
		target := string(rune('A' + i))
		v := gradeChoice(t, r, target)
		msg := []any{"%s: reply %q, target %s: how %q, why %q", r.reason, r.reply, target, v.How, v.Why}
		switch {
		case r.want == target:
			assert.Equal(t, grade.Correct, v.Mark, msg...)
		case len(r.want) == 1:
			assert.Equal(t, grade.Incorrect, v.Mark, msg...)
			assert.Equal(t, grade.ReasonWrong, v.Reason, msg...)
		default:
			assert.Equal(t, grade.Unparsed, v.Mark, msg...)
			word := map[grade.Reason]string{grade.ReasonNoAnswer: "none", grade.ReasonAmbiguous: "ambiguous"}[v.Reason]
			assert.True(t, word != "" && strings.Contains(r.want, word), append([]any{"got %q for %q; " + msg[0].(string), v.Reason, r.want}, msg[1:]...)...)
		}
	}
}
