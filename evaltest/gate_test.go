package evaltest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
)

// accepted runs a scenario as the baseline of later ones, and returns its file.
func accepted(t *testing.T, scenario string, env ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sub", "base.jsonl.gz")
	c := newChild(t, scenario, "-evaltest.update").with("EVALTEST_BASELINE", path)
	c.cmd.Env = append(c.cmd.Env, env...)
	c.run()
	require.Equal(t, 0, c.code, c.text())
	return path
}

// TestGates compares what runs with gates print with golden files.
func TestGates(t *testing.T) {
	for _, row := range []struct {
		name, reason, scenario string
		was                    []string // environment of the accepted run; nil for no run
		args, env              []string
		code                   int
	}{
		{name: "no-baseline", reason: "says how to make one, before anything is asked", scenario: "based", code: 1},
		{name: "update-first", reason: "what was accepted", scenario: "based", args: []string{"-evaltest.update", "-test.v"}, env: []string{"DAY_WRONG=spain"}},
		{name: "update-again", reason: "what changed", scenario: "based", was: []string{"DAY_WRONG=spain,n010"}, args: []string{"-evaltest.update", "-test.v"}, env: []string{"DAY_WRONG=italy", "DAY_MODEL=m2"}},
		{name: "update-errored", reason: "an outage is not accepted", scenario: "based", was: []string{}, args: []string{"-evaltest.update"}, env: []string{"DAY_BROKEN=italy", "EVALTEST_MAX_ERRORED=1"}, code: 1},
		{name: "update-narrowed", reason: "refused before anything is asked", scenario: "based", was: []string{}, args: []string{"-evaltest.update", "-test.run=^TestChild$/^spain$"}, code: 1},
		{name: "update-limited", reason: "a look at a few items is no baseline", scenario: "based", was: []string{}, args: []string{"-evaltest.update", "-evaltest.limit=5"}, code: 1},
		{name: "update-failed-gate", reason: "a run that does not pass is not accepted", scenario: "based", was: []string{}, args: []string{"-evaltest.update"}, env: []string{"DAY_WRONG=n004-n030", "EVALTEST_MIN_ACCURACY=0.9"}, code: 1},
		{name: "regressed", reason: "what, by how much, how sure, which items, what to do", scenario: "based", was: []string{"DAY_WRONG=spain,n030-n032"}, env: []string{"DAY_WRONG=spain,n010-n019"}, code: 1},
		{name: "improved", reason: "passes", scenario: "based", was: []string{"DAY_WRONG=spain,n010-n019"}, args: []string{"-test.v", "-test.run=^TestChild$"}, env: []string{"DAY_WRONG=spain"}},
		{name: "max-drop", reason: "not significant, but more than was allowed", scenario: "based", was: []string{"DAY_WRONG=spain"}, env: []string{"DAY_WRONG=spain,n010,n011", "EVALTEST_MAX_DROP=0.02"}, code: 1},
		{name: "confirmed", reason: "broken items are asked again, and stay broken", scenario: "based", was: []string{}, env: []string{"DAY_WRONG=n010-n019", "EVALTEST_CONFIRM=2"}, code: 1},
		{name: "flaky", reason: "broken items are correct when they are asked again", scenario: "based", was: []string{}, args: []string{"-test.v"}, env: []string{"DAY_FLAKY=n010-n019", "EVALTEST_CONFIRM=2"}},
		{name: "mismatch-model", reason: "known at the end only; refused", scenario: "based", was: []string{"DAY_MODEL=m1"}, env: []string{"DAY_MODEL=m2"}, code: 1},
		{name: "mismatch-request", reason: "known at the start: nothing is asked", scenario: "based, ask", was: []string{"DAY_MODEL=m1"}, env: []string{"DAY_MODEL=m1", "DAY_TEMPERATURE=1", "DAY_PROMPT=Hm. "}, code: 1},
		{name: "mismatch-warn", reason: "compared with a loud note", scenario: "based", was: []string{"DAY_MODEL=m1"}, args: []string{"-test.v"}, env: []string{"DAY_MODEL=m2", "EVALTEST_ON_MISMATCH=warn"}},
		{name: "baseline-narrowed", reason: "a part is not compared", scenario: "based", was: []string{}, args: []string{"-test.run=^TestChild$/^italy$", "-test.v"}},
		{name: "baseline-limited", reason: "nor is the start of the dataset", scenario: "based", was: []string{}, args: []string{"-evaltest.limit=3", "-test.v"}},
		{name: "groups", reason: "each group for itself", scenario: "gates", env: []string{"EVALTEST_MAX_LATENCY=none", "DAY_WRONG=spain,peru,n004,n006,n008"}, code: 1},
		{name: "curtailed", reason: "half of the answers decide", scenario: "curtailed", args: []string{"-test.v"}},
		{name: "curtailed-failed", reason: "and a hundred wrong ones too", scenario: "curtailed", env: []string{"DAY_WRONG=n004-n199"}, code: 1},
		{name: "plan", reason: "calls nobody, from the baseline's usage", scenario: "based", was: []string{"DAY_WRONG=spain"}, args: []string{"-evaltest.plan", "-test.v"}, env: []string{"EVALTEST_MAX_COST=0.5", "EVALTEST_CONFIRM=3"}},
		{name: "plan-samples", reason: "the noise is known", scenario: "based, samples", was: []string{"DAY_FLAKY=n010-n019"}, args: []string{"-evaltest.plan", "-test.v"}},
		{name: "plan-narrowed", reason: "costs as the baseline did, and shows nothing", scenario: "based", was: []string{}, args: []string{"-evaltest.plan", "-test.run=^TestChild$/^italy$", "-test.v"}, env: []string{"EVALTEST_CONFIRM=2"}},
		{name: "plan-limited", reason: "nor does the start of the dataset", scenario: "based", was: []string{}, args: []string{"-evaltest.plan", "-evaltest.limit=3", "-test.v"}},
		{name: "plan-no-baseline", reason: "the first run is planned too", scenario: "based", args: []string{"-evaltest.plan", "-test.v"}},
		{name: "plan-prompts", reason: "without a baseline the prompts say how much goes in", scenario: "based, ask", args: []string{"-evaltest.plan", "-test.v"}, env: []string{"EVALTEST_BASELINE=none", "DAY_MODEL=m"}},
		{name: "canaries", reason: "what a judge decided that passes wrong answers is ungraded", scenario: "canaries missed", code: 1},
		{name: "calibrated", reason: "the accuracy without the judge's errors beside the raw one", scenario: "calibrated", args: []string{"-test.v"}},
		{name: "disagrees", reason: "a judge is gated as a model is", scenario: "calibrated", env: []string{"EVALTEST_LOWER_BOUND=1"}, code: 1},
		{name: "calibration-of-another", reason: "says nothing of this judge", scenario: "calibration of another", code: 1},
		{name: "bad-gates", reason: "all at once, with their values", scenario: "bad gates", code: 1},
		{name: "gates-without-a-baseline", reason: "refused", scenario: "gates without a baseline", code: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if row.was != nil {
				dir = filepath.Dir(accepted(t, row.scenario, row.was...))
			}
			c := newChild(t, row.scenario, row.args...).with("EVALTEST_BASELINE", "base.jsonl.gz")
			// Relative, because a temporary folder's name is now longer, now shorter,
			// and lines are broken accordingly.
			var err error
			c.cmd.Path, err = filepath.Abs(c.cmd.Path)
			require.NoError(t, err)
			c.cmd.Dir = dir
			if strings.Contains(row.scenario, "gates") || row.scenario == "curtailed" || strings.HasPrefix(row.scenario, "cali") || strings.HasPrefix(row.scenario, "canaries") {
				c.with("EVALTEST_BASELINE", "")
			}
			c.cmd.Env = append(c.cmd.Env, row.env...)
			c.run()
			text := c.text()
			assert.Equal(t, row.code, c.code, row.reason)
			golden(t, "gate-"+row.name, passing.ReplaceAllString(text, ""))
		})
	}
}

