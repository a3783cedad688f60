package peer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/grade/peer"
	"github.com/goevals/evals/llm"
)

// shared opens a file of the folder beside the project's root, or skips.
func shared(t testing.TB, name string) *os.File {
	t.Helper()
	dir := os.Getenv("EVALTEST_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		t.Skipf("%s is not here; it lies beside the project, in the folder that EVALTEST_SHARED names (default ../shared)", name)
	}
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func graders() map[string]grade.Grader {
	m := map[string]grade.Grader{}
	for _, r := range peer.Rules() {
		m[r.Name] = r.Grader
	}
	return m
}

func apply(t testing.TB, g grade.Grader, response, target string) (grade.Verdict, error) {
	t.Helper()
	v, err := g.Grade(context.Background(), dataset.Item{ID: "1", Target: target}, llm.Response{Text: response})
	if err == nil {
		require.NoError(t, v.Check())
	}
	return v, err
}

// word is a verdict as peer-rules.json writes it.
func word(v grade.Verdict, err error) string {
	switch {
	case err != nil:
		return "error"
	case v.Mark == grade.Unparsed:
		return "noanswer"
	}
	return string(v.Mark)
}

func TestPublishedVerdicts(t *testing.T) {
	var rows []struct{ Grader, Response, Target, Expected string }
	require.NoError(t, json.NewDecoder(shared(t, "cases/peer-rules.json")).Decode(&rows))
	require.NotEmpty(t, rows)
	for _, row := range rows {
		g, ok := peer.Lookup(row.Grader)
		require.True(t, ok, "no rule %q", row.Grader)
		v, err := apply(t, g, row.Response, row.Target)
		assert.Equal(t, row.Expected, word(v, err), "%s on %q, target %q, read %q", row.Grader, row.Response, row.Target, v.Answer)
	}
}

func TestComputedVerdicts(t *testing.T) {
	f, err := os.Open("testdata/verdicts.jsonl")
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	require.True(t, lines.Scan())
	var head struct{ Rules []string }
	require.NoError(t, json.Unmarshal(lines.Bytes(), &head))
	byName := graders()
	assert.Len(t, head.Rules, len(byName), "each rule has a column")
	words := map[byte]string{'c': "correct", 'i': "incorrect", 'n': "noanswer", 'e': "error"}
	rows := 0
	for ; lines.Scan(); rows++ {
		var row [3]string // response, target, verdicts
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		require.Len(t, row[2], len(head.Rules))
		for i, name := range head.Rules {
			require.Contains(t, byName, name)
			v, err := apply(t, byName[name], row[0], row[1])
			assert.Equal(t, words[row[2][i]], word(v, err), "%s on %q, target %q, read %q", name, row[0], row[1], v.Answer)
		}
	}
	require.NoError(t, lines.Err())
	assert.Equal(t, 987, rows)
}

func TestSpecimens(t *testing.T) {
	tests := []struct {
		name, reason, rule, response, target string
		want                                 grade.Mark
		answer                               string
	}{
		{"original first marker", "a correction after it is not seen", "gsm8k.original", "#### 8\nWait.\n#### 18", "18", grade.Incorrect, "8"},
		{"original whole solution as target", "the dataset's own column may be the target", "gsm8k.original", "#### 1,800", "3 + 4 … \n#### 1800", grade.Correct, "1800"},
		{"strict deletes a full stop", "the metric drops one final dot", "lm-eval.gsm8k.strict-match", "#### 18.", "18", grade.Correct, "18."},
		{"strict target with marker", "all up to the last marker goes", "lm-eval.gsm8k.strict-match", "#### 18", "#### 3\n#### 18", grade.Correct, "18"},
		{"strict, dot before the last newline", "Python's $ stands there too", "lm-eval.gsm8k.strict-match", "#### 18", "18.\n", grade.Incorrect, "18"},
		{"flexible takes dots for a number", "the class holds dots", "lm-eval.gsm8k.flexible-extract", "18, I think...", "18", grade.Incorrect, "..."},
		{"cot loses the last digit", "the dot of the pattern is any character", "lm-eval.gsm8k_cot.strict-match", "The answer is 18", "1", grade.Correct, "1"},
		{"cot wants one more character", "a newline is not one", "lm-eval.gsm8k_cot.strict-match", "The answer is 8\n", "8", grade.Unparsed, ""},
		{"cot target after its marker", "the task splits the target", "lm-eval.gsm8k_cot.strict-match", "The answer is 18.", "so 18\n####18 ", grade.Correct, "18"},
		{"five digits", "numbers are written with five significant digits", "inspect.match(numeric=True,location=end)", "Answer: 123456", "123457", grade.Correct, "1.2346e+05"},
		{"a word with punctuation is no number", "before 0.3.261", "inspect.match(numeric=True,location=end)", "5 or 18!", "18", grade.Incorrect, "5"},
		{"trimmed punctuation", "from 0.3.261 on", "inspect@0.3.261.match(numeric=True,location=end)", "5 or 18!", "18", grade.Correct, "18"},
		{"exact stays exact", "no trimming there", "inspect@0.3.261.match(numeric=True,location=exact)", "(18)", "18", grade.Incorrect, "(18)"},
		{"hexadecimal", "Go's ParseFloat reads it, Python's float does not", "inspect.match(numeric=True,location=end)", "16 0x10", "16", grade.Correct, "16"},
		{"full-width digits", "Python's float reads them", "inspect.match(numeric=True,location=end)", "１８", "18", grade.Correct, "18"},
		{"minus zero", "written with its sign", "inspect.match(numeric=True,location=end)", "-0", "0", grade.Incorrect, "-0"},
		{"infinite", "no finite number: text, which is equal", "inspect.match(numeric=True,location=end)", "inf", "inf", grade.Correct, "inf"},
		{"suffix", "text match minds no word boundary", "inspect.match(numeric=False,location=end)", "Answer: 118", "18", grade.Correct, "Answer: 118"},
		{"sharp s", "casefold is not lower case", "inspect.match(numeric=False,location=end)", "STRASSE", "straße", grade.Correct, "STRASSE"},
		{"Cherokee", "both cases fold to one", "inspect.match(numeric=False,location=end)", "\u13a0\uab71", "\uab70\u13a1", grade.Correct, "\u13a0\uab71"},
		{"unit separator", "white space to Python", "inspect.match(numeric=True,location=end)", "x\x1f18\x1f", "18", grade.Correct, "18"},
		{"mgsm loses the sign", "its pattern has none", "simple-evals.mgsm(prefix=Answer)", "Answer: -18", "18", grade.Correct, "18"},
		{"mgsm takes the last number", "not the first after the prefix", "simple-evals.mgsm(prefix=Answer)", "Answer: 18 for 2.50", "2.5", grade.Correct, "2.50"},
		{"helm joins numbers", "its dot is any character", "helm.final_number_exact_match", "18 2", "18", grade.Incorrect, "18 2"},
		{"helm without a number", "an empty answer equals nothing", "helm.final_number_exact_match", "none", "none", grade.Incorrect, ""},
		{"match minds white space", "the response is not stripped", "openai-evals.Match", " 18", "18", grade.Incorrect, " 18"},
		{"fuzzy drops articles", "as whole words only", "openai-evals.FuzzyMatch", "The answer: an apple", "answer THE apple", grade.Correct, "answer apple"},
		{"fuzzy, part of the target", "containment counts both ways", "openai-evals.FuzzyMatch", "1", "18", grade.Correct, "1"},
		{"fuzzy keeps accents", "é is a letter: no article stands before it", "openai-evals.FuzzyMatch", "aé", "é", grade.Correct, "aé"},
		{"deepeval keeps commas", "the target's comma stays", "deepeval.gsm8k.exact", "2125", "2,125", grade.Incorrect, "2125"},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		require.NotEmpty(t, tt.reason)
		require.False(t, seen[tt.name], "two rows %q", tt.name)
		seen[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			g, ok := peer.Lookup(tt.rule)
			require.True(t, ok)
			v, err := apply(t, g, tt.response, tt.target)
			require.NoError(t, err)
			assert.Equal(t, tt.want, v.Mark, tt.reason)
			assert.Equal(t, tt.answer, v.Answer, tt.reason)
			assert.Contains(t, v.How, tt.rule)
			assert.Equal(t, v.Mark == grade.Correct, v.Score == 1)
			assert.Equal(t, v.Mark == grade.Correct, v.Reason == "" && v.Why == "")
		})
	}
}

