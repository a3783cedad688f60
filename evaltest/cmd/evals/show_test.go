package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// start is when the journals of these tests were begun.
var start = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

func record(id, text, target string, outcome result.Outcome, mark grade.Mark) result.Record {
	r := result.Record{
		Item:     result.Item{ID: id, Input: "?", Target: target},
		Outcome:  outcome,
		Response: &llm.Response{Text: text},
		Verdict:  &grade.Verdict{Mark: mark, Answer: text, How: "exact-strict: the same bytes"},
		Start:    start, Duration: time.Second, Latency: time.Second,
		Attempts: []result.Attempt{{Number: 1, Text: text}},
	}
	if mark == grade.Correct {
		r.Score, r.Verdict.Score = 1, 1
	} else {
		r.Verdict.Reason, r.Verdict.Why = grade.ReasonWrong, "want "+target+", got "+text
	}
	return r
}

// journal writes a journal and returns its path. A nil end is a run that was
// killed; tail is what the kill left of the last line.
func journal(t *testing.T, root, test string, end *result.End, tail string, records ...result.Record) string {
	t.Helper()
	dir := result.Dir(root, "example.com/m", "example.com/m/bot", test)
	path := filepath.Join(dir, "20260102T150405.000000-0123456789ab.jsonl")
	w, err := result.Create(path, result.Header{
		Created: start, Module: "example.com/m", Package: "example.com/m/bot", Test: test,
		Dataset: result.Dataset{Name: "capitals", Items: 3}, Strategy: "bot", Grader: "exact-strict",
		Samples: 1, Attempts: 1, Go: "go1.26",
	})
	require.NoError(t, err)
	for i := range records {
		require.NoError(t, w.Write(&records[i]))
	}
	if end == nil {
		require.NoError(t, w.Abort())
	} else {
		require.NoError(t, w.Close(*end))
	}
	if tail != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString(tail)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	require.NoError(t, result.SetLatest(dir, path))
	return path
}

func TestShow(t *testing.T) {
	right := record("fr", "Paris", "Paris", result.Correct, grade.Correct)
	wrong := record("it", "Milan\x1b[2J\x16--- FAIL: x\u202e", "Rome", result.Incorrect, grade.Incorrect)
	other := record("ch", "Bern", "Bern", result.Correct, grade.Correct)
	failed := record("fr", "", "Paris", result.Errored, grade.Incorrect)
	failed.Usage = llm.UsageTotal{Usage: llm.Usage{Input: 70, Known: true}, Calls: 2}
	const again = "go test example.com/m/bot -run '^TestCapitals$/^de$' -evaltest.resume="
	tests := []struct {
		name, reason string
		end          *result.End
		tail         string
		records      []result.Record
		args         string
		want, not    []string
		test         string // TestCapitals/de if empty
	}{
		{"complete", "the summary, and nothing to resume", &result.End{Complete: true}, "", []result.Record{right, wrong, other}, "",
			[]string{"TestCapitals/de", "2/3 correct, 1 incorrect", ".jsonl.gz"}, []string{"warning", again, "Milan"}, ""},
		{"resumed", "what a replaced answer spent was spent", &result.End{Complete: true}, "", []result.Record{failed, right, wrong, other}, "",
			[]string{"2/3 correct", "70 in, 0 out in 2 calls", "1 earlier answer, since replaced"}, []string{"errored,"}, ""},
		{"failures", "what was not correct, escaped", &result.End{Complete: true}, "", []result.Record{right, wrong, other}, "-failures -1",
			[]string{"2/3 correct", `Milan\x1b[2J\x16--- FAIL: x\u202e`}, []string{"Paris"}, ""},
		{"some failures", "the rest is counted", &result.End{Complete: true}, "", []result.Record{wrong, record("de", "Bonn", "Berlin", result.Incorrect, grade.Incorrect)}, "-failures 1",
			[]string{"0/3 correct", "Milan"}, []string{"Bonn"}, ""},
		{"interrupted", "the reason, and how to go on", &result.End{Reason: "interrupt"}, "", []result.Record{right}, "",
			[]string{"1/3 correct, 2 not run", "ended early: interrupt", again}, nil, ""},
		{"hostile reason", "escaped too", &result.End{Reason: "a\x1bb"}, "", []result.Record{right}, "", []string{`a\x1bb`}, nil, ""},
		{"narrowed", "no reason: nothing to resume", &result.End{}, "", []result.Record{right}, "",
			[]string{"1/3 correct", "did not ask for all"}, []string{again}, ""},
		{"killed", "a warning for the torn line, and how to go on", nil, `{"item":{"id":"it"`, []result.Record{right}, "",
			[]string{"1/3 correct", "did not come to an end", "no whole record", again}, nil, ""},
		{"benchmark interrupted", "it measures whole passes: nothing goes on with one", &result.End{Reason: "interrupt"}, "", []result.Record{right}, "",
			[]string{"1/3 correct", "ended early: interrupt", "a benchmark is not resumed: run it anew"}, []string{"go test", "resume  "}, "BenchmarkThroughput/provider=fake"},
		{"benchmark killed", "the same", nil, "", []result.Record{right}, "",
			[]string{"did not come to an end", "a benchmark is not resumed: run it anew"}, []string{"go test", "resume  "}, "BenchmarkThroughput"},
		{"benchmark complete", "nothing to say", &result.End{Complete: true}, "", []result.Record{right, wrong, other}, "",
			[]string{"2/3 correct"}, []string{"anew"}, "BenchmarkThroughput"},
	}
	for _, tt := range tests {
		require.NotEmpty(t, tt.reason)
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			path := journal(t, root, cmp.Or(tt.test, "TestCapitals/de"), tt.end, tt.tail, tt.records...)
			args := strings.Fields(tt.args)
			r := evals("", noEnv, append([]string{"show", path}, args...)...)
			require.Equal(t, 0, r.code, r.stderr)
			for _, s := range tt.want {
				assert.Contains(t, r.stdout, s)
			}
			for _, s := range append(tt.not, "\x1b", "\x16", "\u202e") {
				assert.NotContains(t, r.stdout, s)
			}
			byFlag := evals("", noEnv, append([]string{"show", "latest", "-journal", root}, args...)...)
			assert.Equal(t, r, byFlag, "latest is that file")
			env := func(name string) string { return map[string]string{"EVALTEST_DIR": root}[name] }
			byEnv := evals("", env, append([]string{"show", "latest"}, args...)...)
			assert.Equal(t, r, byEnv, "latest is that file")
		})
	}
}