// passing are the lines of items that passed: there are many.
var passing = regexp.MustCompile(`(?m)^(=== (RUN|NAME|PASS) .*|    --- PASS: .*| +\S+_test\.go:0: correct: .*)\n`)

// TestUpdateIsDeterministic: the same run gives the same bytes, and the old file
// stays if the run cannot be accepted.
func TestUpdateIsDeterministic(t *testing.T) {
	path := accepted(t, "based", "DAY_WRONG=spain", "DAY_MODEL=m1")
	first, err := os.ReadFile(path)
	require.NoError(t, err)
	again := accepted(t, "based", "DAY_WRONG=spain", "DAY_MODEL=m1")
	second, err := os.ReadFile(again)
	require.NoError(t, err)
	assert.Equal(t, first, second)
	c := newChild(t, "based", "-evaltest.update", "-test.v").with("EVALTEST_BASELINE", path).with("DAY_WRONG", "spain").with("DAY_MODEL", "m1").run()
	assert.Contains(t, strings.Join(strings.Fields(c.text()), " "), "nothing changed")

	c = newChild(t, "based", "-evaltest.update").with("EVALTEST_BASELINE", path).with("DAY_BROKEN", "spain").run()
	assert.Equal(t, 1, c.code)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, first, kept)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "no temporary file stays")

	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	b, err := gate.ReadBaseline(f)
	require.NoError(t, err)
	assert.Equal(t, 40, len(b.Items))
	assert.Equal(t, "m1", b.Header.Fingerprint["model"])
	assert.Equal(t, int64(4000), b.Header.Usage.Input)
	for _, field := range []string{"items", "grader", "strategy", "samples", "attempts", "evals"} {
		assert.NotEmpty(t, b.Header.Fingerprint[field], field)
	}
}

