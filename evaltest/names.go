package evaltest

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A subtest's name is made from the item's id by an escaping of our own,
// because testing's is not injective: it turns every kind of space into '_'
// and then tells equal names apart by "#01" in the order in which they happen
// to arrive. Ours leaves nothing for testing to rewrite, so
// -run '^TestX$/^name$' finds exactly one item, the same in every run.
const (
	// hashAbove is the length in bytes above which an escaped id is cut and
	// ended by a hash. With a sample's suffix a name stays within 120 bytes.
	hashAbove = 105
	// keepBefore is how much of a long id stays readable.
	keepBefore = 80
	// hashHex is the length of the hash in hexadecimal digits (96 bits).
	hashHex = 24
)

// looksHashed matches names that end like hashed ones: an id that reads so by
// itself is hashed too, so that no short id meets a long one's name.
var looksHashed = regexp.MustCompile(`~[0-9a-f]{24}$`)

// looksSampled matches names that end like a sample's.
var looksSampled = regexp.MustCompile(`~s[0-9]+$`)

// subtestName returns the name of the k-th sample of the item with this id.
// Sample 0 has the item's own name, sample k ends in "~sk"; so a name does not
// depend on how many samples are asked for.
func subtestName(id string, sample int) string {
	name := escapeID(id)
	marked := strings.IndexByte(name, '~') >= 0 // most are not: a pattern costs more than all else here
	if len(name) > hashAbove || marked && looksHashed.MatchString(name) {
		sum := sha256.Sum256([]byte(id))
		name = cutEscaped(name, keepBefore) + "~" + hex.EncodeToString(sum[:])[:hashHex]
	} else if marked {
		if at := looksSampled.FindStringIndex(name); at != nil {
			name = name[:at[0]] + "%7E" + name[at[0]+1:]
		}
	}
	if sample > 0 {
		name += "~s" + strconv.Itoa(sample)
	}
	return name
}

// escapeID keeps letters, digits, -_.:=,@+~ and printable characters beyond
// ASCII and writes every other byte as %XX.
func escapeID(id string) string {
	plain := true
	for i := 0; i < len(id) && plain; i++ {
		plain = plainByte(id[i])
	}
	if plain && id != "" {
		return id
	}
	if id == "" {
		return "%" // no other id gives a bare %
	}
	var b strings.Builder
	for i := 0; i < len(id); {
		r, n := utf8.DecodeRuneInString(id[i:])
		switch {
		case r < utf8.RuneSelf && plainByte(id[i]):
			b.WriteByte(id[i])
		case r >= utf8.RuneSelf && (r != utf8.RuneError || n > 1) && strconv.IsPrint(r):
			b.WriteString(id[i : i+n])
		default:
			for _, c := range []byte(id[i : i+n]) {
				const digits = "0123456789ABCDEF"
				b.WriteByte('%')
				b.WriteByte(digits[c>>4])
				b.WriteByte(digits[c&15])
			}
		}
		i += n
	}
	return b.String()
}

func plainByte(c byte) bool {
	switch {
	case '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z':
		return true
	}
	return strings.IndexByte("-_.:=,@+~", c) >= 0
}

// cutEscaped cuts an escaped id to at most n bytes, between characters and not
// within a %XX.
func cutEscaped(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	if i := strings.LastIndexByte(s[:n], '%'); i >= 0 && i > n-3 {
		n = i
	}
	return s[:n]
}

// runPattern returns the -run argument that selects one subtest, quoted for a
// POSIX shell: '^TestX$/^name$'.
func runPattern(test, name string) string { return pattern(append(strings.Split(test, "/"), name)) }

// testPattern returns the -run argument that selects one test whole.
func testPattern(test string) string { return pattern(strings.Split(test, "/")) }

func pattern(elems []string) string {
	for i, e := range elems {
		elems[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return shellQuote(strings.Join(elems, "/"))
}

// shellQuote puts s in single quotes.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// shellQuoteIfNeeded leaves plain words as they are.
func shellQuoteIfNeeded(s string) string {
	for i := range len(s) {
		if !plainByte(s[i]) && s[i] != '/' || s[i] == '~' {
			return shellQuote(s)
		}
	}
	return s
}

// printable replaces what testing would rewrite in a name.
func printable(r rune) rune {
	if !strconv.IsPrint(r) || isTestingSpace(r) {
		return '_'
	}
	return r
}
