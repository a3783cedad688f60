package dataset

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update to make it")
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got), go test -update accepts it:\n%s", path, diff)
	}
}

func gz(parts ...string) string {
	var b bytes.Buffer
	for _, p := range parts {
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, p)
		_ = z.Close()
	}
	return b.String()
}

func zst(parts ...string) string {
	var b bytes.Buffer
	for _, p := range parts {
		z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(z, p)
		_ = z.Close()
	}
	return b.String()
}

// file writes content into a new folder and returns its path.
func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// rows are n rows with ids r1, r2, ….
func rows(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(row(i+1) + "\n")
	}
	return b.String()
}

func row(i int) string {
	s := itoa(i)
	return `{"id":"r` + s + `","question":"q` + s + `","answer":` + s + `}`
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + itoa(i%10)
}

func idsOf(d *Dataset) []string {
	var ids []string
	for it := range d.All() {
		ids = append(ids, it.ID)
	}
	return ids
}

// unique fails on a table with a missing reason or a repeated name.
func unique(t *testing.T, seen *[]string, name, reason string) {
	t.Helper()
	require.NotEmpty(t, reason, "row %q has no reason", name)
	require.False(t, slices.Contains(*seen, name), "row %q stands twice", name)
	*seen = append(*seen, name)
}

func mustRead(t testing.TB, content string, opts ...Option) *Dataset {
	t.Helper()
	d, err := Read(strings.NewReader(content), "x.jsonl", opts...)
	require.NoError(t, err)
	return d
}
