package report_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with testdata/name, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = "testdata/" + name
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(name, []byte(got), 0o644))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err, "go test -update writes it")
	if diff := cmp.Diff(strings.Split(strings.ReplaceAll(string(want), "\r\n", "\n"), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s mismatch (-want +got); go test -update writes it anew, then look at the difference:\n%s", name, diff)
	}
}

type textCase struct {
	name, reason string
	labels       report.Labels
	records      []*result.Record
	resumed      int // how many of records are from an earlier run
	wall         time.Duration
	options      report.Options
}

func (c *textCase) stats() *report.Stats {
	s := report.New(c.labels)
	for i, r := range c.records {
		if i < c.resumed {
			s.AddResumed(r)
		} else {
			s.Add(r)
		}
	}
	st := s.Stats()
	if c.wall > 0 {
		st.Wall, st.Spanned = c.wall, false
	}
	return st
}

func (c *textCase) text(t *testing.T) string {
	var b strings.Builder
	require.NoError(t, report.Text(&b, c.stats(), c.options))
	return b.String()
}

// unanswered are n records of calls that a server refused, for nothing: a key is
// missing, say.
func unanswered(n int) (rs []*result.Record) {
	for i := range n {
		r := record(i, result.Errored)
		r.Usage, r.CostUSD = llm.UsageTotal{Usage: llm.Usage{Known: true}, Calls: 2}, "0"
		r.Attempts = append(r.Attempts, result.Attempt{Number: 2})
		rs = append(rs, r)
	}
	return rs
}

func textCases() []textCase {
	least := 0.85
	return []textCase{
		{
			name: "nobody answered", reason: "how fast calls fail is no rate, no latency and no number of attempts of answers",
			labels: report.Labels{Name: "TestGSM8K", Planned: 118, Samples: 1}, wall: 3080 * time.Millisecond,
			records: unanswered(10),
		},
		{
			name: "one answered", reason: "rates, latencies and attempts are the answers'",
			labels: report.Labels{Name: "TestGSM8K", Planned: 118, Samples: 1}, wall: 3080 * time.Millisecond,
			records: append(unanswered(10), record(50, result.Correct)),
		},
		{
			name: "gated", reason: "J16: errors stay in the denominator, and the gate holds against that number",
			labels:  report.Labels{Name: "TestGSM8K", Dataset: "testdata/gsm8k_sample.jsonl.gz", Strategy: "Ask"},
			records: outcomes(map[result.Outcome]int{result.Correct: 80, result.Incorrect: 10, result.Errored: 10}),
			options: report.Options{
				Gates:   gate.Evaluate(gate.Counts{Total: 100, Correct: 80, Errored: 10}, gate.Config{MinAccuracy: &least}, false),
				Journal: "/home/u/.cache/goevals/journals/example.com/m/TestGSM8K/20260301-120000.jsonl.gz",
			},
		},
		{
			name: "every outcome", reason: "each is counted apart (C15, G24)",
			records: outcomes(map[result.Outcome]int{
				result.Correct: 1, result.Incorrect: 2, result.Unparsed: 3, result.Ungraded: 1, result.Truncated: 2,
				result.Blocked: 1, result.Refused: 1, result.Errored: 1, result.NotRun: 1, "from_a_newer_version": 1,
			}),
		},
		{
			name: "cut off", reason: "what has no record did not run; the speed is this run's alone",
			labels:  report.Labels{Name: "TestX", Planned: 10},
			records: outcomes(map[result.Outcome]int{result.Correct: 5}), resumed: 2, wall: 4 * time.Second,
			options: report.Options{Resume: `EVALTEST_RESUME=1 go test -run '^TestX$' .`},
		},
		{name: "empty", reason: "no accuracy of nothing", labels: report.Labels{Name: "TestX"}, options: report.Options{
			Gates: gate.Evaluate(gate.Counts{}, gate.Config{}, false),
		}},
		{name: "spent", reason: "tokens, cost, attempts, judge, warnings, groups, scores, overrides", records: spent(), labels: report.Labels{
			Overrides: []report.Override{{ID: "q007", Action: "target", Reason: "the label says 18, the sum is 14"}},
		}, options: report.Options{Groups: 2, Warnings: []string{"-count=3 asks everything 3 times", "-count=3 asks everything 3 times"}}},
		{name: "replayed", reason: "a replay bills nothing, and its latencies are the recorded ones", records: replayed()},
		{name: "samples", reason: "answers and items are told apart, and the interval is that of the items", records: samples(), labels: report.Labels{Samples: 4, Planned: 40}},
		{name: "hostile", reason: "text from outside stays in its place", records: append(hostileRecords(), record(8, result.Correct)), labels: report.Labels{
			Name: hostile, Dataset: hostile, Strategy: hostile, Overrides: []report.Override{{ID: hostile, Action: hostile, Reason: hostile}},
		}, options: report.Options{Warnings: []string{hostile}, Journal: "/tmp/a b'c\n/" + hostile, Resume: hostile, Gates: []gate.Decision{{Gate: gate.MinAccuracy, Status: gate.NotEvaluated, Text: hostile}}}},
		{name: "narrow", reason: "40 columns", records: spent(), options: report.Options{Width: 40}},
	}
}

