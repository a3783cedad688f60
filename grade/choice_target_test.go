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

func TestChoiceTargets(t *testing.T) {
	many := strings.Split(strings.Repeat("x,", 26)+"x", ",")
	for _, r := range []struct {
		name, why string
		n         int
		texts     []string
		target    string
		others    []string
		reply     string
		mark      grade.Mark
		err       string
	}{
		{name: "letter", why: "a letter", n: 4, target: "B", reply: "B", mark: right},
		{name: "small letter", why: "a letter", n: 4, target: "b", reply: "B", mark: right},
		{name: "wrapped letter", why: "a letter", n: 4, target: "(B)", reply: "B", mark: right},
		{name: "text", why: "the text of one option", texts: cities, target: "Paris", reply: "ANSWER: B", mark: right},
		{name: "text, wrong", why: "the text of one option", texts: cities, target: "Paris", reply: "ANSWER: A", mark: wrong},
		{name: "labelled text", why: "letter and text agree", texts: cities, target: "B) Paris", reply: "ANSWER: B", mark: right},
		{name: "labelled text, no", why: "letter and text differ", texts: cities, target: "A) Paris", reply: "ANSWER: B", err: "the label of one option and the text of another"},
		{name: "further", why: "another accepted answer", n: 4, target: "B", others: []string{"C"}, reply: "C", mark: right},
		{name: "further, both", why: "the item wants one of the two", n: 4, target: "B", others: []string{"C"}, reply: "ANSWER: B and C", mark: unparsed},
		{name: "several, capitals", why: "a set", n: 4, target: "A,B", reply: "ANSWER: AB", mark: right},
		{name: "several, and", why: "a set", n: 4, target: "A,B", reply: "ANSWER: A and B", mark: right},
		{name: "several, comma", why: "a set", n: 4, target: "A,B", reply: "ANSWER: A, B", mark: right},
		{name: "several, order", why: "a set has no order", n: 4, target: "A,B", reply: "ANSWER: B, A", mark: right},
		{name: "several, three", why: "a set", n: 4, target: "A, C, D", reply: "**Answer: A, C, and D**", mark: right},
		{name: "several, brackets", why: "a set", n: 4, target: "A,C", reply: "ANSWER: (A) and (C)", mark: right},
		{name: "several, ampersand", why: "a set", n: 4, target: "A,C", reply: "ANSWER: A & C.", mark: right},
		{name: "several, json", why: "a set", n: 4, target: `["A","C"]`, reply: `{"answer": ["A", "C"]}`, mark: right},
		{name: "several, lines", why: "a set", n: 4, target: "A,C", reply: "Answer:\n- A\n- C", mark: right},
		{name: "several, boxed", why: "a set", n: 4, target: "A,C", reply: `\boxed{A, C}`, mark: right},
		{name: "several, phrase", why: "a set", n: 4, target: "A,C", reply: "A and C are correct.", mark: right},
		{name: "several, texts", why: "a set by text", texts: cities, target: "A,B", reply: "ANSWER: London, Paris", mark: right},
		{name: "several as capitals", why: "a set", n: 4, target: "AC", reply: "ANSWER: A, C", mark: right},
		{name: "several, brackets side by side", why: "a set", n: 4, target: "A,B", reply: "(A)(B)", mark: right},
		{name: "several, spaces", why: "a set", n: 4, target: "A,B,D", reply: "ANSWER: A B D", mark: right},
		{name: "several, plus", why: "a set", n: 4, target: "A,B", reply: "ANSWER: A+B", mark: right},
		{name: "several, plural", why: "a set", n: 4, target: "A,B", reply: "The correct answers are options A and B.", mark: right},
		{name: "several, plural label", why: "a set", n: 4, target: "A,B", reply: "Options A and B", mark: right},
		{name: "several, chinese", why: "a set", n: 4, target: "A,C,D", reply: "正确答案是ACD。", mark: right},
		{name: "several, with texts", why: "a set", texts: cities, target: "A,B", reply: "ANSWER: A) London and B) Paris", mark: right},
		{name: "several, with texts, one wanted", why: "the first of a list is no single answer", texts: cities, target: "A", reply: "ANSWER: A) London and B) Paris", mark: unparsed},
		{name: "several, with unknown texts", why: "labels of one shape", n: 4, target: "A", reply: "ANSWER: A) London and B) Paris", mark: unparsed},
		{name: "several, listed", why: "some of the options, a line each", texts: cities, target: "A,B", reply: "A) London\nB) Paris", mark: right},
		{name: "several, ticked", why: "those called right", n: 4, target: "A,C", reply: "- A: Yes\n- B: No\n- C: Yes\n- D: No", mark: right},
		{name: "several, slash", why: "A/B may mean or", n: 4, target: "A,B", reply: "ANSWER: A/B", mark: unparsed},
		{name: "several, all listed", why: "the options are, is no answer", n: 4, target: "A,B,C,D", reply: "The possible answers are A, B, C and D.", mark: unparsed},
		{name: "several, one missing", why: "another set", n: 4, target: "A,B", reply: "ANSWER: A", mark: wrong},
		{name: "several, one too many", why: "another set", n: 4, target: "A,B", reply: "ANSWER: A, B, C", mark: wrong},
		{name: "several, hedged", why: "or is no and", n: 4, target: "A,B", reply: "ANSWER: A or B", mark: unparsed},
		{name: "several, beyond", why: "E is no option", n: 4, target: "A,B", reply: "ANSWER: A, B, E", mark: unparsed},
		{name: "not among", why: "four options", n: 4, target: "E", err: "no letter from A to D"},
		{name: "no text", why: "not an option", texts: cities, target: "Madrid", err: "none of the 4 options"},
		{name: "index", why: "0 or 1 may be the first: a number is not guessed", texts: cities, target: "1", err: "none of the 4 options"},
		{name: "empty target", why: "nothing to want", n: 4, target: "", err: "no letter"},
		{name: "text and letter clash", why: "the text of one is the letter of another", texts: []string{"B", "A"}, target: "A", err: "the letter of option A and the text of option B"},
		{name: "text twice", why: "it does not tell which", texts: []string{"x", "x"}, target: "x", err: "several options"},
		{name: "further not among", why: "every target is checked", n: 4, target: "A", others: []string{"Z"}, err: "no letter"},
		{name: "no options", why: "nothing says how many", target: "A", err: "ChoiceCount"},
		{name: "one option", why: "no choice", texts: []string{"x"}, target: "A", err: "at least two"},
		{name: "too many", why: "27", texts: many, target: "A", err: "letters for 26"},
	} {
		t.Run(r.name, func(t *testing.T) {
			var opts []grade.ChoiceOption
			if r.n > 0 {
				opts = append(opts, grade.ChoiceCount(r.n))
			}
			item := dataset.Item{ID: r.name, Target: r.target, Targets: r.others, Choices: r.texts}
			v, err := grade.Choice(opts...).Grade(context.Background(), item, llm.Response{Text: r.reply})
			if r.err != "" {
				require.ErrorIs(t, err, grade.ErrTarget, r.why)
				assert.ErrorContains(t, err, r.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, r.mark, v.Mark, "%s: %+v", r.why, v)
		})
	}
}

// TestChoiceCountYields: an item's own choices count, not the option.
func TestChoiceCountYields(t *testing.T) {
	item := dataset.Item{ID: "q", Target: "B", Choices: []string{"x", "y"}}
	v, err := grade.Choice(grade.ChoiceCount(4)).Grade(context.Background(), item, llm.Response{Text: "ANSWER: C"})
	require.NoError(t, err)
	assert.Equal(t, grade.ReasonNoAnswer, v.Reason)
}

func FuzzChoice(f *testing.F) {
	for _, r := range choiceRows {
		f.Add(r.reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		rights := 0
		for _, texts := range [][]string{nil, cities} {
			for _, target := range []string{"A", "B", "C", "D", "A,B"} {
				v, err := grade.Choice(grade.ChoiceCount(4)).Grade(context.Background(), dataset.Item{Target: target, Choices: texts}, llm.Response{Text: reply})
				require.NoError(t, err)
				require.NoError(t, v.Check())
				if v.Mark == right {
					rights++
				}
			}
			require.LessOrEqual(t, rights, 1, "one reply is right for one target only")
			rights = 0
		}
	})
}
