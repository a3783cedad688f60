package peer_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/grade/peer"
)

type solution struct {
	Index    int
	Solution string
	Correct  bool `json:"is_correct"`
	target   string
}

// gunzip decodes the JSON rows of a compressed file.
func gunzip[Row any](t *testing.T, name string) (rows []Row) {
	t.Helper()
	z, err := gzip.NewReader(shared(t, name))
	require.NoError(t, err)
	for dec := json.NewDecoder(z); ; {
		var row Row
		if err := dec.Decode(&row); err == io.EOF {
			return rows
		}
		require.NoError(t, err)
		rows = append(rows, row)
	}
}

// TestSolutions grades the published solutions of two models with each rule,
// the solutions' own answer line rewritten to what the rule looks for, and
// counts where the rule departs from the publishers' verdicts. The counts are
// those of the projects' own code on the same texts.
func TestSolutions(t *testing.T) {
	tests := []struct {
		name, rule, line, reason string
		falseRight, falseWrong   int
	}{
		{"original", "gsm8k.original", "#### %", "its own format", 0, 0},
		{"strict", "lm-eval.gsm8k.strict-match", "#### %", "its own format", 0, 0},
		{"flexible", "lm-eval.gsm8k.flexible-extract", "#### %", "the answer is the last number", 0, 0},
		{"cot", "lm-eval.gsm8k_cot.strict-match", "The answer is %.", "its own format", 0, 0},
		{"cot without full stop", "lm-eval.gsm8k_cot.strict-match", "The answer is %", "the last digit is lost", 23, 1028},
		{"llama", "lm-eval.gsm8k_cot_llama.strict-match", "The final answer is %", "its own format", 0, 0},
		{"inspect numeric", "inspect.match(numeric=True,location=end)", "ANSWER: %", "the answer is the last number", 0, 0},
		{"inspect any", "inspect.match(numeric=True,location=any)", "ANSWER: %", "any number of the reasoning counts", 143, 0},
		{"inspect text", "inspect.match(numeric=False,location=end)", "ANSWER: %", "118 ends with 18, and 1450000 is not 1,450,000", 41, 7},
		{"mgsm", "simple-evals.mgsm(prefix=Answer)", "Answer: %", "the sign is dropped, and the zeros of a fraction", 5, 0},
		{"helm", "helm.final_number_exact_match", "The answer is %.", "the answer is the last number", 0, 0},
		{"includes", "openai-evals.Includes", "ANSWER: %", "any digits of the reasoning count", 378, 5},
		{"fuzzy", "openai-evals.FuzzyMatch", "ANSWER: %", "any digits count, also without their dot", 455, 0},
		{"match", "openai-evals.Match", "ANSWER: %", "no solution begins with its answer", 0, 1028},
	}
	solutions := gunzip[solution](t, "data/gsm8k_model_solutions.jsonl.gz")
	questions := gunzip[struct{ Answer string }](t, "data/gsm8k_test.jsonl.gz")
	require.Len(t, solutions, 2638)
	for i, s := range solutions {
		_, target, _ := strings.Cut(questions[s.Index].Answer, "#### ")
		solutions[i].target = target
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, ok := peer.Lookup(tt.rule)
			require.True(t, ok)
			falseRight, falseWrong := 0, 0
			for _, s := range solutions {
				v, err := apply(t, g, rewrite(s.Solution, tt.line), s.target)
				require.NoError(t, err)
				switch correct := v.Mark == grade.Correct; {
				case correct && !s.Correct:
					falseRight++
				case !correct && s.Correct:
					falseWrong++
				}
			}
			assert.Equal(t, tt.falseRight, falseRight, "right by the rule alone: %s", tt.reason)
			assert.Equal(t, tt.falseWrong, falseWrong, "wrong by the rule alone: %s", tt.reason)
		})
	}
}

var answerLine = regexp.MustCompile(`A: (-?[0-9.,]+)`)

// rewrite puts line, its % replaced by the number, for the last "A: 18".
func rewrite(solution, line string) string {
	all := answerLine.FindAllStringSubmatchIndex(solution, -1)
	if len(all) == 0 {
		return solution
	}
	at := all[len(all)-1]
	return solution[:at[0]] + strings.Replace(line, "%", solution[at[2]:at[3]], 1) + solution[at[1]:]
}