func TestTargets(t *testing.T) {
	g := peer.InspectMatch(peer.InspectOptions{Numeric: true})
	item := dataset.Item{ID: "7", Target: "1", Targets: []string{"2", "18"}}
	v, err := g.Grade(t.Context(), item, llm.Response{Text: "18"})
	require.NoError(t, err)
	assert.Equal(t, grade.Correct, v.Mark, "any target will do")

	v, err = g.Grade(t.Context(), item, llm.Response{Text: "19"})
	require.NoError(t, err)
	assert.Equal(t, `"19" does not meet the target "1" nor 2 more`, v.Why)

	v, err = g.Grade(t.Context(), dataset.Item{Targets: []string{"18"}}, llm.Response{Text: "18"})
	require.NoError(t, err)
	assert.Equal(t, grade.Correct, v.Mark, "Targets alone will do")

	for name, g := range graders() {
		_, err := g.Grade(t.Context(), dataset.Item{ID: "7"}, llm.Response{Text: "18"})
		require.ErrorIs(t, err, grade.ErrTarget, name)
		assert.ErrorContains(t, err, `item "7": target "": it is empty`)
	}
	_, err = peer.GSM8K().Grade(t.Context(), dataset.Item{ID: "7", Target: "$18"}, llm.Response{Text: "#### 18"})
	require.ErrorIs(t, err, grade.ErrTarget)
	assert.EqualError(t, err, `grade: gsm8k.original: item "7": target "$18": it is neither a number nor a solution with a "#### 18" line`)
}

