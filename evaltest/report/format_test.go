package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestShellQuote(t *testing.T) {
	for _, tt := range []struct {
		name, reason, in string
		windows          bool
		want             string
	}{
		{"plain", "nothing to quote", "/home/u/a-b_c.jsonl.gz", false, "/home/u/a-b_c.jsonl.gz"},
		{"space", "", "/home/u/a b", false, "'/home/u/a b'"},
		{"quote", "ends the quotes", "it's", false, `'it'\''s'`},
		{"dollar", "would be replaced", "$(rm -rf x)", false, "'$(rm -rf x)'"},
		{"tilde", "would be a home folder", "~/x", false, "'~/x'"},
		{"backslash", "would vanish", `a\b`, false, `'a\b'`},
		{"letters", "", "/home/ü/日本", false, "/home/ü/日本"},
		{"line feed", "cannot be pasted", "a\nb", false, `a\nb`},
		{"no UTF-8", "cannot be pasted", "a\xff", false, `a\xff`},
		{"Windows", "a path as it is there", `C:\Users\u\a.jsonl`, true, `C:\Users\u\a.jsonl`},
		{"Windows, space", "", `C:\my runs\a`, true, `"C:\my runs\a"`},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, shellQuote(tt.in, tt.windows), tt.reason) })
	}
}

func TestCommand(t *testing.T) {
	assert.Equal(t, `go test -run 'TestX/^a\.b$' .`, command(`go test -run 'TestX/^a\.b$' .`), "pasted, it selects the item")
	assert.Equal(t, `go \x16test\\`, command("go \x16test\\"), "escaped whole")
}

func TestDuration(t *testing.T) {
	for _, tt := range []struct {
		in   time.Duration
		want string
	}{
		{0, "0s"}, {999, "999ns"}, {12_345, "12.345µs"}, {1_234_567, "1.23ms"}, {12_345_678, "12.3ms"}, {123_456_789, "123ms"},
		{999_999_999, "1s"}, {1_234_567_890, "1.23s"}, {12_345_678_901, "12.3s"}, {80*time.Second + 1, "1m20s"}, {26 * time.Hour, "26h0m0s"},
	} {
		assert.Equal(t, tt.want, duration(tt.in))
	}
}

func TestRate(t *testing.T) {
	for in, want := range map[float64]string{0.0123: "0.0123", 1.944: "1.94", 12.34: "12.3", 999.4: "999", 999.6: "1,000", 500_000.4: "500,000", 1e30: "1e+30"} {
		assert.Equal(t, want, rate(in))
	}
}

func TestThousands(t *testing.T) {
	for in, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -999: "-999"} {
		assert.Equal(t, want, thousands(in))
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name, reason, in string
		limit            int
		want             []string
	}{
		{"fits", "", "a b c", 5, []string{"a b c"}},
		{"spaces", "at the last that fits", "aaa bbb ccc", 7, []string{"aaa bbb", "ccc"}},
		{"long word", "within", "aaaaaaaa bb", 5, []string{"aaaaa", "aaa", "bb"}},
		{"wide", "two columns each", "日本語日本語", 6, []string{"日本語", "日本語"}},
		{"marks", "no column of their own", "e\u0301e\u0301e\u0301", 3, []string{"e\u0301e\u0301e\u0301"}},
		{"forgery", "no line begins like a result: rather a word is broken and a line too long", "aaa --- FAIL: x", 7, []string{"aaa --- F", "AIL: x"}},
		{"empty", "", "", 5, []string{""}},
		{"spaces only", "", "        ", 5, []string{"        "}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, wrap(tt.in, tt.limit), tt.reason) })
	}
}