func TestShowNoJournal(t *testing.T) {
	dir := t.TempDir()
	r := evals("", noEnv, "show", "latest", "-journal", dir)
	assert.Equal(t, 1, r.code)
	assert.Equal(t, "evals: no journal under "+dir+"; run an eval first, or name the folder with -journal\n", r.stderr)
}

func TestResumeCommand(t *testing.T) {
	tests := []struct {
		name, reason, pkg, test, path, want string
	}{
		{"plain", "", "example.com/m", "TestX", "/tmp/j.jsonl", "go test example.com/m -run '^TestX$' -evaltest.resume=/tmp/j.jsonl"},
		{"subtest", "a pattern for each level", "m", "TestX/a.b", "j", `go test m -run '^TestX$/^a\.b$' -evaltest.resume=j`},
		{"shell", "no word of its own", "m", "TestX", "/tmp/a b;'c", `go test m -run '^TestX$' -evaltest.resume='/tmp/a b;'\''c'`},
		{"unknown", "the journal does not say", "", "TestX", "j", ""},
		{"hostile", "nothing to paste", "m\x1b", "TestX", "j", ""},
		{"benchmark", "go test -run runs none", "m", "BenchmarkX/a", "j", ""},
		{"newline", "nothing to paste", "m", "TestX\nrm -rf", "j", ""},
	}
	for _, tt := range tests {
		j := &result.Journal{Path: tt.path, Header: result.Header{Package: tt.pkg, Test: tt.test}}
		assert.Equal(t, tt.want, resume(j), "%s: %s", tt.name, tt.reason)
	}
	for mode, want := range map[string]string{"record": " -evaltest.cassette=record", "auto": " -evaltest.cassette=auto", "off": " -evaltest.cassette=off", "replay": "", "$(x)": ""} {
		j := &result.Journal{Path: "j", Header: result.Header{Package: "m", Test: "TestX", Options: map[string]string{"cassette-mode": mode}}}
		assert.Equal(t, "go test m -run '^TestX$'"+want+" -evaltest.resume=j", resume(j), "the rest is recorded too")
	}
}
