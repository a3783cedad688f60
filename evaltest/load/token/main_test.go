package token

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update to make it")
	text := strings.ReplaceAll(string(want), "\r\n", "\n")
	if diff := cmp.Diff(strings.Split(text, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got), go test -update accepts it:\n%s", path, diff)
	}
}
