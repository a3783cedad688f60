package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	loadrecord "github.com/goevals/evals/evaltest/load/record"
)

// unhurried switches off the checks of this client's speed: the machine that
// tests run on may be busy.
const unhurried = " -limit lag-p99=off -limit lag-max=off -limit wake-up=off -limit cpu=off -limit gc-pause=off -limit achieved=off"

// serve starts a fake, and returns what ends it and says what it saw: of a request
// it tells a little after it has answered.
func serve(t *testing.T, s *fake.Server) (url string, seen func() []*fake.Seen) {
	t.Helper()
	var mu sync.Mutex
	var list []*fake.Seen
	s.Saw = func(r *fake.Seen) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, r)
	}
	url, stop, err := s.Start()
	require.NoError(t, err)
	t.Cleanup(stop)
	return url, func() []*fake.Seen {
		stop()
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

// loaded runs evals load on a fake.
func loaded(url, args string) ran {
	return evals("", noEnv, append([]string{"load", "-host", url, "-model", "m"}, strings.Fields(args+unhurried)...)...)
}

var measured = []struct {
	re  *regexp.Regexp
	put string
}{
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "http://HOST"},
	{regexp.MustCompile(`\d+\.\d+`), "N"},
}

// masked puts N for what was measured.
func masked(text string) string {
	for _, m := range measured {
		text = m.re.ReplaceAllString(text, m.put)
	}
	return text
}

