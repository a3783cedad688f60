package evaltest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/cassette"
)

// TestUncache: an emptied flag keeps testing from writing the log's end, and a
// log that is on disk already loses its first byte, without which the go
// command refuses it. TestCache shows that the go command does.
func TestUncache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "testlog.txt")
	require.NoError(t, os.WriteFile(path, []byte("# test log\ngetenv A\n"), 0o600))
	set := flag.NewFlagSet("", flag.ContinueOnError)
	uncache(set) // no such flag: not a test binary
	log := set.String("test.testlogfile", "", "")
	uncache(set) // go test does not cache
	require.NoError(t, set.Set("test.testlogfile", path))
	uncache(set)
	assert.Empty(t, *log)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "! test log\ngetenv A\n", string(text))
}

func TestTracked(t *testing.T) {
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "x")
	for _, f := range []string{filepath.Join(root, "go.mod"), filepath.Join(root, "pkg", "testdata", "x"), outside} {
		require.NoError(t, os.MkdirAll(filepath.Dir(f), 0o700))
		require.NoError(t, os.WriteFile(f, nil, 0o600))
	}
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "pkg", "link")))
	t.Chdir(filepath.Join(root, "pkg"))
	for _, row := range []struct {
		name, path string
		want       bool
	}{
		{"in the package", "testdata/x", true},
		{"elsewhere in the module", "../go.mod", true},
		{"absolute", filepath.Join(root, "pkg", "testdata", "x"), true},
		{"outside", outside, false},
		{"a link to outside", "link", false},
		{"missing", "testdata/y", false},
		{"a neighbour whose name begins alike", root + "x", false},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, tracked(row.path)) })
	}
	t.Chdir(t.TempDir())
	assert.False(t, tracked(outside), "no module: nothing is known")
}

func TestReplays(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		set          settings
		want         bool
	}{
		{"default", "it may ask anybody", settings{}, false},
		{"offline", "the test says so", settings{offline: true}, true},
		{"replay", "strict, and in the module", settings{cassette: "names.go", cassetteMode: cassette.Replay}, true},
		{"auto", "asks what is missing", settings{cassette: "names.go", cassetteMode: cassette.Auto}, false},
		{"record", "asks", settings{cassette: "names.go", cassetteMode: cassette.Record}, false},
		{"off", "asks everything", settings{cassette: "names.go", cassetteMode: cassette.Off}, false},
		{"replay from outside", "a change would not be noticed", settings{cassette: "/dev/null", cassetteMode: cassette.Replay}, false},
		{"resume", "journals lie outside the module", settings{offline: true, resume: latest}, false},
		{"failed", "journals lie outside the module", settings{offline: true, failed: true}, false},
	} {
		t.Run(row.name, func(t *testing.T) { assert.Equal(t, row.want, replays(&row.set), row.reason) })
	}
}
