package evaltest_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// What a failing test prints is tested on the binary itself, run again as a
// child in which TestChild plays one scenario: a test cannot see its own
// failure, and some scenarios end the process.

var update = flag.Bool("update", false, "rewrite the golden files")

// scenarioVar names the scenario that a child plays.
const scenarioVar = "EVALTEST_TEST_SCENARIO"

func TestChild(t *testing.T) {
	name := os.Getenv(scenarioVar)
	if name == "" {
		t.Skip("only played by children")
	}
	play, ok := scenarios[name]
	require.True(t, ok, "no scenario %q", name)
	play(t)
}

// A child is one run of the test binary.
type child struct {
	t    *testing.T
	cmd  *exec.Cmd
	dir  string // journals
	out  bytes.Buffer
	code int
}

// newChild prepares a run of a scenario; args are flags of the test binary.
func newChild(t *testing.T, scenario string, args ...string) *child {
	t.Helper()
	c := &child{t: t, dir: t.TempDir()}
	c.cmd = command(c, scenario, args...)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	return c
}

func command(c *child, scenario string, args ...string) *exec.Cmd {
	args = append([]string{"-test.run=^TestChild$", "-test.paniconexit0", "-test.timeout=60s"}, args...)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(cleanEnv(), scenarioVar+"="+scenario, "EVALTEST_DIR="+c.dir, "CI=1")
	return cmd
}

// cleanEnv is the environment without what would steer a run.
func cleanEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "EVALTEST_") && !strings.HasPrefix(v, "GOFLAGS=") && !strings.HasPrefix(v, "CI=") {
			env = append(env, v)
		}
	}
	return env
}

// with sets a variable.
func (c *child) with(name, value string) *child {
	c.cmd.Env = append(c.cmd.Env, name+"="+value)
	return c
}

// at keeps the journals of an earlier child.
func (c *child) at(dir string) *child {
	c.dir = dir
	return c.with("EVALTEST_DIR", dir)
}

// run plays the scenario to its end.
func (c *child) run() *child {
	c.t.Helper()
	require.NoError(c.t, c.cmd.Start())
	return c.wait()
}

func (c *child) wait() *child {
	c.t.Helper()
	err := c.cmd.Wait()
	if err != nil {
		require.ErrorAs(c.t, err, new(*exec.ExitError))
	}
	c.code = c.cmd.ProcessState.ExitCode()
	return c
}

// text is what the child printed, without what differs from run to run.
func (c *child) text() string { return normal(c.out.String(), c.dir) }

var (
	elapsed = regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?(ns|µs|ms|s)\b`)
	// measured are the lines of package report's summary that differ from run
	// to run; they have tests of their own there.
	measured  = regexp.MustCompile(`(?m)^ +(tokens|cost|time|latency|slowest) .*\n( {18,}\S.*\n)*`)
	stamp     = regexp.MustCompile(`\d{8}T\d{6}\.\d{6}-[0-9a-f]{12}`)
	tempDir   = regexp.MustCompile(`\$DIR[^\s'"]*/`)
	pointers  = regexp.MustCompile(`0x[0-9a-f]+`)
	goroutine = regexp.MustCompile(`goroutine \d+`)
	closures  = regexp.MustCompile(`\binit\.\d+\.func\d+`) // how many there are before
	sourceAt  = regexp.MustCompile(`(\w+_test\.go):\d+`)
)

func normal(s, dir string) string {
	if dir != "" {
		s = strings.ReplaceAll(s, dir, "$DIR")
	}
	s = tempDir.ReplaceAllString(s, "$$DIR/")
	s = stamp.ReplaceAllString(s, "STAMP")
	s = elapsed.ReplaceAllString(s, "0s")
	s = measured.ReplaceAllString(s, "")
	s = pointers.ReplaceAllString(s, "0x0")
	s = goroutine.ReplaceAllString(s, "goroutine 0")
	s = closures.ReplaceAllString(s, "init.0.func0")
	s = sourceAt.ReplaceAllString(s, "$1:0")
	return s
}

// golden compares text with a file under testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run with -update, then look at the diff")
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s differs (-want +got), rewrite with -update:\n%s", path, diff)
	}
}

// capitals is a small dataset.
func capitals(t testing.TB, n int) *dataset.Dataset {
	t.Helper()
	all := []dataset.Item{
		{ID: "france", Input: "Capital of France?", Target: "Paris"},
		{ID: "spain", Input: "Capital of Spain?", Target: "Madrid"},
		{ID: "italy", Input: "Capital of Italy?", Target: "Rome"},
		{ID: "peru", Input: "Capital of Peru?", Target: "Lima"},
	}
	for i := len(all); i < n; i++ {
		all = append(all, dataset.Item{ID: fmt.Sprintf("n%03d", i), Input: "again?", Target: "yes"})
	}
	ds, err := dataset.New("capitals", all[:n])
	require.NoError(t, err)
	return ds
}

// numberedIDs are the ids of capitals from the i-th to before the j-th.
func numberedIDs(i, j int) (ids []string) {
	for ; i < j; i++ {
		ids = append(ids, fmt.Sprintf("n%03d", i))
	}
	return ids
}

// answers answers by the item's id, else with its target.
type answers map[string]string

func (a answers) Name() string { return "answers" }

func (a answers) Execute(_ context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
	if text, ok := a[it.ID]; ok {
		return llm.Response{Text: text}, nil
	}
	return llm.Response{Text: it.Target}, nil
}

// slow answers with the target after a while.
func slow(d time.Duration) evaltest.Strategy {
	return evaltest.StrategyFunc(func(ctx context.Context, it dataset.Item, _ evaltest.Attempt) (llm.Response, error) {
		select {
		case <-time.After(d):
			return llm.Response{Text: it.Target}, nil
		case <-ctx.Done():
			return llm.Response{}, context.Cause(ctx)
		}
	})
}

var exact = evaltest.Options(evaltest.Grader(grade.Exact()), evaltest.Parallel(1), evaltest.Attempts(1))

// journal reads the child's only or latest journal.
func (c *child) journal() *result.Journal {
	c.t.Helper()
	path, err := result.LatestUnder(c.dir)
	require.NoError(c.t, err)
	j, err := result.Read(path)
	require.NoError(c.t, err)
	return j
}
