package result_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
)

func TestDir(t *testing.T) {
	const module = "github.com/goevals/evals"
	long := strings.Repeat("long", 50)
	var rows [][3]string
	for _, pkg := range []string{
		module, module + "/bot", module + "/Bot", module + "/bot/x", module + "/bot-x", module + "x", module + "/con",
		"", "_", "other.org/bot", module + "/_", module + "/" + long, module + "/" + long + "a",
	} {
		for _, test := range []string{
			"TestX", "Testx", "testx", "TestX/a", "TestX-a", "TestX_a", "TestX/a/b", "TestÉ", "Testé", "aux", "com1.txt",
			"a.", "a", "..", ".", "", "a b", "a\\b", "a:b", "a*b", "A~b", "a\x00b", long, long + "a", strings.ToUpper(long),
		} {
			rows = append(rows, [3]string{module, pkg, test})
		}
	}
	rows = append(rows, [3]string{"", "", ""}, [3]string{"github.com/goevals", module, "TestX"})
	seen := map[string][3]string{}
	legal := regexp.MustCompile(`^([a-z0-9]([-a-z0-9_.]*[a-z0-9])?|_)?(~[a-z2-7]{16})?$`)
	for _, r := range rows {
		dir := result.Dir("root", r[0], r[1], r[2])
		key := strings.ToLower(dir)
		if old, ok := seen[key]; ok {
			t.Errorf("Dir(%q) and Dir(%q) are both %q", old, r, dir)
		}
		seen[key] = r
		parts := strings.Split(filepath.ToSlash(dir), "/")
		require.Len(t, parts, 4, dir)
		for _, p := range parts[1:] {
			assert.Regexp(t, legal, p)
			assert.NotEmpty(t, p)
			assert.LessOrEqual(t, len(p), 60)
			base, _, _ := strings.Cut(p, ".")
			assert.NotContains(t, []string{"con", "aux", "com1", "nul"}, base)
		}
	}
	assert.Equal(t, "root/github-com-x~", filepath.ToSlash(result.Dir("root", "github.com/x", "github.com/x", "t"))[:18], "readable, though not plain")
	assert.Equal(t, "/_/t", filepath.ToSlash(strings.TrimPrefix(result.Dir("", "m", "m", "t"), "m")))
	assert.Equal(t, filepath.Join("r", "m", "sub", "x"), result.Dir("r", "m", "m/sub", "x"))
}

func TestNewPath(t *testing.T) {
	now := time.Date(2026, 9, 26, 14, 5, 6, 7_008_000, time.FixedZone("CEST", 7200))
	a, b := result.NewPath("d", now), result.NewPath("d", now)
	assert.NotEqual(t, a, b, "-count=2 within a microsecond")
	assert.Regexp(t, `^20260926T120506\.007008-[0-9a-f]{12}\.jsonl$`, filepath.Base(a))
	assert.Less(t, a, result.NewPath("d", now.Add(time.Microsecond)), "names sort by age")
}

func TestDefaultDir(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if _, err := os.UserCacheDir(); err != nil {
		_, err = result.DefaultDir()
		assert.ErrorContains(t, err, "-evaltest.dir")
	}
	t.Setenv("HOME", t.TempDir())
	if dir, err := result.DefaultDir(); assert.NoError(t, err) {
		assert.Equal(t, filepath.Join("goevals", "journals"), filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir)))
	}
}

