package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/goevals/evals/llm/wire"
)

// BenchmarkWatch is what reading along costs, for each event of a stream.
func BenchmarkWatch(b *testing.B) {
	for _, a := range apis {
		b.Run(strings.ReplaceAll(a.name, " ", "-"), func(b *testing.B) {
			token := []byte(a.tokens[1])
			h := http.Header{"Content-Type": {"text/event-stream"}}
			if a.json {
				h.Set("Content-Type", "application/json")
			}
			path, _, _ := strings.Cut(strings.TrimPrefix(a.url, "http://fake"), "?")
			w := wire.NewWatch("POST", path, h)
			w.Write([]byte(strings.Join(a.head, "")+a.tokens[0]), 1)
			b.ReportAllocs()
			for b.Loop() {
				w.Write(token, 1)
			}
		})
	}
}

// BenchmarkRateLimits is what reading the headers of an answer costs.
func BenchmarkRateLimits(b *testing.B) {
	plain := http.Header{"Content-Type": {"application/json"}, "Date": {"Fri, 02 Jan 2026 03:05:05 GMT"}, "X-Request-Id": {"r"}}
	openAI := headers("Date: Fri, 02 Jan 2026 03:05:05 GMT\nx-ratelimit-limit-requests: 60\nx-ratelimit-limit-tokens: 150000\nx-ratelimit-remaining-requests: 59\nx-ratelimit-remaining-tokens: 149984\nx-ratelimit-reset-requests: 1s\nx-ratelimit-reset-tokens: 6m0s")
	for name, h := range map[string]http.Header{"none": plain, "OpenAI": openAI} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				wire.RateLimits(h, now)
			}
		})
	}
}
