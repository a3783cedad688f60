package evaltest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
)

func init() {
	scenarios["two with one baseline"] = func(t *testing.T) {
		for _, name := range []string{"a", "b"} {
			t.Run(name, func(t *testing.T) {
				evaltest.Run(t, capitals(t, 4), today(), exact, evaltest.Offline(), evaltest.Baseline("b.jsonl.gz"))
			})
		}
	}
	// The folder of the baseline is a file by the time that it is written.
	scenarios["the folder goes"] = func(t *testing.T) {
		if os.Getenv("FOLDER_GOES") != "" {
			require.NoError(t, os.MkdirAll("sub", 0o777))
			evaltest.Run(t, capitals(t, 4), spoiling{today()}, exact, evaltest.Baseline("sub/b.jsonl.gz"))
			return
		}
		evaltest.Run(t, capitals(t, 4), today(), exact, evaltest.Baseline("sub/b.jsonl.gz"))
	}
}

// spoiling makes a file of the folder sub.
type spoiling struct{ *day }

func (s spoiling) Close() error {
	if err := os.RemoveAll("sub"); err != nil {
		return err
	}
	return os.WriteFile("sub", nil, 0o666)
}

func flat(c *child) string { return strings.Join(strings.Fields(c.out.String()), " ") }

// TestUpdateRefusedUnpaid: a baseline that cannot be written is told before
// anything is asked.
func TestUpdateRefusedUnpaid(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		make         func(t *testing.T, path string)
		want         string
	}{
		{"folder", "a folder has the name", func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o777)) }, "is no regular file"},
		{"dead link", "a link that leads nowhere", func(t *testing.T, path string) { require.NoError(t, os.Symlink("nowhere", path)) }, "symbolic link that leads nowhere"},
		{"no folder", "its folder is a file", func(t *testing.T, path string) { require.NoError(t, os.WriteFile(filepath.Dir(path), nil, 0o666)) }, "not a directory"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sub", "b.jsonl.gz")
			if row.name != "no folder" {
				require.NoError(t, os.Mkdir(filepath.Dir(path), 0o777))
			}
			row.make(t, path)
			c := newChild(t, "based", "-evaltest.update").with("EVALTEST_BASELINE", path).run()
			assert.Equal(t, 1, c.code, row.reason)
			assert.Contains(t, c.out.String(), "nothing was asked, because the baseline")
			assert.Contains(t, c.out.String(), row.want)
			_, err := result.LatestUnder(c.dir)
			assert.Error(t, err, "there is no journal")
		})
	}
}

// TestUpdateReplacesWhatALinkNames, with the file alone beside it: parts that a
// killed process left long ago go, and one that may be written now stays.
func TestUpdateReplacesWhatALinkNames(t *testing.T) {
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link.gz"), filepath.Join(dir, "b[1].gz")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o666))
	require.NoError(t, os.Symlink("b[1].gz", link))
	for name, age := range map[string]time.Duration{".b[1].gz.123.part": 2 * time.Hour, ".b[1].gz.456.part": time.Minute, ".other.gz.1.part": 2 * time.Hour} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o666))
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, then, then))
	}
	c := newChild(t, "based", "-evaltest.update", "-test.v").with("EVALTEST_BASELINE", link).run()
	require.Equal(t, 0, c.code, c.text())
	assert.Contains(t, flat(c), "40/40 correct; what changed is not known", "the old one could not be read")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "the link stays a link")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, []byte{0x1f, 0x8b}, text[:2])
	assert.NoFileExists(t, filepath.Join(dir, ".b[1].gz.123.part"))
	assert.FileExists(t, filepath.Join(dir, ".b[1].gz.456.part"))
	assert.FileExists(t, filepath.Join(dir, ".other.gz.1.part"))
}

// TestPlainBaseline: a name without .gz is a file that a diff can be read of.
func TestPlainBaseline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.jsonl")
	c := newChild(t, "based", "-evaltest.update").with("EVALTEST_BASELINE", path).run()
	require.Equal(t, 0, c.code, c.text())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(text, []byte(`{"format":"evals.baseline/1"`)), "%.40q", text)
	assert.Equal(t, 0, newChild(t, "based").with("EVALTEST_BASELINE", path).run().code)
}

