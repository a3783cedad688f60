package grade_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func TestIncludes(t *testing.T) {
	testRows(t, grade.Includes(), []textRow{
		{name: "inside a number", why: "3 is not 13", reply: "I see 13 boxes", target: "3", mark: wrong},
		{name: "start of a number", why: "3 is not 31", reply: "I see 31 boxes", target: "3", mark: wrong},
		{name: "decimal", why: "3 is not 3.14", reply: "It is 3.14", target: "3", mark: wrong},
		{name: "fraction of a decimal", why: "14 is not 3.14", reply: "It is 3.14", target: "14", mark: wrong},
		{name: "bare fraction", why: "3 is not .3", reply: "It is .3", target: "3", mark: wrong},
		{name: "thousands", why: "3 is not 3,000", reply: "It is 3,000", target: "3", mark: wrong},
		{name: "thousands with space", why: "3 is not 3 000", reply: "It is 3 000", target: "3", mark: wrong},
		{name: "tail of thousands", why: "602 is not 2 602", reply: "It is 2 602", target: "602", mark: wrong},
		{name: "sign", why: "3 is not -3", reply: "It is -3", target: "3", mark: wrong},
		{name: "minus sign", why: "3 is not −3", reply: "It is −3", target: "3", mark: wrong},
		{name: "fraction", why: "3 is not 3/4", reply: "It is 3/4", target: "3", mark: wrong},
		{name: "ratio", why: "4 is not 3:4", reply: "It is 3:4", target: "4", mark: wrong},
		{name: "bound", why: "3 is not <3", reply: "It is <3", target: "3", mark: wrong},
		{name: "bound equal", why: "3 is not >=3", reply: "It is >=3", target: "3", mark: wrong},
		{name: "about", why: "3 is not ~3", reply: "It is ~3", target: "3", mark: wrong},
		{name: "power", why: "3 is not 3^2", reply: "It is 3^2", target: "3", mark: wrong},
		{name: "superscript", why: "3 is not 3²", reply: "It is 3²", target: "3", mark: wrong},
		{name: "version", why: "3 is not v3", reply: "It is v3", target: "3", mark: wrong},
		{name: "identifier", why: "an underscore joins", reply: "see box_3", target: "3", mark: wrong},
		{name: "hyphenated number", why: "a name", reply: "COVID-19", target: "19", mark: wrong},
		{name: "number", why: "a word of its own", reply: "I see 3 boxes", target: "3", mark: right},
		{name: "number at end", why: "a full stop follows", reply: "I see 3.", target: "3", mark: right},
		{name: "number in brackets", why: "brackets are no word", reply: "boxes (3) here", target: "3", mark: right},
		{name: "number in bold", why: "emphasis is no word", reply: "It is **3**, I think", target: "3", mark: right},
		{name: "decimal target", why: "word level", reply: "The result is (3.14)", target: "3.14", mark: right},
		{name: "equals", why: "x=3 says 3", reply: "x=3", target: "3", mark: right},
		{name: "arrow", why: "an arrow is no bound", reply: "x ->3", target: "3", mark: right},
		{name: "percent", why: "a unit", reply: "It is 20%", target: "20", mark: right},
		{name: "currency", why: "a unit", reply: "It costs $29", target: "29", mark: right},
		{name: "second occurrence", why: "one good place is enough", reply: "13 or 3 boxes", target: "3", mark: right},
		{name: "list of numbers", why: "a comma with a space separates", reply: "1, 3, 5", target: "3", mark: right},
		{name: "inside a word", why: "rat is not strategy", reply: "a good strategy", target: "rat", mark: wrong},
		{name: "plural", why: "cat is not cats", reply: "two cats", target: "cat", mark: wrong},
		{name: "negation", why: "can is not can't", reply: "You can't go", target: "can", mark: wrong},
		{name: "curly negation", why: "can is not can’t", reply: "You can’t go", target: "can", mark: wrong},
		{name: "prefix", why: "toxic is not non-toxic", reply: "It is non-toxic", target: "toxic", mark: wrong},
		{name: "compound", why: "sugar is not sugar-free", reply: "It is sugar-free", target: "sugar", mark: wrong},
		{name: "either", why: "true is not true/false", reply: "true/false", target: "true", mark: wrong},
		{name: "domain", why: "a name", reply: "see example.com", target: "example", mark: wrong},
		{name: "C++", why: "C is not C++", reply: "use C++ here", target: "C", mark: wrong},
		{name: "C# target", why: "a name", reply: "use C# here", target: "C#", mark: right},
		{name: "accent", why: "a letter beyond ASCII continues the word", reply: "caféine", target: "caf", mark: wrong},
		{name: "combining", why: "a mark continues the word", reply: "cafe\u0301", target: "cafe", mark: wrong},
		{name: "possessive", why: "Paris's says Paris", reply: "Paris's mayor", target: "Paris", mark: right},
		{name: "case", why: "folded", reply: "PARIS it is", target: "paris", mark: right},
		{name: "phrase over lines", why: "white space is collapsed", reply: "in New\nYork now", target: "New York", mark: right},
		{name: "target punctuation", why: "the target's edges are stripped", reply: "in Paris now", target: "“Paris.”", mark: right},
		{name: "chinese", why: "no spaces between words", reply: "答案是东京。", target: "东京", mark: right},
		{name: "chinese negation", why: "its opposite", reply: "这是不可能的", target: "可能", mark: wrong},
		{name: "korean", why: "a particle follows", reply: "정답은 파리는", target: "파리", mark: right},
		{name: "korean prefix", why: "its opposite", reply: "불가능", target: "가능", mark: wrong},
		{name: "thai mark", why: "a mark belongs to the letter before it", reply: "ดี", target: "ด", mark: wrong},
		{name: "further target", why: "another accepted answer", reply: "in NYC", target: "New York", others: []string{"NYC"}, mark: right},
		{name: "absent", why: "not there", reply: "in Rome", target: "Paris", mark: wrong},
		{name: "think", why: "reasoning is no answer", reply: "<think>Paris</think>Rome", target: "Paris", mark: wrong},
		{name: "run on", why: "an invented turn is no answer", reply: "Answer: Rome\nQuestion: Where is Paris?", target: "Paris", mark: wrong},
		{name: "empty", why: "no response", reply: "", target: "Paris", mark: unparsed, reason: grade.ReasonNoResponse},
	})
	t.Run("substring", func(t *testing.T) {
		testRows(t, grade.Includes(grade.Substring()), []textRow{
			{name: "inside", why: "asked for", reply: "I see 13 boxes", target: "3", mark: right},
			{name: "case", why: "folded", reply: "STRATEGY", target: "rat", mark: right},
			{name: "absent", why: "not there", reply: "x", target: "y", mark: wrong},
		})
	})
	t.Run("match case", func(t *testing.T) {
		testRows(t, grade.Includes(grade.MatchCase()), []textRow{
			{name: "case", why: "case counts", reply: "paris", target: "Paris", mark: wrong},
		})
	})
	t.Run("empty target", func(t *testing.T) {
		_, err := grade.Includes().Grade(context.Background(), dataset.Item{ID: "q"}, llm.Response{Text: "x"})
		require.ErrorIs(t, err, grade.ErrTarget)
		require.ErrorContains(t, err, `item "q"`)
	})
}

func FuzzIncludes(f *testing.F) {
	for _, s := range []string{"3", "3.14", "can't", "C++", "不可能", "\xff", "a a a"} {
		f.Add("I see 13 and "+s, s)
	}
	f.Fuzz(func(t *testing.T, reply, target string) {
		item := dataset.Item{Target: target}
		word, err := grade.Includes().Grade(context.Background(), item, llm.Response{Text: reply})
		if err != nil {
			require.ErrorIs(t, err, grade.ErrTarget)
			return
		}
		inside, err := grade.Includes(grade.Substring()).Grade(context.Background(), item, llm.Response{Text: reply})
		require.NoError(t, err)
		require.NoError(t, word.Check())
		if word.Mark == right {
			require.Equal(t, right, inside.Mark, "a word is also a substring")
		}
	})
}

func TestIncludesLong(t *testing.T) {
	reply := strings.Repeat("a a ", 250_000)
	v, err := grade.Includes().Grade(context.Background(), dataset.Item{Target: "a b"}, llm.Response{Text: reply})
	require.NoError(t, err)
	require.Equal(t, wrong, v.Mark)
}
