package grade_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

var errPart = errors.New("part failed")

// says is a grader that always gives one verdict, with one model call.
func says(m grade.Mark, score float64) grade.Grader {
	return grade.Func(func(context.Context, dataset.Item, llm.Response) (grade.Verdict, error) {
		v := grade.Verdict{Mark: m, Score: score, How: "says " + string(m), Calls: []llm.Response{{Text: string(m)}}}
		switch m {
		case wrong:
			v.Reason, v.Why = grade.ReasonWrong, "it is wrong"
		case unparsed:
			v.Reason, v.Why = grade.ReasonNoAnswer, "no answer"
		case grade.Ungraded:
			v.Why = "no verdict"
		}
		return v, nil
	})
}

var (
	yes   = says(right, 1)
	no    = says(wrong, 0)
	lost  = says(unparsed, 0)
	stuck = says(grade.Ungraded, 0)
	fails = grade.Func(func(context.Context, dataset.Item, llm.Response) (grade.Verdict, error) {
		return grade.Verdict{Calls: []llm.Response{{Text: "fails"}}}, errPart
	})
)

func TestCombine(t *testing.T) {
	for _, r := range []struct {
		name, why string
		g         grade.Grader
		mark      grade.Mark
		score     float64
		calls     int
		how       string
	}{
		{"all right", "every part is", grade.All(yes, yes), right, 1, 2, "all: 2 of 2 parts: says correct; says correct"},
		{"all, one wrong", "the first wrong one decides", grade.All(yes, no, fails), wrong, 0, 2, "all: part 2 of 3: says incorrect"},
		{"all, one lost", "it cannot be all", grade.All(yes, lost), unparsed, 0, 2, "all: part 2 of 2: says unparsed"},
		{"all, lost then wrong", "wrong decides whatever the lost one is", grade.All(lost, no), wrong, 0, 2, "all: part 2 of 2: says incorrect"},
		{"all, lost and stuck", "a stuck judge is reported", grade.All(lost, stuck, yes), grade.Ungraded, 0, 3, "all: part 2 of 3: says ungraded"},
		{"all, lowest score", "the weakest part", grade.All(yes, says(right, 0.8)), right, 0.8, 2, ""},
		{"any right", "the first right one decides", grade.Any(no, yes, fails), right, 1, 2, "any: part 2 of 3: says correct"},
		{"any, all wrong", "none is right", grade.Any(no, says(wrong, 0.3)), wrong, 0.3, 2, "any: 2 of 2 parts: says incorrect; says incorrect"},
		{"any, lost", "the lost one might have been right", grade.Any(no, lost), unparsed, 0, 2, "any: part 2 of 2: says unparsed"},
		{"any, lost then right", "right decides", grade.Any(lost, yes), right, 1, 2, ""},
		{"any, stuck", "a stuck judge is reported", grade.Any(stuck, lost), grade.Ungraded, 0, 2, ""},
		{"not wrong", "turned around", grade.Not(no), right, 1, 1, "not: says incorrect"},
		{"not right", "turned around", grade.Not(yes), wrong, 0, 1, "not: says correct"},
		{"not lost", "stays", grade.Not(lost), unparsed, 0, 1, "not: says unparsed"},
		{"not stuck", "stays", grade.Not(stuck), grade.Ungraded, 0, 1, "not: says ungraded"},
		{"fallback first", "found and right", grade.Fallback(yes, fails), right, 1, 1, "fallback: part 1 of 2: says correct"},
		{"fallback wrong", "found and wrong stays wrong", grade.Fallback(no, yes), wrong, 0, 1, "fallback: part 1 of 2: says incorrect"},
		{"fallback lost", "the next is asked", grade.Fallback(lost, yes), right, 1, 2, "fallback: part 2 of 2: says correct"},
		{"fallback stuck", "ungraded is final", grade.Fallback(stuck, yes), grade.Ungraded, 0, 1, ""},
		{"fallback all lost", "the last one stands", grade.Fallback(lost, lost), unparsed, 0, 2, "fallback: part 2 of 2: says unparsed"},
		{"weighted exactly", "decimals: 0.7 + 0.2 is 0.9", grade.Weighted(0.9, grade.Part{Grader: yes, Weight: 0.7}, grade.Part{Grader: yes, Weight: 0.2}, grade.Part{Grader: no, Weight: 0.1}), right, 0.9, 3, "weighted: 0.9, threshold 0.9: 0.7 × func correct (1), 0.2 × func correct (1), 0.1 × func incorrect (0)"},
		{"weighted below", "one digit", grade.Weighted(0.9000001, grade.Part{Grader: yes, Weight: 9}, grade.Part{Grader: no, Weight: 1}), wrong, 0.9, 2, ""},
		{"weighted partial", "scores count", grade.Weighted(0.5, grade.Part{Grader: says(wrong, 0.5), Weight: 1}), right, 0.5, 1, ""},
		{"weighted zero part", "counts nothing", grade.Weighted(1, grade.Part{Grader: yes, Weight: 1}, grade.Part{Grader: lost, Weight: 0}), right, 1, 2, ""},
		{"weighted lost", "it could change the mark", grade.Weighted(0.6, grade.Part{Grader: yes, Weight: 1}, grade.Part{Grader: lost, Weight: 1}), unparsed, 0, 2, ""},
		{"weighted lost, decided", "it could not", grade.Weighted(0.5, grade.Part{Grader: yes, Weight: 1}, grade.Part{Grader: lost, Weight: 1}), right, 0.5, 2, ""},
		{"weighted lost, hopeless", "it could not", grade.Weighted(0.6, grade.Part{Grader: no, Weight: 1}, grade.Part{Grader: lost, Weight: 1}), wrong, 0, 2, ""},
		{"weighted stuck", "a stuck judge is reported", grade.Weighted(1, grade.Part{Grader: lost, Weight: 1}, grade.Part{Grader: stuck, Weight: 1}), grade.Ungraded, 0, 2, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			v, err := r.g.Grade(context.Background(), dataset.Item{ID: "q", Target: "x"}, llm.Response{Text: "x"})
			require.NoError(t, err)
			require.NoError(t, v.Check())
			assert.Equal(t, r.mark, v.Mark, "%s: %+v", r.why, v)
			assert.Equal(t, r.score, v.Score)
			assert.Len(t, v.Calls, r.calls, "the parts' calls are all kept")
			if r.how != "" {
				assert.Equal(t, r.how, v.How)
			}
			if v.Mark == wrong {
				assert.NotEmpty(t, v.Why)
				assert.NotEmpty(t, v.Reason)
			}
		})
	}
}

