package trace

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	// maxTokens bounds each length; agent has the same bound.
	maxTokens = 1 << 31
	// maxAbsolute bounds a timestamp, in nanoseconds from 1970 or from the
	// trace's own zero: until 2096. Differences of two cannot overflow.
	maxAbsolute = 4_000_000_000_000_000_000
	// maxSpan is the longest trace and the longest delay: agent's bound, about
	// 31 years. What is longer has another unit than we think.
	maxSpan = 1_000_000_000_000 * time.Millisecond
)

// parseTokens reads a length: a whole number. Table programs write 472.0.
func parseTokens(text string) (int, error) {
	x, err := parseDecimal(text)
	switch {
	case err != nil:
		return 0, err
	case x < 0 || x > maxTokens:
		return 0, fmt.Errorf("%w: %s is not from 0 to %d", ErrValue, quote(text), maxTokens)
	case x != math.Trunc(x):
		return 0, fmt.Errorf("%w: %s is not a whole number", ErrValue, quote(text))
	}
	return int(x), nil
}

// parseDecimal reads a finite number as people write it: no hexadecimal, no
// underscores, no words such as NaN.
func parseDecimal(text string) (float64, error) {
	if text == "" {
		return 0, fmt.Errorf("%w: it is empty", ErrValue)
	}
	if strings.Trim(text, "0123456789+-.eE") != "" || strings.ContainsAny(text, "xXpP_iInN") {
		return 0, fmt.Errorf("%w: %s is not a number", ErrValue, quote(text))
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %s is not a number", ErrValue, quote(text))
	}
	return x, nil
}

// parseTime reads a time in units, in nanoseconds, exactly unless it has an
// exponent: a float64 holds the seconds since 1970 only to 0.2 µs. Digits
// below a nanosecond are cut off.
func parseTime(text string, unit time.Duration) (int64, error) {
	x, err := parseDecimal(text)
	if err != nil {
		return 0, err
	}
	if x < 0 || x*float64(unit) > maxAbsolute {
		return 0, fmt.Errorf("%w: the time %s is not from 0 to %d seconds", ErrValue, quote(text), maxAbsolute/int64(time.Second))
	}
	if strings.ContainsAny(text, "eE") {
		return int64(math.Round(x * float64(unit))), nil
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(text, "+-"), ".")
	n := int64(0)
	if whole != "" {
		n, err = strconv.ParseInt(whole, 10, 64) // no overflow: x is in range
		if err != nil {
			return 0, fmt.Errorf("%w: %s is not a number", ErrValue, quote(text))
		}
	}
	n *= int64(unit)
	for scale := int64(unit) / 10; scale > 0 && fraction != ""; scale /= 10 {
		n += int64(fraction[0]-'0') * scale
		fraction = fraction[1:]
	}
	return min(n, maxAbsolute), nil // x may have been rounded down to the bound
}

// parseDuration is parseTime for a delay.
func parseDuration(text string, unit time.Duration) (time.Duration, error) {
	n, err := parseTime(text, unit)
	if err == nil && time.Duration(n) > maxSpan {
		err = fmt.Errorf("%w: %s is more than 31 years", ErrValue, quote(text))
	}
	return time.Duration(n), err
}

// dateLayouts are those of the Azure traces and their re-exports. Go takes a
// fraction after the seconds of any of them.
var dateLayouts = []string{
	"2006-01-02 15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04:05Z07:00",
}

// parseDate reads a wall-clock time; without a zone it is UTC, which changes
// nothing as long as all rows are alike.
func parseDate(text string) (ns int64, zone bool, err error) {
	for i, layout := range dateLayouts {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if t.Unix() < 0 || t.Unix() > maxAbsolute/int64(time.Second)-1 {
			return 0, false, fmt.Errorf("%w: the date %s is not from 1970 to 2096", ErrValue, quote(text))
		}
		return t.UnixNano(), i%2 == 1, nil
	}
	return 0, false, fmt.Errorf("%w: %s is not a date such as 2023-11-16 18:15:46.6805900", ErrValue, quote(text))
}
