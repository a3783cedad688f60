package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// shellQuote quotes a path for a POSIX shell if it needs it.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r < 0x80 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return !prints(r) }) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return Escape(s, 0) // cannot be pasted: say what it is
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