func spent() []*result.Record {
	rs := outcomes(map[result.Outcome]int{result.Correct: 5, result.Incorrect: 1, result.Unparsed: 1})
	for i, r := range rs {
		r.Item.Group = []string{"algebra", "日本の幾何", "logic"}[i%3]
	}
	rs[1].CostUSD, rs[1].Usage = "", llm.UsageTotal{Calls: 1, Unknown: 1}
	rs[2].CostUSD, rs[2].Response.Model = "", "unpriced-9"
	rs[3].Usage = llm.UsageTotal{Usage: llm.Usage{Input: 12_345, CachedInput: 10_000, Output: 678, Reasoning: 600, Known: true}, Calls: 2, Unknown: 1}
	rs[3].Attempts = append(rs[3].Attempts, result.Attempt{Number: 2})
	rs[4].Warnings = []string{"usage: total_tokens is less than its parts"}
	rs[5].Response.Warnings = []string{"usage: total_tokens is less than its parts"}
	rs[5].Verdict.Score, rs[5].Score = 0.25, 0.25
	rs[0].Graded = &grade.Verdict{Mark: grade.Unparsed}
	rs[0].JudgeUsage = llm.UsageTotal{Usage: llm.Usage{Input: 50, Output: 2, Known: true}, Calls: 2}
	rs[0].JudgeCostUSD = "0.02"
	rs[6].Graded = rs[6].Verdict
	rs[6].Verdict, rs[6].Outcome = &grade.Verdict{Mark: grade.Ungraded}, result.Ungraded
	rs[6].JudgeUsage = llm.UsageTotal{Calls: 1, Unknown: 1}
	rs[6].Abandoned = true
	return rs
}

func replayed() []*result.Record {
	rs := outcomes(map[result.Outcome]int{result.Correct: 100, result.Incorrect: 20})
	for _, r := range rs {
		r.Replayed, r.Response.Replayed = true, true
	}
	return rs
}

func samples() []*result.Record {
	var rs []*result.Record
	for i := range 8 { // of 10 items
		for k := range 4 {
			o := result.Correct
			if i == 0 || i < 4 && k == 3 {
				o = result.Incorrect
			}
			r := record(i, o)
			r.Sample = k
			rs = append(rs, r)
		}
	}
	return rs
}

func hostileRecords() []*result.Record {
	rs := outcomes(map[result.Outcome]int{result.Correct: 1, result.Incorrect: 1, result.Errored: 1})
	for _, r := range rs {
		r.Item.ID += hostile
		r.Item.Group = hostile
		r.Item.Target = hostile
		r.Warnings = []string{hostile}
		if r.Response != nil {
			r.Response.Model, r.Response.Text = hostile, hostile
			r.CostUSD = ""
		}
		if r.Verdict != nil {
			r.Verdict.Answer, r.Verdict.How, r.Verdict.Why, r.Verdict.Reason = hostile, hostile, hostile, hostile
		}
		if r.Error != nil {
			r.Error.Kind, r.Error.Message = hostile, hostile
		}
		r.Latency = time.Second
	}
	rs = append(rs, record(9, hostile))
	return rs
}

