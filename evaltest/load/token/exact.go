package token

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrNoText is what errors of [Exact] and [Continue] are when no text of the
// length was found; the details are in a [*TextError].
var ErrNoText = errors.New("no text of this length was found")

// A TextError says which text could not be made.
type TextError struct {
	Tokenizer string // its name
	Want      int    // tokens
	Last      int    // tokens of the last text that was tried
	Rounds    int    // how many were tried
}

// Error says how far the last try was off.
func (e *TextError) Error() string {
	return fmt.Sprintf("token: %s: %v: want %d tokens, after %d rounds the last text had %d; another seed may do",
		e.Tokenizer, ErrNoText, e.Want, e.Rounds, e.Last)
}

// Unwrap returns ErrNoText.
func (e *TextError) Unwrap() error { return ErrNoText }

const (
	rounds = 256 // of repair before Exact gives up
	cuts   = 16  // places that a text which is too long is cut at, in one round
	draws  = 64  // ids drawn for one that is a whole, visible piece of text
)

// Exact returns random text that t counts as exactly n tokens. The text is
// drawn from the whole vocabulary, so it is no language; it is valid UTF-8,
// has no special token and no control characters but newline and tab where
// the vocabulary allows, and no space at its ends, which chat templates trim.
// 0 gives "".
//
// Tokens that are joined need not stay the tokens that they were, so text is
// drawn, counted and repaired, up to 256 times. The error is a [*TextError] if
// that was not enough, as for a vocabulary without an ordinary token; the
// context's if it ended; or says that n is negative. The same r and t give the
// same text.
func Exact(ctx context.Context, t Tokenizer, r *rand.Rand, n int) (string, error) {
	return Continue(ctx, t, r, "", n)
}

// Continue returns random text of which t counts n tokens more in prefix+text
// than in prefix. It is [Exact] for a prefix that is not empty: a shared
// beginning, or a conversation that grows. The prefix is counted anew for each
// try, so the time grows with its length, too.
func Continue(ctx context.Context, t Tokenizer, r *rand.Rand, prefix string, n int) (string, error) {
	if n <= 0 {
		return "", negative(n)
	}
	ids := t.Encode(prefix)
	s := search{Tokenizer: t, r: r, prefix: prefix, base: len(ids), want: n}
	s.special = s.specials(ids)
	text, last := "", 0
	for range rounds {
		if err := context.Cause(ctx); err != nil {
			return "", fmt.Errorf("token: text of %d tokens: %w", n, err)
		}
		if text == "" {
			text = s.tidy(s.draw(n))
		}
		ids, ok := s.encode(text)
		switch last = len(ids) - s.base; {
		case !ok || text == "":
			text = ""
		case last == n:
			return text, nil
		case last > n:
			text, ok = s.cut(text, ids)
			if ok {
				return text, nil
			}
		default:
			text = s.tidy(text + s.more(text, n-last))
		}
	}
	return "", &TextError{Tokenizer: t.Name(), Want: n, Last: last, Rounds: rounds}
}

// A search is one call of Continue.
type search struct {
	Tokenizer
	r       *rand.Rand
	prefix  string
	base    int // tokens of prefix
	special int // of these
	want    int
}

func (s *search) specials(ids []int) (n int) {
	for _, id := range ids {
		if s.Special(id) {
			n++
		}
	}
	return n
}

// encode returns the ids of the prefix and text, and false if text is the
// reason for special ones.
func (s *search) encode(text string) ([]int, bool) {
	ids := s.Encode(s.prefix + text)
	return ids, s.specials(ids) == s.special
}

// id draws an ordinary id, if it can one whose text is valid and visible: of a
// part of a character nothing would be left but U+FFFD, which is three tokens
// in some vocabularies. It returns false if it finds no ordinary id at all.
func (s *search) id() (id int, ok bool) {
	for range draws {
		next := s.r.IntN(s.Size())
		if s.Special(next) {
			continue
		}
		if id, ok = next, true; clean(s.Decode([]int{id})) {
			break
		}
	}
	return id, ok
}

func clean(text string) bool {
	if text == "" || !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' {
			return false
		}
	}
	return true
}

// draw returns the text of n random ids, "" if there are none.
func (s *search) draw(n int) string {
	if s.Size() <= 0 {
		return ""
	}
	ids := make([]int, 0, n)
	for range n {
		if id, ok := s.id(); ok {
			ids = append(ids, id)
		}
	}
	return s.Decode(ids)
}

// more returns text to append to one that is n tokens short. With a space
// before it, it is sure not to merge with the end; without, it can be one
// token where every space is a token of its own. Which of them is right
// depends on the vocabulary, so chance decides.
func (s *search) more(text string, n int) string {
	more := s.draw(n)
	last, _ := utf8.DecodeLastRuneInString(text)
	if first, _ := utf8.DecodeRuneInString(more); unicode.IsSpace(last) || unicode.IsSpace(first) || s.r.IntN(2) == 0 {
		return more
	}
	return " " + more
}

// tidy returns text as it can be sent. Behind a prefix, space at its beginning
// stays, since there is nothing that would trim it.
func (s *search) tidy(text string) string {
	text = strings.TrimRightFunc(validUTF8(text), unicode.IsSpace)
	if s.prefix == "" {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
	}
	return text
}

// cut shortens the text with these ids, which has too many: it returns a
// beginning of it with the right number and true, or else the longest that has
// too few; "" if there is none.
func (s *search) cut(text string, ids []int) (best string, ok bool) {
	most, last, tries := -1, "", 0
	for k := s.base + s.want; k > s.base && k > s.base+s.want-4*cuts && tries < cuts; k-- {
		part := s.tidy(s.upTo(text, ids, k))
		if part == "" || part == last {
			continue
		}
		last = part
		tries++
		have, fine := s.encode(part)
		switch n := len(have) - s.base; {
		case fine && n == s.want:
			return part, true
		case fine && n < s.want && n > most:
			best, most = part, n
		}
	}
	return best, false
}

// upTo returns what of text the first k ids say, or "" if that cannot be told
// or ends within a character.
func (s *search) upTo(text string, ids []int, k int) string {
	if part, ok := strings.CutPrefix(s.Decode(ids[:k]), s.prefix); ok {
		if !utf8.ValidString(part) {
			return ""
		}
		return part
	}
	// A normalizer has changed the prefix, or a token reaches over its end.
	part, ok := strings.CutSuffix(text, s.Decode(ids[k:]))
	if !ok || !utf8.ValidString(part) {
		return ""
	}
	return part
}