func TestLatest(t *testing.T) {
	root := t.TempDir()
	dirA, dirB := result.Dir(root, "m", "m", "TestA"), result.Dir(root, "m", "m", "TestB")
	_, err := result.Latest(dirA)
	assert.ErrorIs(t, err, result.ErrNoJournal)
	_, err = result.LatestUnder(root)
	assert.ErrorIs(t, err, result.ErrNoJournal)

	at := func(dir string, minute int) string {
		path := result.NewPath(dir, start.Add(time.Duration(minute)*time.Minute))
		require.NoError(t, write(t, path, 1).Close(result.End{}))
		return path
	}
	old := at(dirA, 0)
	require.NoError(t, result.SetLatest(dirA, old))
	newer := at(dirA, 5)
	latest := func(want string) {
		t.Helper()
		got, err := result.Latest(dirA)
		require.NoError(t, err)
		assert.Equal(t, want+".gz", got)
	}
	latest(old) // the pointer decides, not the names: a resumed run is the latest
	require.NoError(t, result.SetLatest(dirA, newer+".gz"))
	latest(newer)
	require.NoError(t, os.Remove(newer+".gz"))
	latest(old) // a pointer to nothing is no reason to find nothing

	b := at(dirB, 1)
	got, err := result.LatestUnder(root)
	require.NoError(t, err)
	assert.Equal(t, b+".gz", got)

	moved := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.Rename(dirB, moved))
	got, err = result.Latest(moved)
	require.NoError(t, err)
	assert.Equal(t, filepath.Base(b)+".gz", filepath.Base(got))
	left, err := filepath.Glob(filepath.Join(dirA, ".*"))
	require.NoError(t, err)
	assert.Empty(t, left, "temporary files")
}

// TestLatestOthers: what else lies under the same root, as a bake-off's files
// do, is no journal.
func TestLatestOthers(t *testing.T) {
	for _, row := range []struct{ name, reason string }{
		{"fake-slow_results.jsonl.gz", "a bake-off's results, whose name sorts after every journal's"},
		{"fake-slow_results.jsonl", "the same, not compressed"},
		{"20990101T000000.000000-0123456789ab.broken.jsonl", "the items that broke lie beside their journal"},
		{"20990101T000000.000000-0123456789ab.jsonl.zst", "no form that is written"},
		{"20990101T000000-0123456789ab.jsonl", "a part of a second is in every name"},
		{"20990101T000000.000000-.jsonl", "so is the random part"},
		{"20990101T000000.000000-0123456789ab.txt", "the summary of a run"},
		{".20990101T000000.000000-0123456789ab.jsonl", "temporary"},
		{"zz.jsonl", "anybody's"},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := t.TempDir()
			dir := result.Dir(root, "m", "m", "TestA")
			put := func(at string) {
				require.NoError(t, os.MkdirAll(at, 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(at, row.name), []byte("{}\n"), 0o600))
			}
			put(dir)
			_, err := result.Latest(dir)
			assert.ErrorIs(t, err, result.ErrNoJournal, row.reason)
			path := result.NewPath(dir, start)
			require.NoError(t, write(t, path, 1).Close(result.End{}))
			for _, at := range []string{root, filepath.Dir(dir), filepath.Join(root, "m", "_", "bakeoff", "20260926T120506Z-1"), filepath.Join(dir, "sub")} {
				put(at)
			}
			for what, latest := range map[string]func() (string, error){
				"Latest":      func() (string, error) { return result.Latest(dir) },
				"LatestUnder": func() (string, error) { return result.LatestUnder(root) },
			} {
				got, err := latest()
				require.NoError(t, err, what)
				assert.Equal(t, path+".gz", got, "%s: %s", what, row.reason)
			}
		})
	}

	t.Run("a pointer", func(t *testing.T) {
		root := t.TempDir()
		path := result.NewPath(filepath.Join(root, "a"), start)
		require.NoError(t, write(t, path, 1).Close(result.End{}))
		odd := filepath.Join(root, "b", "merged.jsonl")
		require.NoError(t, write(t, odd, 1).Close(result.End{}))
		require.NoError(t, result.SetLatest(filepath.Join(root, "b"), odd))
		got, err := result.Latest(filepath.Join(root, "b"))
		require.NoError(t, err)
		assert.Equal(t, odd+".gz", got, "in one folder the pointer decides")
		got, err = result.LatestUnder(root)
		require.NoError(t, err)
		assert.Equal(t, path+".gz", got, "a name without a time has no age to compare")
	})
}
