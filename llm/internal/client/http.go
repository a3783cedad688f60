package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/goevals/evals/llm"
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
	same := req.Method == first.Method && req.URL.Hostname() == first.URL.Hostname()
	if req.URL.Scheme == first.URL.Scheme {
		same = same && req.URL.Port() == first.URL.Port() // behind another one is another server
	} else {
		same = same && req.URL.Scheme == "https"
	}
	if !same || len(via) >= 10 {
		return http.ErrUseLastResponse
	}
	return nil
}

// HeaderFault is the error for a request that cannot be sent, since a header
// has a value that none may have: a key with the line end of the file that it
// was read from. It is nil for all others. net/http's own would be taken for
// trouble with the connection, which passes. No value is shown.
func HeaderFault(req *http.Request, provider string) error {
	for name, vs := range req.Header {
		for _, v := range vs {
			i := strings.IndexFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
			if i < 0 {
				continue
			}
			e := &llm.Error{Kind: llm.KindBadRequest, Provider: provider}
			what := "the header " + name
			if isKey := len(wire.Secrets(&http.Request{Header: http.Header{name: {v}}})) > 0; isKey {
				e.Kind, what = llm.KindAuth, "the key in the header "+name
			}
			e.Message = fmt.Sprintf("%s holds the character %q, which no header may have", what, v[i])
			e.Hint = "take it out of the environment variable or the Config's Header: it is often the line end of a file that a key was read from"
			return e
		}
	}
	return nil
}

// Broke reports whether err is trouble of the connection alone: the caller has
// not given up, what came was no error of the server's, and nothing between it
// and us (a cassette) refused the answer.
func Broke(ctx context.Context, err error) bool {
	var no *NoAnswer
	var known *llm.Error
	return err != nil && ctx.Err() == nil && !errors.As(err, &no) && !errors.As(err, &known) && !errors.Is(err, context.DeadlineExceeded) &&
		!errors.Is(err, ErrTooLong) && !errors.Is(err, wire.ErrEventTooLong)
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
