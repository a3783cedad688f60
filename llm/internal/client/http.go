package client

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/goevals/evals/llm/wire"
)

// HTTP returns a copy of the user's client, nil for none, with llm/wire and
// below it the guard over the user's transport.
func HTTP(user *http.Client, provider string, guard func(base http.RoundTripper) http.RoundTripper) *http.Client {
	hc := http.Client{}
	if user != nil {
		hc = *user
	}
	if hc.CheckRedirect == nil {
		hc.CheckRedirect = CheckRedirect
	}
	hc.Transport = wire.Transport{Base: guard(hc.Transport), Provider: provider}
	return &hc
}

// CheckRedirect follows a redirect only where it stays the same request to the
// same host. net/http would turn a POST into a GET, and would carry the keys
// in headers of one's own (Api-Key) to wherever the server points.
func CheckRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	same := req.Method == first.Method && req.URL.Hostname() == first.URL.Hostname() &&
		(req.URL.Scheme == first.URL.Scheme || req.URL.Scheme == "https")
	if !same || len(via) >= 10 {
		return http.ErrUseLastResponse
	}
	return nil
}

// IsLoopback reports whether a URL's host is this machine.
func IsLoopback(u *url.URL) bool {
	h := u.Hostname()
	ip := net.ParseIP(h)
	return strings.EqualFold(h, "localhost") || ip != nil && ip.IsLoopback()
}

// FirstError is the first of these that is one.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return errors.New("no answer and no error came")
}
