package result_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
)

// The test binary runs itself as a writer that is to be killed.
const victim = "RESULT_TEST_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victim); path != "" {
		writeUntilKilled(path)
		return
	}
	os.Exit(m.Run())
}

const (
	victims     = 64
	victimItems = 3_000
)

// writeUntilKilled has 64 workers write the items that the journal does not
// hold yet, and says on its standard output which ones are acknowledged.
func writeUntilKilled(path string) {
	var w *result.Writer
	done := map[result.Key]bool{}
	var err error
	if _, e := os.Stat(path); e == nil {
		var j *result.Journal
		w, j, err = result.Append(path)
		if err == nil {
			for i := range j.Records {
				done[j.Records[i].Key()] = true
			}
		}
	} else {
		w, err = result.Create(path, header())
	}
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	items := make(chan int)
	var mu sync.Mutex // one write(2) a line, so that no acknowledgement is torn or lost
	var wg sync.WaitGroup
	for range victims {
		wg.Go(func() {
			for i := range items {
				rec := record(i)
				if err := w.Write(&rec); err != nil {
					fmt.Println("error", err)
					os.Exit(1)
				}
				mu.Lock()
				fmt.Println("ack", i)
				mu.Unlock()
			}
		})
	}
	for i := range victimItems {
		if rec := record(i); !done[rec.Key()] {
			items <- i
		}
	}
	close(items)
	wg.Wait()
	if err := w.Close(result.End{Complete: true}); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("closed")
}

// TestKill kills a writer with 64 workers at random moments, again and again,
// until what is left of the run is finished. No acknowledged record may be
// missing at any time, and the end must equal an uninterrupted run.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	acked := map[int]bool{}
	kills, torn := 0, 0
	for {
		closed := killOnce(t, path, kills < 6, acked)
		j := read(t, path)
		torn += len(j.Warnings)
		have := map[result.Key]bool{}
		for i := range j.Records {
			have[j.Records[i].Key()] = true
		}
		for i := range acked {
			if rec := record(i); !have[rec.Key()] {
				t.Fatalf("after %d kills: item %s was acknowledged and is not in the journal", kills+1, rec.Item.ID)
			}
		}
		assert.Empty(t, j.Replaced, "an item that was recorded ran again")
		if closed {
			break
		}
		// What a kill in the middle of a write leaves is rare to hit: make one.
		if kills%2 == 0 {
			grow(t, path, `{"item":{"id":"gsm8k-9`)
		}
		kills++
		require.Less(t, kills, 100)
	}
	j := read(t, path)
	require.Len(t, j.Records, victimItems)
	assert.Empty(t, j.Warnings)
	assert.True(t, j.End.Complete)
	for i := range victimItems {
		want := record(i)
		require.Equal(t, &want, j.Find(want.Key()))
	}
	t.Logf("%d kills, %d torn tails of its own beside ours", kills, torn)
}

// killOnce runs a victim, kills it after a while if asked to, and adds to
// acked. It reports whether the victim closed its journal.
func killOnce(t *testing.T, path string, kill bool, acked map[int]bool) (closed bool) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), victim+"="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	// A moment of the victim's own progress, not of the clock.
	after := len(acked) + rand.IntN(victimItems/7)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var n int
		switch line := lines.Text(); {
		case line == "closed":
			closed = true
		default:
			text, ok := strings.CutPrefix(line, "ack ")
			require.True(t, ok, line)
			n, err = strconv.Atoi(text)
			require.NoError(t, err)
			acked[n] = true
		}
		if kill && len(acked) > after {
			kill = false
			_ = cmd.Process.Kill() // SIGKILL; what is in the pipe is still read
		}
	}
	_ = cmd.Wait()
	return closed
}

// TestKillWhileClosing stops between the steps of Close by hand: every state
// reads as the same journal.
func TestKillWhileClosing(t *testing.T) {
	dir := t.TempDir()
	path := result.NewPath(dir, start)
	name := filepath.Base(path)
	w := write(t, path, 3)
	require.NoError(t, w.Close(result.End{Complete: true, Finished: start}))
	want := read(t, path)
	packed, err := os.ReadFile(path + ".gz")
	require.NoError(t, err)
	plain := unzip(t, packed)
	for _, tc := range []struct {
		name  string
		files map[string][]byte
	}{
		{"before the end", map[string][]byte{name: plain}},
		{"half compressed", map[string][]byte{name: plain, "." + name + ".gz.123": packed[:len(packed)/2]}},
		{"renamed, plain not removed", map[string][]byte{name: plain, name + ".gz": packed}},
		{"done", map[string][]byte{name + ".gz": packed}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, data := range tc.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
			}
			path := filepath.Join(dir, name)
			got := read(t, path)
			assert.Equal(t, want.Records, got.Records)
			assert.Equal(t, want.End, got.End)
			latest, err := result.Latest(dir)
			require.NoError(t, err)
			assert.Contains(t, latest, path, "a temporary file is no journal")
			w, j, err := result.Append(path)
			require.NoError(t, err)
			assert.Equal(t, want.Records, j.Records)
			require.NoError(t, w.Close(result.End{Complete: true, Finished: start.Add(time.Hour)}))
			assert.NoFileExists(t, path)
			assert.Equal(t, want.Records, read(t, path).Records)
		})
	}
}
