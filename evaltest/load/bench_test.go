package load_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/workload"
)

// benchServer names the server that a child's benchmarks ask.
const benchServer = "EVALS_LOAD_TEST_BENCH"

// BenchmarkChild has the benchmarks that children of this file's tests run.
func BenchmarkChild(b *testing.B) {
	url := os.Getenv(benchServer)
	if url == "" {
		b.Skip("only runs as a child of TestBenchmark")
	}
	base := func(b *testing.B) load.Load {
		return load.Load{Client: client.Config{Host: url, Model: "m"}, Source: words(b, 8, 1, func(o *workload.Options) { o.Salt.Value = 0 }), Metric: metric.Config{Limits: easy}}
	}
	for name, change := range map[string]func(*load.Load){
		"closed": func(l *load.Load) { l.Users = 4 },
		"warm": func(l *load.Load) {
			l.Users, l.Phases.Warmup = 4, arrival.Limit{Count: 7}
		},
		"open":   func(l *load.Load) { l.Schedule = arrival.Constant(2000) },
		"finite": func(l *load.Load) { l.Users, l.RequestsPerUser = 4, 5 },
		"counted": func(l *load.Load) {
			l.Schedule, l.Phases.Measured = arrival.Constant(2000), arrival.Limit{Count: 20}
		},
		"dropping": func(l *load.Load) { // an arrival too many
			l.Schedule, l.MaxInFlight = must(arrival.Trace(make([]time.Duration, 20), 1)), 1
		},
		"senseless": func(l *load.Load) {},
	} {
		b.Run(name, func(b *testing.B) {
			l := base(b)
			change(&l)
			load.Benchmark(b, l)
		})
	}
	b.Run("agents", func(b *testing.B) { load.BenchmarkAgents(b, replay(b, url, nil)) })
}

// child runs one benchmark of BenchmarkChild against s, in a process of its own, and
// returns what it printed, how many requests came, and whether it passed.
func child(t *testing.T, s *fake.Server, name string, args ...string) (out string, requests int, ok bool) {
	t.Helper()
	url, stop, err := s.Start()
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^$", "-test.bench=^BenchmarkChild$/^" + name + "$"}, args...)...)
	cmd.Env = append(os.Environ(), benchServer+"="+url)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err = cmd.Run()
	stop()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit, b.String())
	}
	return b.String(), s.Counts().Requests, err == nil
}

// result is a benchmark line with its iterations and values.
var result = regexp.MustCompile(`(?m)^(BenchmarkChild/\S+)\s+(\d+)\t(.*)$`)

// TestBenchmark runs benchmarks as go test -bench does: this binary anew.
func TestBenchmark(t *testing.T) {
	if raceDetector || testing.Short() {
		t.Skip("starts this binary anew, which takes long with the race detector")
	}
	for _, row := range []struct {
		name, reason, time string
		server             *fake.Server
		iterations         int
		requests           int // that the server saw
	}{
		{"closed", "an iteration is a request", "50x", &fake.Server{}, 50, 50},
		{"closed", "even if there is but one", "1x", &fake.Server{}, 1, 1},
		{"open", "in an open loop as well", "50x", &fake.Server{}, 50, 50},
		{"warm", "the warm-up comes before the first", "50x", &fake.Server{}, 50, 57},
		{"finite", "an iteration is the run", "1x", &fake.Server{}, 1, 20},
		{"closed", "a time is how long the run takes", "300ms", &fake.Server{TTFT: 10 * time.Millisecond}, 1, -1},
		{"agents", "an iteration is the replay", "1x", &fake.Server{PerMessage: perMessage, PerRequest: perRequest}, 1, -1},
		{"counted", "a number of requests is an end", "1x", &fake.Server{}, 1, 20},
	} {
		t.Run(row.name+" "+row.time, func(t *testing.T) {
			out, requests, ok := child(t, row.server, row.name, "-test.benchtime="+row.time)
			require.True(t, ok, "%s\n%s", row.reason, out)
			lines := result.FindAllStringSubmatch(out, -1)
			require.Len(t, lines, 1, out)
			assert.Equal(t, strconv.Itoa(row.iterations), lines[0][2], row.reason)
			if row.requests >= 0 {
				assert.Equal(t, row.requests, requests, row.reason)
			}
			assert.Contains(t, lines[0][3], "100.0 ok-%")
			assert.Contains(t, lines[0][3], "requests/s")
			assert.NotContains(t, lines[0][3], "ns/op", "requests/s says it better")
			checkUnits(t, out)
		})
	}
}

// checkUnits: benchstat's metadata stands before the first result, each line once.
func checkUnits(t *testing.T, out string) {
	t.Helper()
	var units []string
	first, last := strings.Index(out, "\nBenchmark"), 0
	for _, m := range regexp.MustCompile(`(?m)^Unit .*$`).FindAllStringIndex(out, -1) {
		units, last = append(units, out[m[0]:m[1]]), m[0]
	}
	assert.Equal(t, metric.AllUnits(), units)
	assert.Less(t, last, first, out)
}

