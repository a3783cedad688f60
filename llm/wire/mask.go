package wire

import (
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Masked stands where a key stood.
const Masked = "[masked]"

// minSecret is how long a value must be to count as a secret. Local servers
// are called with keys such as "x" and "none", which stand in any text.
const minSecret = 8

// secretHeaders and secretEndings say which headers hold keys. Endings catch
// the headers that gateways invent: X-Acme-Api-Key, X-Acme-Token.
var (
	secretHeaders = []string{"Cookie"}
	secretEndings = []string{"authorization", "-auth", "api-key", "apikey", "-token", "-secret", "subscription-key", "auth-key", "access-key", "functions-key"}
)

// authSchemes are words that stand before a key in its header. Behind any other
// word and a space the word is taken for a part of the key.
var authSchemes = []string{"Bearer", "Basic", "Token", "Key", "ApiKey", "Api-Key", "Digest", "Negotiate"}

var secretParams = []string{"key", "api_key", "api-key", "apikey", "access_token", "token", "client_secret", "subscription-key", "x-amz-security-token", "x-amz-signature", "sig"}

// What may stand before a key or a parameter: nothing of a word, or the end of
// an escape ("%3D", "\u003d", "\n"), which looks like one.
const (
	before   = `(^|[^A-Za-z0-9_-]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[nrtbf])`
	andQuery = `(?:[?&;]|%3[fF]|%26|\\u0026|&amp;)`
	isQuery  = `(?:=|%3[dD]|\\u003[dD])`
)

// A secretShape is what a key looks like where nobody knows it. An expression
// takes long over a long text, so each is tried only where one of the hints
// stands in the text in lower case: it matches nothing without one.
type secretShape struct {
	hints []string
	re    *regexp.Regexp
}

var secretShapes = []secretShape{
	{[]string{"bearer", "basic"}, regexp.MustCompile(`(?i)(\b(?:bearer|basic)(?:\s|%20|\+)+)[A-Za-z0-9._~+/=-]{8,}`)},
	{[]string{"key", "token", "secret", "signature"}, regexp.MustCompile(`(?i)(` + andQuery +
		`(?:key|api[-_]?key|access_token|refresh_token|id_token|token|client_secret|subscription-key|x-amz-security-token|x-amz-signature)` + isQuery + `)[^&\s"'<>\\]+`)},
	{[]string{"://"}, regexp.MustCompile(`(://[^/\s"'<>@:]*:)[^/\s"'<>@]+(@)`)}, // a password in a URL
	{[]string{"api-key", "subscription-key", "security-token"}, regexp.MustCompile(
		`(?i)(\b(?:x-api-key|api-key|x-goog-api-key|ocp-apim-subscription-key|x-amz-security-token)\\?["']?\s*[:=]\s*\[?\\?["']?)[A-Za-z0-9._~+/=-]{8,}`)},
	shape("sk-", `[A-Za-z0-9_-]{16,}`),                                      // OpenAI, Anthropic, OpenRouter, DeepSeek, …
	shape("AIza", `[A-Za-z0-9_-]{20,}`), shape("AQ.", `[A-Za-z0-9_-]{20,}`), // Google's keys
	shape("ya29.", `[A-Za-z0-9._-]{10,}`), shape("1//", `[A-Za-z0-9_-]{20,}`), shape("GOCSPX-", `[A-Za-z0-9_-]{10,}`), // and tokens
	shape("gsk_", `[A-Za-z0-9]{16,}`), shape("xai-", `[A-Za-z0-9]{16,}`), shape("csk-", `[A-Za-z0-9]{16,}`), // Groq, xAI, Cerebras
	shape("hf_", `[A-Za-z0-9]{16,}`), shape("r8_", `[A-Za-z0-9]{16,}`), shape("fw_", `[A-Za-z0-9]{16,}`), // Hugging Face, Replicate, Fireworks
	shape("tgp_v1_", `[A-Za-z0-9_-]{16,}`), shape("nvapi-", `[A-Za-z0-9_-]{16,}`), shape("pplx-", `[A-Za-z0-9]{16,}`), // Together, NVIDIA, Perplexity
	shape("AKIA", `[A-Z0-9]{16}`), shape("ASIA", `[A-Z0-9]{16}`), // AWS
	shape("eyJ", `[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`),                                                                   // a JSON web token
	{[]string{"private key-----"}, regexp.MustCompile(`()-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)}, // a service account's
}

// shape is that of a key which begins with prefix.
func shape(prefix, rest string) secretShape {
	return secretShape{[]string{strings.ToLower(prefix)}, regexp.MustCompile(before + regexp.QuoteMeta(prefix) + rest)}
}

// Mask returns s without these secrets, in each of their [Spellings], and
// without what looks like a key: a bearer token, a key parameter or password of
// a URL, a key header, a key with its provider's prefix (sk-…, AIza…, ya29.…),
// a private key. Empty secrets are ignored. Use it on text for people; it
// may blank harmless text that looks like a key. Mask before you cut a text:
// half a key is not recognised.
func Mask(s string, secrets ...string) string {
	s = MaskSecrets(s, secrets...)
	lower := strings.ToLower(s)
	for _, shape := range secretShapes {
		if has(lower, shape.hints) {
			s = shape.re.ReplaceAllString(s, "${1}"+Masked+"${2}")
		}
	}
	return s
}

// MaskSecrets is [Mask] without the guesses: it removes the secrets themselves,
// in each of their [Spellings], and leaves all other text as it is. Where s ends
// with the beginning of a secret, at least 8 bytes of it, that is removed too:
// what was cut off behind it was the rest. It returns s itself if nothing is to
// be removed.
func MaskSecrets(s string, secrets ...string) string {
	for _, secret := range secrets {
		for _, form := range spellings(secret) {
			if strings.Contains(s, form) {
				s = strings.ReplaceAll(s, form, Masked)
			}
		}
	}
	begun := 0
	for _, secret := range secrets {
		for _, form := range spellings(secret) {
			begun = max(begun, begins(s, form))
		}
	}
	if begun > 0 {
		s = s[:len(s)-begun] + Masked
	}
	return s
}

// begins is how much of a secret, not all of it, begins at the end of s; 0 for
// less than minSecret bytes.
func begins(s, form string) int {
	if len(form) <= minSecret {
		return 0
	}
	for from := max(len(s)-len(form)+1, 0); ; from++ {
		i := strings.Index(s[from:], form[:minSecret])
		if i < 0 {
			return 0
		}
		if from += i; strings.HasPrefix(form, s[from:]) {
			return len(s) - from
		}
	}
}

// maskBytes is MaskSecrets of a body.
func maskBytes(b []byte, secrets []string) []byte {
	if len(b) == 0 {
		return nil
	}
	return []byte(MaskSecrets(string(b), secrets...))
}

// Secrets are the values of a request that must not be shown or stored: what
// stands in its authorization, cookie and key headers (the scheme removed, a
// basic password decoded, a cookie's value by itself too), in the key parameters
// of its query and in its URL's password. A key header is one whose name ends
// like X-Api-Key, X-Auth-Token or Ocp-Apim-Subscription-Key. Values of fewer
// than 8 bytes are not secrets. Longer ones come first, since a shorter one may
// be part of them.
func Secrets(req *http.Request) []string {
	var out []string
	add := func(v string) {
		if v = strings.TrimSpace(v); len(v) >= minSecret && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for h, vs := range req.Header {
		for _, v := range vs {
			switch {
			case !isSecretHeader(h):
			case strings.EqualFold(h, "Cookie"):
				add(v)
				for pair := range strings.SplitSeq(v, ";") {
					_, value, _ := strings.Cut(pair, "=")
					add(value)
				}
			default:
				addKey(add, v)
			}
		}
	}
	if req.URL != nil {
		for k, vs := range req.URL.Query() {
			for _, v := range vs {
				if IsSecretParam(k) {
					add(v)
				}
			}
		}
		if pw, ok := req.URL.User.Password(); ok {
			add(pw)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// addKey adds what stands in a key's header.
func addKey(add func(string), v string) {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(v), " ")
	isScheme := slices.ContainsFunc(authSchemes, func(s string) bool { return strings.EqualFold(s, scheme) })
	if !ok || !isScheme {
		add(v)
	}
	add(rest)
	if strings.EqualFold(scheme, "Basic") {
		if dec, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest)); err == nil {
			_, pw, _ := strings.Cut(string(dec), ":")
			add(pw)
		}
	}
}

func isSecretHeader(name string) bool {
	return slices.ContainsFunc(secretHeaders, func(h string) bool { return strings.EqualFold(name, h) }) ||
		slices.ContainsFunc(secretEndings, func(e string) bool { return strings.HasSuffix(strings.ToLower(name), e) })
}

// maskAll masks texts for people, and cuts them.
func maskAll(texts, secrets []string) []string {
	var out []string
	for _, s := range texts {
		out = append(out, cutText(Mask(s, secrets...), maxErrorText))
	}
	return out
}

// maxShown is how much of a name is shown, in bytes: no real one is longer.
const maxShown = 256

// shown is a name that a server gave, without secrets, cut after they are
// masked.
func shown(name string, secrets []string) string {
	s := strings.ToValidUTF8(MaskSecrets(name, secrets...), "\uFFFD")
	if len(s) > maxShown {
		return strings.ToValidUTF8(s[:maxShown], "") + "…"
	}
	return s
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
