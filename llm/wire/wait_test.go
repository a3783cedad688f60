package wire_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm/wire"
)

func TestRetryAfter(t *testing.T) {
	const notStated = time.Duration(-1)
	rows := []struct {
		name, reason, headers string
		want                  time.Duration
	}{
		{"seconds", "the usual form", "Retry-After: 7", 7 * time.Second},
		{"L03 zero", "come back at once, which is not the same as no word", "Retry-After: 0", 0},
		{"L03 an hour", "never a shorter guess", "Retry-After: 3600", time.Hour},
		{"L05 fraction", "servers send it, though the standard has none", "Retry-After: 1.5", 1500 * time.Millisecond},
		{"L05 leading space", "white space is no part of a value", "Retry-After:   2", 2 * time.Second},
		{"milliseconds", "of OpenAI and Azure", "retry-after-ms: 250", 250 * time.Millisecond},
		{"milliseconds first", "the finer one", "retry-after-ms: 250\nRetry-After: 1", 250 * time.Millisecond},
		{"bad milliseconds", "the other header still counts", "retry-after-ms: -1\nRetry-After: 1", time.Second},
		{"L05 date", "the form that RFC 9110 prefers", "Retry-After: Fri, 02 Jan 2026 03:05:05 GMT", time.Minute},
		{"L05 RFC 850", "an obsolete form that must be read", "Retry-After: Friday, 02-Jan-26 03:05:05 GMT", time.Minute},
		{"L05 asctime", "the other one", "Retry-After: Fri Jan  2 03:05:05 2026", time.Minute},
		{"RFC 3339", "some servers", "Retry-After: 2026-01-02T03:05:05Z", time.Minute},
		{"L05 past date", "now", "Retry-After: Fri, 02 Jan 2026 02:04:05 GMT", 0},
		{"L05 skewed", "our clock is two hours behind the server's", "Date: Fri, 02 Jan 2026 05:04:05 GMT\nRetry-After: Fri, 02 Jan 2026 05:04:35 GMT", 30 * time.Second},
		{"Date does not shift seconds", "seconds count from now, whatever clock the server has", "Date: Fri, 02 Jan 2026 05:04:05 GMT\nRetry-After: 30", 30 * time.Second},
		{"bad Date", "then our clock", "Date: today\nRetry-After: Fri, 02 Jan 2026 03:05:05 GMT", time.Minute},
		{"moment", "against the standard, but nobody asks for 56 years", fmt.Sprintf("Retry-After: %d", now.Add(20*time.Second).Unix()), 20 * time.Second},
		{"moment in milliseconds", "as a wait it would be 50,000 years", fmt.Sprintf("Retry-After: %d", now.Add(20*time.Second).UnixMilli()), 20 * time.Second},
		{"unit", "some gateways", "Retry-After: 1m30s", 90 * time.Second},
		{"10000h", "as it was asked for", "Retry-After: 36000000", 10000 * time.Hour},
		{"huge", "no overflow: still far too long", "Retry-After: 1e300", 1_000_000 * time.Hour},
		{"many digits", "a wait must not overflow", "Retry-After: " + strings.Repeat("9", 60), 1_000_000 * time.Hour},
		{"beyond a float", "infinity is no wait", "Retry-After: 1e999", 1_000_000 * time.Hour},
		{"far date", "a wait must not overflow", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", 1_000_000 * time.Hour},
		{"minus zero", "it is zero", "Retry-After: -0", 0},
		{"L05 negative", "a wait into the past is none", "Retry-After: -1", notStated},
		{"L05 NaN", "no number is no wait", "Retry-After: NaN", notStated},
		{"L05 Inf", "no number is no wait", "Retry-After: Inf", notStated},
		{"-Inf", "no number is no wait", "Retry-After: -1e999", notStated},
		{"hexadecimal", "Go's reading of numbers is wider than HTTP's", "Retry-After: 0x1p4", notStated},
		{"L05 garbage", "a word is no wait", "Retry-After: soon", notStated},
		{"unit alone", "a unit is no wait", "Retry-After: s", notStated},
		{"two numbers", "which one counts is not clear", "Retry-After: 1 2", notStated},
		{"empty", "not stated is not at once", "Retry-After:", notStated},
		{"absent", "not stated is not at once", "X: 1", notStated},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, ok := wire.RetryAfter(headers(r.headers), now)
			if !ok {
				assert.Zero(t, got)
				got = notStated
			}
			assert.Equal(t, r.want, got, r.reason)
		})
	}
}

