package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
)

// StatusKind is what an HTTP status means if nothing else is known. A client
// looks at the provider's own code first: a 429 may be an empty account.
func StatusKind(status int) llm.ErrorKind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return llm.KindAuth
	case http.StatusPaymentRequired:
		return llm.KindBalance
	case http.StatusNotFound:
		return llm.KindNotFound
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return llm.KindServer // the server's own trouble: another try may succeed
	case http.StatusTooManyRequests:
		return llm.KindRateLimit
	}
	switch {
	case status >= 500:
		return llm.KindServer
	case status >= 400:
		return llm.KindBadRequest
	case status > 0 && (status < 200 || status >= 300):
		return llm.KindBadResponse
	}
	return llm.KindUnknown
}

// RetryAfter is how long an answer's header asks to wait: retry-after-ms, or
// Retry-After in seconds (decimals allowed) or as a date. ok is false if it
// does not say so, or says what cannot be read; a time gone by is 0, true.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	if d, ok := duration(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d, true
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if d, ok := duration(v, time.Second); ok {
		return d, true
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

func duration(v string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || !(f >= 0) || f > float64(1<<62)/float64(unit) {
		return 0, false
	}
	return time.Duration(f * float64(unit)), true
}
