package token

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// english returns text of common words, n tokens of them.
func english(b *testing.B, n int) string {
	b.Helper()
	text, err := Words{}.Make(seeded(1), n)
	require.NoError(b, err)
	return strings.ReplaceAll(text, " than ", ". ")
}

func benchmarkCount(b *testing.B, t Tokenizer, text string) {
	Count(t, text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Count(t, text)
	}
}

// BenchmarkCount counts English words, and this package's own source.
func BenchmarkCount(b *testing.B) {
	list := []string{"cl100k_base", "o200k_base"}
	if dir := os.Getenv("EVALS_TEST_TOKENIZERS"); dir != "" {
		found, err := filepath.Glob(filepath.Join(dir, "*", fileName))
		require.NoError(b, err)
		list = append(list, found...)
	}
	var source strings.Builder
	files, err := filepath.Glob("*.go")
	require.NoError(b, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(b, err)
		source.Write(data)
	}
	for _, name := range list {
		t, err := Load(b.Context(), name, Hub{Offline: true})
		require.NoError(b, err)
		label := filepath.Base(strings.TrimSuffix(name, "/"+fileName))
		b.Run(label+"/words", func(b *testing.B) { benchmarkCount(b, t, english(b, 20_000)) })
		b.Run(label+"/source", func(b *testing.B) { benchmarkCount(b, t, source.String()) })
	}
}

func BenchmarkExact(b *testing.B) {
	t, err := Encoding("o200k_base")
	require.NoError(b, err)
	r := seeded(1)
	const n = 10_000
	for b.Loop() {
		_, err := Exact(b.Context(), t, r, n)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/token")
}

func BenchmarkOpen(b *testing.B) {
	dir := os.Getenv("EVALS_TEST_TOKENIZERS")
	if dir == "" {
		b.Skip("EVALS_TEST_TOKENIZERS names no folder of real tokenizers")
	}
	for b.Loop() {
		_, err := Open(filepath.Join(dir, "qwen3"))
		require.NoError(b, err)
	}
}