// TestFailedRunsBrokenFirst: what the baseline had as correct goes before what
// was not correct anyway.
func TestFailedRunsBrokenFirst(t *testing.T) {
	path := accepted(t, "based", "DAY_WRONG=spain,peru")
	env := func(c *child) *child {
		return c.with("EVALTEST_BASELINE", path).with("DAY_WRONG", "spain,peru,n020-n027")
	}
	c := env(newChild(t, "based")).run()
	require.Equal(t, 1, c.code)
	lists, err := filepath.Glob(filepath.Join(c.dir, "*", "*", "*", "*.broken.jsonl"))
	require.NoError(t, err)
	if len(lists) == 0 {
		_ = filepath.WalkDir(c.dir, func(p string, _ os.DirEntry, _ error) error {
			if strings.HasSuffix(p, ".broken.jsonl") {
				lists = append(lists, p)
			}
			return nil
		})
	}
	require.Len(t, lists, 1)
	text, err := os.ReadFile(lists[0])
	require.NoError(t, err)
	assert.Equal(t, 8, strings.Count(string(text), "\n"))

	again := env(newChild(t, "based", "-evaltest.failed", "-test.v")).at(c.dir).run()
	var order []string
	for _, m := range regexp.MustCompile(`(?m)^=== RUN   TestChild/(\S+)`).FindAllStringSubmatch(again.out.String(), -1) {
		order = append(order, m[1])
	}
	assert.Equal(t, append(numberedIDs(20, 28), "spain", "peru"), order)
}

// TestConfirmIsPartOfTheRun: it is in the journal and in what was spent, and not
// in the accuracy.
func TestConfirmIsPartOfTheRun(t *testing.T) {
	path := accepted(t, "based")
	c := newChild(t, "based").with("EVALTEST_BASELINE", path).with("DAY_WRONG", "n010-n019").with("EVALTEST_CONFIRM", "2").run()
	require.Equal(t, 1, c.code)
	j := c.journal()
	confirms, spent := 0, int64(0)
	for _, rec := range j.Records {
		assert.Equal(t, rec.Sample > 0, rec.Confirms)
		spent += rec.Usage.Input
		if rec.Confirms {
			confirms++
		}
	}
	assert.Equal(t, 20, confirms)
	assert.Equal(t, int64(6000), spent)
	assert.Equal(t, result.Counts{result.Correct: 30, result.Incorrect: 10}, j.End.Counts)
	assert.True(t, j.End.Complete)
	assert.Contains(t, c.out.String(), "6,000 in")
	assert.Contains(t, c.out.String(), "75.0%: 30/40 correct")
}

