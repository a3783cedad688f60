package grade_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// conforming is every grader of the package with an item it can grade and a
// right and a wrong response. TestConformance asks of each what a Grader
// promises.
var conforming = []struct {
	grader      grade.Grader
	item        dataset.Item
	good, wrong llm.Response
}{
	{grade.Numeric(), dataset.Item{ID: "1", Target: "42"}, text("#### 42"), text("#### 41")},
	{grade.Exact(), dataset.Item{ID: "1", Target: "Paris"}, text("**Paris**"), text("London")},
	{grade.Exact(grade.MatchCase()), dataset.Item{ID: "1", Target: "Paris"}, text("Paris."), text("paris")},
	{grade.ExactStrict(), dataset.Item{ID: "1", Target: "a", Targets: []string{"b"}}, text("b"), text("b ")},
	{grade.Choice(), dataset.Item{ID: "1", Target: "B", Choices: []string{"x", "y"}}, text("ANSWER: B"), text("ANSWER: A")},
	{grade.Choice(grade.ChoiceCount(4)), dataset.Item{ID: "1", Target: "A,B"}, text("A and B"), text("C")},
	{grade.Includes(), dataset.Item{ID: "1", Target: "3"}, text("3 boxes"), text("13 boxes")},
	{grade.Includes(grade.Substring()), dataset.Item{ID: "1", Target: "3"}, text("13 boxes"), text("12 boxes")},
	{grade.Regexp(regexp.MustCompile(`x=(\w+)`)), dataset.Item{ID: "1", Target: "1"}, text("x=1"), text("x=2")},
	{grade.Regexp(regexp.MustCompile(`^ok`)), dataset.Item{ID: "1"}, text("ok"), text("no")},
	{grade.JSON(), dataset.Item{ID: "1", Target: `{"a":1}`}, text(`{"a":1.0}`), text(`{"a":2}`)},
	{grade.JSON(grade.JSONSubset()), dataset.Item{ID: "1", Target: `{"a":1}`}, text(`{"a":1,"b":2}`), text(`{"b":2}`)},
	{grade.ToolCalls(), dataset.Item{ID: "1", Target: `[{"name":"f"}]`}, llm.Response{ToolCalls: []llm.ToolCall{{Name: "f"}}}, llm.Response{ToolCalls: []llm.ToolCall{{Name: "g"}}}},
	{grade.ToolCalls(grade.CallsInText(), grade.AnyOrder(), grade.FurtherCalls(), grade.FurtherArguments()), dataset.Item{ID: "1", Target: `[{"name":"f"}]`},
		text(`[{"name":"g"},{"name":"f","arguments":{"a":1}}]`), text(`[{"name":"g"}]`)},
	{grade.F1(0.5), dataset.Item{ID: "1", Target: "the cat"}, text("cat sat"), text("dog")},
	{grade.FuncOf("longer", func(_ dataset.Item, r llm.Response) (bool, string) { return len(r.Text) > 2, "too short" }), dataset.Item{ID: "1"}, text("long"), text("a")},
	{grade.All(grade.Exact(), grade.Includes()), dataset.Item{ID: "1", Target: "x"}, text("x"), text("y")},
	{grade.Any(grade.Exact(), grade.Includes()), dataset.Item{ID: "1", Target: "x"}, text("an x here"), text("y")},
	{grade.Not(grade.Includes()), dataset.Item{ID: "1", Target: "x"}, text("y"), text("x")},
	{grade.Fallback(grade.Numeric(), grade.Exact()), dataset.Item{ID: "1", Target: "42"}, text("42"), text("#### 41")},
	{grade.Weighted(0.5, grade.Part{Grader: grade.Exact(), Weight: 1}, grade.Part{Grader: grade.Includes(), Weight: 1}), dataset.Item{ID: "1", Target: "x"}, text("an x"), text("y")},
}

func text(s string) llm.Response { return llm.Response{Text: s} }

