package evaltest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/bakeoff"
)

// flagshipPasses is how many passes benchstat wants for an interval.
const flagshipPasses = 6

// TestFlagship runs the benchmarks of the repository's root as the README says,
// on one processor and on all, and compares what the real benchstat makes of
// them with a golden file: every metric by its name, no ±∞, no warning, and on
// one processor the same as on many. Only fakes take part.
func TestFlagship(t *testing.T) {
	t.Parallel()
	if testing.Short() || raceDetector {
		t.Skip("runs the flagship benchmarks twelve times, without the race detector")
	}
	bin := flagshipBinary(t)
	for _, row := range []struct{ name, procs, reason string }{
		{"one processor", "1", "testing appends no -N, and readers must not take digits of a name for it"},
		{"many processors", "8", "readers must take the -8 off"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			text := flagship(t, bin, row.procs, dir)
			checkFlagshipFiles(t, dir)
			assert.Equal(t, 1, strings.Count(text, "answered-by: fakes on this machine"), "nobody real was asked, and that is said once")
			for _, who := range []string{"deepseek", "gemini-levels", "gemini-budgets", "openai", "compatible"} {
				assert.Regexp(t, `(?m)^# `+who+` is skipped: [A-Z_]+.* is not set$`, text)
			}
			golden(t, "flagship-benchstat", settledColumns(benchstat(t, text)))
			var compared strings.Builder // what the README's pattern runs
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(line, "BenchmarkGSM8K") && !strings.HasPrefix(line, "BenchmarkOverhead") {
					compared.WriteString(line)
				}
			}
			sides := benchstat(t, compared.String(), "-col", "/provider")
			assert.Regexp(t, `│ +fake-quick +│ +fake-slow +│`, sides)
			assert.NotRegexp(t, `│ +│|\?`, sides, "no column without a name, nothing that cannot be compared")
		})
	}
}

// flagshipBinary is the root's test binary.
func flagshipBinary(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "flagship.test")
	build := exec.Command("go", "test", "-c", "-o", bin, ".")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return bin
}

// TestFlagshipSettings: what is set by mistake is told, and ends no more than
// what it concerns. Nobody is asked: where a server is named, there is none.
func TestFlagshipSettings(t *testing.T) {
	t.Parallel()
	if testing.Short() || raceDetector {
		t.Skip("builds and runs the flagship benchmarks, without the race detector")
	}
	bin := flagshipBinary(t)
	for _, row := range []struct {
		name, reason string
		env, args    []string
		code         int
		want, not    string // patterns of lines; not is "" for none
	}{
		{"no scheme", "one contestant fails and the others go on", []string{"EVALS_BENCH_BASE_URL=127.0.0.1:9"}, []string{"-test.bench=Race|GSM8K"}, 1,
			`(?s)^--- FAIL: BenchmarkRace/provider=compatible/eval\n\s+\S+: EVALS_BENCH_BASE_URL="127.0.0.1:9": want http:// .*^BenchmarkGSM8K\S*\s+1\s`, `panic|goroutine`},
		{"a scheme of another kind", "localhost: is one", []string{"EVALS_BENCH_BASE_URL=localhost:9/v1"}, []string{"-test.bench=Bakeoff"}, 1,
			`EVALS_BENCH_BASE_URL="localhost:9/v1": want http://`, `panic|goroutine`},
		{"several numbers of processors", "the first row would be of another one, and the files would pool them", nil, []string{"-test.bench=.", "-test.cpu=1,2"}, 1,
			`(?s)BenchmarkRace.*BenchmarkOverhead.*BenchmarkThroughput.*BenchmarkBakeoff\s.*-cpu=1,2: one number at a time, as -cpu=N or GOMAXPROCS=N`, `answered-by|Benchmark(Race|Overhead|Throughput|Bakeoff)\S*\s+1\s`},
		{"one number of processors", "testing keeps to it", nil, []string{"-test.bench=Overhead", "-test.cpu=1"}, 0, `^BenchmarkOverhead\s+1\s.*overhead-ns/item`, ""},
		{"no model", "it is asked for one all the same", []string{"EVALS_BENCH_BASE_URL=http://127.0.0.1:1/v1"}, []string{"-test.bench=Bakeoff/provider=none"}, 0,
			`^# compatible is asked for a model "default", for EVALS_BENCH_MODEL is not set$`, "answered-by"},
		{"no server", "who names a model does not mean fakes", []string{"EVALS_BENCH_MODEL=mine"}, []string{"-test.bench=Bakeoff/provider=none"}, 0,
			`^# EVALS_BENCH_MODEL="mine" is asked of nobody, for EVALS_BENCH_BASE_URL is not set$`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			cmd := exec.Command(bin, append([]string{"-test.run=^$", "-test.benchtime=1x", "-test.short"}, row.args...)...)
			cmd.Dir, cmd.Env = "..", append(append(keyless(), "EVALTEST_DIR="+t.TempDir()), row.env...)
			out, _ := cmd.CombinedOutput()
			assert.Equal(t, row.code, cmd.ProcessState.ExitCode(), "%s\n%s", row.reason, out)
			assert.Regexp(t, "(?m)"+row.want, string(out), row.reason)
			if row.not != "" {
				assert.NotRegexp(t, row.not, string(out), row.reason)
			}
		})
	}
}

