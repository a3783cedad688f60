package token

import (
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"
)

//go:embed words.txt
var wordList string

// words are what wordList lists: English words, each of which after a space is
// one token in Qwen3, Llama 3, DeepSeek-V3, Gemma 3, gpt-oss, GPT-2 and
// tiktoken's four encodings. Words that a provider's content filter may stop
// at, alone or in a bad neighbourhood, are not among them. The order of the
// list decides what a seed gives, so it is not changed.
var words = strings.Fields(wordList)

// firstWord is one token without a space before it, too.
const firstWord = "the"

// A Maker makes text of an exact number of tokens. It draws from r only, so
// that a seed gives the same text; it is safe for concurrent use as long as
// each goroutine has its own r.
type Maker interface {
	// Make returns text of n tokens: "" for 0.
	Make(r *rand.Rand, n int) (string, error)
	// Continue returns text that adds n tokens to prefix, when it is put right
	// behind it.
	Continue(r *rand.Rand, prefix string, n int) (string, error)
}

var (
	_ Maker = Words{}
	_ Maker = random{}
)

// Words makes text of common English words without knowing the model's
// tokenizer: each word is one token, together with the space before it. So
// are the sums: the text of n tokens, with the continuation by m, is n+m
// tokens.
//
// This holds for byte-level BPE and for large SentencePiece vocabularies
// (Llama 3, Qwen, DeepSeek, Mistral's Tekken, Gemma, all of OpenAI), because
// they split before a space. It does not hold for the small SentencePiece
// vocabularies of Llama 2 and Mistral 7B (32,000), where long words are in
// pieces, nor for a byte-level one of 49,000 (SmolLM2: 138 of the words are two
// tokens, 4 % of a text), nor for WordPiece (BERT): compare with the usage that
// the server reports, and use [Random] with the model's own tokenizer where they
// differ.
// A chat template adds a constant to each message, and trims spaces at the
// ends of a message, of which Make leaves none.
//
// Every text begins with "the": the first word has no space before it, and
// only that one is sure to be a token of its own there. The other words are
// drawn independently, each equally likely. The zero value is ready to use.
type Words struct{}

// Count returns how many words there are to draw from.
func (Words) Count() int { return len(words) }

// Make returns "the" and n-1 random words, joined by spaces: n tokens. It
// returns "" for 0 and an error for less.
func (w Words) Make(r *rand.Rand, n int) (string, error) {
	if n <= 0 {
		return "", negative(n)
	}
	more, err := w.Continue(r, firstWord, n-1)
	return firstWord + more, err
}

// Continue returns n random words with a space before each: n tokens more for
// a prefix that ends in a letter, a digit or punctuation. After "" it is Make.
// A prefix that ends in a space is an error: the space would belong to the
// first word and the count would not be the sum.
func (w Words) Continue(r *rand.Rand, prefix string, n int) (string, error) {
	switch {
	case n <= 0:
		return "", negative(n)
	case prefix == "":
		return w.Make(r, n)
	case strings.TrimSpace(prefix[len(prefix)-1:]) == "":
		return "", fmt.Errorf("token: the prefix ends in %q: a text that ends in a space cannot be continued by exactly %d tokens", prefix[len(prefix)-1:], n)
	}
	var b strings.Builder
	b.Grow(n * 8)
	for range n {
		b.WriteByte(' ')
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String(), nil
}

func negative(n int) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("token: %d tokens were asked for, want at least 0", n)
}

// Random returns a maker of random text by a tokenizer: [Exact] and
// [Continue], without a way to cancel them.
func Random(t Tokenizer) Maker { return random{t} }

type random struct{ Tokenizer }

func (m random) Make(r *rand.Rand, n int) (string, error) {
	return Exact(context.Background(), m.Tokenizer, r, n)
}

func (m random) Continue(r *rand.Rand, prefix string, n int) (string, error) {
	return Continue(context.Background(), m.Tokenizer, r, prefix, n)
}
