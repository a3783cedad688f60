package grade

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestShortIntegers: digits alone are read by a way of their own, because most
// targets and most answers are nothing else. It must come to what the general
// way comes to, in every locale.
func TestShortIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for length := 1; length <= 20; length++ {
		for range 60 {
			digits := make([]byte, length)
			for i := range digits {
				digits[i] = byte('0' + rng.IntN(10)*rng.IntN(2)) // many zeros
			}
			text := string(digits)
			for _, loc := range []string{"en", "de", "fr", "ch", "in"} {
				l, err := findLocale(loc)
				require.NoError(t, err)
				want, err := parseAnyNumber(text, l)
				require.NoError(t, err, text)
				got, err := parseNumber(text, l)
				require.NoError(t, err, text)
				assert.True(t, sameNumber(want, got), "%s: %v, want %v", text, got, want)
				n, ok := shortInt(text)
				require.Equal(t, length <= 18, ok, text)
				if ok {
					m, err := strconv.ParseInt(text, 10, 64)
					require.NoError(t, err)
					require.Equal(t, m, n)
				}
			}
		}
	}
	for _, text := range []string{"", "-1", "+1", "1 ", "1.", "1,000", "1_0", "\u0661", "x", "1e3", strings.Repeat("9", 19)} {
		_, ok := shortInt(text)
		assert.False(t, ok, text)
	}
}

// FuzzSameNumber holds sameNumber to Cmp.
func FuzzSameNumber(f *testing.F) {
	f.Add(int64(1), int64(2), int64(2), int64(4))
	f.Add(int64(-3), int64(1), int64(3), int64(-1))
	f.Add(int64(0), int64(5), int64(0), int64(-7))
	f.Add(int64(6), int64(3), int64(2), int64(1))
	f.Add(int64(1), int64(3), int64(2), int64(3))
	f.Add(int64(1), int64(2), int64(1), int64(3))
	f.Add(int64(2), int64(1), int64(2), int64(3))
	f.Fuzz(func(t *testing.T, a, b, c, d int64) {
		if b == 0 || d == 0 {
			t.Skip()
		}
		x, y := big.NewRat(a, b), big.NewRat(c, d)
		if got := sameNumber(x, y); got != (x.Cmp(y) == 0) {
			t.Fatalf("%v and %v: %v", x, y, got)
		}
		if !sameNumber(x, new(big.Rat).Quo(new(big.Rat).Mul(x, big.NewRat(6, 1)), big.NewRat(6, 1))) {
			t.Fatalf("%v is not itself", x)
		}
	})
}

// TestWordTables: the tables by first bytes lead to every word, in lower and in
// upper case.
func TestWordTables(t *testing.T) {
	upper := func(w string) string { // as hasFoldPrefix folds
		b := []byte(w)
		for i, c := range b {
			if 'a' <= c && c <= 'z' {
				b[i] = c - 'a' + 'A'
			}
		}
		return string(b)
	}
	for _, w := range answerWords {
		for _, s := range []string{w, upper(w), upper(w[:1]) + w[1:], w[:1] + upper(w[1:])} {
			assert.True(t, answerPairs[s[0]][s[1]], s)
			assert.Contains(t, answerWordsByByte[s[0]], w)
		}
	}
	for _, w := range turnWords {
		for _, s := range []string{w, upper(w)} {
			assert.Contains(t, turnWordsByByte[s[0]], w)
		}
	}
}

// FuzzMayBeTag holds mayBeTag to strings.IndexAny.
func FuzzMayBeTag(f *testing.F) {
	for _, s := range []string{"", "a<b", "a[b", "a&b", "◁think▷", "\xe2\x97", "\xe2\xe2\x97\x81", "→◁", "\xf0\x97\x81◁", "18"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := strings.IndexAny(s, "<[◁&")
		if want < 0 {
			want = len(s)
		}
		if got := mayBeTag(s); got != want {
			t.Fatalf("%q: %d, want %d", s, got, want)
		}
	})
}