// TestTwoWithOneBaseline: the second test does not replace what the first
// accepted; the same test may, with -count.
func TestTwoWithOneBaseline(t *testing.T) {
	dir := t.TempDir()
	c := newChild(t, "two with one baseline", "-evaltest.update", "-test.count=2", "-test.shuffle=1")
	c.cmd.Dir = dir
	c.run()
	assert.Equal(t, 1, c.code)
	assert.Equal(t, 2, strings.Count(c.out.String(), "nothing was asked, because TestChild/a writes the baseline b.jsonl.gz too"), c.text())
	assert.Equal(t, 2, strings.Count(c.out.String(), "--- FAIL: TestChild/b"))
	assert.NotContains(t, c.out.String(), "--- FAIL: TestChild/a")
}

// TestUpdateFromTheJournal: a run whose baseline could not be written in the end
// is not paid again.
func TestUpdateFromTheJournal(t *testing.T) {
	dir := t.TempDir()
	c := newChild(t, "the folder goes", "-evaltest.update").with("FOLDER_GOES", "1")
	c.cmd.Dir = dir
	c.run()
	require.Equal(t, 1, c.code)
	path, err := result.LatestUnder(c.dir)
	require.NoError(t, err)
	require.Contains(t, c.out.String(), "-evaltest.update '-evaltest.resume="+path)
	require.NoError(t, os.Remove(filepath.Join(dir, "sub")))
	again := newChild(t, "the folder goes", "-evaltest.update", "-evaltest.resume="+path, "-test.v").at(c.dir).with("DAY_BROKEN", "france,spain,italy,peru")
	again.cmd.Dir = dir
	again.run()
	require.Equal(t, 0, again.code, again.text())
	f, err := os.Open(filepath.Join(dir, "sub", "b.jsonl.gz"))
	require.NoError(t, err)
	defer f.Close()
	b, err := gate.ReadBaseline(f)
	require.NoError(t, err)
	assert.Equal(t, result.Counts{result.Correct: 4}, b.Header.Counts)
}

// TestBaselineAndCache: a compared run may come from go test's cache until its
// baseline changes; one that writes it never does.
func TestBaselineAndCache(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a test binary")
	}
	const file = "based/testdata/base.jsonl"
	m := newModule(t, map[string]string{
		"based/based_test.go": strings.Replace(userTest("based", "testdata/rows.jsonl", "known", ""),
			"evaltest.Attempts(1)", `evaltest.Attempts(1), evaltest.Baseline("testdata/base.jsonl")`, 1),
		"based/testdata/rows.jsonl": rows,
	})
	env := m.env
	m.env = append(env, "EVALTEST_UPDATE=1")
	for range 2 {
		assert.Equal(t, map[string]bool{"based": false}, cached(t, m.test("./based")))
		m.age(file, 0)
	}
	m.env = env
	assert.Equal(t, map[string]bool{"based": false}, cached(t, m.test("./based")))
	assert.Equal(t, map[string]bool{"based": true}, cached(t, m.test("./based")), unlessEdited)
	text, err := os.ReadFile(filepath.Join(m.root, file))
	require.NoError(t, err)
	m.write(file, strings.Replace(string(text), `"attempts":"1"`, `"attempts":"2"`, 1))
	m.age(file, time.Hour)
	assert.Contains(t, m.test("./based"), `attempts was "2", is "1"`)
	m.write(file, string(text))
	m.env = append(env, "EVALTEST_PLAN=1")
	for range 2 {
		assert.Equal(t, map[string]bool{"based": false}, cached(t, m.test("./based")), "what runs cost changes")
	}
	m.env = env
	require.NoError(t, os.Remove(filepath.Join(m.root, file)))
	assert.Contains(t, m.test("./based"), "there is no baseline testdata/base.jsonl yet")
}