func TestText(t *testing.T) {
	var all strings.Builder
	for _, c := range textCases() {
		fmt.Fprintf(&all, "== %s: %s\n%s\n", c.name, c.reason, c.text(t))
	}
	golden(t, "text.golden", all.String())
}

// TestTextLines: whatever is in the records, a line is of our making.
func TestTextLines(t *testing.T) {
	for _, c := range textCases() {
		width := c.options.Width
		if width == 0 {
			width = 80
		}
		for line := range strings.Lines(c.text(t)) {
			checkLine(t, line, width, "journal", "see more", "resume")
		}
	}
}

// checkLine: fit for any log. Lines with one of the labels in long are there to
// be copied whole.
func checkLine(t *testing.T, line string, width int, long ...string) {
	t.Helper()
	text, ok := strings.CutSuffix(line, "\n")
	assert.True(t, ok, "%q ends", line)
	for _, r := range text {
		assert.True(t, r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) && r != '\u2028' && r != '\u202e', "%q", line)
	}
	trimmed := strings.TrimLeft(text, " ")
	for _, bad := range []string{"--- ", "=== ", "FAIL", "PASS", "SKIP", "ok ", "? ", "Benchmark", "Unit ", "panic: ", "exit status "} {
		assert.False(t, strings.HasPrefix(trimmed, bad), "%q", line)
	}
	first, _, _ := strings.Cut(text, " ")
	assert.False(t, strings.HasSuffix(first, ":"), "%q is no benchmark configuration", line)
	if !slices.ContainsFunc(long, func(l string) bool { return strings.HasPrefix(trimmed, l) }) {
		assert.LessOrEqual(t, len([]rune(text)), width, "%q", line)
	}
}

// TestTextOrder: the same records in any order, the same text.
func TestTextOrder(t *testing.T) {
	for _, c := range textCases() {
		if c.resumed > 0 {
			continue // the first ones are resumed
		}
		want := c.text(t)
		slices.Reverse(c.records)
		assert.Equal(t, want, c.text(t), c.name)
	}
}

// A writer that fails from its n-th write on.
type failing struct{ n int }

var errDisk = errors.New("no space left on device")

