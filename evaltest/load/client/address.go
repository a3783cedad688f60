package client

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/goevals/evals/llm/wire"
)

var defaultEndpoints = map[API]string{Chat: "/v1/chat/completions", Completions: "/v1/completions", Gemini: "/v1beta"}

// address puts host and endpoint together. The rules are batchbench's: a host
// without a scheme is https, slashes between the two do not matter, and an
// endpoint that is a whole URL replaces the host.
func address(host, endpoint string) (*url.URL, error) {
	text := endpoint
	if !hasScheme(endpoint) {
		if host == "" {
			return nil, fmt.Errorf("client: Host is empty: give the server, such as http://127.0.0.1:8000, or a whole URL as Endpoint")
		}
		if !strings.Contains(host, "://") {
			host = "https://" + host
		}
		text = strings.TrimRight(host, "/") + "/" + strings.TrimLeft(endpoint, "/")
	}
	u, err := url.Parse(text)
	if err != nil {
		// url's error quotes the whole text, which may hold a password: in a text
		// that is no URL nobody can say where, so what stands before an @ and
		// behind a ? is left out.
		if at := strings.LastIndexByte(text, '@'); at >= 0 {
			text = "…" + text[at:]
		}
		text, _, _ = strings.Cut(text, "?")
		return nil, fmt.Errorf("client: Host and Endpoint make %q, which is no URL", wire.Mask(text))
	}
	switch {
	case u.User != nil:
		return nil, fmt.Errorf("client: the URL of %s has a user name or a password in it: give the key as Key, or a header", u.Host)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("client: %q is no scheme to call: want http or https", u.Scheme)
	case u.Hostname() == "":
		return nil, fmt.Errorf("client: %q has no host", wire.Mask(text))
	case u.Fragment != "":
		return nil, fmt.Errorf("client: %q has a fragment, which is never sent", wire.Mask(text))
	}
	return u, nil
}

func hasScheme(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// addresses are where streamed and whole answers are asked for.
func (c Config) addresses() (stream, whole *url.URL, err error) {
	endpoint := c.Endpoint
	if endpoint == "" {
		endpoint = defaultEndpoints[c.API]
	}
	u, err := address(c.Host, endpoint)
	if err != nil || c.API != Gemini {
		return u, u, err
	}
	method := func(name string) *url.URL {
		v := u.JoinPath(strings.Split(modelPath(c.Model)+":"+name, "/")...)
		return v
	}
	stream, whole = method("streamGenerateContent"), method("generateContent")
	q := stream.Query()
	q.Set("alt", "sse") // without it the events are the elements of one JSON array
	stream.RawQuery = q.Encode()
	return stream, whole, nil
}

// modelPath is a model's name as it stands in Gemini's path. A name with a slash
// is a path of its own (models/…, tunedModels/…).
func modelPath(model string) string {
	parts := strings.Split(strings.Trim(model, "/"), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	if len(parts) == 1 {
		parts = append([]string{"models"}, parts...)
	}
	return strings.Join(parts, "/")
}
