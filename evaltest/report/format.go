package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// command is a path or command that is to be copied: as it is, for doubled
// backslashes would break Windows paths and -run patterns, unless something in
// it does not print.
func command(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !prints(r) }) || !utf8.ValidString(s) {
		return Escape(s, 0)
	}
	return s
}

// shellQuote quotes a path for the shell if it needs it.
func shellQuote(s string, windows bool) string {
	if command(s) != s {
		return Escape(s, 0) // cannot be pasted: say what it is
	}
	safe := "/._-+=:,@%"
	if windows {
		safe += `\()'~`
	}
	plain := func(r rune) bool {
		return r >= 0x80 || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(safe, r)
	}
	switch {
	case !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }):
		return s
	case windows:
		return `"` + s + `"` // no file name holds a quote there
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// thousands prints n with commas: 12,345.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// rate prints a positive number with at least three digits, never as 5e+05.
func rate(f float64) string {
	if f >= 999.5 && f < 1e15 {
		return thousands(int64(math.Round(f)))
	}
	return fmt.Sprintf("%.3g", f)
}

// duration prints d with about three digits.
func duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(max(time.Microsecond, pow10(d)/100)).String()
	}
	return d.String()
}

// pow10 is the greatest power of ten that is not above d.
func pow10(d time.Duration) time.Duration {
	p := time.Duration(1)
	for p*10 <= d {
		p *= 10
	}
	return p
}
