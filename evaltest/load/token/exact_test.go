package token

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wordLevel is a vocabulary of whole words, joined by spaces.
type wordLevel struct {
	words   []string
	special map[int]bool
}

func (w wordLevel) Name() string        { return "word-level" }
func (w wordLevel) Size() int           { return len(w.words) }
func (w wordLevel) Special(id int) bool { return w.special[id] }

func (w wordLevel) Encode(text string) (ids []int) {
	for _, f := range strings.Fields(text) {
		id := -1
		for i, s := range w.words {
			if s == f {
				id = i
			}
		}
		ids = append(ids, id)
	}
	return ids
}

func (w wordLevel) Decode(ids []int) string {
	var list []string
	for _, id := range ids {
		list = append(list, w.words[id])
	}
	return strings.Join(list, " ")
}

// byteLevel returns a tokenizer of 256 symbols that merges nothing.
func byteLevel(t testing.TB) Tokenizer {
	t.Helper()
	vocab := map[string]int{}
	for r, b := range alphabet {
		if b >= 0 {
			vocab[string(rune(r))] = int(b)
		}
	}
	require.Len(t, vocab, 256)
	data, err := json.Marshal(map[string]any{
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": []string{}},
		"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": false},
	})
	require.NoError(t, err)
	tok, err := Parse("bytes", data)
	require.NoError(t, err)
	return tok
}

// TestExactGolden is G20: what BatchBench's generator must hit.
func TestExactGolden(t *testing.T) {
	t.Run("word-level with a special word", func(t *testing.T) {
		tok := wordLevel{[]string{"red", "<s>", "green", "blue"}, map[int]bool{1: true}}
		for seed := range uint64(50) {
			text, err := Exact(t.Context(), tok, seeded(seed), 16)
			require.NoError(t, err)
			assert.Len(t, tok.Encode(text), 16)
			assert.NotContains(t, text, "<s>")
		}
	})
	t.Run("byte-level", func(t *testing.T) {
		tok := byteLevel(t)
		for _, n := range []int{1, 2, 3, 2857} {
			for seed := range uint64(10) {
				text, err := Exact(t.Context(), tok, seeded(seed), n)
				require.NoError(t, err)
				assert.Equal(t, n, Count(tok, text))
				assert.Len(t, text, n)
				assert.True(t, utf8.ValidString(text))
			}
		}
	})
	t.Run("equal for a seed, in any order", func(t *testing.T) {
		tok := small(t, "llama3")
		made := map[uint64]string{}
		for _, seed := range []uint64{1, 2, 3, 3, 2, 1} {
			text, err := Exact(t.Context(), tok, seeded(seed), 64)
			require.NoError(t, err)
			assert.Equal(t, 64, Count(tok, text))
			if made[seed] != "" {
				assert.Equal(t, made[seed], text)
			}
			made[seed] = text
		}
		assert.NotEqual(t, made[1], made[2])
	})
}

func TestExactEveryVariant(t *testing.T) {
	list, _ := variants(t)
	for _, v := range list {
		tok := small(t, v.Name)
		for n := range 70 {
			text, err := Exact(t.Context(), tok, seeded(uint64(n)), n)
			if v.Name == "removed" && err != nil {
				continue // its spaces are no tokens, but repair needs some
			}
			require.NoError(t, err, "%s %d", v.Name, n)
			require.Equal(t, n, Count(tok, text), "%s: %q", v.Name, text)
			require.Equal(t, text, strings.TrimSpace(text), "a chat template would trim it")
			for _, id := range tok.Encode(text) {
				require.False(t, tok.Special(id), "%s: %q has the special id %d", v.Name, text, id)
			}
		}
	}
}

// TestContinueHostile: the prefix may be anything, and nothing of it may be
// counted to the continuation.
func TestContinueHostile(t *testing.T) {
	for _, name := range []string{"qwen", "gpt2", "added", "forms"} {
		tok := small(t, name)
		for _, prefix := range []string{"x", "x ", "e", "caf", "e\u0301", "a\u0301\u0323", "x\n", "<|endoftext|>", "<|endof", "'", "it'", "12", "\xff\xfe", "😀", "\u200d", strings.Repeat("ab", 300)} {
			for _, n := range []int{0, 1, 2, 7, 60} {
				text, err := Continue(t.Context(), tok, seeded(uint64(n)), prefix, n)
				require.NoError(t, err, "%s: %q and %d", name, prefix, n)
				assert.Equal(t, Count(tok, prefix)+n, Count(tok, prefix+text), "%s: %q and %q", name, prefix, text)
			}
		}
	}
}

