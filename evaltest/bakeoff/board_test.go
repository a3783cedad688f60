package bakeoff_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/bakeoff"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// ExampleBoard adds a race and a run of a contestant, and lists the files.
func ExampleBoard() {
	root, err := os.MkdirTemp("", "bakeoff")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	journal := filepath.Join(root, "benchmark", "j.jsonl.gz") // as a report or a race names its own

	board := bakeoff.NewBoard(bakeoff.NewMethodology)
	quick := bakeoff.Contestant{Name: "quick", Model: "m", Workers: 5}
	err = board.AddRace(quick, &bakeoff.Race{Workers: 5, Items: 10, Journal: journal, Passes: [][]bakeoff.Lap{
		{lap("sequential", time.Second), lap("ours", 200*time.Millisecond)},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	list := []result.Record{answer("a", result.Correct, grade.Correct), answer("b", result.Incorrect, grade.Incorrect)}
	for range 2 { // as -count=2 does
		row, err := board.AddRun(quick, 3, statsOf(list...), journal, records(list...))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("pass %d: %d of %d\n", row.Pass, row.Correct, row.Items)
	}
	files, err := os.ReadDir(board.Dir())
	if err != nil {
		fmt.Println(err)
	}
	for _, f := range files {
		fmt.Println(f.Name())
	}
	// Output:
	// pass 0: 1 of 2
	// pass 1: 1 of 2
	// quick_results.1.jsonl.gz
	// quick_results.jsonl.gz
	// summary.json
}

func read(t *testing.T, path string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	m := map[string]any{}
	require.NoError(t, json.Unmarshal(data, &m))
	return m
}

// at follows a path of names and indexes, such as "bakeoff.0.judge".
func at(t *testing.T, v any, path string) any {
	t.Helper()
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			require.Contains(t, in, name, path)
			v = in[name]
		case []any:
			i := int(name[0] - '0')
			require.Less(t, i, len(in), path)
			v = in[i]
		default:
			require.Fail(t, "no such place", "%s in %v", path, v)
		}
	}
	return v
}

// judged is an answer that the judge rescued after a failed call of its own.
func judged(id string) result.Record {
	r := answer(id, result.Correct, grade.Unparsed)
	r.Graded = r.Verdict
	r.Verdict = &grade.Verdict{Mark: grade.Correct, Score: 1, Calls: []llm.Response{{Model: "court-2", Timing: llm.Timing{Total: 2 * time.Second}}}}
	r.JudgeTryLog = []result.Try{
		{Duration: time.Second, Error: &result.Error{Kind: llm.KindServer}},
		{Duration: time.Hour, Unsent: true, Error: &result.Error{Kind: llm.KindRateLimit}},
		{Duration: 2 * time.Second}, // the verdict's
	}
	r.JudgeUsage.Count(llm.Usage{Input: 7, Output: 1, Known: true})
	r.Usage.CachedInput = 1 // it is left out if it is 0
	return r
}

// full is a board to which everything was added twice, and its folder's root.
func full(t *testing.T) (b *bakeoff.Board, root string) {
	t.Helper()
	root = t.TempDir()
	journal := filepath.Join(root, "benchmark", "j.jsonl.gz")
	b = bakeoff.NewBoard(bakeoff.NewMethodology)
	ds, err := dataset.New("sample", []dataset.Item{{ID: "a"}, {ID: "b"}})
	require.NoError(t, err)
	b.SetDataset(ds)
	b.AddOverhead(14_000)
	for pass := range 2 {
		list := []result.Record{judged("a"), answer("b", result.Incorrect, grade.Incorrect)}
		list[0].Response.Text = fmt.Sprintf("<b>#### 5</b> in pass %d", pass)
		race := &bakeoff.Race{Workers: 3, Items: 10, Journal: journal, Passes: [][]bakeoff.Lap{
			{lap("ours", time.Second), lap("sequential", 3*time.Second), lap("chunked", 2*time.Second), lap("pool", time.Second)},
		}}
		require.NoError(t, b.AddRace(somebody, race))
		require.NoError(t, b.AddThroughput(somebody, race))
		assert.Len(t, race.Passes, 1, "the caller's race stays as it is")
		assert.Empty(t, race.Provider, "nor gets it a name")
		row, err := b.AddRun(somebody, 3, statsOf(list...), journal, records(list...))
		require.NoError(t, err)
		assert.Equal(t, pass, row.Pass)
	}
	return b, root
}

// TestBoardFields: the files have all that the comparison has that this one
// follows. Its pricing is by contestant here; its package version, and that of
// its throughput file, are in the methodology; its chunk size, one number that
// the legs did not keep to, is with each race. Ours is what there has its name.
// The cached rate is the quotient of two prices and not repeated.
func TestBoardFields(t *testing.T) {
	b, _ := full(t)
	for _, row := range []struct{ name, reason, file, at, fields string }{
		{"summary", "what there is", "summary.json", "", "generated_at config methodology wall_time_race bakeoff samples"},
		{"config", "how much was asked", "summary.json", "config", "race_items bakeoff_items attempts"},
		{"methodology", "to do it again", "summary.json", "methodology", "package_version dataset models worker_caps pricing go system gomaxprocs"},
		{"dataset", "what was asked", "summary.json", "methodology.dataset", "name file items"},
		{"pricing", "a price without a day is none", "summary.json", "methodology.pricing.some/body", "as_of input cached_input output"},
		{"race", "all legs' times", "summary.json", "wall_time_race.0", "provider workers sequential_s gather_s ours_s speedup_seq_to_ours ok gather_chunk_size passes warmup items"},
		{"run", "all numbers of a run, and what theirs lacks", "summary.json", "bakeoff.0", `provider model_id workers accuracy_pct wall_s input_tokens
			cached_tokens output_tokens avg_output_tokens_per_item cost_usd billable_input_tokens cache_hit_rate_pct exact_correct judge_rescued unparsed
			errors attempts retries escalations parse_failures error_counts
			accuracy_low_pct accuracy_high_pct p50_s p90_s p99_s unknown_usage_calls total_cost_usd`},
		{"judge", "its cost is apart", "summary.json", "bakeoff.0.judge", "model_id wall_s input_tokens cached_tokens output_tokens cost_usd judged judge_correct judge_ungraded unknown_usage_calls cost_at_least"},
		{"sample", "the question too", "summary.json", "samples.0", "item_id question gold providers"},
		{"answer", "the text as it was", "summary.json", "samples.0.providers.some/body", "model answer raw usage"},
		{"tokens", "of one answer", "summary.json", "samples.0.providers.some/body.usage", "input cached_input output"},
		{"throughput", "what there is", "throughput.json", "", "generated_at config methodology rows overhead_ns_per_item"},
		{"items", "of a lap", "throughput.json", "config", "items"},
		{"version", "of this module", "throughput.json", "methodology", "package_version"},
		{"rate", "all legs", "throughput.json", "rows.0", "provider workers chunked_gather semaphore_pool ours gather_chunk_size"},
		{"chunks", "a leg", "throughput.json", "rows.0.chunked_gather", "wall_s ok rate_limit_hits items_per_s"},
		{"pool", "a leg", "throughput.json", "rows.0.semaphore_pool", "wall_s ok rate_limit_hits items_per_s"},
		{"ours", "a leg", "throughput.json", "rows.0.ours", "wall_s ok rate_limit_hits items_per_s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var v any = read(t, filepath.Join(b.Dir(), row.file))
			if row.at != "" {
				v = at(t, v, row.at)
			}
			for field := range strings.FieldsSeq(row.fields) {
				assert.Contains(t, v, field, row.reason)
			}
		})
	}
}

