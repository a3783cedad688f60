package result_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
)

// TestSyncFails: a disk that does not take the file is an error of Close and
// Abort, and the compressed form does not replace what may be all there is.
// /dev/null takes every write and refuses to sync.
func TestSyncFails(t *testing.T) {
	for name, end := range map[string]func(*result.Writer) error{
		"close": func(w *result.Writer) error { return w.Close(result.End{}) },
		"abort": (*result.Writer).Abort,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.jsonl")
			w := write(t, path, 3)
			null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			require.NoError(t, err)
			w.WriteTo(null)
			var failed *result.WriteError
			require.ErrorAs(t, end(w), &failed)
			assert.Equal(t, "sync", failed.Op)
			assert.ErrorIs(t, failed, syscall.EINVAL)
			assert.True(t, errors.Is(null.Close(), os.ErrClosed), "closed all the same")
			entries, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			require.Len(t, entries, 1, "neither a compressed file nor a temporary one")
			assert.Equal(t, "run.jsonl", entries[0].Name())
			assert.Len(t, read(t, path).Records, 3)
		})
	}
}
