package wire_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	rows := []struct {
		name, header, value string
		want                time.Duration
		ok                  bool
	}{
		{"seconds", "Retry-After", "7", 7 * time.Second, true},
		{"decimals", "Retry-After", "0.5", 500 * time.Millisecond, true},
		{"milliseconds", "retry-after-ms", "250", 250 * time.Millisecond, true},
		{"date", "Retry-After", "Fri, 02 Jan 2026 03:05:05 GMT", time.Minute, true},
		{"date gone by", "Retry-After", "Fri, 02 Jan 2026 03:00:05 GMT", 0, true},
		{"zero", "Retry-After", "0", 0, true},
		{"negative", "Retry-After", "-1", 0, false},
		{"NaN", "Retry-After", "NaN", 0, false},
		{"huge", "Retry-After", "1e300", 0, false},
		{"text", "Retry-After", "soon", 0, false},
		{"absent", "X", "", 0, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			h := http.Header{}
			h.Set(r.header, r.value)
			got, ok := wire.RetryAfter(h, now)
			assert.Equal(t, r.want, got)
			assert.Equal(t, r.ok, ok)
		})
	}
}

func TestStatusKind(t *testing.T) {
	for status, want := range map[int]llm.ErrorKind{
		400: llm.KindBadRequest, 401: llm.KindAuth, 402: llm.KindBalance, 403: llm.KindAuth, 404: llm.KindNotFound,
		408: llm.KindServer, 409: llm.KindServer, 422: llm.KindBadRequest, 429: llm.KindRateLimit,
		500: llm.KindServer, 502: llm.KindServer, 503: llm.KindServer, 504: llm.KindServer, 529: llm.KindServer,
		304: llm.KindBadResponse, 200: llm.KindUnknown, 0: llm.KindUnknown,
	} {
		assert.Equal(t, want, wire.StatusKind(status), "status %d", status)
	}
}