// TestBoardValues: what several passes come to, and how it was made.
func TestBoardValues(t *testing.T) {
	b, _ := full(t)
	sum, rate := read(t, filepath.Join(b.Dir(), "summary.json")), read(t, filepath.Join(b.Dir(), "throughput.json"))
	for _, row := range []struct {
		name, reason string
		in           any
		at           string
		want         any
	}{
		{"models", "by contestant", sum, "methodology.models", map[string]any{"some/body": "m"}},
		{"dataset", "it has a name", sum, "methodology.dataset.name", "sample"},
		{"chunk", "the worker cap, not one number for all", sum, "wall_time_race.0.gather_chunk_size", 3.0},
		{"chunk rate", "there too", rate, "rows.0.gather_chunk_size", 3.0},
		{"judge", "as the provider reported it", sum, "bakeoff.0.judge.model_id", "court-2"},
		{"judge wall", "1 s failed and 2 s answered; what was never sent took none, and the verdict's call counts once", sum, "bakeoff.0.judge.wall_s", 3.0},
		{"second pass", "a row of its own", sum, "bakeoff.1.pass", 1.0},
		{"sample", "of the first pass", sum, "samples.0.providers.some/body.raw", "<b>#### 5</b> in pass 0"},
		{"overhead", "of our own", rate, "overhead_ns_per_item", 14_000.0},
		{"rate", "20 items in 4 s", rate, "rows.0.chunked_gather.items_per_s", 5.0},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, at(t, row.in, row.at), row.reason)
		})
	}
	assert.Len(t, at(t, sum, "wall_time_race"), 1, "one a contestant")
	assert.Len(t, at(t, sum, "wall_time_race.0.passes"), 2, "every pass")
	assert.Len(t, at(t, sum, "bakeoff"), 2, "one a pass")
	assert.Len(t, at(t, sum, "samples"), 2, "each item once, however many passes")
}

// TestBoardResults: a results file a pass, with every answer as it was.
func TestBoardResults(t *testing.T) {
	b, _ := full(t)
	paths, err := filepath.Glob(filepath.Join(b.Dir(), "some_body~*_results*.jsonl.gz"))
	require.NoError(t, err)
	require.Len(t, paths, 2, "one a pass")
	assert.True(t, strings.HasSuffix(paths[0], "_results.1.jsonl.gz"))
	for i, path := range paths {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		z, err := gzip.NewReader(f)
		require.NoError(t, err)
		data, err := io.ReadAll(z)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		require.Len(t, lines, 2)
		for field := range strings.FieldsSeq("item_id success answer gold thinking model error raw usage latency_s verdict attempts outcome input") {
			assert.Contains(t, lines[0], `"`+field+`":`)
		}
		assert.Contains(t, lines[0], fmt.Sprintf("<b>#### 5</b> in pass %d", 1-i), "text is as it was")
	}
}

