package cassette_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
)

// TestKilledRecordingGoesOn records in a process of its own, kills it with
// SIGKILL in the middle of a call, and goes on.
func TestKilledRecordingGoesOn(t *testing.T) {
	if path := os.Getenv("CASSETTE_KILL_TEST"); path != "" {
		recordForever(t, path)
		return
	}
	r := newRig(t, "c.jsonl.gz", counting)
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRecordingGoesOn$")
	cmd.Env = append(os.Environ(), "CASSETTE_KILL_TEST="+r.path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	watchdog := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer watchdog.Stop()
	answered := 0
	for s := bufio.NewScanner(out); s.Scan(); {
		if strings.HasPrefix(s.Text(), "answered ") {
			answered++
		}
		if s.Text() == "hanging" {
			break
		}
	}
	_, err = cassette.Open(r.path, cassette.Options{Mode: cassette.Auto})
	require.ErrorIs(t, err, cassette.ErrLocked, "the other process has it")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	require.Equal(t, 3, answered)

	// A torn line is what a kill in the middle of a write would leave.
	f, err := os.OpenFile(r.path+".part", os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"method":"POST","pa`)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	c := r.open(cassette.Options{Mode: cassette.Record})
	warnings := fmt.Sprint(c.Warnings())
	assert.Contains(t, warnings, "its 3 answers are kept")
	assert.Contains(t, warnings, "line 5")
	for i := range 4 {
		r.mustAsk(under(t.Context(), c, fmt.Sprint(i)), fmt.Sprint("question ", i))
	}
	assert.Equal(t, 1, r.server.Counts().Calls, "what was answered before the kill is not asked again")
	r.close(c)
	c = r.open(cassette.Options{})
	assert.Equal(t, 4, c.Stats().Entries)
	for i := range 4 {
		r.mustAsk(under(t.Context(), c, fmt.Sprint(i)), fmt.Sprint("question ", i))
	}
	_, err = os.Stat(r.path + ".part")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// recordForever answers three calls and hangs in the fourth.
func recordForever(t *testing.T, path string) {
	r := newRig(t, "unused", func(c llmtest.Chat) llmtest.Reply {
		if c.N == 4 {
			fmt.Println("hanging")
			return llmtest.Reply{Raw: llmtest.Hang}
		}
		return counting(c)
	})
	r.path = path
	c := r.open(cassette.Options{Mode: cassette.Record})
	for i := range 4 {
		_, err := r.client.Generate(under(t.Context(), c, fmt.Sprint(i)), llm.Prompt(fmt.Sprint("question ", i)))
		fmt.Println("answered", i, err)
	}
}

// TestKilledAtRandom kills a process that records from 32 goroutines at times
// that nobody chose, again and again. Whatever was answered is in the file, and
// each round goes on from the one before.
func TestKilledAtRandom(t *testing.T) {
	if path := os.Getenv("CASSETTE_RANDOM_KILL_TEST"); path != "" {
		recordAtRandom(t, path)
		return
	}
	r := newRig(t, "c.jsonl.gz", counting)
	answered := map[string]bool{}
	for round := range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledAtRandom$")
		cmd.Env = append(os.Environ(), "CASSETTE_RANDOM_KILL_TEST="+r.path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		watchdog := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		fresh := 0
		for s := bufio.NewScanner(out); s.Scan(); {
			item, ok := strings.CutPrefix(s.Text(), "answered ")
			if !ok || answered[item] {
				continue
			}
			answered[item] = true
			if fresh++; fresh == 40+17*round {
				require.NoError(t, cmd.Process.Kill()) // and read what it had said
			}
		}
		_ = cmd.Wait() // it was killed
		watchdog.Stop()
		require.GreaterOrEqual(t, fresh, 40+17*round)
	}
	c := r.open(cassette.Options{Mode: cassette.Record})
	for item := range answered {
		r.mustAsk(under(t.Context(), c, item), "question "+item)
	}
	assert.Zero(t, r.server.Counts().Calls, "of %d answers none was lost", len(answered))
	r.close(c)
	c = r.open(cassette.Options{})
	for item := range answered {
		r.mustAsk(under(t.Context(), c, item), "question "+item)
	}
}

// recordAtRandom records 2,000 items from 32 goroutines.
func recordAtRandom(t *testing.T, path string) {
	r := newRig(t, "unused", counting)
	r.path = path
	c := r.open(cassette.Options{Mode: cassette.Record})
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			for i := w; i < 2000; i += 32 {
				if _, err := r.client.Generate(under(t.Context(), c, fmt.Sprint(i)), llm.Prompt(fmt.Sprint("question ", i))); err == nil {
					fmt.Printf("answered %d\n", i)
				}
			}
		})
	}
	wg.Wait()
}
