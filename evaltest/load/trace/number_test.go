package trace

import (
	"encoding/csv"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseTime(t *testing.T) {
	for _, tt := range []struct {
		name, reason, text string
		unit               time.Duration
		want               int64
	}{
		{"zero", "", "0", time.Second, 0},
		{"seconds", "a float64 holds 1700000000.1 only to 0.2 µs", "1700000000.123456789", time.Second, 1700000000123456789},
		{"below a nanosecond", "is cut off", "0.0000000019", time.Second, 1},
		{"milliseconds", "", "27482.5", time.Millisecond, 27482500000},
		{"nanoseconds", "beyond 2^53", "1700000000123456789", time.Nanosecond, 1700000000123456789},
		{"fraction only", "", ".5", time.Second, 500000000},
		{"no fraction", "", "5.", time.Second, 5000000000},
		{"exponent", "Python writes 1e-05", "1e-05", time.Second, 10000},
		{"negative zero", "is zero", "-0.0", time.Second, 0},
		{"plus", "", "+2", time.Second, 2000000000},
		{"the end", "2096", "4000000000", time.Second, maxAbsolute},
	} {
		got, err := parseTime(tt.text, tt.unit)
		require.NoError(t, err, tt.name)
		assert.Equal(t, tt.want, got, tt.name)
	}
	for _, text := range []string{"", " ", "-1", "1 ", "NaN", "inf", "0x1", "1_0", "1e", "e1", ".", "--1", "1.2.3", "4000000001", "1e400", "99999999999999999999"} {
		_, err := parseTime(text, time.Second)
		assert.ErrorIs(t, err, ErrValue, "%q", text)
	}
}

// FuzzParseTime compares with exact arithmetic.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"0", "1700000000.123456789", "27482.5", "1e-05", "1.5e3", ".5", "00012.00", "1e400", "-0"} {
		f.Add(s, uint8(0))
	}
	units := []time.Duration{time.Nanosecond, time.Millisecond, time.Second}
	f.Fuzz(func(t *testing.T, text string, u uint8) {
		unit := units[int(u)%len(units)]
		got, err := parseTime(text, unit)
		if err != nil {
			require.ErrorIs(t, err, ErrValue)
			return
		}
		require.True(t, got >= 0 && got <= maxAbsolute)
		if strings.ContainsAny(text, "eE") || len(text) > 40 {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		require.True(t, ok, "%q", text)
		want.Mul(want, big.NewRat(int64(unit), 1))
		diff := new(big.Rat).Sub(want, big.NewRat(got, 1))
		require.True(t, diff.Sign() >= 0 && diff.Cmp(big.NewRat(1, 1)) < 0 || got == maxAbsolute, "%q: got %d", text, got)
	})
}

// FuzzSplitCSV compares with the standard library, which takes fields over
// several lines and is otherwise as strict.
func FuzzSplitCSV(f *testing.F) {
	for _, s := range []string{`a,b`, `"a,b",c`, `"a""b"`, `a"b`, `"a"b`, `"a`, ``, `,`, `"",""`, `a, "b"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\r\n") || line == "" {
			return
		}
		got, err := splitCSV(line)
		r := csv.NewReader(strings.NewReader(line))
		want, wantErr := r.Read()
		require.Equal(t, wantErr == nil, err == nil, "%q: %v, csv says %v", line, err, wantErr)
		if err == nil {
			require.Equal(t, want, got)
		} else {
			require.ErrorIs(t, err, ErrSyntax)
		}
	})
}