// TestBoardFolder: a board's folder is its own, and the last one is named.
func TestBoardFolder(t *testing.T) {
	b, root := full(t)
	dir := b.Dir()
	assert.Equal(t, filepath.Join(root, "bakeoff"), filepath.Dir(dir))
	latest := func() string {
		name, err := os.ReadFile(filepath.Join(root, "bakeoff", "_latest"))
		require.NoError(t, err)
		return string(name)
	}
	assert.Equal(t, filepath.Base(dir)+"\n", latest())
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	assert.Empty(t, left, "no temporary files")

	was := read(t, filepath.Join(dir, "summary.json"))
	other := bakeoff.NewBoard(func() bakeoff.Methodology { return bakeoff.Methodology{} }) // no maps
	assert.Empty(t, other.Dir(), "nothing is written yet")
	require.NoError(t, other.AddRace(somebody, &bakeoff.Race{Journal: filepath.Join(root, "benchmark", "k.jsonl.gz")}))
	assert.NotEqual(t, dir, other.Dir())
	assert.Equal(t, was, read(t, filepath.Join(dir, "summary.json")), "what is there stays")
	assert.Equal(t, filepath.Base(other.Dir())+"\n", latest())
}

// TestBoardNoJournal: the row is there all the same.
func TestBoardNoJournal(t *testing.T) {
	b := bakeoff.NewBoard(bakeoff.NewMethodology)
	assert.ErrorIs(t, b.AddRace(somebody, &bakeoff.Race{}), bakeoff.ErrNoJournal)
	assert.ErrorIs(t, b.AddThroughput(somebody, &bakeoff.Race{}), bakeoff.ErrNoJournal)
	list := []result.Record{answer("a", result.Correct, grade.Correct), answer("b", result.Incorrect, grade.Incorrect)}
	row, err := b.AddRun(somebody, 3, statsOf(list...), "", records(list...))
	assert.ErrorIs(t, err, bakeoff.ErrNoJournal)
	want, err := bakeoff.NewRow(somebody, statsOf(list...), records(list...))
	require.NoError(t, err)
	assert.Equal(t, want, row)
	assert.Empty(t, b.Dir())
}

// TestBoardUnknown: what there is none of is an empty list, and what is not
// known is left out.
func TestBoardUnknown(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "benchmark", "j.jsonl.gz")
	raced, run := bakeoff.NewBoard(bakeoff.NewMethodology), bakeoff.NewBoard(bakeoff.NewMethodology)
	nobody := bakeoff.Contestant{Name: "unlisted", Model: "m"}
	require.NoError(t, raced.AddRace(nobody, &bakeoff.Race{Journal: journal}))
	a := answer("a", result.Correct, grade.Correct)
	_, err := run.AddRun(bakeoff.Contestant{Name: "half", Price: bakeoff.Price{Input: "1"}}, 1, statsOf(a), journal, records(a))
	require.NoError(t, err)
	for _, row := range []struct {
		name, reason string
		board        *bakeoff.Board
		at           string
		want         any
	}{
		{"no run", "a reader may go through it", raced, "bakeoff", []any{}},
		{"no race", "as no run", run, "wall_time_race", []any{}},
		{"no price", "four empty texts say nothing", raced, "methodology.pricing", map[string]any{}},
		{"half a price", "what is known", run, "methodology.pricing", map[string]any{"half": map[string]any{"input": "1"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, at(t, read(t, filepath.Join(row.board.Dir(), "summary.json")), row.at), row.reason)
		})
	}
}

// TestBoardMethodology: it is asked once, at the first Add, and stays the
// caller's. A file's folders are those of one machine, so they are left out.
func TestBoardMethodology(t *testing.T) {
	asked := 0
	m := bakeoff.Methodology{Judge: "court", Models: map[string]string{"x": "y"}}
	m.Dataset.File = "/home/me/problems.jsonl"
	b := bakeoff.NewBoard(func() bakeoff.Methodology { asked++; m.CPUs = runtime.GOMAXPROCS(0); return m })
	assert.Zero(t, asked, "flags are not read yet")
	journal := filepath.Join(t.TempDir(), "benchmark", "j.jsonl.gz")
	r := judged("a")
	r.Verdict.Calls[0].Model = ""
	for range 2 {
		row, err := b.AddRun(somebody, 1, statsOf(r), journal, records(r))
		require.NoError(t, err)
		assert.Equal(t, "court", row.Judge.Model, "no record names it")
	}
	assert.Equal(t, 1, asked)
	assert.Equal(t, map[string]string{"x": "y"}, m.Models, "the caller's")
	sum := read(t, filepath.Join(b.Dir(), "summary.json"))
	assert.Equal(t, map[string]any{"x": "y", "some/body": "m"}, at(t, sum, "methodology.models"))
	assert.Equal(t, "problems.jsonl", at(t, sum, "methodology.dataset.file"))
}
