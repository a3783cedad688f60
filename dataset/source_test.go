package dataset

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestZip: the files of a zip archive have no identity that os.SameFile knows.
func TestZip(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("data/x.jsonl")
	require.NoError(t, err)
	_, _ = io.WriteString(w, rows(3))
	require.NoError(t, z.Close())
	archive, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)

	d, err := LoadFS(archive, "data/x.jsonl")
	require.NoError(t, err)
	assert.Equal(t, 3, d.Len())
	seq, err := OpenFS(archive, "data/x.jsonl")
	require.NoError(t, err)
	n := 0
	for _, err := range seq {
		require.NoError(t, err)
		n++
	}
	assert.Equal(t, 3, n)
}

func TestPathHints(t *testing.T) {
	fsys := fstest.MapFS{"data/x.jsonl": {Data: []byte(rows(3))}}
	for _, path := range []string{"./data/x.jsonl", "/data/x.jsonl", "x.jsonl"} {
		_, err := LoadFS(fsys, path)
		assert.ErrorContains(t, err, "A path in an fs.FS", path)
		assert.NotContains(t, err.Error(), "working folder", path)
	}
	_, err := Create(filepath.Join(t.TempDir(), "none", "x.jsonl"))
	assert.ErrorContains(t, err, "must exist")
	assert.NotContains(t, err.Error(), "under go test", "that is about reading")
	for name, f := range map[string]func(){
		"LoadFS": func() { _, _ = LoadFS(nil, "x.jsonl") },
		"OpenFS": func() { _, _ = OpenFS(nil, "x.jsonl") },
	} {
		assert.PanicsWithValue(t, "dataset: "+name+": the fs.FS is nil", f, "it must not read the system's files")
	}
}

func TestSymlinkLoop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink(path, path); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	_, err := Load(path)
	require.ErrorContains(t, err, path)
}

// TestChangeWhileLoading: a file that is written while it is read is neither
// the old one nor the new one, even if what was read is whole rows.
func TestChangeWhileLoading(t *testing.T) {
	const n = 20_000 // more than what is read ahead
	tests := []struct {
		name, reason string
		change       func(t *testing.T, path string)
	}{
		{"appended to", "the rows after those read would be missing", func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString(row(n+1) + "\n")
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}},
		{"cut at a line end", "what is left looks whole", func(t *testing.T, path string) {
			require.NoError(t, os.Truncate(path, int64(len(rows(n-1)))))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, load := range map[string]func(string, Option) error{
				"Load": func(path string, o Option) error { _, err := Load(path, o); return err },
				"Open": func(path string, o Option) error { _, err := Open(path, o); return err },
			} {
				path, seen := file(t, "x.jsonl", rows(n)), 0
				err := load(path, Filter(func(Item) bool {
					if seen++; seen == 10 {
						tt.change(t, path)
					}
					return true
				}))
				require.ErrorIs(t, err, ErrChanged, "%s: %s", name, tt.reason)
			}
		})
	}
}

// TestOpenReadsOverridesOnce: both passes go by the same overrides, whatever
// becomes of their file.
func TestOpenReadsOverridesOnce(t *testing.T) {
	path := file(t, "x.jsonl", rows(3))
	overrides := file(t, "o.jsonl", `{"id":"r2","target":"9","reason":"miscounted"}`)
	seq, err := Open(path, OverridesFile(overrides))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overrides, []byte(`{"id":"r3","skip":true,"reason":"other"}`), 0o600))
	for range 2 {
		var targets []string
		for it, err := range seq {
			require.NoError(t, err)
			targets = append(targets, it.Target)
		}
		assert.Equal(t, []string{"1", "9", "3"}, targets)
	}
}