const retryInfo = `{"error":{"code":429,"message":%q,"status":"RESOURCE_EXHAUSTED","details":[` +
	`{"@type":"type.googleapis.com/google.rpc.Help","links":[]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":%s}]}}`

func TestRetryInfo(t *testing.T) {
	const notStated = time.Duration(-1)
	rows := []struct {
		name, reason, body string
		want               time.Duration
	}{
		{"L07", "Google has it in the body only", fmt.Sprintf(retryInfo, "Quota exceeded.", `"38s"`), 38 * time.Second},
		{"L07 half a second", "fractions of a second count", fmt.Sprintf(retryInfo, "Quota exceeded.", `"0.5s"`), 500 * time.Millisecond},
		{"zero", "at once", fmt.Sprintf(retryInfo, "Quota exceeded.", `"0s"`), 0},
		{"L07 the message is longer", "the detail is cut to seconds: 58 s would be too early", fmt.Sprintf(retryInfo, "You exceeded your current quota. Please retry in 58.934310785s.", `"58s"`), 59 * time.Second},
		{"the detail is longer", "the longer of two waits is the safe one", fmt.Sprintf(retryInfo, "Please retry in 1s.", `"58s"`), 58 * time.Second},
		{"hours", "the words are rounded up to what they say", fmt.Sprintf(retryInfo, "Please retry in 2h47m56.584147483s.", `"10076s"`), 2*time.Hour + 47*time.Minute + 57*time.Second},
		{"array", "of the OpenAI-compatible endpoint and of streams", "[" + fmt.Sprintf(retryInfo, "", `"38s"`) + "]", 38 * time.Second},
		{"fields", "a duration written out", fmt.Sprintf(retryInfo, "", `{"seconds":"38","nanos":500000000}`), 38500 * time.Millisecond},
		{"in a message", "gateways wrap the whole body", fmt.Sprintf(`{"error":{"message":%q}}`, fmt.Sprintf(retryInfo, "", `"38s"`)), 38 * time.Second},
		{"huge", "a wait must not overflow", fmt.Sprintf(retryInfo, "", `"999999999999999s"`), 1_000_000 * time.Hour},
		{"text only", "is not RetryInfo's", `{"error":{"message":"Please retry in 58s.","details":[]}}`, notStated},
		{"negative", "a wait into the past is none", fmt.Sprintf(retryInfo, "", `"-3s"`), notStated},
		{"garbage", "a word is no wait", fmt.Sprintf(retryInfo, "", `"soon"`), notStated},
		{"null", "not stated is not at once", fmt.Sprintf(retryInfo, "", `null`), notStated},
		{"no details", "not stated is not at once", `{"error":{"code":429}}`, notStated},
		{"an error text", "not stated is not at once", `{"error":"quota"}`, notStated},
		{"HTML", "not stated is not at once", `<html>`, notStated},
		{"nothing", "not stated is not at once", ``, notStated},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, ok := wire.RetryInfo([]byte(r.body))
			if !ok {
				assert.Zero(t, got)
				got = notStated
			}
			assert.Equal(t, r.want, got, r.reason)
		})
	}
}