// TestNotOfNothing: a dead endpoint, a refusal and an unfinished thought never
// pass a test of what must not be there, whatever the part says.
func TestNotOfNothing(t *testing.T) {
	item := dataset.Item{ID: "q", Target: "secret"}
	for name, resp := range map[string]llm.Response{
		"empty": {}, "blank": {Text: " \n"}, "refusal": {Refusal: "no"}, "refusal with text": {Text: "x", Refusal: "no"},
		"thinking": {Text: "<think>x"}, "only thoughts": {Text: "<think>x</think>"},
	} {
		for _, g := range []grade.Grader{grade.Not(grade.Includes()), grade.Not(no), grade.All(grade.Not(grade.Includes())),
			grade.Not(grade.FuncOf("f", func(dataset.Item, llm.Response) (bool, string) { return false, "" }))} {
			v, err := g.Grade(context.Background(), item, resp)
			require.NoError(t, err)
			assert.Equal(t, unparsed, v.Mark, "%s: %s", name, grade.NameOf(g))
		}
	}
	v, err := grade.Not(grade.Includes()).Grade(context.Background(), item, llm.Response{Text: "nothing to see"})
	require.NoError(t, err)
	assert.Equal(t, right, v.Mark)
	v, err = grade.Not(grade.ToolCalls()).Grade(context.Background(), dataset.Item{Target: `[{"name":"rm"}]`},
		llm.Response{ToolCalls: []llm.ToolCall{{Name: "ls"}}})
	require.NoError(t, err)
	assert.Equal(t, right, v.Mark, "tool calls are a response")
}

