package evaltest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	bin := filepath.Join(t.TempDir(), "flagship.test")
	build := exec.Command("go", "test", "-c", "-o", bin, ".")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, row := range []struct{ name, procs, reason string }{
		{"one processor", "1", "testing appends no -N, and readers must not take digits of a name for it"},
		{"many processors", "8", "readers must take the -8 off"},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := flagship(t, bin, row.procs)
			assert.Equal(t, 1, strings.Count(text, "answered-by: fakes on this machine"), "nobody real was asked, and that is said once")
			for _, who := range []string{"deepseek", "gemini-levels", "gemini-budgets", "openai", "compatible"} {
				assert.Regexp(t, `(?m)^# `+who+` is skipped: [A-Z_]+.* is not set$`, text)
			}
			golden(t, "flagship-benchstat", settledColumns(benchstat(t, text)))
		})
	}
}

// flagship is what the benchmarks print.
func flagship(t *testing.T, bin, procs string) string {
	t.Helper()
	cmd := exec.Command(bin, "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-test.short", "-test.count="+strconv.Itoa(flagshipPasses))
	cmd.Dir, cmd.Env = "..", append(keyless(), "GOMAXPROCS="+procs, "EVALTEST_DIR="+t.TempDir())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s\n%s", stdout.String(), stderr.String())
	assert.Empty(t, stderr.String())
	return stdout.String()
}

// keyless is an environment in which no contestant can take part.
func keyless() (env []string) {
	for _, v := range cleanEnv() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasSuffix(name, "_API_KEY") && !strings.HasPrefix(name, "EVALS_BENCH_") && name != "GOOGLE_GENAI_USE_VERTEXAI" {
			env = append(env, v)
		}
	}
	return env
}

// benchstat is what the real one makes of a benchmark's output.
func benchstat(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new.txt")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	cmd := exec.Command("go", "tool", "-modfile=.ci/tools.mod", "benchstat", path)
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
