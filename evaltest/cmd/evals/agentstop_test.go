//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/fake"
	loadrecord "github.com/goevals/evals/evaltest/load/record"
)

// TestAgentChild is the program itself, for tests that need a process.
func TestAgentChild(t *testing.T) {
	if os.Getenv("EVALS_AGENT_CHILD") == "" {
		t.Skip("TestAgentInterrupt runs it in a process of its own")
	}
	os.Exit(execute(os.Stdin, os.Stdout, os.Stderr, flag.Args(), os.Getenv))
}

// TestAgentInterrupt: with Ctrl+C everything that has ended is on disk, the
// summary is of it, and the exit code is 1.
func TestAgentInterrupt(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	w := serveFake(t, &fake.Server{TTFT: time.Millisecond})
	dir := t.TempDir()
	requests, events, sheet := filepath.Join(dir, "q.jsonl"), filepath.Join(dir, "e.jsonl"), filepath.Join(dir, "r.csv")
	// The second half of the agents cannot end by itself: their tools take a minute.
	plan := fileOf(t, "plans.jsonl", strings.Join([]string{
		`{"schema_version":1,"trajectory_id":"a","requests":[{"prompt_tokens":20,"output_tokens":4},{"prompt_tokens":40,"output_tokens":4}]}`,
		`{"schema_version":1,"trajectory_id":"b","requests":[{"prompt_tokens":20,"output_tokens":4,"delay_after_ms":60000},{"prompt_tokens":40,"output_tokens":4}]}`,
		`{"schema_version":1,"trajectory_id":"c","requests":[{"prompt_tokens":20,"output_tokens":4}]}`,
	}, "\n"))
	child := exec.Command(self, "-test.run=^TestAgentChild$", "--", "agent", "-host", w.url, "-model", "m", "-quiet", "-seed", "7", "-max-active-agents", "1",
		"-agent-plans-jsonl", plan, "-requests-jsonl", requests, "-agent-events-jsonl", events, "-results-csv", sheet)
	child.Env = append(os.Environ(), "EVALS_AGENT_CHILD=1")
	var stdout, stderr bytes.Buffer
	child.Stdout, child.Stderr = &stdout, io.MultiWriter(&stderr)
	require.NoError(t, child.Start())
	waited := make(chan error, 1)
	go func() { waited <- child.Wait() }()
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(requests)
		return bytes.Count(text, []byte{'\n'}) == 3
	}, time.Minute, 10*time.Millisecond, "rows are written live")
	text, err := os.ReadFile(events)
	require.NoError(t, err)
	assert.Equal(t, 1, bytes.Count(text, []byte{'\n'}), "the first trajectory has ended and is on disk while the second goes on")

	require.NoError(t, child.Process.Signal(syscall.SIGINT))
	select {
	case <-waited:
	case <-time.After(time.Minute):
		child.Process.Kill()
		t.Fatal("it did not end")
	}
	assert.Equal(t, 1, child.ProcessState.ExitCode(), "%s%s", stdout.String(), stderr.String())
	assert.Contains(t, stderr.String(), "ended early")
	assert.Contains(t, stdout.String(), "completed=1 total=2")
	assert.Contains(t, stdout.String(), "Agents not completed: 0 failed, 1 interrupted, 1 not started")
	lines := linesOf(t, requests)
	require.Len(t, lines, 3)
	for _, line := range lines {
		var q loadrecord.Request
		require.NoError(t, json.Unmarshal([]byte(line), &q))
		assert.True(t, q.OK())
	}
	rows := linesOf(t, events)
	require.Len(t, rows, 2)
	assert.Contains(t, rows[0], `"trajectory_id":"a"`)
	assert.Contains(t, rows[0], `"completed":true`)
	assert.Contains(t, rows[1], `"trajectory_id":"b"`)
	assert.Contains(t, rows[1], `"end":"interrupted"`)
	assert.Len(t, linesOf(t, sheet), 2, "the CSV is of what has ended")
}