// checkFlagshipFiles looks at what a comparison leaves: every pass of every
// contestant, in files that agree with each other.
func checkFlagshipFiles(t *testing.T, dir string) {
	t.Helper()
	latest, err := filepath.Glob(filepath.Join(dir, "*", "*", "bakeoff", "_latest"))
	require.NoError(t, err)
	require.Len(t, latest, 1)
	name, err := os.ReadFile(latest[0])
	require.NoError(t, err)
	files := filepath.Join(filepath.Dir(latest[0]), strings.TrimSpace(string(name)))
	var sum bakeoff.Summary
	var rate bakeoff.Throughput
	for path, v := range map[string]any{"summary.json": &sum, "throughput.json": &rate} {
		data, err := os.ReadFile(filepath.Join(files, path))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, v), path)
	}
	require.Len(t, sum.Race, 2)
	require.Len(t, rate.Rows, 2)
	assert.Positive(t, rate.Overhead)
	for _, race := range sum.Race {
		assert.Len(t, race.Passes, flagshipPasses)
		assert.Greater(t, race.Speedup, 1.0)
		assert.Equal(t, flagshipPasses*race.Items, race.OK)
		assert.GreaterOrEqual(t, race.Items, 3*race.ChunkSize, "one chunk alone is a pool")
	}
	require.Len(t, sum.Bakeoff, 2*flagshipPasses)
	for _, row := range sum.Bakeoff {
		assert.Equal(t, 50, row.Items)
		assert.Equal(t, map[string]int{"fake-quick": 47, "fake-slow": 49}[row.Provider], row.Correct, "the fake knows how many will be right")
		assert.Zero(t, row.Errors)
		if row.Judge != nil {
			assert.Equal(t, "fake-judge", row.Judge.Model, "nobody real is named")
			assert.False(t, row.TotalAtLeast, "it has a price")
		}
	}
	results, err := filepath.Glob(filepath.Join(files, "fake-*_results*.jsonl.gz"))
	require.NoError(t, err)
	assert.Len(t, results, 2*flagshipPasses, "one a pass")
	assert.NotZero(t, sum.Methodology.Seed)
	assert.Equal(t, "fake-judge", sum.Methodology.Judge)
}

// flagship is what the benchmarks print.
func flagship(t *testing.T, bin, procs, dir string) string {
	t.Helper()
	cmd := exec.Command(bin, "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-test.short", "-test.count="+strconv.Itoa(flagshipPasses))
	cmd.Dir, cmd.Env = "..", append(keyless(), "GOMAXPROCS="+procs, "EVALTEST_DIR="+dir, "EVALTEST_MAX_COST=1.00")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s\n%s", stdout.String(), stderr.String())
	assert.Empty(t, stderr.String())
	return stdout.String()
}

// keyless is an environment in which no contestant can take part.
func keyless() []string { return keylessOf(cleanEnv()) }

func keylessOf(all []string) (env []string) {
	for _, v := range all {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasSuffix(name, "_API_KEY") && !strings.HasPrefix(name, "EVALS_BENCH_") && name != "GOOGLE_GENAI_USE_VERTEXAI" {
			env = append(env, v)
		}
	}
	return env
}

// benchstat is what the real one makes of a benchmark's output.
func benchstat(t *testing.T, text string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new.txt")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	cmd := exec.Command("go", append(append([]string{"tool", "-modfile=.ci/tools.mod", "benchstat"}, args...), path)...)
	cmd.Dir = ".."
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), stderr.String())
	assert.Empty(t, stderr.String(), "it warns of what it cannot read")
	assert.NotContains(t, stdout.String(), "∞")
	return strings.ReplaceAll(stdout.String(), path, "new.txt")
}

// settledColumns are benchstat's tables of one file without what a machine
// decides: times, what follows from them, and the columns' widths.
func settledColumns(s string) string {
	var b strings.Builder
	timed := false
	for _, line := range strings.Split(s, "\n") {
		if strings.HasPrefix(line, "goos:") || strings.HasPrefix(line, "goarch:") || strings.HasPrefix(line, "cpu:") {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.Contains(line, "│"):
			timed = strings.Contains(line, "sec") || strings.Contains(line, "items/s") || strings.Contains(line, "vs-")
		case timed && name != "":
			line = name + "  (a time)"
		}
		line = regexp.MustCompile(` {2,}`).ReplaceAllString(line, "  ")
		line = regexp.MustCompile(`-\d+( |$)`).ReplaceAllString(strings.TrimRight(line, " "), "$1")
		b.WriteString(line + "\n")
	}
	return b.String()
}
