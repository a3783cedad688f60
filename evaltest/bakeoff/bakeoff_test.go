package bakeoff_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/bakeoff"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func lap(leg string, wall time.Duration) bakeoff.Lap {
	return bakeoff.Lap{Leg: leg, Wall: wall, Answered: 10, Correct: 9}
}

func Example() {
	race := &bakeoff.Race{Provider: "quick", Workers: 5, Items: 10, Passes: [][]bakeoff.Lap{
		{lap("sequential", 1000*time.Millisecond), lap("ours", 210*time.Millisecond)},
		{lap("ours", 200*time.Millisecond), lap("sequential", 1000*time.Millisecond)},
		{lap("sequential", 1000*time.Millisecond), lap("ours", 400*time.Millisecond)}, // something else ran
	}}
	row := race.Row()
	fmt.Printf("%.2f s and %.2f s: %.1f times as fast\n", row.SequentialSeconds, row.OursSeconds, row.Speedup)
	// Output:
	// 1.00 s and 0.21 s: 4.8 times as fast
}

func records(list ...result.Record) iter.Seq2[result.Record, error] {
	return func(yield func(result.Record, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// answer is a record whose attempts had these marks; "" is a failed call.
func answer(id string, outcome result.Outcome, marks ...grade.Mark) result.Record {
	r := result.Record{Item: result.Item{ID: id, Input: "Q " + id, Target: "5"}, Outcome: outcome, CostUSD: "0.001", Response: &llm.Response{Text: "<b>#### 5</b>", Model: "m"}}
	for i, m := range marks {
		a := result.Attempt{Number: i + 1, Usage: llm.UsageTotal{Calls: 1}}
		if m == "" {
			a.Error = &result.Error{Kind: llm.KindServer, Message: "500"}
		} else {
			a.Verdict = &grade.Verdict{Mark: m}
			r.Verdict = a.Verdict
		}
		r.Usage.Count(llm.Usage{Input: 10, Output: 3, Known: true})
		r.Attempts = append(r.Attempts, a)
	}
	return r
}

func statsOf(list ...result.Record) *report.Stats {
	s := report.New(report.Labels{Planned: len(list), Samples: 1})
	for i := range list {
		s.Add(&list[i])
	}
	return s.Stats()
}

var somebody = bakeoff.Contestant{Name: "some/body", Model: "m", Workers: 3, ThinkingFrom: 3, Price: bakeoff.Price{Input: "1", CachedInput: "0.1", Output: "4", AsOf: "2026-11-09"}}

func TestRow(t *testing.T) {
	list := []result.Record{
		answer("a", result.Correct, grade.Correct),
		answer("b", result.Incorrect, grade.Incorrect),
		answer("c", result.Correct, grade.Unparsed, grade.Unparsed, grade.Correct),
		answer("d", result.Correct, "", "", grade.Correct),
		answer("e", result.Unparsed, grade.Unparsed, "", grade.Unparsed),
	}
	row, err := bakeoff.NewRow(somebody, statsOf(list...), records(list...))
	require.NoError(t, err)
	assert.Equal(t, 3, row.Correct)
	assert.InDelta(t, 60, row.Accuracy, 1e-9)
	assert.Equal(t, 11, row.Attempts)
	assert.Equal(t, 6, row.Retries)
	assert.Equal(t, 2, row.Escalations, "c and e; what failed calls alone led to is no escalation")
	assert.Equal(t, 4, row.ParseFailures)
	assert.Equal(t, 1, row.Unparsed)
	assert.Equal(t, map[llm.ErrorKind]int{llm.KindServer: 3}, row.ErrorCounts, "those that were followed by an answer too")
	assert.Equal(t, "0.005", row.Cost.String())
	assert.Equal(t, "0.005", row.Total.String())
	assert.False(t, row.AtLeast)
	assert.Equal(t, int64(110), row.Input)

	list[1].CostUSD, list[1].AtLeastUSD = "", "0.0004"
	row, err = bakeoff.NewRow(somebody, statsOf(list...), records(list...))
	require.NoError(t, err)
	assert.True(t, row.AtLeast, "one is not known")
	assert.Equal(t, "0.0044", row.Cost.String())
	assert.True(t, row.TotalAtLeast, "nor is the sum")
	usd, known := row.JudgeUSD()
	assert.Zero(t, usd, "it was not asked")
	assert.True(t, known)

	_, err = bakeoff.NewRow(somebody, statsOf(append(list, list...)...), records(list...))
	assert.ErrorContains(t, err, "-benchtime=1x", "two passes are not one row")
	broken := errors.New("line 3")
	_, err = bakeoff.NewRow(somebody, statsOf(list...), func(yield func(result.Record, error) bool) { yield(result.Record{}, broken) })
	assert.ErrorIs(t, err, broken)
}

// TestResultsNames: no two contestants share a file, and none leaves the folder.
func TestResultsNames(t *testing.T) {
	dir, seen := t.TempDir(), map[string]string{}
	for _, row := range []struct{ name, reason string }{
		{"a_b", "as it stands"}, {"a/b", "no folder"}, {"a b", "no space"}, {"A:b", "Windows refuses it"}, {"..", "not the folder above"},
		{".a", "not hidden"}, {"", "a name all the same"}, {strings.Repeat("x", 300), "file systems end at 255"}, {strings.Repeat("x", 299), "nor is that one the same"},
	} {
		path, err := bakeoff.WriteItems(dir, bakeoff.Contestant{Name: row.name}, 0, records())
		require.NoError(t, err, row.reason)
		assert.Equal(t, dir, filepath.Dir(path), row.reason)
		assert.Empty(t, seen[path], row.reason)
		assert.NotEqual(t, byte('.'), filepath.Base(path)[0], row.reason)
		seen[path] = row.name + "!"
	}
	assert.Len(t, seen, 9)
}

// TestReplace: a file that cannot be written whole stays as it was.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	list := []result.Record{answer("a", result.Correct, grade.Correct)}
	path, err := bakeoff.WriteItems(dir, bakeoff.Contestant{Name: "x"}, 0, records(list...))
	require.NoError(t, err)
	was, err := os.ReadFile(path)
	require.NoError(t, err)
	broken := errors.New("line 3")
	_, err = bakeoff.WriteItems(dir, bakeoff.Contestant{Name: "x"}, 0, func(yield func(result.Record, error) bool) {
		_ = yield(list[0], nil) && yield(result.Record{}, broken)
	})
	assert.ErrorIs(t, err, broken)
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, was, is)
	assert.Error(t, bakeoff.WriteJSON(filepath.Join(dir, "f.json"), func() {}), "no JSON")
}