func (f *failing) Write(p []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

func TestTextReturnsTheWritersError(t *testing.T) {
	c := textCases()[0]
	for n := range 3 {
		assert.ErrorIs(t, report.Text(&failing{n}, c.stats(), c.options), errDisk)
		_, err := report.Failures(&failing{n}, slices.Values(c.records), report.FailureOptions{})
		assert.ErrorIs(t, err, errDisk)
	}
}

func Example() {
	s := report.New(report.Labels{Name: "TestSupport", Planned: 3})
	s.Add(&result.Record{Item: result.Item{ID: "a"}, Outcome: result.Correct, Score: 1, Verdict: &grade.Verdict{Mark: grade.Correct, Score: 1}})
	s.Add(&result.Record{Item: result.Item{ID: "b"}, Outcome: result.Errored, Error: &result.Error{Kind: llm.KindRateLimit, Message: "HTTP 429"}})
	stats := s.Stats() // c has no record: it counts as not run
	least := 0.5
	decisions := gate.Evaluate(stats.Counts(), gate.Config{MinAccuracy: &least}, false)
	if err := report.Text(os.Stdout, stats, report.Options{Gates: decisions}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// run       TestSupport
	// accuracy  33.3%: 1/3 correct, 1 errored, 1 not run
	//           95% interval 6.1% to 79.2%
	// gate      FAILED Complete: 1 of 3 items never ran; resume the run to finish it
	// gate      FAILED MinAccuracy: accuracy 33.3% (1 of 3 items correct; 95% interval
	//           6.1% to 79.2%) is below the 50% required; 1 more correct answer would
	//           pass
	// gate      FAILED MaxErrored: 1 of 3 items errored, at most 0 allowed; 1 too many
	// gate      passed MaxUngraded: 0 of 3 items ungraded, at most 0 allowed
	// not run   1 of 3 never ran and count as not correct
	// error     1 rate_limit, such as b: HTTP 429
	//           to do: run these again later; a Scope with RPM and TPM keeps below the
	//           limit
	// tokens    none: no call was made
	// cost      $0: no call was made
}

// FuzzText: whatever stands in a record, every line is of our making, and the
// text is short.
func FuzzText(f *testing.F) {
	for _, s := range append(nasty(), hostile, "a --- FAIL: x", strings.Repeat("PASS ", 50)) {
		f.Add(s, 80)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = max(40, min(200, width))
		rs := outcomes(map[result.Outcome]int{result.Correct: 1, result.Incorrect: 1, result.Errored: 1})
		for _, r := range rs {
			r.Item.ID, r.Item.Group, r.Item.Target, r.CostUSD, r.Warnings = s, s, s, s, []string{s}
			if r.Response != nil {
				r.Response.Text, r.Response.Model, r.Response.Refusal = s, s, s
			}
			if r.Verdict != nil {
				r.Verdict.Answer, r.Verdict.How, r.Verdict.Why, r.Verdict.Reason = s, s, s, grade.Reason(s)
			}
			if r.Error != nil {
				r.Error.Kind, r.Error.Message = llm.ErrorKind(s), s
			}
		}
		rs[1].Outcome = result.Outcome(s)
		var b strings.Builder
		stats := statsOf(report.Labels{Name: s, Dataset: s, Strategy: s, Overrides: []report.Override{{ID: s, Action: s, Reason: s}}}, rs)
		require.NoError(t, report.Text(&b, stats, report.Options{Width: width, Warnings: []string{s}}))
		_, err := report.Failures(&b, slices.Values(rs), report.FailureOptions{Width: width})
		require.NoError(t, err)
		for line := range strings.Lines(b.String()) {
			// A line may be too long only where any break would begin a line
			// like a result.
			checkLine(t, line, math.MaxInt)
		}
		assert.Less(t, b.Len(), 20_000)
	})
}

// TestNamesStayBehindLabels: what cannot be taken for a line of go test is not
// armed: BenchmarkX keeps its name, and an answer "PASS" is one.
func TestNamesStayBehindLabels(t *testing.T) {
	s := report.New(report.Labels{Name: "BenchmarkX"})
	r := record(0, result.Incorrect)
	r.Item.ID, r.Item.Target = "FAIL", "ok then"
	r.Verdict = &grade.Verdict{Mark: grade.Incorrect, Reason: grade.ReasonWrong, Answer: "PASS"}
	s.Add(r)
	var b strings.Builder
	require.NoError(t, report.Text(&b, s.Stats(), report.Options{}))
	_, err := report.Failures(&b, slices.Values([]*result.Record{r}), report.FailureOptions{})
	require.NoError(t, err)
	assert.Contains(t, b.String(), "run       BenchmarkX, small-1\n")
	assert.Contains(t, b.String(), "item      FAIL: incorrect (wrong)\n")
	assert.Contains(t, b.String(), "got       \"PASS\"\n  want      \"ok then\"\n")
}

func TestManyOverrides(t *testing.T) {
	var labels report.Labels
	for i := range 12 {
		labels.Overrides = append(labels.Overrides, report.Override{ID: fmt.Sprintf("q%03d", i), Action: "target", Reason: "wrong label"})
	}
	var b strings.Builder
	require.NoError(t, report.Text(&b, report.New(labels).Stats(), report.Options{}))
	assert.Equal(t, 10, strings.Count(b.String(), "\noverride  q0"))
	assert.Contains(t, b.String(), "\noverride  2 more; in all: target 12\n")
}
