package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxInterval is the longest time that is kept of what a server states. What
// is longer becomes this: an overflow would turn "never" into "now".
const maxInterval = 1_000_000 * time.Hour

// From here on a bare number is a moment since 1970 and not a time from now:
// in seconds it is 31 years, in milliseconds three.
const (
	epochSeconds = 1e9
	epochMillis  = 1e11
	epochEnd     = 1e14
)

// serverNow is the moment that dates in an answer are relative to: the
// server's own clock if the answer shows it, since ours may be off.
func serverNow(h http.Header, now time.Time) time.Time {
	if at, err := http.ParseTime(h.Get("Date")); err == nil {
		return at
	}
	return now
}

// until reads what a server says of when something is over: seconds from now,
// with or without a unit ("7", "1.2", "8ms", "6m0s"), a moment since 1970 in
// seconds or milliseconds, an HTTP date or one of RFC 3339. now is the server's
// clock. A moment gone by is 0; ok is false for what is none of these.
func until(v string, now time.Time) (d time.Duration, ok bool) {
	v = strings.TrimSpace(v)
	if v == "" || len(v) > 64 {
		return 0, false
	}
	if f, ok := decimalNumber(v); ok {
		return fromNumber(f, now), true
	}
	if d, ok := interval(v); ok {
		return d, true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		at, err = time.Parse(time.RFC3339, v)
	}
	if err != nil {
		return 0, false
	}
	return untilMoment(at, now), true
}

// fromNumber is a bare number as a time from now.
func fromNumber(f float64, now time.Time) time.Duration {
	switch {
	case f < epochSeconds || f >= epochEnd:
		return scaled(f, time.Second)
	case f < epochMillis:
		return untilMoment(time.Unix(int64(f), int64((f-math.Trunc(f))*1e9)), now)
	}
	return untilMoment(time.UnixMilli(int64(f)), now)
}

func untilMoment(at, now time.Time) time.Duration {
	return min(max(at.Sub(now), 0), maxInterval)
}

// decimalNumber reads a number that is not negative, and neither NaN, infinite
// nor hexadecimal. One that no float holds is a large one.
func decimalNumber(v string) (float64, bool) {
	if v == "" || strings.Trim(v, "0123456789.eE+-") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil && !math.IsInf(f, 1) {
		return 0, false
	}
	return math.Abs(f), f >= 0 // -0 is 0
}

// scaled is n units, at most maxInterval.
func scaled(n float64, unit time.Duration) time.Duration {
	if !(n < float64(maxInterval)/float64(unit)) {
		return maxInterval
	}
	return time.Duration(math.Round(n * float64(unit)))
}

var intervalUnits = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond,
	"ms": time.Millisecond, "msec": time.Millisecond, "millisecond": time.Millisecond,
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
}

// interval reads numbers with units, as Go writes them and as people do: 6m0s,
// 1.2s, 8ms, 1d2h, "2 minutes", "6m 11.52s".
func interval(v string) (time.Duration, bool) {
	d, rest, ok := intervalPrefix(v)
	return d, ok && strings.TrimSpace(rest) == ""
}

// intervalPrefix reads an interval at the beginning of v and returns what
// follows it.
func intervalPrefix(v string) (total time.Duration, rest string, ok bool) {
	rest = v
	for {
		s := strings.TrimLeft(rest, " ")
		n := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if n <= 0 {
			return total, rest, ok
		}
		f, good := decimalNumber(s[:n])
		s = strings.TrimLeft(s[n:], " ")
		n = strings.IndexFunc(s, func(r rune) bool { return !isLetter(r) })
		if n < 0 {
			n = len(s)
		}
		name := strings.ToLower(s[:n])
		unit, known := intervalUnits[name]
		if !known {
			unit, known = intervalUnits[strings.TrimSuffix(name, "s")]
		}
		if !good || !known {
			return total, rest, ok
		}
		// Both are at most maxInterval, so that the sum cannot overflow.
		total, rest, ok = min(total+scaled(f, unit), maxInterval), s[n:], true
	}
}

func isLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == 'µ' || r == 'μ'
}
