package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An added token is cut out of a text before the text is split.
type added struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only where no word character is beside it
	LStrip     bool   `json:"lstrip"`      // takes the spaces before it
	RStrip     bool   `json:"rstrip"`      // and behind it
	Normalized bool   `json:"normalized"`  // is looked for in the normalized text
	Special    bool   `json:"special"`
}

// A trie finds added tokens by their bytes. There may be hundreds, and most
// text has none.
type trie struct {
	tokens []added // token i+1 of a node
	nodes  []trieNode
}

type trieNode struct {
	next  map[byte]int
	token int // its number + 1 in tokens; 0 if none ends here
}

func (t *trie) insert(a added, content string) {
	if content == "" {
		return // it would match everywhere and take nothing
	}
	if t.nodes == nil {
		t.nodes = []trieNode{{next: map[byte]int{}}}
	}
	at := 0
	for i := range len(content) {
		to, ok := t.nodes[at].next[content[i]]
		if !ok {
			to = len(t.nodes)
			t.nodes = append(t.nodes, trieNode{next: map[byte]int{}})
			t.nodes[at].next[content[i]] = to
		}
		at = to
	}
	t.tokens = append(t.tokens, a)
	t.nodes[at].token = len(t.tokens)
}

// longest returns the longest token that s begins with, and its length there.
func (t *trie) longest(s string) (a *added, n int) {
	at := 0
	for i := range len(s) {
		to, ok := t.nodes[at].next[s[i]]
		if !ok {
			break
		}
		if at = to; t.nodes[at].token > 0 {
			a, n = &t.tokens[t.nodes[at].token-1], i+1
		}
	}
	return a, n
}

// cut hands the stretches of s without an added token to text, and the added
// tokens between to token: the leftmost first, and of those the longest.
func (t *trie) cut(s string, text func(string), token func(id int)) {
	done := 0
	if t.nodes != nil {
		root := t.nodes[0].next
		for i := 0; i < len(s); {
			if _, ok := root[s[i]]; !ok {
				i++
				continue
			}
			a, n := t.longest(s[i:])
			if a == nil {
				i++
				continue
			}
			from, to := i, i+n
			i = to
			if a.SingleWord && (endsInWord(s[:from]) || startsWithWord(s[to:])) {
				continue
			}
			if a.LStrip {
				from = max(done, len(strings.TrimRightFunc(s[:from], unicode.IsSpace)))
			}
			if a.RStrip {
				to = len(s) - len(strings.TrimLeftFunc(s[to:], unicode.IsSpace))
				i = to
			}
			if from > done {
				text(s[done:from])
			}
			token(a.ID)
			done = to
		}
	}
	if done < len(s) {
		text(s[done:])
	}
}

func startsWithWord(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && wordCharacter(r)
}

func endsInWord(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && wordCharacter(r)
}

// wordCharacter is \w.
func wordCharacter(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic)
}
