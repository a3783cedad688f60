package result_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
)

// TestDiskFull has a disk of one megabyte.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no small disk to fill: mount: %v (TestFileSizeLimit does without)", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, 0)) })
	path := filepath.Join(dir, "run.jsonl")
	acked := fillDisk(t, path, syscall.ENOSPC)

	// Resuming on the full disk fails in the same clear way, and harms nothing.
	w, _, err := result.Append(path)
	require.NoError(t, err)
	big := record(2_000_000)
	for err == nil {
		err = w.Write(&big)
	}
	assert.ErrorIs(t, err, syscall.ENOSPC)
	assert.ErrorContains(t, err, "free some space there")
	assert.Error(t, w.Abort())

	// Once there is space, it goes on. There is not enough to compress.
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=1100k"))
	w, j, err := result.Append(path)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(j.Records), len(acked))
	rec := record(3_000_000)
	require.NoError(t, w.Write(&rec))
	ballast := filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	require.NoError(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	require.NoError(t, f.Close())
	// The end needs a few bytes; the page of the last record has them.
	require.NoError(t, w.Close(result.End{Complete: true}))
	require.Len(t, w.Warnings(), 1)
	assert.ErrorIs(t, w.Warnings()[0], syscall.ENOSPC)
	got := read(t, path)
	assert.True(t, got.End.Complete)
	assert.NotNil(t, got.Find(rec.Key()))
}

// TestReadOnlyDisk stops even the user who may write everywhere.
func TestReadOnlyDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.jsonl")
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no disk to make read-only: mount: %v (TestReadOnlyFolder does without)", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, 0)) })
	require.NoError(t, write(t, path, 2).Abort())
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))

	_, err := result.Create(filepath.Join(dir, "sub", "run.jsonl"), header())
	assert.ErrorIs(t, err, syscall.EROFS)
	assert.ErrorContains(t, err, "make it writable or choose another one")
	_, _, err = result.Append(path)
	assert.ErrorIs(t, err, syscall.EROFS)
	assert.Len(t, read(t, path).Records, 2, "reading needs no writing")
}
