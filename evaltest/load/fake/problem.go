package fake

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A problem is why a request is refused.
type problem struct {
	status  int
	message string
	param   string // the field that is wrong, "" if none is
}

func wrong(param, message string) *problem {
	return &problem{http.StatusBadRequest, message, param}
}

// kind is OpenAI's type of error for a status.
func kind(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	}
	if status >= 500 {
		return "server_error"
	}
	return "invalid_request_error"
}

// object is the problem as OpenAI's servers say it.
func (p *problem) object() []byte {
	b := append([]byte(nil), `{"error":{"message":`...)
	b = appendQuote(b, p.message)
	b = append(b, `,"type":"`...)
	b = append(b, kind(p.status)...)
	b = append(b, `","param":`...)
	if p.param == "" {
		b = append(b, "null"...)
	} else {
		b = appendQuote(b, p.param)
	}
	b = append(b, `,"code":`...)
	if p.status == http.StatusBadRequest {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, int64(p.status), 10)
	}
	return append(b, "}}"...)
}

// appendQuote appends s as JSON; what is no UTF-8 in it becomes U+FFFD.
func appendQuote(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
	_ = err // says only that s was no UTF-8
	return b
}
