package judge

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns a text in which nothing hides: control, zero-width and
// bidirectional characters, invisible tags and bytes that are no UTF-8 are
// spelled out, as ⟨U+200B⟩ and ⟨byte FF⟩. The rest stays as it is, line breaks
// and tabs too, and so do joiners between two characters that are not ASCII:
// many scripts and emoji need them.
func visible(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last := rune(0)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		b.WriteString(spell(s[i:i+size], last, r, next))
		last = r
		i += size
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// spell returns what stands for the rune r, whose bytes are raw, between two
// others.
func spell(raw string, last, r, next rune) string {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f, r == '\r' && next == '\n':
		return raw
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf("⟨byte %02X⟩", raw[0])
	case r == '\u200d' || r == '\u200c':
		if last >= 0x80 && next >= 0x80 && next != utf8.RuneError && !isHidden(last) && !isHidden(next) {
			return raw
		}
	case !isHidden(r):
		return raw
	}
	return fmt.Sprintf("⟨U+%04X⟩", r)
}

// isHidden reports a character that a reader does not see.
func isHidden(r rune) bool {
	switch {
	case r < ' ' || r == 0x7f, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
		return r != '\n' && r != '\t'
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r >= 0x180b && r <= 0x180f, r == 0x2800, r == 0x3164, r == 0xffa0,
		r >= 0xfe00 && r <= 0xfe0d, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// shorten returns s made visible. If that takes more than most bytes, the two
// ends of it are returned, and how many bytes of s between them are left out.
func shorten(s string, most int) (shown [2]string, left int) {
	if most <= 0 || len(s) <= most {
		if v := visible(s); most <= 0 || len(v) <= most {
			return [2]string{v}, 0
		}
	}
	head, at := spellUntil(s, most/2)
	tail, end := spellBack(s, at, most/2)
	return [2]string{head, tail}, end - at
}

// spellUntil spells runes from the start of s as long as they fit, and returns
// the offset behind them.
func spellUntil(s string, most int) (string, int) {
	var b strings.Builder
	last, i := rune(0), 0
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		t := spell(s[i:i+size], last, r, next)
		if b.Len()+len(t) > most {
			break
		}
		b.WriteString(t)
		last = r
		i += size
	}
	return b.String(), i
}

// spellBack finds the longest end of s[from:] that takes at most that many
// bytes when spelled, and returns it and where it begins.
func spellBack(s string, from, most int) (string, int) {
	i, n := len(s), 0
	next := rune(0)
	for i > from {
		r, size := utf8.DecodeLastRuneInString(s[from:i])
		last, _ := utf8.DecodeLastRuneInString(s[from : i-size])
		t := spell(s[i-size:i], last, r, next)
		if n+len(t) > most {
			break
		}
		n += len(t)
		i -= size
		next = r
	}
	return visible(s[i:]), i
}
