package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
)

// A part is a journal of a part of a run.
type part struct {
	selection, model, grader string
	end                      *result.End // nil: killed
	ids                      []string
}

// partOf is the i-th of n parts, whole.
func partOf(i, n int, ids ...string) part {
	return part{fmt.Sprintf("shard %d of %d (%d of 9)", i, n, len(ids)), "m-1", "exact-strict", &result.End{Complete: true, Finished: start, Counts: result.Counts{result.Correct: len(ids)}}, ids}
}

func (p part) with(change func(*part)) part { change(&p); return p }

func (p part) write(t *testing.T, path string) {
	t.Helper()
	w, err := result.Create(path, result.Header{
		Created: start, Module: "example.com/m", Package: "example.com/m/bot", Test: "TestCapitals",
		Dataset: result.Dataset{Name: "capitals", SHA256: "ab", Items: len(p.ids), Selection: p.selection}, Strategy: "bot", Grader: p.grader,
		Samples: 1, Attempts: 1, Go: "go1.26",
		Fingerprint: map[string]string{"evals": "v1", "first item's request": p.ids[0], "request settings": "t=0"},
	})
	require.NoError(t, err)
	for _, id := range p.ids {
		failed := record(id, "", "x", result.Errored, grade.Incorrect)
		require.NoError(t, w.Write(&failed)) // replaced, as in a resumed run
		right := record(id, "x", "x", result.Correct, grade.Correct)
		require.NoError(t, w.Write(&right))
	}
	if p.end == nil {
		require.NoError(t, w.Abort())
		return
	}
	end := *p.end
	end.Fingerprint = map[string]string{"model": p.model}
	require.NoError(t, w.Close(end))
}

func TestMerge(t *testing.T) {
	tests := []struct {
		name, reason string
		parts        []part
		code         int
		stderr       string
		ids          []string // in OUT, in order; nil: there is no OUT
		complete     bool
	}{
		{"whole", "in the parts' order, whatever the files' is", []part{partOf(2, 2, "b", "d"), partOf(1, 2, "a", "c")}, 0, "", []string{"a", "c", "b", "d"}, true},
		{"one", "a part of one is the whole", []part{partOf(1, 1, "a")}, 0, "", []string{"a"}, true},
		{"limited", "so many of each part", []part{
			partOf(1, 2, "a").with(func(p *part) { p.selection += ", limit 1 (1 of 2)" }),
			partOf(2, 2, "b").with(func(p *part) { p.selection += ", limit 1 (1 of 3)" }),
		}, 0, "", []string{"a", "b"}, true},
		{"missing", "a machine was lost: the rest is kept, and it is said", []part{partOf(3, 3, "c"), partOf(1, 3, "a")}, 1, "part 2 of 3 is missing", []string{"a", "c"}, false},
		{"killed", "no end", []part{partOf(1, 2, "a"), partOf(2, 2, "b").with(func(p *part) { p.end = nil })}, 1, "part 2 did not come to its end", []string{"a", "b"}, false},
		{"early", "the reason is told", []part{partOf(1, 2, "a").with(func(p *part) { p.end = &result.End{Reason: "budget"} }), partOf(2, 2, "b")}, 1, "part 1 ended early: budget", []string{"a", "b"}, false},
		{"narrowed", "no reason is known", []part{partOf(1, 1, "a").with(func(p *part) { p.end = &result.End{} })}, 1, "part 1 is not complete", []string{"a"}, false},
		{"twice", "an item is counted once", []part{partOf(1, 2, "a"), partOf(2, 2, "b"), partOf(2, 2, "c")}, 1, "are both part 2 of 2", nil, false},
		{"overlap", "an item is counted once", []part{partOf(1, 2, "a"), partOf(2, 2, "a")}, 1, `item "a" is in `, nil, false},
		{"another grader", "no one run", []part{partOf(1, 2, "a"), partOf(2, 2, "b").with(func(p *part) { p.grader = "numeric" })}, 1, `grader "exact-strict" and "numeric"`, nil, false},
		{"another number", "of parts", []part{partOf(1, 2, "a"), partOf(2, 3, "b")}, 1, `number of parts "2" and "3"`, nil, false},
		{"no part", "a whole run", []part{partOf(1, 2, "a").with(func(p *part) { p.selection = "" })}, 1, "is of no part of a dataset", nil, false},
		{"no such part", "written by hand", []part{partOf(3, 2, "a")}, 1, "parts count from 1 to n", nil, false},
		{"two models", "the provider's alias moved: both are told", []part{partOf(1, 2, "a").with(func(p *part) { p.model = "m-2, m-1" }), partOf(2, 2, "b")}, 0, "", []string{"a", "b"}, true},
	}
	for _, tt := range tests {
		require.NotEmpty(t, tt.reason)
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out.jsonl.gz")
			args := []string{"merge", "-o", out}
			for i, p := range tt.parts {
				path := filepath.Join(dir, fmt.Sprint(i, ".jsonl"))
				p.write(t, path)
				args = append(args, path)
			}
			r := evals("", noEnv, args...)
			require.Equal(t, tt.code, r.code, r.stderr)
			assert.Contains(t, r.stderr, tt.stderr)
			if tt.ids == nil {
				assert.NoFileExists(t, out)
				assert.NoFileExists(t, strings.TrimSuffix(out, ".gz"), "no half of a file")
				return
			}
			j, err := result.Read(out)
			require.NoError(t, err)
			var ids []string
			for _, rec := range j.Records {
				ids = append(ids, rec.Item.ID)
			}
			assert.Equal(t, tt.ids, ids)
			assert.Len(t, j.Replaced, len(ids), "what they spent was spent")
			require.NotNil(t, j.End)
			assert.Equal(t, tt.complete, j.End.Complete)
			assert.Equal(t, len(ids), j.Header.Dataset.Items)
			assert.Equal(t, map[string]string{"evals": "v1", "request settings": "t=0"}, j.Header.Fingerprint)
			if tt.name == "two models" {
				assert.Equal(t, "m-1, m-2", j.End.Fingerprint["model"])
			}
			if tt.name == "limited" {
				assert.Equal(t, "limit 1 of each part", j.Header.Dataset.Selection)
			}
			shown := evals("", noEnv, "show", out)
			require.Equal(t, 0, shown.code, shown.stderr)
			assert.Contains(t, shown.stdout, fmt.Sprintf("%d/%d correct", len(ids), len(ids)))
			assert.Contains(t, shown.stdout, tt.stderr, "what is missing is said again")
		})
	}
}

func TestMergeKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "1.jsonl"), filepath.Join(dir, "out.jsonl")
	partOf(1, 1, "a").write(t, path)
	require.NoError(t, os.WriteFile(out, []byte("mine"), 0o666))
	r := evals("", noEnv, "merge", "-o", out, path)
	assert.Equal(t, 1, r.code)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
}
