package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

func TestStatusKind(t *testing.T) {
	for status, want := range map[int]llm.ErrorKind{
		400: llm.KindBadRequest, 401: llm.KindAuth, 402: llm.KindBalance, 403: llm.KindAuth, 404: llm.KindNotFound,
		408: llm.KindServer, 409: llm.KindServer, 413: llm.KindContext, 422: llm.KindBadRequest, 429: llm.KindRateLimit,
		500: llm.KindServer, 502: llm.KindServer, 503: llm.KindServer, 504: llm.KindServer, 529: llm.KindServer,
		304: llm.KindBadResponse, 200: llm.KindUnknown, 0: llm.KindUnknown,
	} {
		assert.Equal(t, want, wire.StatusKind(status), "status %d", status)
	}
}