// TestResumeDecidesTheSame: a run that was stopped, among its items or while it
// asked the broken ones again, ends as one that was not.
func TestResumeDecidesTheSame(t *testing.T) {
	path := accepted(t, "based", "DAY_WRONG=spain")
	day := func(c *child) *child {
		return c.with("EVALTEST_BASELINE", path).with("DAY_WRONG", "n010-n019").with("EVALTEST_CONFIRM", "2")
	}
	decisions := func(c *child) string {
		text := c.text()
		return text[strings.Index(text, "accuracy "):strings.Index(text, "        journal ")]
	}
	whole := day(newChild(t, "based")).run()
	require.Contains(t, whole.out.String(), "10 broken, 0 flaky")
	for _, row := range []struct{ name, reason, tokens string }{
		{"among the items", "27 of 40 answers", "3000"},
		{"while asking again", "5 of 20 further answers", "4950"},
	} {
		t.Run(row.name, func(t *testing.T) {
			first := day(newChild(t, "based")).with("EVALTEST_MAX_TOKENS", row.tokens).run()
			require.Equal(t, 1, first.code)
			require.Contains(t, first.out.String(), "the run stopped early", row.reason)
			require.False(t, first.journal().End.Complete)
			require.Contains(t, first.out.String(), "-evaltest.resume")
			assert.Equal(t, row.name == "while asking again", strings.Contains(flat(first), "the run stopped while it asked the broken items again: 15 of 20 answers are missing"))
			second := day(newChild(t, "based", "-evaltest.resume")).at(first.dir).run()
			assert.Equal(t, 1, second.code)
			assert.Equal(t, decisions(whole), decisions(second))
			assert.Len(t, second.journal().Records, 60)
			assert.Contains(t, second.out.String(), "6,000 in", "what was spent, once")
		})
	}
}

// TestBenchmarkComparesNothing: options are shared, and -count would test anew
// each time.
func TestBenchmarkComparesNothing(t *testing.T) {
	rep := benchmarked(t, evaltest.Baseline("testdata/none"), evaltest.MinGroups(0.5), evaltest.Curtail(), evaltest.MinAccuracy(0.1))
	require.False(t, rep.Failed(), rep.Summary)
	status := map[string]gate.Status{}
	for _, d := range rep.Decisions {
		status[d.Gate] = d.Status
	}
	assert.Equal(t, gate.NotEvaluated, status[gate.NoDrop])
	assert.Equal(t, gate.Passed, status[gate.MinGroup])
	assert.Zero(t, rep.Stats.Outcomes[result.NotRun], "a pass is whole")
}

func benchmarked(t *testing.T, opts ...evaltest.Option) (rep *evaltest.Report) {
	ds := grouped(t, 12, 3)
	testing.Benchmark(func(b *testing.B) {
		rep = evaltest.Benchmark(b, ds, answers{}, exact, evaltest.Offline(), evaltest.Dir(t.TempDir()), evaltest.Options(opts...))
	})
	require.NotNil(t, rep)
	return rep
}

// TestCanariesInTheJournal: whoever reads the journal later sees the verdicts
// that are not relied on as ungraded, and what they cost once.
func TestCanariesInTheJournal(t *testing.T) {
	j := newChild(t, "canaries missed").run().journal()
	ungraded := 0
	for _, rec := range j.Records {
		if rec.Outcome == result.Ungraded {
			ungraded++
			assert.Zero(t, rec.JudgeUsage.Calls)
			assert.Contains(t, rec.Verdict.Why, "cannot be relied on")
		}
	}
	assert.Equal(t, 2, ungraded)
	require.Len(t, j.Replaced, 2)
	assert.NotZero(t, j.Replaced[0].JudgeUsage.Calls)
	assert.Equal(t, 2, j.End.Counts[result.Ungraded])
}

// TestCurtailedByAJudgeThatIsNotReliedOn: what settled the gates does not count, so
// the items that were not asked are missing.
func TestCurtailedByAJudgeThatIsNotReliedOn(t *testing.T) {
	c := newChild(t, "curtailed, canaries missed").run()
	assert.Equal(t, 1, c.code)
	assert.NotContains(t, c.out.String(), "could change what a gate")
	assert.Contains(t, flat(c), "never ran and count as not correct")
	assert.Regexp(t, `(?m)^ +resume .* -evaltest.resume$`, c.out.String())
}

// TestPlanSays: what goldens leave out because it differs elsewhere.
func TestPlanSays(t *testing.T) {
	path := accepted(t, "based", "DAY_WRONG=spain")
	c := newChild(t, "based", "-evaltest.plan", "-test.v").with("EVALTEST_BASELINE", path).run()
	text := strings.Join(strings.Fields(c.out.String()), " ")
	assert.Contains(t, text, "tokens about 4,000 in, 400 out (as the baseline spent for 40 answers)")
	assert.Contains(t, text, "cost about $0.04")
	_, err := result.LatestUnder(c.dir)
	assert.Error(t, err, "nothing was run, so there is no journal")

	c = newChild(t, "based, ask", "-evaltest.plan", "-test.v").with("EVALTEST_BASELINE", "none").with("DAY_MODEL", "m").run()
	text = strings.Join(strings.Fields(c.out.String()), " ")
	// 18, 17, 17 and 16 bytes: 5 tokens thrice and 4 once.
	assert.Contains(t, text, "tokens about 19 in, out unknown, at most 200 (MaxOutputTokens) (estimated: one token for 4 bytes of the prompts")
	assert.Contains(t, text, "cost unknown")
}

