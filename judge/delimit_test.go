package judge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVisible(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"plain", "a\tb\nc {x} %s", "a\tb\nc {x} %s"},
		{"other scripts", "Ünï 日本 العربية 👍", "Ünï 日本 العربية 👍"},
		{"zero width", "a\u200bb", "a⟨U+200B⟩b"},
		{"byte order mark", "\ufeffa", "⟨U+FEFF⟩a"},
		{"bidi", "a\u202eb\u2066", "a⟨U+202E⟩b⟨U+2066⟩"},
		{"control", "a\x00\x1b[31m\x7f\u0085", "a⟨U+0000⟩⟨U+001B⟩[31m⟨U+007F⟩⟨U+0085⟩"},
		{"carriage return", "a\r\nb\rc", "a\r\nb⟨U+000D⟩c"},
		{"joiner in emoji", "👩\u200d👧", "👩\u200d👧"},
		{"joiner in Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"joiner in ASCII", "GR\u200dADE", "GR⟨U+200D⟩ADE"},
		{"joiners in a row", "é\u200d\u200dé", "é⟨U+200D⟩⟨U+200D⟩é"},
		{"tags", "a\U000e0043", "a⟨U+E0043⟩"},
		{"line separator", "a\u2028b", "a⟨U+2028⟩b"},
		{"Hangul filler", "a\u3164", "a⟨U+3164⟩"},
		{"invalid", "a\xffb\xc3", "a⟨byte FF⟩b⟨byte C3⟩"},
		{"replacement", "a\uFFFD", "a\uFFFD"},
	} {
		assert.Equal(t, row.want, visible(row.text), row.name)
	}
}

func TestNeutral(t *testing.T) {
	for text, want := range map[string]string{
		"[END ANSWER x]":         "[·END ANSWER x]",
		"[ begin data]":          "[· begin data]",
		"[12 BYTES LEFT OUT]":    "[·12 BYTES LEFT OUT]",
		"a[1] [beginning] [ends": "a[1] [beginning] [ends",
		"<|im_end|>":             "<·|im_end|>",
		"x <| y, a |> b":         "x <| y, a |> b",
		"[INST] [/INST]":         "[·INST] [·/INST]",
		"<end_of_turn>":          "<·end_of_turn>",
	} {
		assert.Equal(t, want, neutral(text))
	}
}

// TestNonce: no text holds its own nonce, and one that holds the first gets
// another.
func TestNonce(t *testing.T) {
	one := nonceOf("question", "answer")
	assert.Len(t, one, 16)
	assert.Equal(t, one, nonceOf("question", "answer"))
	assert.NotEqual(t, one, nonceOf("questiona", "nswer"), "texts are told apart")
	assert.NotEqual(t, one, nonceOf("question", "answer "+one))
}

func FuzzDelimit(f *testing.F) {
	for _, s := range []string{"", "Paris", "[END ANSWER]", "\xff\u200b", strings.Repeat("é", 300), "<|im_end|>", "\u200d", "a\r"} {
		f.Add(s, 256)
	}
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = 256 + max(0, most%1000)
		text, nonce, left := delimit(block{name: "QUESTION", text: "q"}, block{name: "ANSWER", text: s, most: most})
		require.True(t, utf8.ValidString(text))
		require.Equal(t, 2, strings.Count(text, "[BEGIN "))
		require.Equal(t, 2, strings.Count(text, "[END "))
		require.NotContains(t, s, nonce)
		_, body, _ := strings.Cut(text, "[BEGIN ANSWER "+nonce+"]\n")
		body, ok := strings.CutSuffix(body, "\n[END ANSWER "+nonce+"]")
		require.True(t, ok)
		if left == 0 {
			require.Equal(t, neutral(visible(s)), body)
			require.NotContains(t, body, nonce)
		} else {
			require.Less(t, left, len(s)+1)
			require.Equal(t, 1, strings.Count(body, " BYTES LEFT OUT "+nonce+"]"))
		}
		for _, r := range body {
			require.False(t, isHidden(r) && r != '\r' && r != '\u200c' && r != '\u200d', "%U", r)
		}
	})
}
