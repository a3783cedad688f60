package token

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// An encoding is a vocabulary of OpenAI's tiktoken.
type encoding struct {
	size   int // ids below it are ordinary; the special ones come behind, or in the gap
	scan   scanner
	pieces func() (*bpe, error)
}

// encodings are by the name that tiktoken gives them.
var encodings = func() map[string]*encoding {
	m := map[string]*encoding{
		"r50k_base":   {size: 50256, scan: gpt2},
		"p50k_base":   {size: 50281, scan: gpt2},
		"cl100k_base": {size: 100256, scan: cl100k(3)},
		"o200k_base":  {size: 199998, scan: o200k(3, true)},
	}
	for name, e := range m {
		e.pieces = sync.OnceValues(func() (*bpe, error) { return e.load(name) })
	}
	return m
}()

// models maps names of models, and beginnings that end in "*", to encodings.
// The longest beginning counts.
var models = map[string]string{
	"gpt-5": "o200k_base", "gpt-5-*": "o200k_base", "gpt-5.*": "o200k_base",
	"gpt-4.5-*": "o200k_base", "gpt-4.1": "o200k_base", "gpt-4.1-*": "o200k_base",
	"gpt-4o": "o200k_base", "gpt-4o-*": "o200k_base", "chatgpt-4o-*": "o200k_base",
	"o1": "o200k_base", "o1-*": "o200k_base", "o3": "o200k_base", "o3-*": "o200k_base", "o4-mini": "o200k_base", "o4-mini-*": "o200k_base",
	"gpt-oss-*": "o200k_base", "o200k_harmony": "o200k_base",
	"gpt-4": "cl100k_base", "gpt-4-*": "cl100k_base",
	"gpt-3.5": "cl100k_base", "gpt-3.5-turbo": "cl100k_base", "gpt-3.5-turbo-*": "cl100k_base", "gpt-35-turbo": "cl100k_base", "gpt-35-turbo-*": "cl100k_base",
	"text-embedding-ada-002": "cl100k_base", "text-embedding-3-small": "cl100k_base", "text-embedding-3-large": "cl100k_base",
	"davinci-002": "cl100k_base", "babbage-002": "cl100k_base",
	"text-davinci-003": "p50k_base", "text-davinci-002": "p50k_base",
	"gpt2": "r50k_base", "gpt-2": "r50k_base", "davinci": "r50k_base", "curie": "r50k_base", "babbage": "r50k_base", "ada": "r50k_base",
	"ft:gpt-4o*": "o200k_base", "ft:gpt-4.1*": "o200k_base", "ft:gpt-4*": "cl100k_base", "ft:gpt-3.5-turbo*": "cl100k_base",
}

// An UnknownError says that no encoding is known for a name.
type UnknownError struct{ Name string }

// Error names what is known.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("token: no encoding is known for %q; known are the encodings %s and the models %s (* stands for any end)",
		e.Name, strings.Join(slices.Sorted(maps.Keys(encodings)), ", "), strings.Join(slices.Sorted(maps.Keys(models)), ", "))
}

// Encoding returns one of tiktoken's encodings, by its name ("cl100k_base",
// "o200k_base", "p50k_base", "r50k_base") or by the name of a model of OpenAI
// that is known to use it. For another name the error is an [*UnknownError].
//
// As in OpenAI's service, special tokens that are spelled out in a text are
// ordinary text. The vocabulary is made at the first call and then shared.
func Encoding(name string) (Tokenizer, error) {
	e := encodings[encodingFor(name)]
	if e == nil {
		return nil, &UnknownError{Name: name}
	}
	t, err := e.pieces()
	if err != nil {
		return nil, err
	}
	return t, nil
}

// encodingFor returns the encoding of a name, or "".
func encodingFor(name string) string {
	if _, ok := encodings[name]; ok {
		return name
	}
	if to, ok := models[name]; ok {
		return to
	}
	best := ""
	for pattern := range models {
		if beginning, ok := strings.CutSuffix(pattern, "*"); ok && len(pattern) > len(best) && strings.HasPrefix(name, beginning) {
			best = pattern
		}
	}
	return models[best]
}

// load takes the tokens out of the library, which has them without a download.
// Its own splitting is a backtracking matcher and takes ten times as long as
// the scanners; the tests hold the two against each other.
func (e *encoding) load(name string) (*bpe, error) {
	needClasses()
	codec, err := tokenizer.Get(tokenizer.Encoding(name))
	if err != nil {
		return nil, fmt.Errorf("token: encoding %s: %w", name, err)
	}
	t := &bpe{
		name:   name,
		split:  scanning{scan: e.scan},
		tokens: make([]string, e.size),
		known:  make([]bool, e.size),
		vocab:  vocabulary{whole: make(map[string]int32, e.size), seed: maphash.MakeSeed()},
	}
	for id := range e.size {
		s, err := codec.Decode([]uint{uint(id)})
		if err != nil {
			continue // p50k_base has its end of text in the middle
		}
		t.tokens[id], t.known[id], t.vocab.whole[s] = s, true, int32(id)
		if len(s) == 1 {
			t.vocab.bytes[s[0]] = int32(id)
		}
	}
	return t, nil
}