func TestWhy(t *testing.T) {
	v, err := apply(t, peer.GSM8K(), "  ", "18")
	require.NoError(t, err)
	assert.Equal(t, grade.ReasonNoResponse, v.Reason)
	v, err = apply(t, peer.GSM8K(), "eighteen", "18")
	require.NoError(t, err)
	assert.Equal(t, grade.ReasonNoAnswer, v.Reason)
	assert.Equal(t, "peer: gsm8k.original (openai/grade-school-math 3101c7d)", v.How)
	v, err = apply(t, peer.OpenAIMatch(), strings.Repeat("x", 500)+" end\x16", "18")
	require.NoError(t, err)
	assert.Contains(t, v.Why, `end\x16" (the end of 505 bytes)`)
	assert.Less(t, len(v.Why), 200, "a long response is not repeated")
}

func TestRules(t *testing.T) {
	names := map[string]bool{}
	for _, r := range peer.Rules() {
		assert.False(t, names[r.Name], "two rules %q", r.Name)
		names[r.Name] = true
		assert.NotEmpty(t, r.Project+r.Version, r.Name)
		assert.NotContains(t, r.About, "\n", r.Name)
		assert.NotEmpty(t, r.About, r.Name)
		g, ok := peer.Lookup(r.Name)
		assert.True(t, ok)
		assert.Equal(t, r.Name, grade.NameOf(g))
	}
	_, ok := peer.Lookup("GSM8K.original")
	assert.False(t, ok, "names are exact")
	assert.PanicsWithValue(t, `peer: InspectMatch: location "middle" is none of end, begin, any, exact`, func() {
		peer.InspectMatch(peer.InspectOptions{Location: "middle"})
	})
	assert.Panics(t, func() { peer.SimpleEvalsMGSM("") })
}

func TestInspectMatchCase(t *testing.T) {
	v, err := apply(t, peer.InspectMatch(peer.InspectOptions{MatchCase: true}), "YES", "yes")
	require.NoError(t, err)
	assert.Equal(t, grade.Incorrect, v.Mark)
	assert.Contains(t, v.How, "inspect.match(numeric=False,location=end,ignore_case=False)")
}

func TestMGSMPrefix(t *testing.T) {
	named, ok := peer.Lookup("simple-evals.mgsm(prefix=答案)")
	require.True(t, ok)
	for _, g := range []grade.Grader{named, peer.SimpleEvalsMGSM("答案")} {
		v, err := apply(t, g, "答案：18", "18")
		require.NoError(t, err)
		assert.Equal(t, grade.Correct, v.Mark)
		assert.Equal(t, "simple-evals.mgsm(prefix=答案)", grade.NameOf(g))
	}
	_, ok = peer.Lookup("simple-evals.mgsm(prefix=)")
	assert.False(t, ok)
}

// Graders are shared by all workers of a run.
func TestConcurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	for _, g := range graders() {
		for range 4 {
			wg.Go(func() { _, _ = apply(t, g, "The ÄNSWER is 十二½.", "12.5") })
		}
	}
	wg.Wait()
}

func FuzzRules(f *testing.F) {
	f.Add("#### 1,450,000.", "1450000")
	f.Add("The answer is 18.\nAnswer: −½²", "0.25")
	f.Add("三千五百万 \\$1_000.5 **x**", "35000000")
	f.Add("\xff\xfe1e400 ⁺² 2⁹⁹⁹⁹", "\xff")
	f.Add("a An thé \x1f", "the")
	rules := peer.Rules()
	f.Fuzz(func(t *testing.T, response, target string) {
		for _, r := range rules {
			v, err := apply(t, r.Grader, response, target)
			if err != nil {
				require.ErrorIs(t, err, grade.ErrTarget)
				continue
			}
			assert.Equal(t, v.Mark == grade.Correct, v.Score == 1)
			again, err := apply(t, r.Grader, response, target)
			require.NoError(t, err)
			assert.Equal(t, v, again, "%s depends on more than its arguments", r.Name)
		}
	})
}
