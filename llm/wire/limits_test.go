package wire_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// now is the caller's clock in these tests.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// headers reads "Name: value" lines.
func headers(lines string) http.Header {
	h := http.Header{}
	for line := range strings.Lines(lines) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return h
}

// window builds one: -1 stands for a field that is not reported.
func window(limit, remaining int64, reset time.Duration) llm.Window {
	var w llm.Window
	if limit != -1 {
		w.Limit = &limit
	}
	if remaining != -1 {
		w.Remaining = &remaining
	}
	if reset != -1 {
		w.Reset = &reset
	}
	return w
}

func TestRateLimits(t *testing.T) {
	rows := []struct {
		name, reason, headers string
		requests, tokens      llm.Window
	}{
		{"OpenAI", "intervals as Go writes them", `
			x-ratelimit-limit-requests: 60
			x-ratelimit-limit-tokens: 150000
			x-ratelimit-remaining-requests: 59
			x-ratelimit-remaining-tokens: 149984
			x-ratelimit-reset-requests: 1s
			x-ratelimit-reset-tokens: 6m0s`,
			window(60, 59, time.Second), window(150000, 149984, 6*time.Minute)},
		{"L10", "each dimension keeps its own", `
			x-ratelimit-remaining-requests: 99
			x-ratelimit-reset-requests: 8ms
			x-ratelimit-remaining-tokens: 0
			x-ratelimit-reset-tokens: 6m0s`,
			window(-1, 99, 8*time.Millisecond), window(-1, 0, 6*time.Minute)},
		{"Groq", "its request limit is one of a day", `
			x-ratelimit-limit-requests: 14400
			x-ratelimit-remaining-requests: 14370
			x-ratelimit-reset-requests: 2m59.56s
			x-ratelimit-limit-tokens: 18000
			x-ratelimit-remaining-tokens: 17997
			x-ratelimit-reset-tokens: 7.66s`,
			window(14400, 14370, 179*time.Second+560*time.Millisecond), window(18000, 17997, 7660*time.Millisecond)},
		{"Azure", "a remaining below zero, a reset in bare seconds", `
			x-ratelimit-remaining-tokens: -27689
			x-ratelimit-reset-tokens: 64`,
			llm.Window{}, window(-1, -27689, 64*time.Second)},
		{"Together", "no dimension: requests", `
			x-ratelimit-limit: 10
			x-ratelimit-remaining: 9
			x-ratelimit-reset: 1`,
			window(10, 9, time.Second), llm.Window{}},
		{"OpenRouter", "milliseconds since 1970", fmt.Sprintf(`
			X-RateLimit-Limit: 50
			X-RateLimit-Remaining: 0
			X-RateLimit-Reset: %d`, now.Add(90*time.Second).UnixMilli()),
			window(50, 0, 90*time.Second), llm.Window{}},
		{"epoch seconds", "a moment, not a wait", fmt.Sprintf("x-ratelimit-reset-requests: %d\nx-ratelimit-remaining-requests: 0", now.Add(90*time.Second).Unix()),
			window(-1, 0, 90*time.Second), llm.Window{}},
		{"gone by", "a moment gone by is now, not never", fmt.Sprintf("x-ratelimit-reset-requests: %d", now.Add(-time.Hour).Unix()),
			window(-1, -1, 0), llm.Window{}},
		{"Anthropic", "dates; the combined limit stands for tokens", `
			anthropic-ratelimit-requests-limit: 1000
			anthropic-ratelimit-requests-remaining: 999
			anthropic-ratelimit-requests-reset: 2026-01-02T03:04:06Z
			anthropic-ratelimit-input-tokens-limit: 80000
			anthropic-ratelimit-input-tokens-remaining: 80000
			anthropic-ratelimit-input-tokens-reset: 2026-01-02T03:04:05Z
			anthropic-ratelimit-output-tokens-limit: 16000
			anthropic-ratelimit-output-tokens-remaining: 16000
			anthropic-ratelimit-tokens-limit: 96000
			anthropic-ratelimit-tokens-remaining: 95000
			anthropic-ratelimit-tokens-reset: 2026-01-02T03:04:05.5Z`,
			window(1000, 999, time.Second), window(96000, 95000, 500*time.Millisecond)},
		{"Anthropic output", "the limit that is used up is the one to know", `
			anthropic-ratelimit-tokens-limit: 96000
			anthropic-ratelimit-tokens-remaining: 80000
			anthropic-ratelimit-output-tokens-limit: 16000
			anthropic-ratelimit-output-tokens-remaining: 0
			anthropic-ratelimit-output-tokens-reset: 2026-01-02T04:04:35+01:00`,
			llm.Window{}, window(16000, 0, 30*time.Second)},
		{"skewed clock", "a date is the server's, so its own Date counts", `
			Date: Fri, 02 Jan 2026 04:04:05 GMT
			anthropic-ratelimit-requests-remaining: 0
			anthropic-ratelimit-requests-reset: 2026-01-02T04:04:35Z`,
			window(-1, 0, 30*time.Second), llm.Window{}},
		{"Cerebras", "the window in the name, decimals, and the minute's before the day's", `
			x-ratelimit-limit-requests-day: 14400
			x-ratelimit-remaining-requests-day: 14399
			x-ratelimit-reset-requests-day: 33011.382
			x-ratelimit-limit-tokens-minute: 60000
			x-ratelimit-remaining-tokens-minute: 59000
			x-ratelimit-reset-tokens-minute: 11.38`,
			window(14400, 14399, 33011382*time.Millisecond), window(60000, 59000, 11380*time.Millisecond)},
		{"day used up", "then the day's counts", `
			x-ratelimit-remaining-tokens-minute: 100
			x-ratelimit-reset-tokens-minute: 1
			x-ratelimit-remaining-tokens-day: 0
			x-ratelimit-reset-tokens-day: 3600`,
			llm.Window{}, window(-1, 0, time.Hour)},
		{"day used up without a reset", "that nothing is left is told all the same", "x-ratelimit-remaining-tokens-minute: 100\nx-ratelimit-remaining-tokens-day: 0",
			llm.Window{}, window(-1, 0, -1)},
		{"both used up", "the later reset", "x-ratelimit-remaining-tokens-minute: 0\nx-ratelimit-reset-tokens-minute: 9\nx-ratelimit-remaining-tokens-hour: 0\nx-ratelimit-reset-tokens-hour: 99\nx-ratelimit-remaining-tokens-day: 0\nx-ratelimit-reset-tokens-day: 5",
			llm.Window{}, window(-1, 0, 99*time.Second)},
		{"Mistral", "no reset", `
			x-ratelimit-limit-req-minute: 60
			x-ratelimit-remaining-req-minute: 58
			x-ratelimit-limit-tokens-minute: 500000
			x-ratelimit-remaining-tokens-minute: 499000`,
			window(60, 58, -1), window(500000, 499000, -1)},
		{"IETF", "the first of the list is the limit, the rest are policies", `
			RateLimit-Limit: 100, 100;w=60
			RateLimit-Remaining: 0
			RateLimit-Reset: 50`,
			window(100, 0, 50*time.Second), llm.Window{}},
		{"IETF draft 7", "one header", `RateLimit: limit=100, remaining=50, reset=5`,
			window(100, 50, 5*time.Second), llm.Window{}},
		{"IETF draft 8", "the limit stands in the policy of that name", `
			RateLimit-Policy: "burst";q=10;w=1, "minute, plain";q=100;w=60
			RateLimit: "minute, plain";r=15;t=40`,
			window(100, 15, 40*time.Second), llm.Window{}},
		{"IETF several", "the one that is used up", `RateLimit: "burst";r=3;t=1, "day";r=0;t=36000`,
			window(-1, 0, 10*time.Hour), llm.Window{}},
		{"decimals", "a part of a request is none", "x-ratelimit-remaining-requests: 99.7", window(-1, 99, -1), llm.Window{}},
		{"unlimited", "-1 is a server's word for no limit", "x-ratelimit-limit-requests: -1\nx-ratelimit-remaining-requests: -1\nx-ratelimit-limit-tokens: 5", llm.Window{}, window(5, -1, -1)},
		{"huge reset", "kept as far as it can be", "x-ratelimit-reset-requests: 99999999999999h", window(-1, -1, 1_000_000*time.Hour), llm.Window{}},
		{"part unreadable", "what cannot be read is left out, and no more", "x-ratelimit-limit-requests: many\nx-ratelimit-remaining-requests: 3\nx-ratelimit-reset-requests: soon", window(-1, 3, -1), llm.Window{}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := wire.RateLimits(headers(r.headers), now)
			require.NotNil(t, got)
			assert.Equal(t, llm.RateLimit{Requests: r.requests, Tokens: r.tokens}, *got, r.reason)
		})
	}
}