// TestCurtailLeavesConfirmEnough: were the run ended at the first drop that is
// settled, and that one turned out to be flaky, nobody would have asked the items
// that broke after it.
func TestCurtailLeavesConfirmEnough(t *testing.T) {
	path := accepted(t, "based")
	day := func(curtail string) *child {
		return newChild(t, "based").with("EVALTEST_BASELINE", path).with("EVALTEST_CONFIRM", "2").with("EVALTEST_CURTAIL", curtail).
			with("DAY_FLAKY", "n004-n007").with("DAY_WRONG", "n020-n030").run()
	}
	whole := day("0")
	require.Contains(t, flat(whole), "11 broken, 4 flaky")
	curtailed := day("1")
	assert.Equal(t, whole.code, curtailed.code)
	assert.Contains(t, flat(curtailed), "11 broken, 4 flaky")
}

// TestPlanFromABaselineOfNothing: a file may hold usage and no items.
func TestPlanFromABaselineOfNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"format":"evals.baseline/1","fingerprint":{},"items":0,"samples":1,"counts":{},"usage":{"input":1,"output":1,"calls":5}}`+"\n"), 0o666))
	c := newChild(t, "based", "-evaltest.plan", "-test.v").with("EVALTEST_BASELINE", path).with("EVALTEST_ON_MISMATCH", "warn").run()
	assert.Equal(t, 0, c.code, c.text())
	assert.Contains(t, flat(c), "one token for 4 bytes")
}

// TestCurtailedGoesOn: a run that was curtailed can be asked for the rest; until
// then it stays as it is.
func TestCurtailedGoesOn(t *testing.T) {
	first := newChild(t, "curtailed").run()
	require.Equal(t, 0, first.code)
	require.Contains(t, first.out.String(), "asked 100\n")
	end := first.journal().End
	assert.False(t, end.Complete)
	assert.Equal(t, "curtailed", end.Reason)
	again := newChild(t, "curtailed", "-evaltest.resume", "-test.v").at(first.dir).run()
	assert.Contains(t, again.out.String(), "asked 0\n")
	assert.Contains(t, again.out.String(), "curtailed 100 of 200 were not asked")
	rest := newChild(t, "curtailed", "-evaltest.resume", "-evaltest.curtail=0", "-test.v").at(first.dir).run()
	assert.Contains(t, rest.out.String(), "asked 100\n")
	assert.Contains(t, rest.out.String(), "100.0%: 200/200 correct")
	assert.True(t, rest.journal().End.Complete)
	part := newChild(t, "curtailed", "-test.v").with("EVALTEST_IDS", "france,spain,italy").run()
	assert.Contains(t, part.out.String(), "asked 3\n", "of a part every item is an assertion")
}

// TestLatencyGate: what models took is held against the limit, and a limit for
// too few answers is not decided on, unless that is to fail.
func TestLatencyGate(t *testing.T) {
	for _, row := range []struct {
		name, limits, fail, want string
		code                     int
	}{
		{"kept", "p90=1m", "0", "gate passed MaxLatency: p90 ", 0},
		{"broken", "p90=1ns", "0", "gate FAILED MaxLatency: p90 ", 1},
		{"several", "p50=1m,p90=1ns", "0", "gate FAILED MaxLatency: p90 ", 1},
		{"too few", "p99.9=1m", "0", "gate not enough data for MaxLatency: p99.9 may be at most 1m0s", 0},
		{"too few to pass", "p99.9=1m", "1", "gate FAILED MaxLatency: not enough data: p99.9 may be at most 1m0s", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newChild(t, "gates", "-test.v").with("EVALTEST_FAIL_NOT_ENOUGH", row.fail).with("EVALTEST_MAX_LATENCY", row.limits).run()
			assert.Equal(t, row.code, c.code)
			assert.Contains(t, strings.Join(strings.Fields(c.out.String()), " "), row.want)
		})
	}
}
