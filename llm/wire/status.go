package wire

import (
	"net/http"

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
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, 499: // 499: it gave up
		return llm.KindServer // the server's own trouble: another try may succeed
	case http.StatusRequestEntityTooLarge:
		return llm.KindContext
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