func TestCombineErrors(t *testing.T) {
	bad := grade.Func(func(context.Context, dataset.Item, llm.Response) (grade.Verdict, error) { return grade.Verdict{}, nil })
	for name, g := range map[string]grade.Grader{
		"all": grade.All(yes, fails), "any": grade.Any(no, fails), "not": grade.Not(fails), "fallback": grade.Fallback(lost, fails),
		"weighted": grade.Weighted(1, grade.Part{Grader: yes, Weight: 1}, grade.Part{Grader: fails, Weight: 1}),
	} {
		v, err := g.Grade(context.Background(), dataset.Item{}, llm.Response{Text: "x"})
		require.ErrorIs(t, err, errPart, name)
		assert.ErrorContains(t, err, "grade: "+name+": part ")
		assert.NotEmpty(t, v.Calls, "what was spent is kept")
	}
	_, err := grade.All(bad).Grade(context.Background(), dataset.Item{}, llm.Response{Text: "x"})
	require.ErrorIs(t, err, grade.ErrInvalidVerdict, "a part that returns Verdict{} is found out")
}

func TestCombinePanics(t *testing.T) {
	ok := grade.Part{Grader: yes, Weight: 1}
	for name, f := range map[string]func(){
		"all of none": func() { grade.All() }, "any of nil": func() { grade.Any(yes, nil) }, "not nil": func() { grade.Not(nil) },
		"fallback of none": func() { grade.Fallback() }, "weighted of none": func() { grade.Weighted(1) },
		"weighted nil":      func() { grade.Weighted(1, grade.Part{Weight: 1}) },
		"weight NaN":        func() { grade.Weighted(1, ok, grade.Part{Grader: yes, Weight: math.NaN()}) },
		"weight infinite":   func() { grade.Weighted(1, ok, grade.Part{Grader: yes, Weight: math.Inf(1)}) },
		"weight negative":   func() { grade.Weighted(1, ok, grade.Part{Grader: yes, Weight: -1}) },
		"weights all 0":     func() { grade.Weighted(1, grade.Part{Grader: yes}) },
		"threshold 0":       func() { grade.Weighted(0, ok) },
		"threshold above 1": func() { grade.Weighted(math.Nextafter(1, 2), ok) },
		"threshold NaN":     func() { grade.Weighted(math.NaN(), ok) },
		"func without name": func() { grade.FuncOf("", func(dataset.Item, llm.Response) (bool, string) { return true, "" }) },
		"func nil":          func() { grade.FuncOf("f", nil) },
		"choices 1":         func() { grade.ChoiceCount(1) },
		"choices 27":        func() { grade.ChoiceCount(27) },
	} {
		assert.Panics(t, f, name)
	}
}

func TestNameOf(t *testing.T) {
	for want, g := range map[string]grade.Grader{
		"exact-normalised": grade.Exact(), "exact-strict": grade.ExactStrict(), "contains-word": grade.Includes(),
		"includes": grade.Includes(grade.Substring()), "choice": grade.Choice(), "json": grade.JSON(),
		"json-subset": grade.JSON(grade.JSONSubset()), "tool-calls": grade.ToolCalls(), "f1": grade.F1(1), "func": yes,
		"none":                             nil,
		"all(json, not(f1))":               grade.All(grade.JSON(), grade.Not(grade.F1(1))),
		"fallback(choice, func)":           grade.Fallback(grade.Choice(), yes),
		"any(contains-word)":               grade.Any(grade.Includes()),
		"weighted(exact-normalised, mine)": grade.Weighted(1, grade.Part{Grader: grade.Exact(), Weight: 1}, grade.Part{Grader: grade.FuncOf("mine", func(dataset.Item, llm.Response) (bool, string) { return true, "" })}),
		"grade_test.unnamed":               unnamed{},
	} {
		assert.Equal(t, want, grade.NameOf(g))
	}
}

type unnamed struct{}

func (unnamed) Grade(context.Context, dataset.Item, llm.Response) (grade.Verdict, error) {
	return grade.Verdict{Mark: right, Score: 1}, nil
}
