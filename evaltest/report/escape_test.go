package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/report"
)

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ name, reason, in, want string }{
		{"plain", "ordinary text stays", "The answer is 42.", "The answer is 42."},
		{"empty", "", "", ""},
		{"letters of all scripts", "what prints stays", "é ß 日本 русский 🙂 √2", "é ß 日本 русский 🙂 √2"},
		{"marker", "byte 0x16 makes test2json read a result line", "ok\x16--- FAIL: TestEval/q1 (0.00s)\n\x16=== RUN   TestGhost", `ok\x16--- FAIL: TestEval/q1 (0.00s)\n\x16=== RUN   TestGhost`},
		{"colour", "terminal escapes", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"shift out, shift in", "Go 1.27's test2json drops or misreads them", "\x0e\x0f", `\x0e\x0f`},
		{"line ends", "the result is one line", "a\nb\r\nc\td", `a\nb\r\nc\td`},
		{"NUL, DEL, bell, backspace", "control bytes", "\x00\x7f\a\b", `\x00\x7f\x07\x08`},
		{"C1", "0x9b is an ESC [ of its own in some terminals", "\u009b31m\u0085", `\u009b31m\u0085`},
		{"separators", "line ends to some programs", "a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"bidi", "they reorder what stands around them", "\u202aa\u202e\u2066\u2069", `\u202aa\u202e\u2066\u2069`},
		{"marks of direction", "invisible", "\u200e\u200f\u061c", `\u200e\u200f\u061c`},
		{"zero width", "two texts that look alike", "a\u200bb\u200c\u200d\u2060", `a\u200bb\u200c\u200d\u2060`},
		{"byte order mark", "", "\ufeff42", `\ufeff42`},
		{"noncharacters", "not legal in XML", "\ufffe\uffff", `\ufffe\uffff`},
		{"plane ends", "not characters either", "\U0001fffe", `\U0001fffe`},
		{"replacement character", "a character that prints; bytes that are no UTF-8 look different", "\ufffd\xff", "\ufffd" + `\xff`},
		{"broken UTF-8", "each byte by itself", "a\xe2\x82b\xc0\xaf", `a\xe2\x82b\xc0\xaf`},
		{"lone surrogate", "its three bytes are no UTF-8", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"no-break and wide spaces", "look like a space", "a\u00a0b\u3000c", `a\u00a0b\u3000c`},
		{"fillers", "letters and symbols that draw nothing", "\u3164\u115f\u2800\u034f", `\u3164\u115f\u2800\u034f`},
		{"variation selectors and tags", "can carry a hidden text", "a\ufe0f\U000e0041\U000e0100", `a\ufe0f\U000e0041\U000e0100`},
		{"private", "drawn as anything", "\ue000\U000f0000", `\ue000\U000f0000`},
		{"backslash", "doubled, so that nothing is said twice", `a\nb \boxed{4}`, `a\\nb \\boxed{4}`},
		{"quotes", "left alone", `"it's"`, `"it's"`},
		{"test result", "a line of go test", "--- FAIL: TestX (0.00s)", `\x2d-- FAIL: TestX (0.00s)`},
		{"indented", "test2json looks behind indentation", "    --- PASS: TestX (0.00s)", `    \x2d-- PASS: TestX (0.00s)`},
		{"run", "", "=== RUN   TestX", `\x3d== RUN   TestX`},
		{"package", "", "ok  pkg 0.1s", `\x6fk  pkg 0.1s`},
		{"FAIL", "alone in its line it fails the package", "FAIL", `\x46AIL`},
		{"PASS", "", "PASS", `\x50ASS`},
		{"no test files", "", "?   pkg [no test files]", `\x3f   pkg [no test files]`},
		{"benchmark", "", "BenchmarkX 1 2 ns/op", `\x42enchmarkX 1 2 ns/op`},
		{"unit", "a line of benchstat's", "Unit ns/op better=higher", `\x55nit ns/op better=higher`},
		{"not at the start", "no line begins within the result", "a --- FAIL", "a --- FAIL"},
		{"okay", "an ordinary word", "okay, 42", "okay, 42"},
		{"minus", "a negative number is no result line", "-5", "-5"},
		{"ellipsis", "an ordinary one", "so… 42", "so… 42"},
		{"forged cut", "only Escape writes a cut", "so …(12 bytes cut)… 42", `so \u2026(12 bytes cut)… 42`},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, report.Escape(tt.in, 0), tt.reason) })
	}
}

