package evaltest_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// other is a strategy, and a grader, of another name.
type other struct{}

func (other) Name() string { return "other" }

func (other) Execute(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
	return llm.Response{Text: it.Target}, nil
}

func (other) Grade(ctx context.Context, it dataset.Item, r llm.Response) (grade.Verdict, error) {
	return grade.Exact().Grade(ctx, it, r)
}

// paid answers for 5 tokens and a cent, or fails for 10 tokens.
type paid struct{}

func (paid) Name() string { return "paid" }

func (paid) Execute(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
	if os.Getenv("MODEL_DOWN") != "" && it.ID != "france" {
		return llm.Response{}, &llm.Error{Kind: llm.KindServer, Status: 500, Usage: llm.Usage{Input: 10, Known: true}}
	}
	return llm.Response{Text: it.Target, CostUSD: "0.01", Usage: llm.Usage{Input: 5, Known: true}}, nil
}

func init() {
	scenarios["other strategy"] = func(t *testing.T) { evaltest.Run(t, capitals(t, 4), other{}, exact, evaltest.Resume("latest")) }
	scenarios["other grader"] = func(t *testing.T) {
		evaltest.Run(t, capitals(t, 4), wrong, exact, evaltest.Grader(other{}), evaltest.Resume("latest"))
	}
	scenarios["other judge"] = func(t *testing.T) {
		evaltest.Run(t, capitals(t, 4), wrong, exact, evaltest.Judge(other{}), evaltest.JudgeIncorrect(), evaltest.Resume("latest"))
	}
	scenarios["other dataset"] = func(t *testing.T) { evaltest.Run(t, capitals(t, 3), wrong, exact, evaltest.Resume("latest")) }
	scenarios["other samples"] = func(t *testing.T) {
		evaltest.Run(t, capitals(t, 4), wrong, exact, evaltest.Samples(2), evaltest.Attempts(2), evaltest.Limit(2), evaltest.Resume("latest"))
	}
	scenarios["two errors"] = func(t *testing.T) { evaltest.Run(t, capitals(t, 3), paid{}, exact) }
}

// TestWrongFolder: whoever set the folder, it is said what sets it.
func TestWrongFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, c := range map[string]*child{
		"variable": newChild(t, "pass").at(file),
		"flag":     newChild(t, "pass", "-evaltest.dir="+file),
	} {
		c.run()
		assert.Equal(t, 1, c.code, name)
		assert.Contains(t, c.out.String(), "put that right, or choose another folder; -evaltest.dir or EVALTEST_DIR name the folder", name)
	}
}

// TestResumeRefuses: answers of another run are not mixed in, and the message
// says in what it differs.
func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	first := newChild(t, "gate failed").run() // four answers, complete
	packed := first.journal().Path
	for _, row := range []struct{ scenario, want string }{
		{"other strategy", `the strategy was "answers" and is "other"`},
		{"other grader", `and is "other"`},
		{"other judge", `the judge was none and is "other"; the judging of incorrect answers was none and is "on"`},
		{"other dataset", "the dataset's SHA-256 was"},
		{"other samples", `the selection was none and is "limit 2 (2 of 4)"; the number of items was "4" and is "2"; the number of samples was "1" and is "2"; the number of attempts was "1" and is "2"`},
		{"assertion", "is complete: nothing is left to run"},
	} {
		t.Run(row.scenario, func(t *testing.T) {
			path := first.journal().Path
			c := newChild(t, row.scenario, "-test.v")
			if row.scenario == "assertion" {
				c.at(first.dir).with("EVALTEST_RESUME", "1")
			} else {
				c.with("EVALTEST_RESUME", path)
			}
			c.run()
			assert.Equal(t, 1, c.code)
			assert.Contains(t, c.text(), row.want)
			assert.NotContains(t, c.text(), "TestChild/france", "nothing ran")
			assert.Equal(t, packed, first.journal().Path, "the journal is as it was")
			assert.Len(t, first.journal().Records, 4)
		})
	}
}

