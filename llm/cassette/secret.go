package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
	if findSecret(secrets, line, body) || findSecret(secrets, spoken(body)...) {
		return "holds a key or a configured secret"
	}
	path, _, _ := strings.Cut(e.Path, "?")
	if !wire.IsModelCall(e.Method, path) && tokenAnswer.Match(body) {
		return "holds a token" + tokenHint
	}
	return ""
}

// maxSpoken is the longest stream whose texts are put together, in bytes.
const maxSpoken = 16 << 20

// spoken are the texts that a stream of events says piece by piece, each put
// together: a key may be spread over several events. They are told apart by the
// names of the fields they stand in.
func spoken(body []byte) [][]byte {
	if len(body) > maxSpoken {
		return nil
	}
	texts := map[string][]byte{}
	events := wire.NewEventReader(bytes.NewReader(body))
	for {
		ev, err := events.Next()
		if err != nil {
			break
		}
		var v any
		if json.Unmarshal(ev.Data, &v) == nil {
			gather(v, "", texts)
		}
	}
	return slices.Collect(maps.Values(texts))
}

// gather appends each text in v to those of the same place.
func gather(v any, place string, texts map[string][]byte) {
	switch v := v.(type) {
	case string:
		texts[place] = append(texts[place], v...)
	case []any:
		for _, e := range v {
			gather(e, place, texts)
		}
	case map[string]any:
		for name, e := range v {
			gather(e, place+"."+name, texts)
		}
	}
}

func unzip(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(maxBody)+1))
	if err == nil && len(out) > maxBody {
		err = fmt.Errorf("it is longer than %d bytes unpacked", maxBody)
	}
	return out, err
}
