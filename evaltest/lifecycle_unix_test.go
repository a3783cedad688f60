//go:build unix

package evaltest_test

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
)

// await waits until the child's journal holds n records. It looks at the file
// as anybody may: records are with the kernel before their subtests end.
func (c *child) await(n int) {
	c.t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if path, err := result.LatestUnder(c.dir); err == nil {
			if j, err := result.Read(path); err == nil && len(j.Records) >= n {
				return
			}
		}
		select {
		case <-tick.C:
		case <-deadline:
			c.t.Fatalf("no %d records after 30s; the child printed:\n%s", n, c.out.String())
		}
	}
}

// summaryFile reads the summary beside the latest journal.
func (c *child) summaryFile() string {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.dir, "*", "*", "*", "*.txt"))
	require.NoError(c.t, err)
	require.Len(c.t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(c.t, err)
	return string(text)
}

// TestInterrupted: SIGINT and SIGTERM end a run in order; resume finishes it,
// and the result is that of an uninterrupted run.
func TestInterrupted(t *testing.T) {
	for _, row := range []struct {
		name   string
		signal syscall.Signal
		text   string
	}{
		{"SIGINT", syscall.SIGINT, "the run stopped early: interrupted (SIGINT)"},
		{"SIGTERM", syscall.SIGTERM, "the run stopped early: interrupted (SIGTERM)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newChild(t, "slow")
			require.NoError(t, c.cmd.Start())
			c.await(8)
			require.NoError(t, c.cmd.Process.Signal(row.signal))
			c.wait()
			assert.Equal(t, 1, c.code)
			assert.Contains(t, c.text(), row.text)
			assert.Contains(t, c.text(), "-evaltest.resume", "says how to finish")
			assert.Contains(t, c.summaryFile(), row.text, "go test may lose the output")
			j := c.journal()
			require.NotNil(t, j.End)
			assert.Equal(t, "interrupt", j.End.Reason)
			assert.False(t, j.End.Complete)
			resumed(t, c.dir)
		})
	}
}

// resumed finishes an interrupted "slow" run and compares it with a whole one.
func resumed(t *testing.T, dir string) {
	t.Helper()
	before := (&child{t: t, dir: dir}).journal()
	done := map[string]bool{}
	for _, r := range before.Records {
		if r.Outcome == result.Correct {
			done[r.Item.ID] = true
		}
	}
	require.NotEmpty(t, done)
	require.Less(t, len(done), 40)

	c := newChild(t, "slow", "-test.v", "-evaltest.resume").at(dir).run()
	assert.Equal(t, 0, c.code, c.text())
	assert.Contains(t, c.text(), "40/40 correct")
	assert.Equal(t, 40, strings.Count(c.text(), "--- PASS: TestChild/"), "items of the earlier run are subtests too")
	after := c.journal()
	require.Len(t, after.Records, 40)
	for _, r := range after.Records {
		assert.Equal(t, result.Correct, r.Outcome)
		if done[r.Item.ID] {
			assert.Equal(t, before.Find(r.Key()).Start, r.Start, "%s was answered before and is not asked again", r.Item.ID)
		}
	}
	require.NotNil(t, after.End)
	assert.True(t, after.End.Complete)
	assert.Equal(t, 40, after.End.Counts[result.Correct], "the counts are those of an uninterrupted run")
}

// TestSecondInterrupt: the second signal ends the process at once. Without, it
// would end by itself after 7 s: those in flight have their grace, and what
// ignores its context is waited for.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	second := syscall.SIGINT
	if signal.Ignored(second) { // by what a shell runs in the background, and so by the child
		second = syscall.SIGTERM
	}
	c := newChild(t, "ignores its context", "-test.timeout=10m")
	require.NoError(t, c.cmd.Start())
	c.await(1)
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGINT))
	// The first one is seen when later runs would refuse; there is no sign of
	// it outside, so the second is sent until it works.
	gone := make(chan struct{})
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = c.cmd.Process.Signal(second)
			case <-gone:
				return
			}
		}
	}()
	_ = c.cmd.Wait()
	close(gone)
	status := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	assert.True(t, status.Signaled() && status.Signal() == second, "%v", c.cmd.ProcessState)
}

// TestLaterRunsRefuse: after an interrupt the binary's next tests still run;
// their Runs do not begin.
func TestLaterRunsRefuse(t *testing.T) {
	t.Parallel()
	c := newChild(t, "slow, then another")
	require.NoError(t, c.cmd.Start())
	c.await(3)
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGINT))
	c.wait()
	assert.Equal(t, 1, c.code)
	assert.Contains(t, c.text(), "--- FAIL: TestChild/second")
	assert.Contains(t, c.text(), "evaltest.Run: not started: interrupted (SIGINT)")
}

