package wire

import (
	"fmt"
	"net/http"
)

// sharedIdle is how many idle connections to a host the shared pool keeps.
const sharedIdle = 1024

// NewPool returns a pool of connections for n calls in flight, for
// [Transport.Base] or for an http.Client of one's own: Go's default transport
// with its proxy and dialling settings, except that it keeps n idle connections
// to a host instead of 2, of any number of hosts, and speaks HTTP/2 even after
// its TLSClientConfig is set. It panics if n is less than 1.
//
// It sets no limit on connections (MaxConnsPerHost): calls beyond such a limit
// wait inside net/http, where the wait counts as the call's and uses up its
// time. Limit calls in flight instead. Over HTTP/2 all calls to a host share
// one connection, up to as many as the server allows at once (often 100 or
// 250); net/http then opens another.
func NewPool(n int) *http.Transport {
	if n < 1 {
		panic(fmt.Sprintf("wire: NewPool(%d): want the number of calls in flight, at least 1", n))
	}
	t := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if d, ok := http.DefaultTransport.(*http.Transport); ok {
		t = d.Clone()
	}
	// The default of 2 idle connections to a host makes most calls of a
	// parallel run dial anew.
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, n
	t.ForceAttemptHTTP2 = true
	return t
}

// CheckPool says what is wrong with a transport for this many calls in flight
// to one host, one error for each setting, nil if nothing is: too few idle
// connections kept, so that calls over HTTP/1.1 dial anew; a limit on
// connections, which makes calls wait within their own time; connections that
// are not kept at all. It looks through a [Transport]; a nil rt is
// http.DefaultTransport, which http.Client uses, and which keeps 2. A
// RoundTripper that it does not know is not judged.
func CheckPool(rt http.RoundTripper, parallel int) (warnings []error) {
	for range 8 { // Transports may be nested
		switch t := rt.(type) {
		case nil:
			rt = http.DefaultTransport
		case Transport:
			rt = t.base()
		case *Transport:
			rt = t.base()
		case *http.Transport:
			return checkTransport(t, parallel)
		default:
			return nil
		}
	}
	return nil
}

func checkTransport(t *http.Transport, parallel int) (warnings []error) {
	warn := func(format string, args ...any) {
		warnings = append(warnings, fmt.Errorf("wire: "+format+"; wire.NewPool(%d) makes a fitting one", append(args, parallel)...))
	}
	perHost := t.MaxIdleConnsPerHost
	if perHost == 0 {
		perHost = http.DefaultMaxIdleConnsPerHost
	}
	switch {
	case t.DisableKeepAlives:
		warn("the transport has DisableKeepAlives set: every one of %d calls in flight dials anew", parallel)
	case perHost < parallel:
		warn("the transport keeps %d idle connections to a host (MaxIdleConnsPerHost is %d), fewer than the %d calls in flight: over HTTP/1.1 the rest dial anew", max(perHost, 0), t.MaxIdleConnsPerHost, parallel)
	case t.MaxIdleConns > 0 && t.MaxIdleConns < parallel:
		warn("the transport keeps %d idle connections in all (MaxIdleConns), fewer than the %d calls in flight: over HTTP/1.1 the rest dial anew", t.MaxIdleConns, parallel)
	}
	if t.MaxConnsPerHost > 0 && t.MaxConnsPerHost < parallel {
		warn("the transport opens at most %d connections to a host (MaxConnsPerHost), fewer than the %d calls in flight: over HTTP/1.1 the rest wait inside net/http, within their own time limit", t.MaxConnsPerHost, parallel)
	}
	return warnings
}