func TestNoRateLimits(t *testing.T) {
	for _, s := range []string{"", "Content-Type: application/json\nRetry-After: 5", "x-ratelimit-limit-requests: unlimited", "RateLimit: x", "x-ratelimit-reset-requests: NaN"} {
		assert.Nil(t, wire.RateLimits(headers(s), now), "%q", s)
	}
}

func FuzzRateLimits(f *testing.F) {
	for _, s := range []string{"100", "6m0s", "8ms", "-1", "1767323045", "2026-01-02T03:04:05Z", `"a";r=1;t=2`, "limit=1, remaining=0, reset=9", `"`, ";;,,=", "9e99", "0.5"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		h := http.Header{}
		for i, name := range []string{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests", "Anthropic-Ratelimit-Tokens-Limit",
			"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset", "Ratelimit", "Ratelimit-Policy", "Ratelimit-Limit", "Date"} {
			h.Set(name, []string{a, b}[i%2])
		}
		l := wire.RateLimits(h, now)
		if l == nil {
			return
		}
		for _, w := range []llm.Window{l.Requests, l.Tokens} {
			if w.Reset != nil && (*w.Reset < 0 || *w.Reset > 1_000_000*time.Hour) {
				t.Errorf("reset %v of %q and %q", *w.Reset, a, b)
			}
			if w.Limit != nil && *w.Limit < 0 {
				t.Errorf("limit %d of %q and %q", *w.Limit, a, b)
			}
		}
	})
}
