package judge_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/judge"
)

// files are the files of a folder, in order.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	}))
	return all
}

// TestCacheHostileFiles: whatever stands in a file, it is a verdict that this
// judge kept, or a miss with a warning.
func TestCacheHostileFiles(t *testing.T) {
	dir := t.TempDir()
	first := judge.New(texts("It matches.\nGRADE: C"), judge.Cache(judge.Dir(dir)), judge.Named("fake"))
	must(t, first, "Paris")
	all := files(t, dir)
	require.Len(t, all, 1)
	good, err := os.ReadFile(all[0])
	require.NoError(t, err)
	edit := func(pairs ...any) []byte { // names and values, in turn
		var m map[string]any
		require.NoError(t, json.Unmarshal(good, &m))
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		b, err := json.Marshal(m)
		require.NoError(t, err)
		return b
	}
	for name, data := range map[string][]byte{
		"empty":          {},
		"cut":            good[:len(good)/2],
		"null":           []byte("null"),
		"list":           []byte("[]"),
		"no JSON":        []byte("\xff\x00"),
		"deep":           bytes.Repeat([]byte("["), 1<<19),
		"huge":           bytes.Repeat([]byte(" "), 2<<20),
		"other version":  edit("v", 99),
		"other key":      edit("key", strings.Repeat("0", 64)),
		"other verdict":  edit("verdict", "I"),
		"no verdict":     edit("verdict", ""),
		"no legal reply": edit("reply", "GRADE: CI"),
		"neither":        edit("reply", "GRADE: CI", "verdict", ""),
		"cut reply":      edit("finish", "length"),
		"other type":     edit("reply", 7),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(all[0], data, 0o644))
			m := texts("It differs.\nGRADE: I")
			j := judge.New(m, judge.Cache(judge.Dir(dir)), judge.Named("fake"))
			assert.Equal(t, wrong, must(t, j, "Paris").Mark)
			assert.Equal(t, 1, m.Calls(), "a miss")
			require.Len(t, j.Warnings(), 1)
			assert.ErrorIs(t, j.Warnings()[0], judge.ErrCache)
			assert.Equal(t, wrong, must(t, j, "Paris").Mark)
			assert.Equal(t, 1, m.Calls(), "and healed")
		})
	}
	t.Run("a folder", func(t *testing.T) {
		require.NoError(t, os.Remove(all[0]))
		require.NoError(t, os.MkdirAll(filepath.Join(all[0], "x"), 0o755))
		j := judge.New(texts("GRADE: C"), judge.Cache(judge.Dir(dir)), judge.Named("fake"))
		assert.Equal(t, right, must(t, j, "Paris").Mark)
		require.Len(t, j.Warnings(), 2, "read and written in vain")
		assert.Len(t, files(t, dir), 0, "no half-written file stays")
	})
}

// TestCacheKilled: a writer that was killed leaves at most a file that nobody
// reads.
func TestCacheKilled(t *testing.T) {
	dir := t.TempDir()
	m := texts("GRADE: C")
	j := judge.New(m, judge.Cache(judge.Dir(dir)), judge.Named("fake"))
	must(t, j, "Paris")
	path := files(t, dir)[0]
	require.NoError(t, os.Rename(path, filepath.Join(filepath.Dir(path), ".new-123")))
	must(t, j, "Paris")
	assert.Equal(t, 2, m.Calls())
	assert.Empty(t, j.Warnings())
}

// broken is a store that fails.
type broken struct{}

func (broken) Load(string) ([]byte, error) { return nil, errDisk }
func (broken) Store(string, []byte) error  { return errDisk }

func TestCacheFails(t *testing.T) {
	m := texts("GRADE: C")
	j := judge.New(m, judge.Cache(broken{}), judge.Named("fake"))
	for range 20 {
		assert.Equal(t, right, must(t, j, "Paris").Mark, "a verdict does not depend on a disk")
	}
	require.Len(t, j.Warnings(), 20, "bounded")
	for _, w := range j.Warnings() {
		assert.ErrorIs(t, w, errDisk)
		assert.ErrorIs(t, w, judge.ErrCache)
	}
}

func TestDirKeys(t *testing.T) {
	d := judge.Dir(t.TempDir())
	for _, key := range []string{"", "../../x", strings.Repeat("a", 63), strings.Repeat("A", 64), strings.Repeat("a", 62) + "/b", strings.Repeat("é", 32)} {
		_, err := d.Load(key)
		assert.ErrorContains(t, err, "hexadecimal", key)
		assert.ErrorContains(t, d.Store(key, nil), "hexadecimal", key)
	}
	key := strings.Repeat("a", 64)
	data, err := d.Load(key)
	require.NoError(t, err)
	assert.Nil(t, data)
	require.NoError(t, d.Store(key, []byte("one")))
	require.NoError(t, d.Store(key, []byte("two")))
	data, err = d.Load(key)
	require.NoError(t, err)
	assert.Equal(t, "two", string(data))
	assert.Error(t, d.Store(key, make([]byte, 2<<20)))
}
