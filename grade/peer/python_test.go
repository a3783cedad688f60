package peer

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
)

func TestParseFloat(t *testing.T) {
	tests := []struct {
		name, reason, in string
		want             float64
		ok               bool
	}{
		{"plain", "", "18", 18, true},
		{"point first", "Python reads it", ".5", 0.5, true},
		{"point last", "Python reads it", "5.", 5, true},
		{"exponent", "Python reads it", "-1E3", -1000, true},
		{"Arabic digits", "digits of any script", "٣٫", 0, false},
		{"Devanagari", "digits of any script", "९.५", 9.5, true},
		{"white space", "stripped, Unicode's too", "\u3000\x1f5\n", 5, true},
		{"inner white space", "no number", "1 0", 0, false},
		{"hexadecimal", "Go only", "0x1p3", 0, false},
		{"overflow", "infinite in Python, refused by the caller", "1e400", 0, false},
		{"underflow", "zero in both", "1e-400", 0, true},
		{"nan", "not finite", "nan", 0, false},
		{"infinity", "not finite", "Infinity", 0, false},
		{"empty", "", "", 0, false},
		{"sign alone", "", "-", 0, false},
	}
	for _, tt := range tests {
		got, ok := parseFloat(tt.in)
		assert.Equal(t, tt.ok, ok, "%s: %s", tt.name, tt.reason)
		assert.Equal(t, tt.want, got, "%s: %s", tt.name, tt.reason)
	}
}

// Values are those of inspect-ai 0.3.260's unicode_number_to_float.
func TestUnicodeNumber(t *testing.T) {
	tests := []struct {
		in   string
		want float64
		ok   bool
	}{
		{"½", 0.5, true}, {"2½", 2.5, true}, {"−½", -0.5, true}, {"½½", 0, false}, {"½2", 0, false},
		{"3²", 9, true}, {"-2²", 4, true}, {"2⁻³", 0.125, true}, {"½²", 0.25, true}, {"0⁻¹", 0, false}, {"²", 2, true},
		{"Ⅻ", 12, true}, {"ⅩⅡ", 0, false}, {"①②", 12, true},
		{"十二", 12, true}, {"二〇二五", 2025, true}, {"三千五百万", 35000000, true}, {"负三", -3, true}, {"三点五", 3.5, true},
		{"廿五", 25, true}, {"一二三十", 30, true}, {"12万", 20000, true}, {"兆", 1e12, true}, {"三x", 0, false},
		{"１８．５", 18.5, true}, {"1’000", 1000, true}, {"1.2.3", 0, false}, {"１e３", 1000, true}, {"1e5.2", 0, false},
		{"--5", 5, true}, {"-", 0, false}, {"", 0, false}, {"e5", 0, false}, {"18x", 0, false}, {"2⁹⁹⁹⁹", 0, false},
	}
	for _, tt := range tests {
		got, ok := unicodeNumber(tt.in)
		assert.Equal(t, tt.ok, ok, "%q", tt.in)
		if tt.ok {
			assert.Equal(t, tt.want, got, "%q", tt.in)
		}
	}
}

// decimal counts on it: a zero starts each range, and runs of ten fill it.
func TestDecimalRanges(t *testing.T) {
	for _, span := range unicode.Nd.R16 {
		assert.Zero(t, (span.Hi-span.Lo+1)%10)
		assert.EqualValues(t, 1, span.Stride)
	}
	for _, span := range unicode.Nd.R32 {
		assert.Zero(t, (span.Hi-span.Lo+1)%10)
		assert.EqualValues(t, 1, span.Stride)
	}
}

func TestNumericSpans(t *testing.T) {
	for i, span := range numericSpans {
		assert.LessOrEqual(t, span.lo, span.hi)
		if i > 0 {
			assert.Less(t, numericSpans[i-1].hi, span.lo, "sorted")
		}
	}
}

func TestCasefold(t *testing.T) {
	for _, pair := range [][2]string{{"STRASSE", "straße"}, {"ΣΑΣ", "σας"}, {"ﬁ", "FI"}, {"\u13a0", "\uab70"}, {"\u13f8", "\u13f0"}, {"İ", "i\u0307"}} {
		assert.Equal(t, casefold(pair[0]), casefold(pair[1]), "%q %q", pair[0], pair[1])
	}
	assert.NotEqual(t, casefold("I"), casefold("ı"))
	assert.Equal(t, "ας", lower("ΑΣ"), "the final sigma")
	assert.Equal(t, "i\u0307", lower("İ"))
}

func TestDropFinalDot(t *testing.T) {
	for in, want := range map[string]string{"18.": "18", "18..": "18.", "18.\n": "18\n", "18.\n\n": "18.\n\n", "": "", ".": "", "1.8": "1.8"} {
		assert.Equal(t, want, dropFinalDot(in), "%q", in)
	}
}
