package grade_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func TestRegexp(t *testing.T) {
	testRows(t, grade.Regexp(regexp.MustCompile(`(?i)result: (\S*)`)), []textRow{
		{name: "captured", why: "the group is the answer", reply: "Result: 42", target: "42", mark: right},
		{name: "last", why: "the last match counts", reply: "Result: 1\nResult: 42", target: "42", mark: right},
		{name: "withdrawn", why: "an earlier match does not count", reply: "Result: 42\nResult: 1", target: "42", mark: wrong},
		{name: "normalised", why: "compared as Exact compares", reply: "Result: **Paris**.", target: "paris", mark: right},
		{name: "not inside", why: "the whole group counts", reply: "Result: 711", target: "11", mark: wrong},
		{name: "empty group", why: "nothing captured never passes", reply: "Result: ", target: "", mark: unparsed, reason: grade.ReasonNoAnswer},
		{name: "no match", why: "nothing to compare", reply: "It is 42", target: "42", mark: unparsed, reason: grade.ReasonNoAnswer},
		{name: "further", why: "another accepted answer", reply: "Result: b", target: "a", others: []string{"b"}, mark: right},
		{name: "think", why: "reasoning is no answer", reply: "<think>Result: 42</think>no", target: "42", mark: unparsed, reason: grade.ReasonNoAnswer},
	})
	t.Run("groups", func(t *testing.T) {
		testRows(t, grade.Regexp(regexp.MustCompile(`x=(\d+)|y=(\d+)`)), []textRow{
			{name: "second", why: "the group that captured", reply: "y=2", target: "2", mark: right},
		})
	})
	t.Run("first group empty", func(t *testing.T) {
		testRows(t, grade.Regexp(regexp.MustCompile(`(a*)(b+)`)), []textRow{
			{name: "second", why: "the first group captured nothing", reply: "bb", target: "bb", mark: right},
		})
	})
	t.Run("named", func(t *testing.T) {
		testRows(t, grade.Regexp(regexp.MustCompile(`(\w+)=(?P<answer>\d*)`)), []textRow{
			{name: "answer", why: "the named group", reply: "x=2", target: "2", mark: right},
			{name: "not the other", why: "the named group", reply: "x=2", target: "x", mark: wrong},
			{name: "nothing", why: "the named group captured nothing", reply: "x=", target: "x", mark: unparsed, reason: grade.ReasonNoAnswer},
		})
	})
	t.Run("first", func(t *testing.T) {
		testRows(t, grade.Regexp(regexp.MustCompile(`(\d+)`), grade.FirstMatch(), grade.MatchCase()), []textRow{
			{name: "first", why: "asked for", reply: "1 then 2", target: "1", mark: right},
		})
	})
	t.Run("no groups", func(t *testing.T) {
		testRows(t, grade.Regexp(regexp.MustCompile(`(?i)^sorry\b`)), []textRow{
			{name: "matches", why: "the target does not count", reply: "Sorry, no.", target: "x", mark: right},
			{name: "does not", why: "no match", reply: "Sure.", target: "x", mark: wrong},
			{name: "empty", why: "a dead endpoint matches nothing", reply: "", mark: unparsed, reason: grade.ReasonNoResponse},
		})
	})
	assert.PanicsWithValue(t, "grade: Regexp(nil): give a compiled expression", func() { grade.Regexp(nil) })
}

func FuzzRegexp(f *testing.F) {
	g := grade.Regexp(regexp.MustCompile(`(?i)answer:\s*(\S*)|#(.*)`))
	f.Add("answer: 42", "42")
	f.Add("#", "")
	f.Add("answer: \xff", "\xff")
	f.Fuzz(func(t *testing.T, reply, target string) {
		v, err := g.Grade(context.Background(), dataset.Item{Target: target}, llm.Response{Text: reply})
		require.NoError(t, err)
		require.NoError(t, v.Check())
		if v.Mark == right {
			require.NotEmpty(t, v.Answer)
		}
	})
}