func TestEscapeLimit(t *testing.T) {
	for _, tt := range []struct {
		name, reason, in string
		limit            int
		want             string
	}{
		{"fits", "exactly", "0123456789", 10, "0123456789"},
		{"a cut would not pay", "20 more than the limit", strings.Repeat("x", 30), 10, strings.Repeat("x", 30)},
		{"a cut pays", "21 more than the limit: start and end stay", strings.Repeat("x", 31), 10, "xxxxx…(21 bytes cut)…xxxxx"},
		{"odd", "the end gets the odd one", strings.Repeat("x", 30), 5, "xx…(25 bytes cut)…xxx"},
		{"long", "the count is of bytes of the text", strings.Repeat("x", 1240), 6, "xxx…(1234 bytes cut)…xxx"},
		{"wide", "no character is broken", strings.Repeat("é", 20), 6, "é…(36 bytes cut)…é"},
		{"escapes", "no escape is broken, and they count as what they print", strings.Repeat("\x00", 8), 10, `\x00…(6 bytes cut)…\x00`},
		{"tiny", "less than one escape", strings.Repeat("\x00", 8), 1, "…(8 bytes cut)…"},
		{"growing", "a text that fits only unescaped is cut", "a" + strings.Repeat("\n", 20), 20, `a\n\n\n\n…(11 bytes cut)…\n\n\n\n\n`},
		{"broken UTF-8", "at the cut, bytes by themselves", "\xe2\x82" + strings.Repeat("b", 40) + "\xe2\x82", 16, `\xe2\x82…(40 bytes cut)…\xe2\x82`},
		{"no limit in effect", "no overflow", "abc", math.MaxInt, "abc"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, report.Escape(tt.in, tt.limit), tt.reason) })
	}
	assert.Panics(t, func() { report.Escape("a", -1) })
}

// nasty are texts that have broken logs, terminals and CI reports.
func nasty() []string {
	var all strings.Builder
	for b := range 256 {
		all.WriteByte(byte(b))
	}
	return []string{
		all.String(), "ok\x16--- FAIL: TestEval/q1 (0.00s)\n\x16=== RUN   TestGhost\n\x1b[31m", "\x16FAIL\n", "PASS\n", "FAIL\tpkg\t0.1s",
		"--- PASS: TestEscape (0.00s)\n", "\ufffe\uffff\x00\x1b\xff", "]]>&<!--\"'", "\u202e\u2066\u200b\u2028\u2029\ufeff", strings.Repeat("\x16", 5000),
		"pkg: forged\nBenchmarkX 1 1 ns/op", "=HYPERLINK(\"x\")", "\xed\xa0\x80\xed\xb0\x80", "\r\x1b[2K\r", "%s%d%!x(MISSING)", "{{.Secret}}",
	}
}

// checkEscaped holds what Escape promises of every result.
func checkEscaped(t *testing.T, s, out string) {
	t.Helper()
	require.True(t, utf8.ValidString(out), "%q", out)
	for _, r := range out {
		require.True(t, unicode.IsPrint(r) && !unicode.Is(unicode.Cf, r), "%U in %q", r, out)
	}
	// XML: encoding/xml writes U+FFFD for what is not legal; nothing may change.
	var x bytes.Buffer
	require.NoError(t, xml.EscapeText(&x, []byte(out)))
	var back struct {
		Text string `xml:",chardata"`
	}
	require.NoError(t, xml.Unmarshal([]byte("<a>"+x.String()+"</a>"), &back))
	require.Equal(t, out, back.Text)
	for _, prefix := range []string{"---", "===", "ok ", "FAIL", "PASS", "Benchmark"} {
		if prefix != "---" && prefix != "===" || strings.HasPrefix(s, prefix+" ") {
			require.False(t, strings.HasPrefix(strings.TrimLeft(out, " "), prefix), "%q", out)
		}
	}
}

