package bakeoff_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/dataset/gsm8k"
	"github.com/goevals/evals/evaltest/bakeoff"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// committed reads a file of testdata/bakeoff, which a live run wrote: a field
// that it has and the type has not is a format that has changed since.
func committed(t *testing.T, name string, v any) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "bakeoff", name))
	require.NoError(t, err)
	defer f.Close()
	r, err := dataset.Decompress(f)
	require.NoError(t, err)
	defer r.Close()
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	items, lines := v.(*[]bakeoff.Item)
	if !lines {
		require.NoError(t, dec.Decode(v), name)
		return
	}
	for {
		var it bakeoff.Item
		if err := dec.Decode(&it); errors.Is(err, io.EOF) {
			return
		} else {
			require.NoError(t, err, "%s, item %d", name, len(*items)+1)
		}
		*items = append(*items, it)
	}
}

// TestGradedAgain: the line of the package's documentation makes rows of a
// results file that "evals grade" reads, with the verdicts that the run came to.
func TestGradedAgain(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("there is no jq")
	}
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	program := regexp.MustCompile(`jq -c '(.+)'`).FindSubmatch(doc)
	require.NotNil(t, program)
	path := filepath.Join("..", "..", "testdata", "bakeoff", "compatible_results.jsonl.gz")
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	text, err := dataset.Decompress(f)
	require.NoError(t, err)
	defer text.Close()
	jq, evals := exec.Command("jq", "-c", string(program[1])), exec.Command("go", "run", "../cmd/evals", "grade", "-grader", "numeric")
	jq.Stdin = text
	rows, err := jq.Output()
	require.NoError(t, err)
	evals.Stdin = bytes.NewReader(rows)
	graded, err := evals.Output()
	require.NoError(t, err)

	var items []bakeoff.Item
	committed(t, "compatible_results.jsonl.gz", &items)
	lines := bytes.Split(bytes.TrimSpace(graded), []byte("\n"))
	require.Len(t, lines, len(items))
	for i, it := range items {
		var row struct {
			ID, Target string
			Verdict    result.Outcome
		}
		require.NoError(t, json.Unmarshal(lines[i], &row))
		assert.Equal(t, []string{it.ID, it.Gold}, []string{row.ID, row.Target})
		if it.Outcome != result.Truncated {
			assert.Equal(t, it.Outcome, row.Verdict, it.ID)
		}
	}
}

// The live run that is committed as an example is one that this version could
// have written, of the sample as it is now, and its files agree.
func TestCommitted(t *testing.T) {
	var sum bakeoff.Summary
	var rate bakeoff.Throughput
	var items []bakeoff.Item
	committed(t, "summary.json", &sum)
	committed(t, "throughput.json", &rate)
	committed(t, "compatible_results.jsonl.gz", &items)

	ds, err := gsm8k.Load(filepath.Join("..", "..", "testdata", "gsm8k_sample.jsonl.gz"))
	require.NoError(t, err)
	for name, m := range map[string]bakeoff.Methodology{"summary": sum.Methodology, "throughput": rate.Methodology} {
		assert.Equal(t, ds.SHA256(), m.Dataset.SHA256, "%s: the sample has changed since: run it again", name)
		assert.Equal(t, "testdata/gsm8k_sample.jsonl.gz", m.Dataset.File, name)
		assert.NotEmpty(t, m.Processor, name)
		assert.NotEmpty(t, m.Models["compatible"], name)
		assert.Zero(t, m.Seed, "%s: a fake took part", name)
		assert.True(t, slices.ContainsFunc(m.Notes, func(n string) bool { return strings.HasPrefix(n, "compatible is ") }), "%s names the server and the weights", name)
	}

	require.Len(t, sum.Bakeoff, 1)
	row := sum.Bakeoff[0]
	var usage llm.UsageTotal
	got := bakeoff.Row{Outcomes: map[result.Outcome]int{}, Reported: map[string]int{}, ErrorCounts: row.ErrorCounts}
	for _, it := range items {
		usage.Merge(it.Usage)
		got.Items++
		got.Outcomes[it.Outcome]++
		got.Reported[it.Model]++
		got.Attempts += len(it.Attempts)
		for _, a := range it.Attempts {
			if a.Mark == grade.Unparsed {
				got.ParseFailures++
			}
		}
		g := ds.At(got.Items - 1)
		assert.Equal(t, []string{g.ID, g.Input, g.Target}, []string{it.ID, it.Input, it.Gold}, "items are in the dataset's order")
	}
	assert.Equal(t, ds.Len(), got.Items)
	assert.Equal(t, row.Outcomes, got.Outcomes)
	assert.Equal(t, row.Reported, got.Reported)
	assert.Equal(t, row.Correct, got.Outcomes[result.Correct])
	assert.Equal(t, row.Attempts, got.Attempts)
	assert.Equal(t, row.Retries, got.Attempts-got.Items)
	assert.Equal(t, row.ParseFailures, got.ParseFailures)
	assert.Equal(t, []int64{row.Input, row.Cached, row.Output, int64(row.Calls), int64(row.UnknownUsage)},
		[]int64{usage.Input, usage.CachedInput, usage.Output, int64(usage.Calls), int64(usage.Unknown)})

	require.Len(t, sum.Race, 1)
	require.Len(t, rate.Rows, 1)
	assert.Equal(t, sum.Race[0].Items, sum.Race[0].OK, "each item was answered in each leg")
	assert.Equal(t, rate.Rows[0].Items, rate.Rows[0].Ours.Answered)
	assert.Positive(t, rate.Overhead)
}
