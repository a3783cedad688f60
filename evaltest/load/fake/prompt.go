package fake

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

var hashSeed = maphash.MakeSeed()

// Marks tell apart what is no token: where messages begin, and which field a
// text is in.
const (
	markMessage = 0x9e3779b97f4a7c15 + iota
	markTool
	markCall
	markReasoning
)

// A prompt is a sequence of tokens of which only the number is kept and, for a
// prefix cache, a hash at the end of each whole block.
type prompt struct {
	server *Server
	tokens int
	hash   uint64
	blocks []uint64
}

func (p *prompt) reset() { p.tokens, p.hash, p.blocks = 0, 0, p.blocks[:0] }

// mix is one multiplication folded: its hash is of all that came before.
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^0xa0761d6478bd642f, x^0xe7037ed1a0b428db)
	return hi ^ lo ^ x
}

// mark makes all later blocks differ from those without the same mark.
func (p *prompt) mark(x uint64) {
	if p.server.CacheBlock > 0 {
		p.hash = mix(p.hash, x)
	}
}

func (p *prompt) markText(b []byte) {
	if p.server.CacheBlock > 0 {
		p.hash = mix(p.hash, maphash.Bytes(hashSeed, b))
	}
}

func (p *prompt) token(x uint64) {
	p.tokens++
	if p.server.CacheBlock > 0 {
		p.hash = mix(p.hash, x)
		if p.tokens%p.server.CacheBlock == 0 {
			p.blocks = append(p.blocks, p.hash)
		}
	}
}

// template adds n tokens that are no text.
func (p *prompt) template(n int) {
	if p.server.CacheBlock == 0 {
		p.tokens += n
		return
	}
	for range n {
		p.token(markMessage)
	}
}

// message begins one; its role is marked when it is known.
func (p *prompt) message() {
	p.mark(markMessage)
	p.template(p.server.PerMessage)
}

// text adds one text. Tokens do not reach over its ends.
func (p *prompt) text(b []byte) {
	switch s := p.server; {
	case s.Encode != nil:
		ids := s.Encode(string(b))
		if s.CacheBlock == 0 {
			p.tokens += len(ids)
			return
		}
		for _, id := range ids {
			p.token(uint64(id))
		}
	case s.Count != nil:
		n := s.Count(string(b))
		if n < 0 {
			panic(fmt.Sprintf("fake: Server.Count returned %d for a text of %d bytes: want 0 or more", n, len(b)))
		}
		p.tokens += n
	case s.CacheBlock == 0:
		p.tokens += countWords(b)
	default:
		for word := nextWord(&b); len(word) > 0; word = nextWord(&b) {
			p.token(maphash.Bytes(hashSeed, word))
		}
	}
}

// countWords is len(bytes.Fields(b)).
func countWords(b []byte) (n int) {
	in := false
	for i := 0; i < len(b); i++ {
		space := false
		if c := b[i]; c < utf8.RuneSelf {
			space = c == ' ' || c >= '\t' && c <= '\r'
		} else {
			r, size := utf8.DecodeRune(b[i:])
			space = unicode.IsSpace(r)
			i += size - 1
		}
		if !space && !in {
			n++
		}
		in = !space
	}
	return n
}

// nextWord cuts the first word off b; it is empty if there is none.
func nextWord(b *[]byte) (word []byte) {
	begin := -1
	for i := 0; i < len(*b); {
		r, size := rune((*b)[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune((*b)[i:])
		}
		if space := unicode.IsSpace(r); !space && begin < 0 {
			begin = i
		} else if space && begin >= 0 {
			word, *b = (*b)[begin:i], (*b)[i:]
			return word
		}
		i += size
	}
	if begin >= 0 {
		word = (*b)[begin:]
	}
	*b = nil
	return word
}
