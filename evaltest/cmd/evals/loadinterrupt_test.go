package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/fake"
)

const childArgs = "EVALS_TEST_LOAD_ARGS"

// TestLoadChild is the program, in a process of its own, where the environment
// says so.
func TestLoadChild(t *testing.T) {
	var args []string
	if err := json.Unmarshal([]byte(os.Getenv(childArgs)), &args); err != nil {
		t.Skip("it is run by other tests")
	}
	os.Exit(execute(os.Stdin, os.Stdout, os.Stderr, args, os.Getenv))
}

func child(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	list, err := json.Marshal(args)
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0], "-test.run=^TestLoadChild$")
	cmd.Env = append(os.Environ(), childArgs+"="+string(list), "OPENAI_API_KEY=")
	return cmd
}

// killLater ends a child that does not end by itself, after a time in which any
// does, or when the test is over.
func killLater(cmd *exec.Cmd) (now func()) {
	late := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() }) //nolint:errcheck // it has ended, as a rule
	return func() {
		late.Stop()
		cmd.Process.Kill() //nolint:errcheck // it has ended, as a rule
	}
}

// interrupted runs a child until the server has answered so many requests, sends
// it an interrupt, and waits for its end.
func interrupted(t *testing.T, url string, answered func() bool, args string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := child(t, append([]string{"load", "-host", url, "-model", "m"}, strings.Fields(args+unhurried)...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, cmd.Start())
	defer killLater(cmd)()
	require.Eventually(t, answered, 30*time.Second, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	err := cmd.Wait()
	require.Error(t, err)
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestLoadInterrupt interrupts a run: the summary and all files are of what was
// finished, and every finished request is on disk.
func TestLoadInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there but by its console")
	}
	for _, load := range []string{"-users 4 -duration 1h", "-rate 200 -duration 1h -arrival constant"} {
		t.Run(strings.Fields(load)[0], func(t *testing.T) {
			var answered atomic.Int64
			s := &fake.Server{TTFT: 20 * time.Millisecond}
			s.Saw = func(*fake.Seen) { answered.Add(1) }
			url, stop, err := s.Start()
			require.NoError(t, err)
			defer stop()
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			stdout, stderr, code := interrupted(t, url, func() bool { return answered.Load() >= 30 },
				load+" -quiet -input-tokens 10 -output-tokens 3 -requests-jsonl "+at("r.jsonl")+" -results-csv "+at("r.csv")+" -json "+at("r.json")+" -bench "+at("r.txt"))
			assert.Equal(t, 1, code)
			assert.Contains(t, stderr, "interrupted")
			assert.Contains(t, stdout, "Requests: total=")
			assert.Contains(t, stdout, "Seed: ")

			list := requests(t, at("r.jsonl"))
			ok := 0
			for _, r := range list {
				if r.OK() {
					ok++
				}
			}
			stop() // all is counted then
			assert.Positive(t, ok, "what the server has answered may not have been read, but not all of it")
			assert.LessOrEqual(t, ok, s.Counts().Answered)
			var report struct {
				Interrupted bool
				Result      struct{ Counts struct{ OK, Incomplete int } }
			}
			readJSON(t, at("r.json"), &report)
			assert.True(t, report.Interrupted)
			assert.Equal(t, ok, report.Result.Counts.OK, "the report and the lines are of the same requests")
			assert.Equal(t, len(list)-ok, report.Result.Counts.Incomplete, "what was in flight is neither good nor bad")
			rows := cells(t, at("r.csv"))
			assert.Equal(t, "m", rows[1][1])
			bench, err := os.ReadFile(at("r.txt"))
			require.NoError(t, err)
			assert.Empty(t, bench, "half a run is not to be compared")
		})
	}
}

// TestLoadSecondInterrupt ends at once what does not end by itself: here the
// standard output is a pipe that nobody reads.
func TestLoadSecondInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there but by its console")
	}
	var canceled, came atomic.Int64
	s := &fake.Server{TTFT: time.Hour}
	s.Saw = func(r *fake.Seen) {
		if r.Canceled {
			canceled.Add(1)
		}
	}
	s.Count = func(text string) int { came.Add(1); return len(strings.Fields(text)) }
	url, stop, err := s.Start()
	require.NoError(t, err)
	defer stop()
	cmd := child(t, "load", "-host", url, "-model", "m", "-quiet", "-users", "2000", "-requests-per-user", "1", "-max-retries", "0", "-full", "-verbose")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	errs, err := cmd.StderrPipe() // 2,000 lines do not fit: the program stands still
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer killLater(cmd)()
	require.Eventually(t, func() bool { return s.Counts().InFlight >= 1000 }, 30*time.Second, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Eventually(t, func() bool { return canceled.Load() >= 1000 }, 30*time.Second, time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	state, err := cmd.Process.Wait()
	require.NoError(t, err)
	assert.Equal(t, "signal: interrupt", state.String(), "the signal ended it, and not the program itself, nor this test")
	out.Close()
	errs.Close()
}

// TestLoadCalibrate measures this machine for a moment, with the servers in a
// child.
func TestLoadCalibrate(t *testing.T) {
	before := self
	defer func() { self = before }()
	self = func(args ...string) (*exec.Cmd, error) { return child(t, args...), nil }
	path := filepath.Join(t.TempDir(), "c.json")
	r := evals("", noEnv, "load", "-calibrate", "-duration", "200ms", "-users", "4", "-rate", "50", "-quiet", "-json", path)
	require.Equal(t, 0, r.code, r.stderr)
	assert.Empty(t, r.stderr)
	assert.Regexp(t, `^Whole answers: \d+ requests/s at most.*\nStreams: \d+ tokens/s at most.*\nFirst token of .*\n300 streams of a token every 20ms: .*\nArrivals: \d+/s asked, \d+/s achieved, lag p99 .* ms\n$`, r.stdout)
	var c load.Ceiling
	readJSON(t, path, &c)
	assert.False(t, c.Shared)
	v, ok := c.Requests.Get()
	assert.True(t, ok && v > 10, "%v", c.Requests)
}

// TestCalibrationServerEnds ends the servers with their standard input, and with
// the context.
func TestCalibrationServerEnds(t *testing.T) {
	r := evals("", noEnv, "load", "-calibrate-server")
	assert.Equal(t, 0, r.code, r.stderr)
	assert.Equal(t, 2, strings.Count(r.stdout, "http://127.0.0.1:"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer write.Close()
	defer read.Close()
	var out bytes.Buffer
	p := &program{stdin: read, stdout: &out}
	assert.ErrorIs(t, p.serveCalibration(ctx), context.Canceled)
}
