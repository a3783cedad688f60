package token

import (
	"strings"
	"unicode/utf8"
)

// bpe is a byte-level BPE tokenizer: added tokens are cut out, the rest is
// normalized and split into pieces, and the bytes of each piece are merged.
type bpe struct {
	name      string
	raw       trie                // added tokens to look for in the text as it is
	later     trie                // and in normalized text
	normalize func(string) string // nil if it changes nothing
	split     splitter
	vocab     vocabulary
	tokens    []string // by id, the bytes of each ordinary token
	known     []bool   // by id, whether it names an ordinary token
	added     map[int]added
}

var _ Tokenizer = (*bpe)(nil)

func (t *bpe) Name() string { return t.name }

func (t *bpe) Size() int { return len(t.tokens) }

func (t *bpe) Special(id int) bool {
	if a, ok := t.added[id]; ok {
		return a.Special
	}
	return id < 0 || id >= len(t.tokens) || !t.known[id]
}

func (t *bpe) Encode(text string) []int {
	k := sink{ids: make([]int, 0, len(text)/4+1)}
	t.feed(&k, text)
	return k.ids
}

// Count is what [Count] calls.
func (t *bpe) Count(text string) int {
	k := sink{count: true}
	t.feed(&k, text)
	return k.n
}

func (t *bpe) feed(k *sink, text string) {
	text = validUTF8(text)
	token := func(id int) { k.add(int32(id)) }
	piece := func(p string) { t.vocab.piece(k, p) }
	plain := func(s string) { t.split.split(s, piece) }
	t.raw.cut(text, func(s string) {
		if t.normalize != nil {
			s = t.normalize(s)
		}
		t.later.cut(s, plain, token)
	}, token)
}

func (t *bpe) Decode(ids []int) string {
	var b strings.Builder
	for _, id := range ids {
		if id >= 0 && id < len(t.tokens) && t.known[id] {
			b.WriteString(t.tokens[id])
		} else if a, ok := t.added[id]; ok {
			b.WriteString(a.Content)
		} else {
			b.WriteRune(utf8.RuneError)
		}
	}
	return b.String()
}

// validUTF8 puts U+FFFD in the place of each invalid byte, as encoding/json
// does. strings.ToValidUTF8 puts one for a run of them.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
