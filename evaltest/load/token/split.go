package token

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// A splitter hands the pieces of a text to yield, in order, none of them
// empty.
type splitter interface {
	split(s string, yield func(piece string))
}

// A scanning splitter has pieces where its scanner matches and, unless drop is
// set, between matches.
type scanning struct {
	scan scanner
	drop bool
}

func (p scanning) split(s string, yield func(string)) {
	for s != "" {
		if n := p.scan(s); n > 0 {
			yield(s[:n])
			s = s[n:]
			continue
		}
		end := 0
		for end < len(s) {
			_, n := utf8.DecodeRuneInString(s[end:])
			if end += n; end < len(s) && p.scan(s[end:]) > 0 {
				break
			}
		}
		if !p.drop {
			yield(s[:end])
		}
		s = s[end:]
	}
}

// A matching splitter is for the patterns that no scanner is written for.
type matching struct {
	re   *regexp2.Regexp
	drop bool
}

func (p matching) split(s string, yield func(string)) {
	at, runes := 0, 0 // the same place in bytes and, as regexp2 counts, in runes
	move := func(to int) string {
		from := at
		for ; runes < to; runes++ {
			_, n := utf8.DecodeRuneInString(s[at:])
			at += n
		}
		return s[from:at]
	}
	give := func(piece string, drop bool) {
		if piece != "" && !drop {
			yield(piece)
		}
	}
	m, err := p.re.FindStringMatch(s)
	for m != nil && err == nil {
		give(move(m.Index), p.drop)
		give(move(m.Index+m.Length), false)
		m, err = p.re.FindNextMatch(m)
	}
	if err != nil { // the only error is a timeout, and none is set
		panic(fmt.Sprintf("token: pattern %q: %v", p.re.String(), err))
	}
	give(s[at:], p.drop)
}

// A literal splitter has pieces where a string occurs and between.
type literal struct {
	text string
	drop bool
}

func (p literal) split(s string, yield func(string)) {
	for s != "" {
		i := strings.Index(s, p.text)
		if i < 0 {
			i = len(s)
		}
		if i > 0 && !p.drop {
			yield(s[:i])
		}
		if s = s[i:]; s != "" {
			yield(p.text)
			s = s[len(p.text):]
		}
	}
}

// A sequence splits the pieces of each splitter with the next.
type sequence []splitter

func (p sequence) split(s string, yield func(string)) {
	if len(p) == 0 {
		if s != "" {
			yield(s)
		}
		return
	}
	p[0].split(s, func(piece string) { p[1:].split(piece, yield) })
}

// Patterns that have scanners, as they stand in files. A newline may stand
// there raw or escaped.
const (
	gpt2Pattern   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	o200kPattern  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%[1]s` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%[1]s` +
		`|%[2]s| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	contractionPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
	hanPattern         = `[一-龥぀-ゟ゠-ヿ]+`
	deepseekPattern    = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+" +
		`|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// scanners maps a pattern to its scanner.
var scanners = func() map[string]scanner {
	m := map[string]scanner{
		gpt2Pattern:     gpt2,
		hanPattern:      han,
		deepseekPattern: deepseek,
	}
	for n, d := range map[int]string{1: `\p{N}`, 3: `\p{N}{1,3}`} {
		m[d] = func(s string) int { return run(s, 0, number, n) }
		m[fmt.Sprintf(cl100kPattern, d)] = cl100k(n)
		m[fmt.Sprintf(o200kPattern, contractionPattern, d)] = o200k(n, true)
		m[fmt.Sprintf(o200kPattern, "", d)] = o200k(n, false)
	}
	return m
}()

// The libraries match with Oniguruma. These mean something else to regexp2, or
// to Go's Unicode tables: words and their boundaries, hex digits, line breaks,
// clusters, anchors, POSIX classes, intersections, possessive and inline flags.
// Case folding does too, except in the one use that all have of it.
var (
	differs     = regexp.MustCompile(`\\[wWbBhHRXKGAZzON]|\[:|&&|[+*?]\+|\(\?[a-zA-Z-]*[a-zA-Z-]|\(\?<[^=!]|\(\?>`)
	foldedGroup = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
	spelledOut  = "(?:'[sSſ]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
)

// multiline: ^ and $ are at each line in Oniguruma.
const multiline = regexp2.Multiline

func spell(pattern string) string { return strings.ReplaceAll(pattern, foldedGroup, spelledOut) }

// newPattern returns a splitter for a regular expression.
func newPattern(pattern string, drop bool) (splitter, error) {
	needClasses()
	if scan, ok := scanners[strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(pattern)]; ok {
		return scanning{scan, drop}, nil
	}
	spelled := spell(pattern)
	if bad := differs.FindString(spelled); bad != "" {
		return nil, fmt.Errorf("%s would not be matched as in the original", quote(bad))
	}
	re, err := regexp2.Compile(spelled, multiline)
	if err != nil {
		return nil, err
	}
	return matching{re, drop}, nil
}
