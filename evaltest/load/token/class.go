package token

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class says what the patterns of the pre-tokenizers ask of a character.
type class uint8

const (
	letter class = 1 << iota // \p{L}
	number                   // \p{N}
	mark                     // \p{M}
	upper                    // \p{Lu} \p{Lt} \p{Lm} \p{Lo} \p{M}
	lower                    // \p{Ll} \p{Lm} \p{Lo} \p{M}
	space                    // \s: White_Space, more than what GPT-2's authors had in mind, but what all engines take it for
	punct                    // \p{P} \p{S}
)

var classTables = []struct {
	table *unicode.RangeTable
	class class
}{
	{unicode.L, letter}, {unicode.N, number}, {unicode.M, mark | upper | lower},
	{unicode.Lu, upper}, {unicode.Lt, upper}, {unicode.Lm, upper | lower}, {unicode.Lo, upper | lower}, {unicode.Ll, lower},
	{unicode.White_Space, space}, {unicode.P, punct}, {unicode.S, punct},
}

// bmp holds the classes of U+0000 to U+FFFF. It is filled by needClasses,
// which whoever makes a scanner calls.
var bmp [1 << 16]class

var needClasses = sync.OnceFunc(func() {
	for _, t := range classTables {
		for _, r := range t.table.R16 {
			for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
				bmp[c] |= t.class
			}
		}
	}
})

func classOf(r rune) class {
	if r < 1<<16 {
		return bmp[r]
	}
	var c class
	for _, t := range classTables {
		if unicode.Is(t.table, r) {
			c |= t.class
		}
	}
	return c
}

// at returns the class and the length in bytes of the character at s[i:], and
// 0, 0 at the end.
func at(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if s[i] < utf8.RuneSelf {
		return bmp[s[i]], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return classOf(r), n
}

// run returns where the characters of class c that start at s[i:] end, at most
// limit of them; any number if limit is 0.
func run(s string, i int, c class, limit int) int {
	for k := 0; limit == 0 || k < limit; k++ {
		have, n := at(s, i)
		if n == 0 || have&c == 0 {
			break
		}
		i += n
	}
	return i
}

// runNot is run for the characters of no class in c.
func runNot(s string, i int, c class) int {
	for {
		have, n := at(s, i)
		if n == 0 || have&c != 0 {
			return i
		}
		i += n
	}
}