// TestBenchmarkFails: what should not be believed prints no number, and says why.
func TestBenchmarkFails(t *testing.T) {
	if raceDetector || testing.Short() {
		t.Skip("starts this binary anew, which takes long with the race detector")
	}
	broken := func(int) fake.Failure {
		return fake.Failure{Status: 500, Body: `{"error":{"message":"the disk is on fire"}}`}
	}
	for _, row := range []struct {
		name, reason, time string
		server             *fake.Server
		says               []string
	}{
		{"closed", "B08: all requests fail", "20x", &fake.Server{Fail: broken}, []string{"no request was answered", "server", "the disk is on fire"}},
		{"finite", "B08: in a run of its own as well", "1x", &fake.Server{Fail: broken}, []string{"no request was answered", "the disk is on fire"}},
		{"finite", "two runs are no run", "2x", &fake.Server{}, []string{"-benchtime=1x", "-count=10"}},
		{"finite", "nor is as much as fits into a time", "200ms", &fake.Server{}, []string{"-benchtime=1x"}},
		{"finite", "what went wrong goes before what was asked", "200ms", &fake.Server{Fail: broken}, []string{"no request was answered", "the disk is on fire"}},
		{"dropping", "B01: a load that was not sent as asked", "1x", &fake.Server{TTFT: 50 * time.Millisecond}, []string{"the run is not valid", "dropped arrivals"}},
		{"senseless", "neither users nor a schedule", "1x", &fake.Server{}, []string{"Users is 0"}},
	} {
		t.Run(row.name+" "+row.time, func(t *testing.T) {
			out, _, ok := child(t, row.server, row.name, "-test.benchtime="+row.time)
			require.False(t, ok, "%s\n%s", row.reason, out)
			assert.Contains(t, out, "--- FAIL: BenchmarkChild/"+row.name)
			for _, says := range row.says {
				assert.Contains(t, out, says, row.reason)
			}
			assert.Empty(t, result.FindString(out), "no numbers: %s", row.reason)
			assert.NotRegexp(t, `(?i)\bnan\b|\binf\b`, out)
		})
	}
}

// TestBenchmarkReadByBenchstat: repeats on one processor and on many are the same
// benchmark to benchstat, with all of the units.
func TestBenchmarkReadByBenchstat(t *testing.T) {
	if raceDetector || testing.Short() {
		t.Skip("builds benchstat")
	}
	mod, err := filepath.Abs("../../.ci/tools.mod")
	require.NoError(t, err)
	if _, err := os.Stat(mod); errors.Is(err, os.ErrNotExist) {
		t.Skip("no .ci/tools.mod: the module was taken without its repository")
	}
	var files []string
	for _, row := range []struct{ name, time, procs string }{{"closed", "50x", "1"}, {"closed", "50x", "8"}, {"agents", "1x", "8"}} {
		out, _, ok := child(t, &fake.Server{PerMessage: perMessage, PerRequest: perRequest}, row.name, "-test.benchtime="+row.time, "-test.count=6", "-test.cpu="+row.procs)
		require.True(t, ok, out)
		checkUnits(t, out)
		want := "BenchmarkChild/" + row.name
		if row.procs != "1" {
			want += "-" + row.procs
		}
		lines := result.FindAllStringSubmatch(out, -1)
		require.Len(t, lines, 6)
		for _, l := range lines {
			assert.Equal(t, want, l[1])
		}
		path := filepath.Join(t.TempDir(), row.name+row.procs+".txt")
		require.NoError(t, os.WriteFile(path, []byte(out), 0o600))
		files = append(files, path)
	}
	read := func(paths ...string) string {
		cmd := exec.Command("go", append([]string{"tool", "-modfile=" + mod, "benchstat"}, paths...)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		require.NoError(t, cmd.Run(), stderr.String())
		assert.Empty(t, stderr.String(), "it warns of what it cannot read")
		assert.NotContains(t, stdout.String(), "NaN")
		assert.NotContains(t, stdout.String(), "∞")
		return stdout.String()
	}
	both := read("-ignore=/gomaxprocs", files[0], files[1])
	assert.Regexp(t, `(?m)^Child/closed\s.*± .*± `, both, "one row with both files: the digits are a number of processors")
	for _, unit := range []string{"ttft-p50-sec", "requests/s", "output-tok/s", "ok-%"} {
		assert.Contains(t, both, unit)
	}
	agents := read(files[2])
	for _, unit := range []string{"jobs/h", "job-ok-%", "job-p50-sec"} {
		assert.Contains(t, agents, unit)
	}
}
