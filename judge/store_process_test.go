package judge_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/judge"
)

// bulk is what the processes of TestDirKilled write, again and again.
var bulk = []byte(`"` + strings.Repeat("It matches. ", 80_000) + `"`)

func bulkKey(i int) string { return fmt.Sprintf("%064x", i%8) }

// TestDirWriter is no test: it is the other process of TestDirKilled, which
// writes to the folder until it is killed.
func TestDirWriter(t *testing.T) {
	dir := os.Getenv("JUDGE_CACHE_DIR")
	if dir == "" {
		t.Skip("TestDirKilled starts it")
	}
	store := judge.Dir(dir)
	for i := 0; ; i++ {
		require.NoError(t, store.Store(bulkKey(i), bulk))
		data, err := store.Load(bulkKey(i * 5))
		require.NoError(t, err)
		require.True(t, data == nil || bytes.Equal(bulk, data), "a file that is there is whole")
		if i == 10 {
			fmt.Println("ready")
		}
	}
}

// TestDirKilled: several processes write to one folder and are killed in the
// middle. What is there afterwards is whole.
func TestDirKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that another process reads is not replaced there: a warning, see TestCacheFails")
	}
	dir := t.TempDir()
	for range 6 {
		var all []*exec.Cmd
		for range 2 {
			cmd := exec.Command(os.Args[0], "-test.run=^TestDirWriter$")
			cmd.Env = append(os.Environ(), "JUDGE_CACHE_DIR="+dir)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			lines, ready := bufio.NewScanner(out), false
			for !ready && lines.Scan() {
				ready = lines.Text() == "ready"
			}
			require.True(t, ready, "the process ended by itself")
			all = append(all, cmd)
		}
		for _, cmd := range all {
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
		}
	}
	for i := range 8 {
		data, err := judge.Dir(dir).Load(bulkKey(i))
		require.NoError(t, err)
		require.True(t, bytes.Equal(bulk, data), "whole")
	}
}

// TestCacheLinks: a link is followed to a file, never written through, and one
// to a device is not read.
func TestCacheLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	must(t, judge.New(texts("GRADE: C"), judge.Cache(judge.Dir(dir)), judge.Named("fake")), "Paris")
	path := files(t, dir)[0]
	for name, target := range map[string]string{"device": "/dev/zero", "nothing": filepath.Join(elsewhere, "none"), "itself": path, "foreign file": filepath.Join(elsewhere, "foreign")} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "foreign"), []byte("keep me"), 0o600))
			require.NoError(t, os.Remove(path))
			if err := os.Symlink(target, path); err != nil {
				t.Skip(err)
			}
			m := texts("GRADE: I")
			j := judge.New(m, judge.Cache(judge.Dir(dir)), judge.Named("fake"))
			assert.Equal(t, wrong, must(t, j, "Paris").Mark)
			assert.Equal(t, 1, m.Calls())
			assert.Equal(t, wrong, must(t, j, "Paris").Mark)
			assert.Equal(t, 1, m.Calls(), "healed: the link is replaced")
			kept, err := os.ReadFile(filepath.Join(elsewhere, "foreign"))
			require.NoError(t, err)
			assert.Equal(t, "keep me", string(kept))
		})
	}
}

// TestCacheReadOnly: a folder that takes nothing costs a warning, no verdict.
func TestCacheReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // a file in the folder's place: refused whoever runs the test
	m := texts("GRADE: C")
	j := judge.New(m, judge.Cache(judge.Dir(dir)), judge.Named("fake"))
	assert.Equal(t, right, must(t, j, "Paris").Mark)
	require.NotEmpty(t, j.Warnings())
	assert.ErrorIs(t, j.Warnings()[0], judge.ErrCache)
	assert.ErrorContains(t, j.Warnings()[len(j.Warnings())-1], dir, "names the folder")
}

// TestCacheIsShared: judges of other settings and samples share a folder and
// nothing in it.
func TestCacheIsShared(t *testing.T) {
	dir := judge.Dir(t.TempDir())
	calls := 0
	for _, opts := range [][]judge.Option{
		nil, {judge.Criteria("x")}, {judge.Instructions("x")}, {judge.Named("other")}, {judge.Structured(judge.Never)}, {judge.MaxCandidate(1000)},
		{judge.WithReference(false)}, {judge.Choices(judge.Choice{Word: "C", Mark: wrong}, judge.Choice{Word: "I", Mark: right, Score: 1})},
	} {
		for range 2 {
			m := texts("GRADE: C")
			j := judge.New(m, append([]judge.Option{judge.Named("fake"), judge.Cache(dir)}, opts...)...)
			must(t, j, "Paris")
			calls += m.Calls()
			assert.Empty(t, j.Warnings())
		}
	}
	assert.Equal(t, 8, calls, "each once")
}