// TestKilled: kill -9 loses no record that a subtest ended with, and resume
// finishes the rest.
func TestKilled(t *testing.T) {
	t.Parallel()
	c := newChild(t, "slow", "-test.v")
	require.NoError(t, c.cmd.Start())
	c.await(8)
	require.NoError(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait()
	j := c.journal()
	assert.Nil(t, j.End, "cut off")
	shown := strings.Count(c.out.String(), ": correct: ")
	assert.GreaterOrEqual(t, len(j.Records), shown, "what was shown is recorded")
	resumed(t, c.dir)
}

// TestOrphaned: when the process that started the binary is gone, the run ends
// although nobody signalled it.
func TestOrphaned(t *testing.T) {
	t.Parallel()
	c := newChild(t, "slow, then another", "-test.v")
	// A shell in between is what dies. The binary keeps the pipe open.
	r, w, err := os.Pipe()
	require.NoError(t, err)
	shell := exec.Command("/bin/sh", append([]string{"-c", `"$0" "$@" & wait`, os.Args[0]}, c.cmd.Args[1:]...)...)
	shell.Env, shell.Stdout, shell.Stderr = c.cmd.Env, w, w
	require.NoError(t, shell.Start())
	require.NoError(t, w.Close())
	c.await(3)
	require.NoError(t, shell.Process.Kill())
	_ = shell.Wait()
	out, err := io.ReadAll(r) // until the orphan ends
	require.NoError(t, err)
	assert.Contains(t, string(out), "the go command that started this test has ended")
	assert.Contains(t, string(out), "not started: the go command")
}

// TestDeadline: T07. The run ends in order before testing kills the process.
func TestDeadline(t *testing.T) {
	t.Parallel()
	c := newChild(t, "deadline", "-test.timeout=3s").run()
	text := c.text()
	assert.Equal(t, 1, c.code)
	assert.NotContains(t, text, "panic: ")
	assert.Contains(t, text, "the run stopped early: the test's time (-timeout")
	assert.Contains(t, text, "will not run; give more time (-timeout", "warned after the first items")
	assert.Regexp(t, `accuracy  \d+\.0%: [1-5]/50 correct, 4[5-9] not run`, text, "four on a quiet machine")
	assert.Contains(t, text, "-evaltest.resume")
	assert.NotContains(t, text, "errored, 4", "nothing was cancelled: what would not have fitted was not begun")
}

// TestHangAtDeadline: also when a strategy ignores its context. Of the five
// seconds one is kept, also for busy machines.
func TestHangAtDeadline(t *testing.T) {
	t.Parallel()
	c := newChild(t, "hang at the deadline", "-test.timeout=5s").run()
	assert.Equal(t, 1, c.code)
	assert.NotContains(t, c.text(), "test timed out")
	assert.Contains(t, c.text(), "0/3 correct, 3 not run")
}

// TestFullDisk: what was recorded stays, and the message says what to do.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	c := newChild(t, "large")
	limited := exec.Command("/bin/sh", append([]string{"-c", `ulimit -f 20 && exec "$0" "$@"`, os.Args[0]}, c.cmd.Args[1:]...)...)
	limited.Env, limited.Stdout, limited.Stderr = c.cmd.Env, &c.out, &c.out
	c.cmd = limited
	c.run()
	assert.Equal(t, 1, c.code)
	assert.Contains(t, c.text(), "not recorded: file too large\n")
	assert.Equal(t, 1, strings.Count(c.text(), "then resume the run"), "once, at the end")
	kept := len(c.journal().Records)
	assert.Greater(t, kept, 0)
	assert.Less(t, kept, 40)

	again := newChild(t, "large", "-test.v", "-evaltest.resume").at(c.dir).run()
	assert.Equal(t, 0, again.code, again.text())
	assert.Contains(t, again.text(), "40/40 correct")
	assert.Len(t, again.journal().Records, 40)
}

// TestKilledWhileClosing: what is left is the plain journal with its end.
// Resume asks nobody and shows what the run came to.
func TestKilledWhileClosing(t *testing.T) {
	t.Parallel()
	c := newChild(t, "gate passed").run()
	require.Equal(t, 0, c.code)
	packed := c.journal().Path
	f, err := os.Open(packed)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(strings.TrimSuffix(packed, ".gz"), text, 0o600))
	require.NoError(t, os.Remove(packed))

	again := newChild(t, "gate passed", "-test.v", "-evaltest.resume").at(c.dir).run()
	assert.Equal(t, 0, again.code, again.text())
	assert.Contains(t, again.text(), "2/4 correct, 2 incorrect")
	assert.Equal(t, packed, again.journal().Path)
}

// TestUnwritable: a folder that cannot be written to is told before anything
// is asked.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	c := newChild(t, "pass", "-test.v")
	file := filepath.Join(c.dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	c.at(file).run()
	assert.Equal(t, 1, c.code)
	assert.Contains(t, c.text(), "evaltest.Run: result: create journal")
	assert.NotContains(t, c.text(), "TestChild/france", "no item was run")
}
