package result_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
)

func unzip(t *testing.T, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	plain, err := io.ReadAll(z)
	require.NoError(t, err)
	return plain
}

func TestReadOnlyFolder(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("permissions do not stop this user")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	_, err := result.Create(filepath.Join(dir, "run.jsonl"), header())
	assert.ErrorIs(t, err, fs.ErrPermission)
	assert.ErrorContains(t, err, "make it writable or choose another one")
}

// TestFolderIsAFile is what a wrong -evaltest.dir may be.
func TestFolderIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := result.Create(filepath.Join(file, "run.jsonl"), header())
	var w *result.WriteError
	require.ErrorAs(t, err, &w)
	assert.Equal(t, "create", w.Op)
	assert.ErrorContains(t, err, file)
	assert.ErrorContains(t, result.SetLatest(file, filepath.Join(file, "run.jsonl")), "remember the latest journal")
}

// fillDisk writes from 16 workers until the disk at path is full, and checks
// what must hold then. It returns the acknowledged items.
func fillDisk(t *testing.T, path string, cause error) map[int]bool {
	t.Helper()
	w := write(t, path, 0)
	acked := map[int]bool{}
	var first error
	var mu sync.Mutex
	var wg sync.WaitGroup
	for k := range 16 {
		wg.Go(func() {
			for i := k; i < 1_000_000; i += 16 {
				rec := record(i)
				err := w.Write(&rec)
				mu.Lock()
				if err != nil {
					if first == nil {
						first = err
					}
					assert.Same(t, first, err, "the error is sticky")
					mu.Unlock()
					return
				}
				acked[i] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	var failed *result.WriteError
	require.ErrorAs(t, first, &failed)
	assert.ErrorIs(t, first, cause)
	assert.ErrorContains(t, first, "resume the run, recorded answers are not asked for again")
	assert.ErrorContains(t, first, path)
	assert.NotZero(t, len(acked))
	assert.GreaterOrEqual(t, failed.Records, len(acked))

	rec := record(1_000_001)
	assert.Same(t, first, w.Write(&rec), "nothing follows a gap")
	assert.ErrorIs(t, w.Close(result.End{}), cause)
	j := read(t, path)
	assert.Empty(t, j.Warnings, "no torn line is left")
	assert.Nil(t, j.End)
	assert.Len(t, j.Records, failed.Records)
	for i := range acked {
		want := record(i)
		require.Equal(t, &want, j.Find(want.Key()))
	}
	return acked
}

// TestCloseCannotCompress: the run is whole; that its file is larger than it
// could be is a warning.
func TestCloseCannotCompress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w := write(t, path, 3)
	// A folder of that name: no rename replaces it, whoever runs the test.
	require.NoError(t, os.MkdirAll(filepath.Join(path+".gz", "x"), 0o700))
	require.NoError(t, w.Close(result.End{Complete: true}))
	require.Len(t, w.Warnings(), 1)
	assert.ErrorContains(t, w.Warnings()[0], "stays uncompressed")
	assert.Equal(t, path, w.Path())
	j := read(t, path)
	assert.Len(t, j.Records, 3)
	assert.True(t, j.End.Complete)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	require.NoError(t, err)
	assert.Empty(t, left, "the temporary file is removed")
}
