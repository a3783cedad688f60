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

// A textRow is a reply, a target and the mark that must come out, with a
// reason where it is not Correct.
type textRow struct {
	name, why     string
	reply, target string
	others        []string // dataset.Item.Targets
	mark          grade.Mark
	reason        grade.Reason // of an Unparsed
}

const (
	right    = grade.Correct
	wrong    = grade.Incorrect
	unparsed = grade.Unparsed
)

func testRows(t *testing.T, g grade.Grader, rows []textRow) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range rows {
		require.False(t, seen[r.name], "duplicate row %q", r.name)
		require.NotEmpty(t, r.why, r.name)
		seen[r.name] = true
		t.Run(r.name, func(t *testing.T) {
			item := dataset.Item{ID: r.name, Target: r.target, Targets: r.others}
			v, err := g.Grade(context.Background(), item, llm.Response{Text: r.reply})
			require.NoError(t, err, r.why)
			require.NoError(t, v.Check())
			require.Equal(t, r.mark, v.Mark, "%s: reply %q, target %q: %+v", r.why, r.reply, r.target, v)
			assert.NotEmpty(t, v.How)
			switch r.mark {
			case right:
				assert.Empty(t, v.Reason)
			case wrong:
				assert.Equal(t, grade.ReasonWrong, v.Reason)
				assert.NotEmpty(t, v.Why)
			default:
				assert.Equal(t, r.reason, v.Reason, v.Why)
				assert.NotEmpty(t, v.Why)
			}
		})
	}
}

func TestExact(t *testing.T) {
	testRows(t, grade.Exact(), []textRow{
		{name: "same", why: "equal", reply: "Paris", target: "Paris", mark: right},
		{name: "list item", why: "a list's mark", reply: "- Paris", target: "Paris", mark: right},
		{name: "starred item", why: "a list's mark", reply: "* Paris", target: "Paris", mark: right},
		{name: "minus and space", why: "not a list's mark", reply: "- 5", target: "5", mark: wrong},
		{name: "html", why: "a tag for bold", reply: "<b>Paris</b>.", target: "Paris", mark: right},
		{name: "brackets", why: "boundary punctuation", reply: "(3.14)", target: "3.14", mark: right},
		{name: "stop", why: "boundary punctuation", reply: "3.14.", target: "3.14", mark: right},
		{name: "brackets and stop", why: "both", reply: "(3.14).", target: "3.14", mark: right},
		{name: "odd bracket", why: "its partner is missing", reply: "3.14)", target: "3.14", mark: right},
		{name: "inner dot", why: "the decimal point stays", reply: "(3.14)", target: "314", mark: wrong},
		{name: "leading dot", why: "the decimal point stays", reply: ".5", target: "5", mark: wrong},
		{name: "dot word", why: "a name", reply: ".NET", target: "NET", mark: wrong},
		{name: "sign", why: "a sign is no punctuation", reply: "-5", target: "5", mark: wrong},
		{name: "percent", why: "a unit is no punctuation", reply: "20%", target: "20", mark: wrong},
		{name: "apostrophe", why: "inside of a word nothing is removed", reply: "dont", target: "don't", mark: wrong},
		{name: "curly apostrophe", why: "typography", reply: "don’t", target: "don't", mark: right},
		{name: "C++", why: "symbols belong to the name", reply: "C", target: "C++", mark: wrong},
		{name: "C#", why: "symbols belong to the name", reply: "C#", target: "C", mark: wrong},
		{name: "case", why: "folded", reply: "PARIS", target: "paris", mark: right},
		{name: "sharp s", why: "full case folding", reply: "STRASSE", target: "Straße", mark: right},
		{name: "sigma", why: "full case folding", reply: "ΟΔΟΣ", target: "οδος", mark: right},
		{name: "nfd", why: "NFC", reply: "Cafe\u0301", target: "Café", mark: right},
		{name: "accent", why: "another letter", reply: "Cafe", target: "Café", mark: wrong},
		{name: "superscript", why: "not NFKC", reply: "x²", target: "x2", mark: wrong},
		{name: "full width", why: "width", reply: "４２", target: "42", mark: right},
		{name: "minus sign", why: "typography", reply: "−10", target: "-10", mark: right},
		{name: "spaces", why: "collapsed", reply: "  New\n York\u00a0City ", target: "New York City", mark: right},
		{name: "joined words", why: "a space is not nothing", reply: "NewYork", target: "New York", mark: wrong},
		{name: "zero width", why: "invisible", reply: "Pa\u200bris\ufeff", target: "Paris", mark: right},
		{name: "bold", why: "Markdown", reply: "**Paris**", target: "Paris", mark: right},
		{name: "bold with stop", why: "Markdown", reply: "**Paris.**", target: "Paris", mark: right},
		{name: "code", why: "Markdown", reply: "`Paris`", target: "Paris", mark: right},
		{name: "fence", why: "Markdown", reply: "```text\nParis\n```", target: "Paris", mark: right},
		{name: "heading", why: "Markdown", reply: "## Paris", target: "Paris", mark: right},
		{name: "quotes", why: "quoted", reply: "“Paris”", target: "Paris", mark: right},
		{name: "boxed", why: "LaTeX", reply: `$\boxed{\text{Paris}}$`, target: "Paris", mark: right},
		{name: "math", why: "LaTeX", reply: `\(x+1\)`, target: "x+1", mark: right},
		{name: "two brackets", why: "not one pair", reply: "(a)(b)", target: "a)(b", mark: wrong},
		{name: "function", why: "its bracket is inside", reply: "f(x)", target: "f(x", mark: wrong},
		{name: "interval", why: "open and closed", reply: "[0, 1]", target: "(0, 1)", mark: wrong},
		{name: "tuple", why: "a pair is no list", reply: "(1, 2)", target: "1, 2", mark: wrong},
		{name: "factorial in target", why: "5! is 120", reply: "5", target: "5!", mark: wrong},
		{name: "factorial", why: "the same", reply: "5!", target: "5!", mark: right},
		{name: "exclamation", why: "boundary punctuation", reply: "42!", target: "42", mark: right},
		{name: "dunder target", why: "an identifier", reply: "init", target: "__init__", mark: wrong},
		{name: "dunder", why: "the same", reply: "`__init__`", target: "__init__", mark: right},
		{name: "target punctuation", why: "both sides are normalised", reply: "Paris", target: "Paris.", mark: right},
		{name: "sentence", why: "more words", reply: "It is Paris", target: "Paris", mark: wrong},
		{name: "superset", why: "more digits", reply: "711", target: "11", mark: wrong},
		{name: "further target", why: "another accepted answer", reply: "NYC", target: "New York", others: []string{"NYC"}, mark: right},
		{name: "further only", why: "an empty target beside others does not count", reply: "x", others: []string{"x"}, mark: right},
		{name: "punctuation", why: "never stripped to nothing", reply: "?", target: "!", mark: wrong},
		{name: "punctuation same", why: "never stripped to nothing", reply: "?", target: "?", mark: right},
		{name: "think", why: "reasoning is no answer", reply: "<think>London?</think>\nParis", target: "Paris", mark: right},
		{name: "think open", why: "the answer never came", reply: "<think>Paris", target: "Paris", mark: unparsed, reason: grade.ReasonIncomplete},
		{name: "empty", why: "no response", reply: "", target: "Paris", mark: unparsed, reason: grade.ReasonNoResponse},
		{name: "blank", why: "no response", reply: " \n\u200b", target: "Paris", mark: unparsed, reason: grade.ReasonNoResponse},
		{name: "empty for empty", why: "an empty prediction is never right", reply: "", target: "", mark: unparsed, reason: grade.ReasonNoResponse},
		{name: "text for empty", why: "differs", reply: "x", target: "", mark: wrong},
		{name: "invalid utf-8", why: "a replaced byte is no letter", reply: "Par\xffis", target: "Paris", mark: wrong},
	})
	t.Run("match case", func(t *testing.T) {
		testRows(t, grade.Exact(grade.MatchCase()), []textRow{
			{name: "differs", why: "case counts", reply: "paris", target: "Paris", mark: wrong},
			{name: "same", why: "wrappers still go", reply: "**Paris**.", target: "Paris", mark: right},
		})
	})
}

