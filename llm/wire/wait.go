package wire

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/goevals/evals/llm"
)

// RetryAfter is how long an answer's header asks to wait: retry-after-ms, or
// Retry-After in seconds (decimals allowed), with a unit ("1m30s"), as an HTTP
// date in any of its three forms, or, as some servers do against the standard,
// as a moment since 1970. A date is taken relative to the answer's own Date,
// where it has one, and else to now: a clock that is off does not count. A
// moment gone by is 0, true. ok is false if the header does not say, or says
// what is no time: a negative number, NaN, text. What is longer than 1,000,000
// hours is 1,000,000 hours.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	if f, ok := decimalNumber(strings.TrimSpace(h.Get("Retry-After-Ms"))); ok {
		return scaled(f, time.Millisecond), true
	}
	return until(h.Get("Retry-After"), serverNow(h, now))
}

// RetryInfo is how long the body of a Google API's error asks to wait: the
// retryDelay of a google.rpc.RetryInfo in error.details, in an object or in an
// array of one. The delay is cut to whole seconds there, and the exact one may
// stand in the message ("retry in 58.934310785s"): the longer of both counts,
// the message's rounded up to a second.
func RetryInfo(body []byte) (wait time.Duration, ok bool) {
	if len(body) == 0 || len(body) > maxErrorBody {
		return 0, false
	}
	return retryInfo(body, 0)
}

func retryInfo(body []byte, depth int) (wait time.Duration, ok bool) {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil {
		if depth >= 2 {
			return 0, false // each level is read anew: no server nests them
		}
		for _, e := range list {
			if wait, ok := retryInfo(e, depth+1); ok {
				return wait, true
			}
		}
		return 0, false
	}
	var b struct {
		Error struct {
			Message string            `json:"message"`
			Details []json.RawMessage `json:"details"`
		} `json:"error"`
	}
	// A field of an odd type spoils itself only.
	if err := json.Unmarshal(body, &b); err != nil && !isTypeError(err) {
		return 0, false
	}
	for _, raw := range b.Error.Details {
		var d struct {
			Type  string          `json:"@type"`
			Delay json.RawMessage `json:"retryDelay"`
		}
		if json.Unmarshal(raw, &d) != nil || !strings.HasSuffix(d.Type, "google.rpc.RetryInfo") {
			continue
		}
		if delay, good := retryDelay(d.Delay); good {
			wait, ok = max(wait, delay), true
		}
	}
	if !ok && depth < 2 && strings.HasPrefix(strings.TrimSpace(b.Error.Message), "{") {
		// Gateways put the provider's body into their own message.
		return retryInfo([]byte(b.Error.Message), depth+1)
	}
	if said, good := waitInText(b.Error.Message); ok && good {
		wait = max(wait, roundUp(said))
	}
	return wait, ok
}

// retryDelay reads a google.protobuf.Duration: a text in JSON, and an object
// where something wrote its fields.
func retryDelay(raw json.RawMessage) (time.Duration, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return interval(text)
	}
	var d struct {
		Seconds json.Number `json:"seconds"`
		Nanos   json.Number `json:"nanos"`
	}
	if json.Unmarshal(raw, &d) != nil || d.Seconds == "" && d.Nanos == "" {
		return 0, false
	}
	s, ok := decimalNumber(zeroIfEmpty(d.Seconds.String()))
	n, good := decimalNumber(zeroIfEmpty(d.Nanos.String()))
	return min(scaled(s, time.Second)+scaled(n, time.Nanosecond), maxInterval), ok && good
}

func zeroIfEmpty(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

func roundUp(d time.Duration) time.Duration {
	if r := d % time.Second; r > 0 {
		d += time.Second - r
	}
	return d
}

// Wait is how long a failed answer with this status, header and body asks to
// wait before the same is asked again. ok is false if it does not say; 0, true
// asks to come back at once. now is the caller's clock. For an error inside a
// 200 give the status that the error stands for.
//
// What counts, the first that says something:
//
//  1. Retry-After ([RetryAfter]) and the body's [RetryInfo]: the longer one.
//  2. With a 429, the reset of the limit that is used up ([RateLimits]), the
//     longer one if both are: a limit that is not used up does not count,
//     however soon or late it resets. If none is reported as used up and only
//     one states a reset at all, that one.
//  3. With a 429, 503 or 529, the message: "Please retry after 26 seconds".
//
// A reset does not lengthen a Retry-After. The draft of the RateLimit headers
// (draft-ietf-httpapi-ratelimit-headers, "Receiving RateLimit headers") has
// Retry-After take precedence, and a reset is often the time until a limit is
// full again, long after the first request would pass: Azure has been seen to
// send retry-after: 4 with x-ratelimit-reset-tokens: 64.
func Wait(status int, h http.Header, body []byte, now time.Time) (wait time.Duration, ok bool) {
	wait, ok = RetryAfter(h, now)
	if d, said := RetryInfo(body); said {
		wait, ok = max(wait, d), true
	}
	if !ok && status == http.StatusTooManyRequests {
		wait, ok = untilReset(RateLimits(h, now))
	}
	if !ok && (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == statusOverloaded) {
		wait, ok = waitInText(errorText(body))
	}
	return wait, ok
}

// statusOverloaded is what Anthropic answers while it has too much to do.
const statusOverloaded = 529

// untilReset is when the limit that refused a call is usable again.
func untilReset(l *llm.RateLimit) (wait time.Duration, ok bool) {
	if l == nil {
		return 0, false
	}
	var silent []time.Duration
	for _, w := range []llm.Window{l.Requests, l.Tokens} {
		switch {
		case w.Reset == nil:
		case w.Exhausted():
			wait, ok = max(wait, *w.Reset), true
		case w.Remaining == nil:
			silent = append(silent, *w.Reset)
		}
	}
	if !ok && len(silent) == 1 && !l.Requests.Exhausted() && !l.Tokens.Exhausted() {
		return silent[0], true
	}
	return wait, ok
}

var waitWords = regexp.MustCompile(`(?i)\b(?:retry|retrying|try again)(?: your request)? (?:in|after)(?: about| at least)?:? `)

// waitInText is the longest wait that a text for people asks for.
func waitInText(s string) (wait time.Duration, ok bool) {
	for _, at := range waitWords.FindAllStringIndex(s, 8) {
		if d, _, good := intervalPrefix(s[at[1]:]); good {
			wait, ok = max(wait, d), true
		}
	}
	return wait, ok
}
