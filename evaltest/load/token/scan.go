package token

import "strings"

// A scanner returns the length in bytes of the first piece of a text that is
// not empty, or 0 if its pattern does not match there.
//
// The scanners below are the patterns of the common pre-tokenizers written
// out: they are ten times as fast as a backtracking matcher, and Go's own
// regexp has no lookahead. All are tested against the real libraries.
type scanner func(s string) int

// newline reports whether b is one of [\r\n].
func newline(b byte) bool { return b == '\r' || b == '\n' }

// contraction is the length of 's|'t|'re|'ve|'m|'ll|'d at s[i:], or 0; fold is
// (?i:…), which also takes U+017F for an s.
func contraction(s string, i int, fold bool) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return 0
	}
	low := func(b byte) byte {
		if fold && b >= 'A' && b <= 'Z' {
			b |= 0x20
		}
		return b
	}
	a, b := low(s[i+1]), byte(0)
	if i+2 < len(s) {
		b = low(s[i+2])
	}
	switch {
	case a == 's' || a == 't' || a == 'm' || a == 'd':
		return 2
	case a == 'r' && b == 'e' || a == 'v' && b == 'e' || a == 'l' && b == 'l':
		return 3
	case fold && strings.HasPrefix(s[i+1:], "ſ"):
		return 1 + len("ſ")
	}
	return 0
}

// spaces is \s+(?!\S)|\s+ and, with lines, \s*[\r\n]+ before it. s begins with
// a space.
func spaces(s string, lines bool) int {
	end, last, line := 0, 0, 0 // of the run; where its last character starts; behind its last newline
	for end < len(s) {
		c, n := at(s, end)
		if c&space == 0 {
			break
		}
		if last = end; newline(s[end]) {
			line = end + n
		}
		end += n
	}
	switch {
	case lines && line > 0:
		return line
	case end == len(s) || last == 0:
		return end
	}
	return last // the last space belongs to what follows
}

// symbols is ` ?[^\s\p{L}\p{N}]+` and as many of the bytes in tail as follow,
// or 0.
func symbols(s string, tail string) int {
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	end := runNot(s, i, space|letter|number)
	if end == i {
		return 0
	}
	for end < len(s) && strings.IndexByte(tail, s[end]) >= 0 {
		end++
	}
	return end
}

// gpt2 is the pattern of GPT-2, r50k_base and p50k_base, which Hugging Face's
// ByteLevel has built in.
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gpt2(s string) int {
	if n := contraction(s, 0, false); n > 0 {
		return n
	}
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	switch c, n := at(s, i); {
	case n == 0 || c&space != 0:
		return spaces(s, false)
	case c&letter != 0:
		return run(s, i, letter, 0)
	case c&number != 0:
		return run(s, i, number, 0)
	default:
		return runNot(s, i, space|letter|number)
	}
}

// cl100k is the pattern of cl100k_base (digits 3), Llama 3 (3) and Qwen (1).
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func cl100k(digits int) scanner {
	return func(s string) int {
		c, n := at(s, 0)
		if c&letter != 0 {
			return run(s, n, letter, 0)
		}
		if c&number != 0 {
			return run(s, 0, number, digits)
		}
		if k := contraction(s, 0, true); k > 0 {
			return k
		}
		if !newline(s[0]) {
			if after, _ := at(s, n); after&letter != 0 {
				return run(s, n, letter, 0)
			}
		}
		if k := symbols(s, "\r\n"); k > 0 {
			return k
		}
		return spaces(s, true)
	}
}

// o200k is the pattern of o200k_base and gpt-oss (digits 3, with contractions)
// and of Mistral's Tekken (1, without).
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
func o200k(digits int, contractions bool) scanner {
	return func(s string) int {
		c, n := at(s, 0)
		if end := cased(s, c, n); end > 0 {
			if contractions {
				end += contraction(s, end, true)
			}
			return end
		}
		if c&number != 0 {
			return run(s, 0, number, digits)
		}
		if k := symbols(s, "\r\n/"); k > 0 {
			return k
		}
		return spaces(s, true)
	}
}

// cased is the first two alternatives of o200k without their contractions. c
// and n are of the first character.
func cased(s string, c class, n int) int {
	prefix := 0
	if c&(letter|number) == 0 && !newline(s[0]) {
		prefix = n
	}
	// The optional prefix is greedy and can be a mark, which is a letter here
	// too: each alternative is tried with it and then without.
	if end := word(s, prefix); end > 0 {
		return end
	}
	if prefix > 0 {
		if end := word(s, 0); end > 0 {
			return end
		}
	}
	if end := run(s, prefix, upper, 0); end > prefix {
		return run(s, end, lower, 0)
	}
	if end := run(s, 0, upper, 0); end > 0 {
		return run(s, end, lower, 0)
	}
	return 0
}

// word is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+ at s[i:]:
// where it ends, or 0.
func word(s string, i int) int {
	back := 0 // behind the last character of the upper run that is of both classes
	for {
		c, n := at(s, i)
		if n == 0 || c&upper == 0 {
			break
		}
		if i += n; c&lower != 0 {
			back = i
		}
	}
	if end := run(s, i, lower, 0); end > i {
		return end
	}
	return back
}

// DeepSeek's three patterns, one after the other.

// han is [一-龥぀-ゟ゠-ヿ]+.
func han(s string) int {
	for i, r := range s {
		if (r < '一' || r > '龥') && (r < 0x3040 || r > 0x30ff) {
			return i
		}
	}
	return len(s)
}

// deepseek is DeepSeek's third pattern. Digits and control characters that no
// letter follows match nothing.
//
//	[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func deepseek(s string) int {
	c, n := at(s, 0)
	if s[0] < 0x80 && c&punct != 0 {
		i := 1
		for i < len(s) && s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' {
			i++
		}
		if i > 1 {
			return i
		}
	}
	if c&(letter|punct) == 0 && !newline(s[0]) {
		if end := run(s, n, letter|mark, 0); end > n {
			return end
		}
	}
	if c&(letter|mark) != 0 {
		return run(s, n, letter|mark, 0)
	}
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	if end := run(s, i, punct, 0); end > i {
		for end < len(s) && newline(s[end]) {
			end++
		}
		return end
	}
	if c&space != 0 {
		return spaces(s, true)
	}
	return 0
}