func TestExactStrict(t *testing.T) {
	testRows(t, grade.ExactStrict(), []textRow{
		{name: "same", why: "the same bytes", reply: "a b", target: "a b", mark: right},
		{name: "newline", why: "one newline at the end is a difference", reply: "a\n", target: "a", mark: wrong},
		{name: "newline wanted", why: "the same bytes", reply: "a\n", target: "a\n", mark: right},
		{name: "case", why: "other bytes", reply: "A", target: "a", mark: wrong},
		{name: "nfd", why: "other bytes", reply: "e\u0301", target: "é", mark: wrong},
		{name: "stop", why: "other bytes", reply: "a.", target: "a", mark: wrong},
		{name: "further", why: "another accepted answer", reply: "b", target: "a", others: []string{"b"}, mark: right},
		{name: "think", why: "reasoning is no answer", reply: "<think>b?</think>\n\na", target: "a", mark: right},
		{name: "think open", why: "the answer never came", reply: "<think>a", target: "a", mark: unparsed, reason: grade.ReasonIncomplete},
		{name: "empty", why: "never right", reply: "", target: "", mark: unparsed, reason: grade.ReasonNoResponse},
		{name: "invalid utf-8", why: "the same bytes", reply: "\xff", target: "\xff", mark: right},
	})
	v, err := grade.ExactStrict().Grade(context.Background(), dataset.Item{Target: "a"}, llm.Response{Text: "a\n"})
	require.NoError(t, err)
	assert.Contains(t, v.Why, "only in the white space at their ends")
}

// TestRefusal: a refusal, an empty text and a wrong answer are three reasons.
func TestRefusal(t *testing.T) {
	item := dataset.Item{ID: "1", Target: "B", Choices: []string{"x", "y"}}
	for name, resp := range map[grade.Reason]llm.Response{
		grade.ReasonRefusal:    {Text: "B", Refusal: "I cannot help"},
		grade.ReasonNoResponse: {},
		grade.ReasonWrong:      {Text: "A"},
	} {
		for _, g := range []grade.Grader{grade.Exact(), grade.ExactStrict(), grade.Choice()} {
			v, err := g.Grade(context.Background(), item, resp)
			require.NoError(t, err)
			assert.Equal(t, name, v.Reason, grade.NameOf(g))
			assert.NotEqual(t, grade.Correct, v.Mark)
		}
	}
}

func FuzzExact(f *testing.F) {
	for _, s := range []string{"(3.14).", "**Paris**", "ΐ", "\xff", "((((", "__init__", "```\n", "5!"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, reply, target string) {
		item := dataset.Item{Target: target}
		v, err := grade.Exact().Grade(context.Background(), item, llm.Response{Text: reply})
		require.NoError(t, err)
		require.NoError(t, v.Check())
		if reply == target && v.Mark == wrong && !strings.ContainsAny(reply, "<[\n#:|") {
			// Whatever stands in it, a text equals itself, unless a part of
			// it is reasoning or a further turn.
			t.Fatalf("%q does not equal itself: %+v", reply, v)
		}
	})
}
