//go:build linux || darwin

package result_test

import (
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFileSizeLimit fails a write in its middle without a disk of its own.
func TestFileSizeLimit(t *testing.T) {
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
		signal.Reset(syscall.SIGXFSZ)
	})
	limit := old
	limit.Cur = 300_001
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	fillDisk(t, filepath.Join(t.TempDir(), "run.jsonl"), syscall.EFBIG)
}
