package evaltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/dataset/gsm8k"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// solution is one published answer with its publisher's verdict.
type solution struct {
	Question string `json:"question"`
	Model    string `json:"model"`
	Solution string `json:"solution"`
	Correct  bool   `json:"is_correct"`
}

// TestPublishedSolutions replays the solutions that two models gave to the
// whole GSM8K test split through Run, and expects each of the 2,638 verdicts
// that were published with them.
func TestPublishedSolutions(t *testing.T) {
	ds, err := gsm8k.Load(sharedFile(t, "data/gsm8k_test.jsonl.gz"))
	require.NoError(t, err)
	solutions := readSolutions(t, sharedFile(t, "data/gsm8k_model_solutions.jsonl.gz"))
	for _, row := range []struct {
		model   string
		correct int
	}{{"6b_finetuning", 286}, {"175b_verification", 742}} {
		t.Run(row.model, func(t *testing.T) {
			answers := solutions[row.model]
			require.Len(t, answers, 1319)
			strategy := evaltest.StrategyFunc(func(_ context.Context, item dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
				return llm.Response{Text: answers[item.Input].Solution, Finish: llm.FinishStop}, nil
			})
			var rep *evaltest.Report
			t.Run("run", func(t *testing.T) {
				rep = evaltest.Run(t, ds, strategy, evaltest.Grader(grade.Numeric()), evaltest.MinAccuracy(0.2),
					evaltest.Dir(t.TempDir()), evaltest.Parallel(64), evaltest.Offline())
				checkPublished(t, rep, answers)
			})
			require.NotNil(t, rep)
			assert.Equal(t, row.correct, rep.Stats.Counts().Correct, report.Headline(rep.Stats))
			assert.Equal(t, 1319, rep.Stats.Counts().Total)
		})
	}
}

func checkPublished(t *testing.T, rep *evaltest.Report, answers map[string]solution) {
	for rec, err := range rep.Records() {
		require.NoError(t, err)
		want := answers[rec.Item.Input]
		assert.Equal(t, want.Correct, rec.Outcome == result.Correct, "%s: target %s, %s", rec.Item.ID, rec.Item.Target, want.Solution)
	}
}

// sharedFile finds a file that is not ours to commit, beside the project.
func sharedFile(t *testing.T, name string) string {
	dir := os.Getenv("EVALTEST_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("needs %s, which is not part of the repository: put it there or name its folder in EVALTEST_SHARED", name)
	}
	return path
}

// readSolutions returns the solutions by model and question.
func readSolutions(t *testing.T, path string) map[string]map[string]solution {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	zr, err := gzip.NewReader(f)
	require.NoError(t, err)
	all := map[string]map[string]solution{}
	for dec := json.NewDecoder(zr); dec.More(); {
		var s solution
		require.NoError(t, dec.Decode(&s))
		if all[s.Model] == nil {
			all[s.Model] = map[string]solution{}
		}
		all[s.Model][s.Question] = s
	}
	return all
}