// hostile are texts that no grader may fail on.
var hostile = map[string]string{
	"empty":           "",
	"blank":           " \t\n\u200b",
	"bad utf-8":       "\xff\xfe\xc3(\xed\xa0\x80",
	"nul":             "\x00\x16\x1b[31m",
	"brackets":        strings.Repeat("[", 100_000),
	"balanced":        strings.Repeat("(", 50_000) + "x" + strings.Repeat(")", 50_000),
	"objects":         strings.Repeat(`{"a":`, 20_000),
	"fences":          strings.Repeat("```json\n", 10_000),
	"markers":         strings.Repeat("ANSWER: ", 10_000),
	"answers":         strings.Repeat("ANSWER: A\n", 10_000),
	"thoughts":        strings.Repeat("<think>", 10_000),
	"closed thoughts": strings.Repeat("<think>x</think>", 5_000),
	"boxes":           strings.Repeat(`\boxed{`, 10_000),
	"choices":         strings.Repeat("so A or B, ", 5_000),
	"digits":          strings.Repeat("9", 100_000),
	"words":           strings.Repeat("word ", 20_000),
	"marks":           "e" + strings.Repeat("\u0301", 10_000),
	"stops":           strings.Repeat(".", 100_000),
}

func TestConformance(t *testing.T) {
	ctx := context.Background()
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range conforming {
		t.Run(grade.NameOf(c.grader), func(t *testing.T) {
			t.Parallel()
			require.Implements(t, (*grade.Named)(nil), c.grader)
			right := mustGrade(t, ctx, c.grader, c.item, c.good)
			require.Equal(t, grade.Correct, right.Mark, "%+v", right)
			assert.Empty(t, right.Reason)
			wrong := mustGrade(t, ctx, c.grader, c.item, c.wrong)
			require.Equal(t, grade.Incorrect, wrong.Mark, "%+v", wrong)
			assert.Equal(t, grade.ReasonWrong, wrong.Reason)
			assert.NotEmpty(t, wrong.Why)
			assert.NotEmpty(t, wrong.How)

			t.Run("cancelled context", func(t *testing.T) {
				assert.Equal(t, right, mustGrade(t, cancelled, c.grader, c.item, c.good), "a pure grader needs no context")
			})
			t.Run("refusal", func(t *testing.T) {
				r := c.good
				r.Refusal = "I cannot"
				v := mustGrade(t, ctx, c.grader, c.item, r)
				assert.Equal(t, grade.Unparsed, v.Mark)
				assert.Equal(t, grade.ReasonRefusal, v.Reason)
			})
			t.Run("no response", func(t *testing.T) {
				for _, s := range []string{"", " \n", "\u200b"} {
					v := mustGrade(t, ctx, c.grader, c.item, text(s))
					assert.Equal(t, grade.Unparsed, v.Mark, "%q", s)
					assert.Equal(t, grade.ReasonNoResponse, v.Reason)
				}
			})
			t.Run("hostile", func(t *testing.T) {
				for name, s := range hostile {
					v := mustGrade(t, ctx, c.grader, c.item, text(s))
					assert.Less(t, len(v.Why), 4096, "%s: an explanation is short", name)
					assert.Less(t, len(v.How), 4096, "%s", name)
				}
			})
			t.Run("leaves its arguments alone", func(t *testing.T) {
				before := mustJSON(t, c.item, c.good)
				mustGrade(t, ctx, c.grader, c.item, c.good)
				assert.Equal(t, before, mustJSON(t, c.item, c.good))
			})
			t.Run("concurrent", func(t *testing.T) {
				var wg sync.WaitGroup
				got := make([]grade.Verdict, 8)
				for i := range got {
					wg.Go(func() {
						for range 20 {
							got[i], _ = c.grader.Grade(ctx, c.item, c.good)
						}
					})
				}
				wg.Wait()
				for _, v := range got {
					assert.Equal(t, right, v)
				}
			})
		})
	}
}

// mustGrade grades twice: the same question has the same answer.
func mustGrade(t *testing.T, ctx context.Context, g grade.Grader, item dataset.Item, resp llm.Response) grade.Verdict {
	t.Helper()
	v, err := g.Grade(ctx, item, resp)
	require.NoError(t, err)
	require.NoError(t, v.Check())
	again, err := g.Grade(ctx, item, resp)
	require.NoError(t, err)
	require.Equal(t, v, again, "a grader is deterministic")
	return v
}

func mustJSON(t *testing.T, v ...any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}
