package cassette

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/goevals/evals/llm/wire"
)

// secrets are the values that must not be stored or shown of a call.
func (c *Cassette) secrets(req *http.Request) []string {
	return append(wire.Secrets(req), c.opts.Secrets...)
}

// findSecret reports whether a secret stands in any of the texts, in any
// spelling.
func findSecret(secrets []string, texts ...[]byte) bool {
	for _, s := range secrets {
		for _, form := range wire.Spellings(s) {
			for _, t := range texts {
				if bytes.Contains(t, []byte(form)) {
					return true
				}
			}
		}
	}
	return false
}

// An application may fetch a token through the client that is recorded. What
// such a request and its answer hold is secret, whatever its value.
var (
	tokenFields = []string{"client_secret", "refresh_token", "assertion", "password", "subject_token", "client_assertion"}
	tokenAnswer = regexp.MustCompile(`"(?:access_token|refresh_token|id_token|client_secret)"\s*:\s*"[^"]`)
)

const tokenHint = "; fetch tokens with an http.Client or a context of its own, outside the cassette"

// refusedRequest says why a request may not be recorded, "" if it may.
func refusedRequest(a *asked, body []byte, secrets []string) string {
	if findSecret(secrets, []byte(a.entry.Path), body, a.entry.canon) {
		return "holds a secret"
	}
	media, _, _ := mime.ParseMediaType(a.req.Header.Get("Content-Type"))
	if media != "application/x-www-form-urlencoded" {
		return ""
	}
	form, _ := url.ParseQuery(string(body)) // what can be read of it
	for name := range form {
		if slices.Contains(tokenFields, name) {
			return "holds the form field " + name + tokenHint
		}
	}
	return ""
}

// refusedAnswer says why an answer may not be stored, "" if it may. line is
// the entry as it would be written.
func refusedAnswer(e *entry, line []byte, secrets []string) string {
	body := e.body
	switch coding := e.Header.Get("Content-Encoding"); coding {
	case "", "identity":
	case "gzip":
		var err error
		if body, err = unzip(body); err != nil {
			return "is packed with gzip and cannot be unpacked (" + err.Error() + "), so it cannot be searched for keys"
		}
	default:
		return "is packed with an encoding other than gzip, so it cannot be searched for keys; the server sent it unasked"
	}
	if findSecret(secrets, line, body) {
		return "holds a key or a configured secret"
	}
	path, _, _ := strings.Cut(e.Path, "?")
	if !wire.IsModelCall(e.Method, path) && tokenAnswer.Match(body) {
		return "holds a token" + tokenHint
	}
	return ""
}

func unzip(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxBody))
}
