package trace_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files; look at the diff afterwards")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s mismatch (-want +got), rewrite with -update:\n%s", name, diff)
	}
}

// words counts words: enough for lengths in tests.
func words(text string) int { return len(strings.Fields(text)) }

func read(t *testing.T, text string, o trace.Options) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(text), "in", o)
	require.NoError(t, err)
	return tr
}

func gzipped(t testing.TB, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

func zstded(t testing.TB, text string) string {
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	defer z.Close()
	return string(z.EncodeAll([]byte(text), nil))
}