func TestExactCannot(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		tok          Tokenizer
		last         int
	}{
		{"nothing but special", "there is no ordinary id to draw", wordLevel{[]string{"<a>", "<b>"}, map[int]bool{0: true, 1: true}}, 0},
		{"empty vocabulary", "there is no id at all", wordLevel{}, 0},
		{"only spaces", "templates trim them, so they are no text", wordLevel{words: []string{" ", "\t"}}, 0},
		{"twos", "an odd number cannot be made", twos{}, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := Exact(t.Context(), c.tok, seeded(1), 5)
			assert.Empty(t, text)
			require.ErrorIs(t, err, ErrNoText)
			var e *TextError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, 5, e.Want)
			assert.Equal(t, 256, e.Rounds)
			if c.last > 0 {
				assert.Contains(t, []int{4, 6}, e.Last)
			}
			assert.Equal(t, fmt.Sprintf("token: %s: no text of this length was found: want 5 tokens, after 256 rounds the last text had %d; another seed may do", c.tok.Name(), e.Last), err.Error())
		})
	}
}

// twos makes two tokens of each letter.
type twos struct{}

func (twos) Name() string             { return "twos" }
func (twos) Size() int                { return 26 }
func (twos) Special(int) bool         { return false }
func (twos) Encode(text string) []int { return make([]int, 2*len(text)) }
func (twos) Decode(ids []int) string {
	return strings.Repeat("x", (len(ids)+1)/2)
}

// halves has the special word <s>, which two of its ordinary tokens spell.
type halves struct{}

// The first four are ordinary. A space is what Exact may put between two.
var halfTokens = []string{"<s", ">", "x", "y", "<s>", " "}

func (halves) Name() string        { return "halves" }
func (halves) Size() int           { return 4 }
func (halves) Special(id int) bool { return id == 4 }

func (halves) Decode(ids []int) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(halfTokens[id])
	}
	return b.String()
}

func (halves) Encode(text string) (ids []int) {
	for text != "" {
		found := -1
		for i, s := range halfTokens {
			if strings.HasPrefix(text, s) {
				found = i // <s> comes behind <s, which it begins with
			}
		}
		if found < 0 {
			panic(fmt.Sprintf("%q begins with no token", text))
		}
		ids = append(ids, found)
		text = text[len(halfTokens[found]):]
	}
	return ids
}

func TestExactSpellsNoSpecialToken(t *testing.T) {
	for seed := range uint64(100) {
		text, err := Exact(t.Context(), halves{}, seeded(seed), 6)
		require.NoError(t, err)
		assert.NotContains(t, text, "<s>")
		assert.Len(t, halves{}.Encode(text), 6)
		more, err := Continue(t.Context(), halves{}, seeded(seed), "x<s>y<s", 6)
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count("x<s>y<s"+more, "<s>"), "only the one that the prefix had: %q", more)
	}
}

func TestExactIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the run was interrupted")
	tok := stopping{twos{}, func() { cancel(why) }}
	_, err := Exact(ctx, tok, seeded(1), 5)
	assert.ErrorIs(t, err, why)
	assert.NotErrorIs(t, err, ErrNoText)
}

// stopping calls stop when it encodes.
type stopping struct {
	Tokenizer
	stop func()
}

func (s stopping) Encode(text string) []int {
	if text != "" {
		s.stop()
	}
	return s.Tokenizer.Encode(text)
}

// TestTextIsPinned: a seed gives the same bytes in every release.
func TestTextIsPinned(t *testing.T) {
	var b strings.Builder
	o200k, err := Encoding("gpt-5")
	require.NoError(t, err)
	for _, m := range []struct {
		name string
		Maker
	}{{"words", Words{}}, {"random, o200k_base", Random(o200k)}, {"random, qwen", Random(small(t, "qwen"))}} {
		r := rand.New(rand.NewPCG(42, 7))
		for _, n := range []int{1, 5, 40} {
			text, err := m.Make(r, n)
			require.NoError(t, err)
			more, err := m.Continue(r, text, 6)
			require.NoError(t, err)
			fmt.Fprintf(&b, "%s, %d tokens: %q\nand 6: %q\n", m.name, n, text, more)
		}
	}
	golden(t, "pinned.golden", b.String())
}
