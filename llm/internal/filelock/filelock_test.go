package filelock_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/internal/filelock"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() }) // some are closed by then
	return f
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, b := open(t, path), open(t, path)
	require.NoError(t, filelock.Try(a))
	assert.ErrorIs(t, filelock.Try(b), filelock.ErrHeld)
	require.NoError(t, filelock.Unlock(a))
	require.NoError(t, filelock.Wait(b, time.Second))
	assert.ErrorIs(t, filelock.Try(a), filelock.ErrHeld)
	assert.ErrorIs(t, filelock.Wait(a, 5*time.Millisecond), filelock.ErrHeld, "not for ever")
	require.NoError(t, b.Close())
	require.NoError(t, filelock.Try(a), "closing gives it back")
	require.NoError(t, filelock.Remove(a, path))
	_, err := os.Stat(path)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestKilled: a lock ends with its process, however that ends.
func TestKilled(t *testing.T) {
	if path := os.Getenv("FILELOCK_TEST"); path != "" {
		require.NoError(t, filelock.Wait(open(t, path), time.Second))
		fmt.Println("locked")
		select {}
	}
	path := filepath.Join(t.TempDir(), "f")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$", "-test.timeout=30s")
	cmd.Env = append(os.Environ(), "FILELOCK_TEST="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	for s := bufio.NewScanner(out); s.Scan() && s.Text() != "locked"; {
	}
	f := open(t, path)
	assert.ErrorIs(t, filelock.Try(f), filelock.ErrHeld)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	require.NoError(t, filelock.Wait(f, time.Second))
}
