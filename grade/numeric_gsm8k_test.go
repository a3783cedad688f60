package grade

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/llm"
)

type gsm8kRow struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// goldTarget returns what stands behind the last #### of a GSM8K answer.
func goldTarget(t testing.TB, answer string) string {
	t.Helper()
	k := strings.LastIndex(answer, "#### ")
	require.GreaterOrEqual(t, k, 0, answer)
	return strings.TrimSpace(answer[k+len("#### "):])
}

// TestGSM8KGold grades each reference answer of GSM8K's test split as a
// response: all are right.
func TestGSM8KGold(t *testing.T) {
	rows := readGzipLines[gsm8kRow](t, sharedFile(t, "data/gsm8k_test.jsonl.gz"))
	require.Len(t, rows, 1319)
	unmarked := 0
	for i, row := range rows {
		target := goldTarget(t, row.Answer)
		for _, response := range []string{row.Answer, target, "The answer is " + target + ".", "\\boxed{" + target + "}", "**Answer:** $" + target + "$"} {
			v := gradeNumber(t, Numeric(), response, target)
			assert.Equal(t, Correct, v.Mark, "row %d: %q against %s: %+v", i+1, response, target, v)
		}
		if gradeNumber(t, Numeric(), row.Answer[:strings.LastIndex(row.Answer, "####")], target).Mark == Correct {
			unmarked++
		}
	}
	// Without the marker line the sentence decides. Some solutions end in
	// another number than their answer.
	assert.GreaterOrEqual(t, unmarked, 1305)
}

// TestGSM8KModelSolutions grades published solutions of two models and agrees
// with every official verdict.
func TestGSM8KModelSolutions(t *testing.T) {
	gold := readGzipLines[gsm8kRow](t, sharedFile(t, "data/gsm8k_test.jsonl.gz"))
	targets := map[string]string{}
	for _, row := range gold {
		targets[row.Question] = goldTarget(t, row.Answer)
	}
	type solution struct {
		Index     int    `json:"index"`
		Question  string `json:"question"`
		Model     string `json:"model"`
		Solution  string `json:"solution"`
		IsCorrect bool   `json:"is_correct"`
	}
	correct := map[string]int{}
	rows := readGzipLines[solution](t, sharedFile(t, "data/gsm8k_model_solutions.jsonl.gz"))
	require.Len(t, rows, 2638)
	g := Numeric()
	for _, row := range rows {
		target, ok := targets[row.Question]
		require.True(t, ok, row.Question)
		item := dataset.Item{ID: row.Model, Input: row.Question, Target: target}
		v, err := g.Grade(context.Background(), item, llm.Response{Text: row.Solution})
		require.NoError(t, err)
		assert.Equal(t, row.IsCorrect, v.Mark == Correct, "%s %d: target %s: %+v\n%s", row.Model, row.Index, target, v, row.Solution)
		if v.Mark == Correct {
			correct[row.Model]++
		}
	}
	assert.Equal(t, map[string]int{"6b_finetuning": 286, "175b_verification": 742}, correct)
}