// TestLoadRun is a run with all that it can leave behind.
func TestLoadRun(t *testing.T) {
	url, seen := serve(t, &fake.Server{TTFT: time.Millisecond})
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "new", name) }
	r := loaded(url, "-users 3 -requests-per-user 4 -warmup 2x -input-tokens 20 -output-tokens 5 -seed 1 -salt 2 -require ok-%>=100 -results-csv "+
		at("r.csv")+" -json "+at("r.json")+" -requests-jsonl "+at("r.jsonl")+" -bench "+at("r.txt")+" -bench-name Load/users=3")
	require.Equal(t, 0, r.code, r.stderr)
	golden(t, "load-run.golden", masked("--- stdout\n"+r.stdout+"--- stderr\n"+r.stderr))

	calls := seen()
	require.Len(t, calls, 12)
	for _, c := range calls {
		assert.Equal(t, []any{20, 5, true, "m"}, []any{c.Input, c.Output, c.Streamed, c.Model})
		assert.Empty(t, c.Header.Get("Authorization"))
	}

	rows := cells(t, at("r.csv"))
	golden(t, "load-csv.golden", strings.Join(rows[0], "\n")+"\n")
	row := map[string]string{}
	for i, name := range rows[0] {
		row[name] = rows[1][i]
	}
	for _, name := range metric.BaseSheet.Settings() {
		empty := strings.Contains(name, "lognorm") || strings.HasSuffix(name, "_vary") || name == "rate" || name == "duration_seconds" || name == "input_prefix_overlap"
		assert.Equal(t, empty, row[name] == "", "%s is %q", name, row[name])
	}
	assert.Equal(t, []string{url, "/v1/chat/completions", "10", "2", "1", "2", "12"},
		[]string{row["host"], row["endpoint"], row["successful_requests"], row["warm_up_requests"], row["seed"], row["salt"], row["dataset_size"]})
	_, err := time.Parse(time.RFC3339, row["timestamp"])
	require.NoError(t, err)

	var report struct {
		Seed     uint64
		Workload struct{ Salt struct{ Value uint64 } }
		Result   struct{ Counts metric.Counts }
	}
	readJSON(t, at("r.json"), &report)
	assert.Equal(t, []uint64{1, 2, 10, 2}, []uint64{report.Seed, report.Workload.Salt.Value, uint64(report.Result.Counts.OK), uint64(report.Result.Counts.Warmup)})
	assert.Len(t, requests(t, at("r.jsonl")), 12)
	text, err := os.ReadFile(at("r.txt"))
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^BenchmarkLoad/users=3/load\t10\t.* ok-%`, string(text))
}

func cells(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	return rows
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, v))
}

// requests are the lines that a run left, each of which must be whole.
func requests(t *testing.T, path string) []loadrecord.Request {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var list []loadrecord.Request
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r loadrecord.Request
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r), lines.Text())
		list = append(list, r)
	}
	require.NoError(t, lines.Err())
	return list
}

// TestLoadExit says which runs end with an error.
func TestLoadExit(t *testing.T) {
	every := func(n int, f fake.Failure) func(int) fake.Failure {
		return func(i int) fake.Failure {
			if i%n == 0 {
				return f
			}
			return fake.Failure{}
		}
	}
	tests := []struct {
		name, reason, args string
		server             *fake.Server
		code               int
		stderr             string
	}{
		{"all answered", "well", "-users 2 -requests-per-user 5", &fake.Server{}, 0, ""},
		{"all failed", "batchbench ends with 0", "-users 2 -requests-per-user 5", &fake.Server{Fail: every(1, fake.Failure{Status: 400})}, 1, "no request was answered"},
		{"some failed", "how many are too many is for -require to say", "-users 2 -requests-per-user 5", &fake.Server{Fail: every(2, fake.Failure{Status: 400})}, 0, ""},
		{"too many failed", "they were", "-users 2 -requests-per-user 5 -require ok-%>=99", &fake.Server{Fail: every(2, fake.Failure{Status: 400})}, 1, `-require "ok-%>=99": ok-% is 50`},
		{"two thresholds", "both are said", "-users 2 -requests-per-user 5 -require ok-%<50 -require ttft-p50-ns<1ns", &fake.Server{}, 1, "ttft-p50-ns<1ns"},
		{"threshold without a number", "a p99 of ten answers is none", "-users 2 -requests-per-user 5 -require ttft-p99-ns<=10s", &fake.Server{}, 1, "there is no ttft-p99-ns"},
		{"slo kept", "all within", "-users 2 -requests-per-user 5 -slo-e2e 1m -slo-share 1", &fake.Server{}, 0, ""},
		{"slo missed", "none within", "-users 2 -requests-per-user 5 -slo-e2e 1ns -slo-share 0.5", &fake.Server{}, 1, "0.5 of the requests that were due"},
		{"slo without a share", "is only shown", "-users 2 -requests-per-user 5 -slo-e2e 1ns", &fake.Server{}, 0, ""},
		{"not valid", "the server's cache knew the prompts", "-users 1 -requests-per-user 5 -input-tokens 64 -seed 1 -no-salt", &fake.Server{CacheBlock: 16}, 1, "cached input"},
		{"shared prefixes", "they are the run's own", "-users 1 -requests-per-user 5 -input-tokens 64 -input-prefix-overlap 1", &fake.Server{CacheBlock: 16}, 0, ""},
		{"cache wanted", "it may know them", "-users 1 -requests-per-user 5 -input-tokens 64 -seed 1 -no-salt -cache-wanted", &fake.Server{CacheBlock: 16}, 0, ""},
		{"retried", "retries work, unlike batchbench's", "-users 1 -requests-per-user 5 -max-retries 1 -retry-delay-ms 1 -require ok-%>=100", &fake.Server{Fail: every(2, fake.Failure{Status: 503})}, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NotEmpty(t, tt.reason)
			url, _ := serve(t, tt.server)
			if strings.Contains(tt.args, "-no-salt") { // a run before it
				loaded(url, "-quiet -output-tokens 2 "+tt.args)
			}
			r := loaded(url, "-quiet -output-tokens 2 "+tt.args)
			assert.Equal(t, tt.code, r.code, "%s\n%s%s", tt.reason, r.stdout, r.stderr)
			if tt.stderr == "" {
				assert.Empty(t, r.stderr)
			}
			assert.Contains(t, r.stderr, tt.stderr)
			assert.Contains(t, r.stdout, "Requests: total=")
		})
	}
}

// TestLoadOpen is an open loop of a trace: its lengths, in its order.
func TestLoadOpen(t *testing.T) {
	url, seen := serve(t, &fake.Server{})
	r := loaded(url, "-trace testdata/load-mooncake.jsonl -time-scale 50")
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stderr, "mooncake")
	assert.Contains(t, r.stderr, "open loop")
	var got [][2]int
	for _, c := range seen() {
		got = append(got, [2]int{c.Input, c.Output})
	}
	assert.ElementsMatch(t, [][2]int{{10, 3}, {20, 4}}, got)
}

// TestLoadFile sends a file's requests: texts in a message, bodies as they are.
func TestLoadFile(t *testing.T) {
	url, seen := serve(t, &fake.Server{})
	r := loaded(url, "-jsonl testdata/load-rows.jsonl -whole")
	require.Equal(t, 0, r.code, r.stderr)
	assert.Contains(t, r.stderr, "Warning: -whole changes nothing of what")
	var got []string
	for _, c := range seen() {
		got = append(got, string(c.Body))
	}
	assert.ElementsMatch(t, []string{
		`{"model":"m","messages":[{"role":"user","content":"a b"}]}`, `{"model":"m","messages":[{"role":"user","content":"a c"}]}`,
		`{"messages":[{"role":"user","content":"d"}]}`,
	}, got)
	assert.NotContains(t, r.stdout, "Salt", "nothing was put before")
}

// TestLoadVerbose shows requests and answers, cut and escaped.
func TestLoadVerbose(t *testing.T) {
	url, _ := serve(t, &fake.Server{Fail: func(n int) fake.Failure {
		if n == 1 {
			return fake.Failure{Status: 400, Body: "\x1b[31m" + strings.Repeat("x", 100)}
		}
		return fake.Failure{}
	}})
	r := loaded(url, "-quiet -v -seed 1 -no-salt -users 1 -requests-per-user 2 -input-tokens 30 -output-tokens 20")
	require.Equal(t, 0, r.code, r.stderr)
	assert.NotContains(t, r.stderr, "\x1b")
	golden(t, "load-verbose.golden", r.stderr)
}

// TestLoadDryRun makes all requests and sends none.
func TestLoadDryRun(t *testing.T) {
	var b strings.Builder
	for _, tt := range []struct{ name, args string }{
		{"closed loop", "-users 2 -requests-per-user 3 -warmup 2x -input-lognorm-median 30 -input-lognorm-sigma 0.8 -input-lognorm-max 60 -output-tokens 8 -output-vary 3 -input-prefix-overlap 0.5 -block 4"},
		{"users come one after the other", "-users 3 -duration 10s -join 3s -input-tokens 5 -groups 2 -group-tokens 3"},
		{"open loop", "-rate 4 -duration 1s -warmup 500ms -input-uniform 10..20"},
		{"trace", "-trace testdata/load-mooncake.jsonl -time-scale 0.5"},
		{"lengths of a trace", "-trace testdata/load-mooncake.jsonl -users 1"},
		{"file", "-jsonl testdata/load-rows.jsonl -whole -output-tokens 4"},
		{"a request that cannot be made", "-jsonl testdata/load-rows.jsonl -api gemini -output-tokens 4"},
	} {
		r := evals("", noEnv, append([]string{"load", "-dry-run", "-host", "http://127.0.0.1:1", "-model", "m", "-seed", "1", "-no-salt"}, strings.Fields(tt.args)...)...)
		r.section(&b, tt.name+": evals load -dry-run -seed 1 -no-salt "+tt.args, "")
	}
	golden(t, "load-dry.golden", b.String())
}

// TestHistogram checks batchbench's rules, on values whose bins are known.
func TestHistogram(t *testing.T) {
	var b strings.Builder
	list := make([]int, 100)
	for i := range list {
		list[i] = 100 - i // 1 to 100
	}
	histogram(&b, list)
	// Width ceil(99/20) = 5; median sorted[50] = 51; p95 sorted[95] = 96; p99
	// sorted[99] = 100.
	assert.Contains(t, b.String(), "n=100 min=1 mean=50.5 median=51 p95=96 p99=100 max=100\n")
	assert.Equal(t, 20, strings.Count(b.String(), " 5 "+strings.Repeat("#", 50)+"\n"))
	b.Reset()
	histogram(&b, []int{7})
	assert.Equal(t, "Input lengths: n=1 min=7 mean=7.0 median=7 p95=7 p99=7 max=7\n  7..7 1 "+strings.Repeat("#", 50)+"\n", b.String())
	b.Reset()
	histogram(&b, nil)
	assert.Empty(t, b.String())
	histogram(&b, append(slices.Repeat([]int{1}, 1000), 2))
	assert.Contains(t, b.String(), "  2..2    1 #\n", "what is there has a bar")
}

// TestLoadSearch finds what it may, and says so.
func TestLoadSearch(t *testing.T) {
	url, _ := serve(t, &fake.Server{})
	path := filepath.Join(t.TempDir(), "s.json")
	r := loaded(url, "-quiet -search -search-start 100 -search-max 100 -search-lead 1 -requests 10 -slo-e2e 1m -seed 3 -json "+path)
	assert.Equal(t, 0, r.code, r.stderr)
	assert.Regexp(t, `^Run 1: 100 requests/s: 100\.00 % good, 10 of 10 answered.*\nSustained: 100 requests/s, the highest that was allowed; the server may do more \(1 runs\)\nSeed: 3\n$`, r.stdout)
	var kept struct {
		Seed  uint64
		Found arrival.Found
	}
	readJSON(t, path, &kept)
	assert.Equal(t, []any{uint64(3), arrival.AtMax, 100.0}, []any{kept.Seed, kept.Found.Ended, kept.Found.Rate})

	r = loaded(url, "-quiet -search -search-start 100 -search-min 100 -search-lead 1 -requests 10 -slo-e2e 1ns")
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stdout, "Sustained: none; not even 100 requests/s")
	assert.Contains(t, r.stderr, "no rate was sustained")
}

// TestSearchAnswers says all ends of a search.
func TestSearchAnswers(t *testing.T) {
	for end, want := range map[arrival.SearchEnd][2]string{
		arrival.Enclosed:    {"Sustained: 5 requests/s; not sustained: 6 requests/s (9 runs)", ""},
		arrival.AtMax:       {"Sustained: 5 requests/s, the highest that was allowed; the server may do more (9 runs)", ""},
		arrival.AtMin:       {"Sustained: none; not even 6 requests/s, the lowest that was allowed (9 runs)", "no rate was sustained: lower -search-min, or the limits of -slo"},
		arrival.ClientBound: {"Sustained: 5 requests/s; 6 requests/s could not be offered by this client (9 runs)", "the search ended at this client's own limit, not at the server's"},
		arrival.OutOfTries:  {"Not decided: at least 5 requests/s were sustained (9 runs)", "the search was not decided in 9 runs: raise -search-max-tries"},
	} {
		f := arrival.Found{Rate: 5, Above: 6, Tries: 9, Ended: end}
		assert.Equal(t, want[0], answered(&f))
		text := ""
		if err := unanswered(&f, nil); err != nil {
			text = err.Error()
		}
		assert.Equal(t, want[1], text)
	}
}
