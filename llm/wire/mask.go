package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const masked = "[masked]"

// minSecret is how long a value must be to count as a secret. Local servers
// are called with keys such as "x" and "none", which stand in any text.
const minSecret = 8

// secretHeaders and secretEndings say which headers hold keys. Endings catch
// the headers that gateways invent: X-Acme-Api-Key, X-Acme-Token.
var (
	secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie"}
	secretEndings = []string{"api-key", "apikey", "-token", "-secret", "subscription-key", "auth-key"}
)

var secretParams = []string{"key", "api_key", "api-key", "apikey", "access_token", "token", "client_secret", "subscription-key"}

var secretShapes = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`(?i)([?&](?:key|api[-_]?key|access_token|token|client_secret|subscription-key)=)[^&\s"'<>]+`),
	regexp.MustCompile(`(://[^/\s"'<>@:]*:)[^/\s"'<>@]+(@)`), // a password in a URL
	regexp.MustCompile(`(?i)(\b(?:x-api-key|api-key|x-goog-api-key)["']?\s*[:=]\s*\[?["']?)[A-Za-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`()\b(?:sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{16,})`),
}

// Mask returns s without these secrets, in each of their [Spellings], and
// without what looks like a key: a bearer token, a key parameter or password of
// a URL, a key header. Empty secrets are ignored. Use it on text for people; it
// may blank harmless text that looks like a key. Mask before you cut a text:
// half a key is not recognised.
func Mask(s string, secrets ...string) string {
	s = string(maskBytes([]byte(s), secrets))
	for _, re := range secretShapes {
		s = re.ReplaceAllString(s, "${1}"+masked+"${2}")
	}
	return s
}

// maskBytes replaces exact secrets only: a body keeps all other text.
func maskBytes(b []byte, secrets []string) []byte {
	if len(b) == 0 {
		return nil
	}
	out := b
	for _, s := range secrets {
		for _, form := range Spellings(s) {
			if bytes.Contains(out, []byte(form)) {
				out = bytes.ReplaceAll(out, []byte(form), []byte(masked))
			}
		}
	}
	if len(out) > 0 && len(b) > 0 && &out[0] == &b[0] {
		out = bytes.Clone(b)
	}
	return out
}

// Spellings are the ways in which a secret may stand in a text: as it is,
// escaped for a URL, escaped for a JSON string, and in base64 (its beginning,
// since the end depends on what follows). It is empty for "".
func Spellings(secret string) []string {
	if secret == "" {
		return nil
	}
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), (&url.URL{Path: "/" + secret}).EscapedPath()[1:]}
	if j, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(j[1:len(j)-1]))
	}
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(secret) == nil {
		forms = append(forms, strings.Trim(strings.TrimSpace(plain.String()), `"`))
	}
	// A key in base64, wherever it begins a text that was encoded whole. The
	// last bytes depend on what follows it.
	if n := len(secret) / 3 * 3; n >= minSecret {
		forms = append(forms, base64.StdEncoding.EncodeToString([]byte(secret[:n])), base64.URLEncoding.EncodeToString([]byte(secret[:n])))
	}
	slices.Sort(forms)
	forms = slices.Compact(forms)
	// Longer spellings first: a short one may be part of a long one.
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return forms
}

// Secrets are the values of a request that must not be shown or stored: what
// stands in its authorization, cookie and key headers (the scheme removed, a
// basic password decoded), in the key parameters of its query and in its URL's
// password. A key header is one whose name ends like X-Api-Key, X-Auth-Token or
// Ocp-Apim-Subscription-Key. Values of fewer than 8 bytes are not secrets.
func Secrets(req *http.Request) []string {
	var out []string
	add := func(v string) {
		if v = strings.TrimSpace(v); len(v) >= minSecret && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for h, vs := range req.Header {
		if !isSecretHeader(h) {
			continue
		}
		for _, v := range vs {
			scheme, rest, ok := strings.Cut(v, " ")
			if !ok || strings.EqualFold(h, "Cookie") {
				add(v)
				continue
			}
			add(rest)
			if strings.EqualFold(scheme, "Basic") {
				if dec, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest)); err == nil {
					_, pw, _ := strings.Cut(string(dec), ":")
					add(pw)
				}
			}
		}
	}
	if req.URL == nil {
		return out
	}
	for k, vs := range req.URL.Query() {
		if IsSecretParam(k) {
			for _, v := range vs {
				add(v)
			}
		}
	}
	if pw, ok := req.URL.User.Password(); ok {
		add(pw)
	}
	return out
}

func isSecretHeader(name string) bool {
	return slices.ContainsFunc(secretHeaders, func(h string) bool { return strings.EqualFold(name, h) }) ||
		slices.ContainsFunc(secretEndings, func(e string) bool { return strings.HasSuffix(strings.ToLower(name), e) })
}

// maskAll masks texts for people.
func maskAll(texts, secrets []string) []string {
	var out []string
	for _, s := range texts {
		out = append(out, Mask(s, secrets...))
	}
	return out
}

// IsSecretParam reports whether a query parameter of this name holds a key.
func IsSecretParam(name string) bool {
	return slices.Contains(secretParams, strings.ToLower(name))
}

// MaskError returns err with secrets masked in its text. errors.Is and
// errors.As still see the cause. It returns err itself if there is nothing to
// mask in it, and nil for nil.
func MaskError(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if m := Mask(text, secrets...); m != text {
		return &maskedError{text: m, err: err}
	}
	return err
}

// maskedError has no Unwrap: whoever walks the tree and prints would show the
// secret after all.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string        { return e.text }
func (e *maskedError) Is(target error) bool { return errors.Is(e.err, target) }
func (e *maskedError) As(target any) bool   { return errors.As(e.err, target) }
