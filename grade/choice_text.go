package grade

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An optionText is an option's text in the two forms in which it is compared.
// The loose one is asked only if no option has the strict one.
type optionText struct {
	strict string // as targetKey has it
	loose  string // as looseKey has it
}

// newOptionText makes both forms of one option.
func newOptionText(s string) optionText {
	return optionText{targetKey(s, false), looseKey(s)}
}

var (
	texCommand = regexp.MustCompile(`\\(?:left|right|displaystyle|,|;|!| )|\\([a-z]{2,}|[%&#_$])`)
	texFrac    = regexp.MustCompile(`\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}`)
	texScript  = regexp.MustCompile(`([\^_])\{([A-Za-z0-9]+)\}`)
	thousands  = regexp.MustCompile(`(\d),(\d{3})\b`)
)

// looseKey is a text without what may differ between a dataset's text and a
// model's: math markup, commas in numbers, spaces beside signs, and an article
// in front.
func looseKey(s string) string {
	s = texFrac.ReplaceAllString(s, "$1/$2")
	s = undress(s)
	s = texScript.ReplaceAllString(s, "$1$2")
	s = texCommand.ReplaceAllString(s, "$1")
	s = thousands.ReplaceAllString(normal(s, false), "$1$2")
	s = targetKey(spacesBesideSigns(s), false)
	for _, article := range []string{"the ", "an "} { // "a" may be a letter
		s = strings.TrimPrefix(s, article)
	}
	return s
}

// spacesBesideSigns drops spaces that stand beside anything but a letter or a
// digit: "n = 5" is "n=5".
func spacesBesideSigns(s string) string {
	if !strings.Contains(s, " ") {
		return s
	}
	var b strings.Builder
	before := rune(-1)
	for i, r := range s {
		if r == ' ' {
			next, _ := utf8.DecodeRuneInString(s[i+1:])
			if !isWordRune(before) && !unicode.IsPunct(before) || !isWordRune(next) && !unicode.IsPunct(next) {
				continue
			}
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// withText returns the options whose text is s.
func (o choiceOptions) withText(s string) choiceSet {
	if len(o.texts) == 0 || s == "" || len(s) > o.longest {
		return 0
	}
	if set := o.withKey(normal(s, false), func(t optionText) string { return t.strict }); set != 0 {
		return set
	}
	return o.withKey(looseKey(s), func(t optionText) string { return t.loose })
}

// withKey returns the options whose key is norm, or norm without some of the
// wrapping around it.
func (o choiceOptions) withKey(norm string, key func(optionText) string) choiceSet {
	var set choiceSet
	layers(norm, func(layer string) bool {
		for i, t := range o.texts {
			if key(t) == layer {
				set |= 1 << i
			}
		}
		return set == 0
	})
	return set
}

// textAt returns how many bytes at the start of s are the text of option i,
// or 0.
func (o choiceOptions) textAt(s string, i int) int {
	if i >= len(o.texts) || o.texts[i].strict == "" {
		return 0
	}
	key := o.texts[i].strict
	if s == "" || isASCIIWord(s[0]) && isASCIIWord(key[0]) && s[0]|0x20 != key[0]|0x20 {
		return 0 // most, without making s normal
	}
	s = s[:min(len(s), 4*len(key)+64)]
	norm := normal(s, false)
	if !strings.HasPrefix(norm, key) || !endsWord(norm, len(key)) {
		return 0
	}
	// The normal form grows with the text: find where it reaches the key.
	low, high := 0, len(s)
	for low < high {
		mid := (low + high) / 2
		if len(normal(s[:mid], false)) < len(key) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

func isASCIIWord(c byte) bool { return isASCIILetter(c) || '0' <= c && c <= '9' }

// atStart returns the option whose text s begins with, and its length; the
// longest of several.
func (o choiceOptions) atStart(s string) (index, n int) {
	for i := range o.texts {
		if k := o.textAt(s, i); k > n {
			index, n = i, k
		}
	}
	return index, n
}

// behindText returns what follows the text of option i at the start of s, or
// "" if s does not begin with it.
func (o choiceOptions) behindText(s string, i int) string {
	s = strings.TrimLeft(s, "=: ")
	if n := o.textAt(s, i); n > 0 {
		return strings.TrimLeft(s[n:], " \t")
	}
	return ""
}

// mayName reports whether s may hold the text of an option: it is cheaper to
// ask once than to compare every part of s.
func (o choiceOptions) mayName(s string) bool {
	if len(o.texts) == 0 {
		return false
	}
	norm, loose := normal(s, false), looseKey(s)
	for _, t := range o.texts {
		if strings.Contains(norm, t.strict) || strings.Contains(loose, t.loose) {
			return true
		}
	}
	return false
}

// named returns the options whose texts stand anywhere in norm, which is
// normal, as words of their own.
func (o choiceOptions) named(norm string) choiceSet {
	var set choiceSet
	for i, t := range o.texts {
		if t.strict != "" && holds(norm, t.strict, false) {
			set |= 1 << i
		}
	}
	return set
}
