package evaltest

import (
	"flag"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSubtestName(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, row := range []struct {
		name, reason, id string
		sample           int
		want             string
	}{
		{"plain", "the usual id stays as it is", "gsm8k-0042", 0, "gsm8k-0042"},
		{"kept punctuation", "none of these means anything to testing", "a_b.c:d=e,f@g+h~i", 0, "a_b.c:d=e,f@g+h~i"},
		{"space", "testing would write _ and collide with a_b", "a b", 0, "a%20b"},
		{"tab and newline", "the same, and a newline would break the log", "a\tb\n", 0, "a%09b%0A"},
		{"slash", "-run TestX/^a$ would also run a/b", "a/b", 0, "a%2Fb"},
		{"percent", "the escape must escape itself", "100%", 0, "100%25"},
		{"hash", "testing's own mark for repeated names", "dup#01", 0, "dup%2301"},
		{"beyond ASCII", "readable where it is printable", "größe-漢字", 0, "größe-漢字"},
		{"line separator", "not printable", "a\u2028b", 0, "a%E2%80%A8b"},
		{"no-break space", "white space to testing", "a\u00a0b", 0, "a%C2%A0b"},
		{"bidi override", "would reorder the line on the screen", "a\u202eb", 0, "a%E2%80%AEb"},
		{"invalid UTF-8", "byte by byte", "a\xff", 0, "a%FF"},
		{"replacement character", "differs from an invalid byte", "a\ufffd", 0, "a\ufffd"},
		{"marker byte", "0x16 forges events in go test -json", "a\x16b", 0, "a%16b"},
		{"empty", "testing would call it #00", "", 0, "%"},
		{"sample 0", "same name whatever the number of samples", "q", 0, "q"},
		{"sample 2", "one subtest a sample", "q", 2, "q~s2"},
		{"id like a sample", "must not meet sample 2 of q", "q~s2", 0, "q%7Es2"},
		{"sample of an id like a sample", "", "q~s2", 2, "q%7Es2~s2"},
		{"long", "at most 120 bytes", long, 0, strings.Repeat("x", 80) + "~aa20c23e3201834050679e1d"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, subtestName(row.id, row.sample), row.reason)
		})
	}
}

func TestSubtestNameOfLookalikes(t *testing.T) {
	long := strings.Repeat("x", 200)
	first := subtestName(long, 0)
	assert.NotEqual(t, first, subtestName(first, 0), "an id equal to a long id's name is hashed again")
	a, b := strings.Repeat("é", 100), strings.Repeat("\x01", 100)
	for _, id := range []string{a, b, "y" + a, "y" + b, "yy" + b} {
		name := subtestName(id, 1234567890)
		assert.LessOrEqual(t, len(name), 120)
		assert.True(t, utf8.ValidString(name), "cut between characters: %q", name)
	}
}

func TestRunPattern(t *testing.T) {
	assert.Equal(t, `'^TestX$/^gsm8k-0042$'`, runPattern("TestX", "gsm8k-0042"))
	assert.Equal(t, `'^TestX$/^it'\''s$/^a\.b\+c$'`, runPattern("TestX/it's", "a.b+c"), "quoted for regexp and shell")
}

// FuzzSubtestName: two ids have two names, and testing leaves a name alone.
func FuzzSubtestName(f *testing.F) {
	for _, s := range [][2]string{
		{"a", "b"}, {"a b", "a_b"}, {"a%20b", "a b"}, {"q~s2", "q"}, {"dup#01", "dup"}, {"", "%"}, {"\xff", "\ufffd"},
		{strings.Repeat("x", 120), strings.Repeat("x", 121)}, {subtestName(strings.Repeat("x", 200), 0), strings.Repeat("x", 200)},
	} {
		f.Add(s[0], s[1], uint8(0), uint8(2))
	}
	f.Fuzz(func(t *testing.T, a, b string, i, j uint8) {
		na, nb := subtestName(a, int(i)), subtestName(b, int(j))
		if (a != b || i != j) && na == nb {
			t.Fatalf("%q sample %d and %q sample %d are both named %q", a, i, b, j, na)
		}
		require.LessOrEqual(t, len(na), 120)
		require.NotEmpty(t, na)
		require.NotContains(t, na, "/")
		seen := ""
		t.Run(na, func(t *testing.T) { seen = t.Name() })
		if flag.Lookup("test.count").Value.String() == "1" { // else testing tells the rounds apart by #01
			require.Equal(t, t.Name()+"/"+na, seen, "testing rewrote the name")
		}
	})
}