// TestResumeErrors: what ended in an error runs again, the rest does not.
func TestResumeErrors(t *testing.T) {
	t.Parallel()
	down := newChild(t, "two errors").with("MODEL_DOWN", "1").run()
	require.Equal(t, 1, down.code)
	assert.Contains(t, down.text(), "1/3 correct, 2 errored")
	assert.Contains(t, down.out.String(), "tokens    25 in, 0 out in 3 calls")
	before := down.journal()

	one := newChild(t, "two errors", "-test.v", "-evaltest.resume", "-test.run=^TestChild$/^spain$").with("MODEL_DOWN", "1").at(down.dir).run()
	assert.Contains(t, one.out.String(), "tokens    20 in, 0 out in 2 calls", "what was spent on spain")
	up := newChild(t, "two errors", "-test.v", "-evaltest.resume").at(down.dir).run()
	assert.Equal(t, 0, up.code, up.text())
	assert.Contains(t, up.text(), "3/3 correct")
	after := up.journal()
	assert.Equal(t, before.Records[0].Start, after.Find(result.Key{ID: "france"}).Start)
	assert.Len(t, after.Replaced, 3)
	assert.Contains(t, up.out.String(), "tokens    45 in, 0 out in 6 calls", "with what failed answers spent")
	assert.Contains(t, up.out.String(), "3 earlier answers, since replaced")
}

// TestFailed: only what was not correct runs, as assertions, and again until
// nothing is left.
func TestFailed(t *testing.T) {
	t.Parallel()
	first := newChild(t, "gate passed").run()
	require.Equal(t, 0, first.code)
	again := newChild(t, "gate passed", "-test.v", "-evaltest.failed").at(first.dir).run()
	assert.Equal(t, 1, again.code, "assertions")
	text := again.text()
	assert.Contains(t, text, "--- FAIL: TestChild/spain")
	assert.Contains(t, text, "--- FAIL: TestChild/peru")
	assert.NotContains(t, text, "TestChild/france")
	assert.Contains(t, text, "not evaluated MinAccuracy")

	fixed := newChild(t, "pass", "-test.v", "-evaltest.failed").at(first.dir).run()
	assert.Equal(t, 0, fixed.code, "peru is not in this dataset any more, spain is right now")
	assert.Contains(t, fixed.text(), "1/1 correct")
	none := newChild(t, "pass", "-evaltest.failed").at(first.dir).run()
	assert.Equal(t, 1, none.code)
	assert.Contains(t, none.text(), "are correct: nothing to run again")
}

// TestNarrowedIsNotLatest: a look at one item does not make the others
// forgotten.
func TestNarrowedIsNotLatest(t *testing.T) {
	t.Parallel()
	first := newChild(t, "gate passed").run()
	require.Equal(t, 0, first.code)
	newChild(t, "gate passed", "-test.run=^TestChild$/^france$").at(first.dir).run()
	again := newChild(t, "gate passed", "-test.v", "-evaltest.failed").at(first.dir).run()
	assert.Contains(t, again.text(), "0/2 correct")
}

// TestCountJournals: each count has a journal of its own.
func TestCountJournals(t *testing.T) {
	t.Parallel()
	c := newChild(t, "pass", "-test.count=3").run()
	require.Equal(t, 0, c.code)
	files, err := filepath.Glob(filepath.Join(c.dir, "*", "*", "*", "*.jsonl.gz"))
	require.NoError(t, err)
	assert.Len(t, files, 3)
}

// TestArtifacts: -artifacts gets the journal and the summary.
func TestArtifacts(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	c := newChild(t, "gate failed", "-test.artifacts", "-test.outputdir="+out).run()
	require.Equal(t, 1, c.code)
	found := map[string]string{} // by extension; where below _artifacts is testing's business
	require.NoError(t, filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		found[filepath.Ext(path)] = path
		return err
	}))
	j, err := result.Read(found[".gz"])
	require.NoError(t, err)
	assert.Len(t, j.Records, 4)
	text, err := os.ReadFile(found[".txt"])
	require.NoError(t, err)
	assert.Contains(t, string(text), "2/4 correct")
}

// TestHeader: the journal says what was run.
func TestHeader(t *testing.T) {
	t.Parallel()
	h := newChild(t, "gate failed").run().journal().Header
	assert.Equal(t, "github.com/goevals/evals", h.Module)
	assert.Equal(t, "github.com/goevals/evals/evaltest", h.Package)
	assert.Equal(t, "TestChild", h.Test)
	assert.Equal(t, "capitals", h.Dataset.Name)
	assert.Equal(t, 4, h.Dataset.Items)
	assert.Len(t, h.Dataset.SHA256, 64)
	assert.Equal(t, "answers", h.Strategy)
	assert.Equal(t, 1, h.Samples)
	assert.Equal(t, 1, h.Attempts)
	assert.Equal(t, "0.75", h.Options["min-accuracy"])
	assert.Equal(t, "5m0s", h.Options["timeout"])
	assert.NotEmpty(t, h.Go)
}