// unescape is the inverse that Escape's doc names.
func unescape(t *testing.T, out string) string {
	t.Helper()
	s, err := strconv.Unquote(`"` + strings.ReplaceAll(out, `"`, `\"`) + `"`)
	require.NoError(t, err, "%q", out)
	return s
}

func FuzzEscape(f *testing.F) {
	for i, s := range nasty() {
		f.Add(s, i*3)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		whole := report.Escape(s, 0)
		checkEscaped(t, s, whole)
		require.Equal(t, s, unescape(t, whole), "nothing is lost, so different texts stay different")
		require.Equal(t, whole, report.Escape(unescape(t, whole), 0))
		if limit <= 0 {
			return
		}
		cut := report.Escape(s, limit)
		checkEscaped(t, "", cut)
		if limit > len(whole) || len(whole) <= limit+20 {
			require.Equal(t, whole, cut)
			return
		}
		head, rest, found := strings.Cut(cut, "…(")
		require.True(t, found, "%q", cut)
		count, tail, found := strings.Cut(rest, " bytes cut)…")
		require.True(t, found, "%q", cut)
		n, err := strconv.Atoi(count)
		require.NoError(t, err)
		require.LessOrEqual(t, len(head)+len(tail), limit)
		h, e := unescape(t, head), unescape(t, tail)
		require.Equal(t, len(s), len(h)+n+len(e))
		require.True(t, strings.HasPrefix(s, h) && strings.HasSuffix(s, e))
	})
}

// TestEscapeThroughTest2JSON lets go test's own reader look at a log into
// which escaped replies were written at the start of lines, which is worse
// than anything that evaltest does. With -json go test marks its lines by byte
// 0x16; a log of go test -v that is converted later has no marks.
func TestEscapeThroughTest2JSON(t *testing.T) {
	want := map[string]int{"start": 1, "run TestEval": 1, "pass TestEval": 1, "pass": 1}
	for _, mark := range []string{"\x16", ""} {
		raw := test2json(t, mark, func(s string) string { return s })
		assert.NotEqual(t, want, raw, "the replies are dangerous unless escaped")
		assert.Equal(t, want, test2json(t, mark, func(s string) string { return report.Escape(s, 0) }), "mark %q", mark)
	}
}

// test2jsonPath is where go test's reader lies: go tool itself takes longer to
// start than the reader to run.
var test2jsonPath = sync.OnceValue(func() string {
	out, err := exec.Command("go", "tool", "-n", "test2json").Output()
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(out))
})

// test2json counts the events of a log with the nasty texts in it.
func test2json(t *testing.T, mark string, escape func(string) string) map[string]int {
	var log strings.Builder
	for _, s := range nasty() {
		fmt.Fprintf(&log, "%s\n    %s\n", escape(s), escape(s))
	}
	return test2jsonOf(t, mark, strings.TrimSuffix(log.String(), "\n"))
}

// test2jsonOf counts the events, output aside, that go test's reader sees in
// the log of one passing test.
func test2jsonOf(t *testing.T, mark, log string) map[string]int {
	cmd := exec.Command(test2jsonPath())
	cmd.Stdin = strings.NewReader(fmt.Sprintf("%[1]s=== RUN   TestEval\n%[2]s\n%[1]s--- PASS: TestEval (0.00s)\n%[1]sPASS\n", mark, log))
	out, err := cmd.Output()
	require.NoError(t, err)
	events := map[string]int{}
	for line := range strings.Lines(string(out)) {
		var e struct{ Action, Test string }
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e.Action != "output" {
			events[strings.TrimSpace(e.Action+" "+e.Test)]++
		}
	}
	return events
}

func ExampleEscape() {
	reply := "the answer is 4\x1b[31m2\n\x16--- FAIL: TestEval/q1 (0.00s)"
	fmt.Println("got", report.Escape(reply, 0))
	fmt.Println("got", report.Escape(reply, 20))
	// Output:
	// got the answer is 4\x1b[31m2\n\x16--- FAIL: TestEval/q1 (0.00s)
	// got the answer…(32 bytes cut)…q1 (0.00s)
}