func TestWait(t *testing.T) {
	const notStated = time.Duration(-1)
	l10 := "x-ratelimit-remaining-requests: 99\nx-ratelimit-reset-requests: 8ms\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 6m0s"
	message := func(s string) string { return fmt.Sprintf(`{"error":{"message":%q}}`, s) }
	rows := []struct {
		name, reason  string
		status        int
		headers, body string
		want          time.Duration
	}{
		{"Retry-After", "it is made for this", 429, "Retry-After: 3", "", 3 * time.Second},
		{"Retry-After of a 503", "a server may ask for time with any failure", 503, "Retry-After: 3", "", 3 * time.Second},
		{"L10", "the reset of the limit that is used up, not of the other", 429, l10, "", 6 * time.Minute},
		{"L10 both", "the longer one", 429, "x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 7m\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 6m0s", "", 7 * time.Minute},
		{"neither used up", "then no reset tells how long", 429, "x-ratelimit-remaining-requests: 5\nx-ratelimit-reset-requests: 7m\nx-ratelimit-remaining-tokens: 5\nx-ratelimit-reset-tokens: 6m0s", "", notStated},
		{"reset alone", "the one limit that is reported is what refused", 429, "x-ratelimit-reset: 12", "", 12 * time.Second},
		{"two resets alone", "either may be it", 429, "x-ratelimit-reset-requests: 12\nx-ratelimit-reset-tokens: 5", "", notStated},
		{"used up without reset", "the other's reset is not its", 429, "x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-tokens: 5", "", notStated},
		{"reset of a 500", "a limit did not refuse it", 500, l10, "", notStated},
		{"Azure", "Retry-After goes before the reset, which is the time until the limit is full", 429, "retry-after: 4\nx-ratelimit-remaining-tokens: -27689\nx-ratelimit-reset-tokens: 64", "", 4 * time.Second},
		{"L03 zero", "stated, and goes before a reset and a text as well", 429, "Retry-After: 0\n" + l10, message("try again in 9s"), 0},
		{"negative Retry-After", "is no statement, so the reset counts", 429, "Retry-After: -1\n" + l10, "", 6 * time.Minute},
		{"L07", "Google has it in the body only", 429, "", fmt.Sprintf(retryInfo, "", `"38s"`), 38 * time.Second},
		{"RetryInfo and Retry-After", "the longer of what is stated", 429, "Retry-After: 1", fmt.Sprintf(retryInfo, "", `"38s"`), 38 * time.Second},
		{"Retry-After is longer", "the same the other way round", 429, "Retry-After: 60", fmt.Sprintf(retryInfo, "", `"38s"`), time.Minute},
		{"Azure's text", "a sentence goes on behind the wait", 429, "", message("Requests to the ChatCompletions_Create Operation have exceeded token rate limit. Please retry after 26 seconds. Please go here"), 26 * time.Second},
		{"OpenAI's text", "numbers before it are none of its", 429, "", message("Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 1.2s. Visit"), 1200 * time.Millisecond},
		{"Groq's text", "minutes and seconds in one word", 429, "", message("Limit 200,000, Used 199,336, Requested 1,524. Please try again in 6m11.52s."), 6*time.Minute + 11520*time.Millisecond},
		{"text in milliseconds", "20ms is not 20 minutes", 429, "", message("Please try again in 20ms."), 20 * time.Millisecond},
		{"text in words", "a unit that is written out", 429, "", message("Try again in 2 minutes"), 2 * time.Minute},
		{"plain text", "no JSON at all", 429, "", "Too many requests, retry after 5 seconds", 5 * time.Second},
		{"text and reset", "text counts only where nothing else says it", 429, l10, message("Please try again in 1s."), 6 * time.Minute},
		{"overloaded", "not only a 429 says when to come back", 529, "", message("Overloaded, retry in 5s"), 5 * time.Second},
		{"text of a 401", "a wrong key does not heal", 401, "", message("Please try again in 5s"), notStated},
		{"two texts", "the longer", 429, "", message("retry after 5 seconds, or try again in 9s"), 9 * time.Second},
		{"vague", "no number", 429, "", message("Please retry in a moment"), notStated},
		{"a range", "not one number", 429, "", message("Please retry after 1-2 minutes"), notStated},
		{"a prompt's words", "only what follows the words counts", 429, "", message("5 seconds. retry after"), notStated},
		{"HTML", "a page says nothing", 503, "", "<html>retry after 5 seconds</html>", notStated},
		{"nothing", "not stated is not at once", 429, "", "", notStated},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, ok := wire.Wait(r.status, headers(r.headers), []byte(r.body), now)
			if !ok {
				assert.Zero(t, got)
				got = notStated
			}
			assert.Equal(t, r.want, got, r.reason)
		})
	}
}

func FuzzWait(f *testing.F) {
	for _, s := range []string{"7", "1.5", "-1", "NaN", "1e300", "Fri, 02 Jan 2026 03:05:05 GMT", "6m0s", "99999999999999999999d", "1767323045"} {
		f.Add(429, s, s, fmt.Sprintf(retryInfo, "Please retry in "+s, `"`+s+`"`))
	}
	f.Add(503, "", "", "retry after 5 seconds")
	f.Add(429, "", "", `{"error":{"message":"{\"error\":{\"message\":\"{}\"}}"}}`)
	f.Fuzz(func(t *testing.T, status int, retry, reset, body string) {
		h := http.Header{"Retry-After": {retry}, "X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {reset}}
		got, ok := wire.Wait(status, h, []byte(body), now)
		if got < 0 || got > 1_000_000*time.Hour || !ok && got != 0 {
			t.Errorf("%v, %v", got, ok)
		}
	})
}
