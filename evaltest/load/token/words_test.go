package token

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 0)) }

var makerLengths = []int{0, 1, 2, 3, 16, 17, 100, 1000, 30_000}

// checkMakers asserts exact lengths of both makers by a real tokenizer.
func checkMakers(t *testing.T, tok Tokenizer) {
	t.Helper()
	for _, m := range []Maker{Words{}, Random(tok)} {
		for _, n := range makerLengths {
			text, err := m.Make(seeded(uint64(n)), n)
			require.NoError(t, err, "%T %d", m, n)
			assert.Equal(t, n, Count(tok, text), "%T: text of %d tokens", m, n)
			assert.Equal(t, strings.TrimSpace(text), text, "%T: a chat template would trim it", m)
			rests := []int{0, 1, 2, 50, 300}
			if n > 1000 { // each try counts the whole prefix
				rests = rests[3:4]
			}
			for _, more := range rests {
				rest, err := m.Continue(seeded(uint64(more)), text, more)
				require.NoError(t, err, "%T %d+%d", m, n, more)
				assert.Equal(t, n+more, Count(tok, text+rest), "%T: %d tokens and %d", m, n, more)
			}
		}
	}
}

func TestMakersAreExact(t *testing.T) {
	for name := range encodings {
		t.Run(name, func(t *testing.T) {
			tok, err := Encoding(name)
			require.NoError(t, err)
			checkMakers(t, tok)
		})
	}
}

func TestWordsList(t *testing.T) {
	assert.GreaterOrEqual(t, len(words), 2000)
	assert.Equal(t, len(words), Words{}.Count())
	assert.True(t, slices.IsSorted(words))
	assert.Len(t, slices.Compact(slices.Clone(words)), len(words), "a word that stands twice is drawn twice as often")
	assert.Contains(t, words, firstWord)
	for _, w := range words {
		assert.Regexp(t, regexp.MustCompile(`^[a-z]{3,10}$`), w)
	}
	for name := range encodings {
		tok, err := Encoding(name)
		require.NoError(t, err)
		assert.Equal(t, 1, Count(tok, firstWord), name)
		for _, w := range words {
			assert.Equal(t, 1, Count(tok, " "+w), "%s: %s", name, w)
		}
	}
}

// TestWordsContinueAnyText: prefixes come from datasets, too.
func TestWordsContinueAnyText(t *testing.T) {
	for name := range encodings {
		tok, err := Encoding(name)
		require.NoError(t, err)
		for _, prefix := range []string{"What is 2+2?", "x = 12", "ends in a brace }", "Prix: 5 €", "中文", "café", "...", "it's", "😀", "<b>", "HELLO"} {
			rest, err := Words{}.Continue(seeded(1), prefix, 20)
			require.NoError(t, err)
			assert.Equal(t, Count(tok, prefix)+20, Count(tok, prefix+rest), "%s: %q", name, prefix)
		}
	}
}

func TestMakersRefuse(t *testing.T) {
	tok := small(t, "qwen")
	for _, m := range []Maker{Words{}, Random(tok)} {
		_, err := m.Make(seeded(1), -3)
		assert.ErrorContains(t, err, "-3 tokens were asked for", "%T", m)
		_, err = m.Continue(seeded(1), "x", -3)
		assert.ErrorContains(t, err, "-3 tokens were asked for", "%T", m)
	}
	for _, prefix := range []string{"x ", "x\n", "x\t", " "} {
		_, err := Words{}.Continue(seeded(1), prefix, 5)
		assert.ErrorContains(t, err, "the prefix ends in", "%q", prefix)
	}
}

func TestWordsAreSeeded(t *testing.T) {
	a, err := Words{}.Make(seeded(4), 200)
	require.NoError(t, err)
	b, err := Words{}.Make(seeded(4), 200)
	require.NoError(t, err)
	c, err := Words{}.Make(seeded(5), 200)
	require.NoError(t, err)
	assert.Equal(t, a, b)
	assert.NotEqual(t, a, c)
	assert.NotEqual(t, a[:60], c[:60], "two seeds must not share a beginning that a prefix cache could hold")
}

func BenchmarkWords(b *testing.B) {
	r := seeded(1)
	const n = 30_000
	for b.Loop() {
		_, _ = Words{}.Make(r, n)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/token")
}
