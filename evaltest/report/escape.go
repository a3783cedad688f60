package report

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes untrusted text (of models, judges, servers, datasets) fit for
// a log or a terminal. The result is one line of printable characters, all of
// them legal in XML 1.0. The rest is written as in a Go string literal:
//
//   - line feed, carriage return and tab as \n, \r, \t; a backslash as \\
//   - other control bytes (0x16, ESC, NUL, DEL) and bytes that are no UTF-8 as \xNN
//   - other characters that do not print as \uNNNN or \UNNNNNNNN: C1 controls,
//     line and paragraph separators, bidirectional controls, zero-width and
//     other invisible characters, spaces but the ASCII one, the byte order
//     mark, U+FFFE and U+FFFF, private and unassigned characters
//   - the first character that is not a space as \xNN if the text would
//     otherwise read as a line that go test or a benchmark prints at its
//     start: "--- FAIL", "=== RUN", "ok ", "FAIL", "PASS", "Benchmark…", "Unit "
//   - an ellipsis before "(" as \u2026: only Escape itself writes "…("
//
// Different texts have different results (with quotes escaped and put around,
// strconv.Unquote gives the text back), so Escape is not idempotent: escape
// once, where the text is written.
//
// Of an escaped text of more than limit+20 bytes at most limit are kept, half
// from the start and half from the end, with "…(1234 bytes cut)…" between
// them, which counts the bytes of s that are not shown. (To cut less would
// make the text longer.) 0 is no limit. A cut result no longer tells texts
// apart. Escape panics on a negative limit.
//
// What is left to the caller: a result must not stand at the start of a line
// of benchmark output, where "key: value" is a configuration line, so put a
// label before it; and a CSV writer must disarm cells that begin with =, +, -
// or @. They are ordinary answers here.
func Escape(s string, limit int) string {
	if limit < 0 {
		panic(fmt.Sprintf("report.Escape: limit %d is negative; 0 is no limit", limit))
	}
	return escape(s, limit, forges(s))
}

// inline is Escape for text that stands behind something else in its line: it
// cannot read as a line of go test, so "PASS" and "BenchmarkX" stay as they
// are. Where a paragraph is broken, wrap sees to that.
func inline(s string, limit int) string { return escape(s, limit, -1) }

// visible is inline for a text of this library, in which what comes from outside
// is quoted already: its backslashes stay as they are, lest a \x1b read \\x1b.
func visible(s string) string {
	parts := strings.Split(s, `\`)
	for i, part := range parts {
		parts[i] = inline(part, 0)
	}
	return strings.Join(parts, `\`)
}

// escape escapes s, the character at armed although it may print.
func escape(s string, limit, armed int) string {
	var b strings.Builder
	if limit == 0 || limit > math.MaxInt-cutMark {
		escapeHead(&b, s, math.MaxInt, armed)
		return b.String()
	}
	if n := escapeHead(&b, s, limit+cutMark, armed); n == len(s) {
		return b.String()
	}
	b.Reset()
	head := escapeHead(&b, s, limit/2, armed)
	tail := tailStart(s, head, limit-limit/2)
	fmt.Fprintf(&b, "…(%d bytes cut)…", tail-head)
	escapeHead(&b, s[tail:], math.MaxInt, -1)
	return b.String()
}

// cutMark is about how long the mark of a cut is.
const cutMark = 20

// escapeHead writes the escaped characters of s that fit into limit bytes and
// returns how many bytes of s they are. The byte at armed is escaped although
// it prints.
func escapeHead(b *strings.Builder, s string, limit, armed int) int {
	var buf [10]byte
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		e := appendEscaped(buf[:0], s[i:], r, size, i == armed)
		if len(e) > limit {
			return i
		}
		limit -= len(e)
		b.Write(e)
		i += size
	}
	return len(s)
}

// tailStart is where the longest end of s begins that fits into limit bytes
// when escaped, but not before from.
func tailStart(s string, from, limit int) int {
	var buf [10]byte
	i := len(s)
	for i > from {
		r, size := utf8.DecodeLastRuneInString(s[from:i])
		limit -= len(appendEscaped(buf[:0], s[i-size:], r, size, false))
		if limit < 0 {
			break
		}
		i -= size
	}
	return i
}

const hex = "0123456789abcdef"

// appendEscaped appends the character r, the first size bytes of s.
func appendEscaped(b []byte, s string, r rune, size int, armed bool) []byte {
	switch {
	case r == '\\':
		return append(b, `\\`...)
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case r < ' ' || r == 0x7f || armed || r == utf8.RuneError && size == 1:
		return append(b, '\\', 'x', hex[s[0]>>4], hex[s[0]&15])
	case prints(r) && !(r == '…' && strings.HasPrefix(s[size:], "(")):
		return append(b, s[:size]...)
	case r > 0xffff:
		b = append(b, '\\', 'U')
		return appendHex(b, r, 28)
	}
	b = append(b, '\\', 'u')
	return appendHex(b, r, 12)
}

func appendHex(b []byte, r rune, shift int) []byte {
	for ; shift >= 0; shift -= 4 {
		b = append(b, hex[r>>shift&15])
	}
	return b
}

// prints reports whether r can be seen. unicode.IsPrint excludes controls,
// formats, separators, private and unassigned characters, among them all that
// XML excludes; but some marks, letters and symbols draw nothing either.
func prints(r rune) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r <= '~'
	}
	return unicode.IsPrint(r) && r != '\u2800' && // the empty braille pattern
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && // fillers, grapheme joiner
		!unicode.Is(unicode.Variation_Selector, r)
}

// forgeries are what go test, gotestsum, go-junit-report and benchstat look
// for at the start of a line, behind any indentation. What needs a tab
// ("FAIL\tpackage") is covered by its first word.
var forgeries = []string{"--- ", "=== ", "ok ", "? ", "FAIL", "PASS", "SKIP", "panic: ", "exit status ", "Benchmark", "Unit "}

// forges returns the index of the character that must be escaped lest s reads
// as a line of go test, -1 if none.
func forges(s string) int {
	text := strings.TrimLeft(s, " ")
	for _, f := range forgeries {
		if strings.HasPrefix(text, f) {
			return len(s) - len(text)
		}
	}
	return -1
}
