package wire_test

import (
	"errors"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/internal/brokenconn"
	"github.com/goevals/evals/llm/wire"
)

// TestErrStale: a call that met a connection which the server had closed says
// so, and no other does.
func TestErrStale(t *testing.T) {
	const good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
	for _, tc := range []struct {
		name, reason string
		first        string // what the first call on a connection is answered with
		second       string // what the second one is
		reset        bool   // the second one ends in a reset
		calls        int
		stale        bool
	}{
		{"kept and closed", "what llama.cpp does to the call after a stream", good, "", false, 2, true},
		{"kept and reset", "what a restarted server does", good, "", true, 2, true},
		{"a new one", "nothing was kept: the server closed on a call that it was sent", "", "", false, 1, false},
		{"kept, begun", "an answer had begun: the call was seen", good, "HTTP/1.1 200 OK\r\nConte", false, 2, false},
		{"kept, begun, reset", "an answer had begun: the call was seen", good, "HTTP/1.1 200 OK\r\nConte", true, 2, false},
		{"kept, no HTTP", "some answer came", good, "what?", false, 2, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			texts, then := []string{tc.first, tc.second}[:tc.calls], brokenconn.HangUp
			if tc.reset {
				then = brokenconn.Reset
			}
			url, stop, err := brokenconn.ServeKept(then, texts...)
			require.NoError(t, err)
			defer stop()
			base := wire.NewPool(1)
			defer base.CloseIdleConnections()
			hc := &http.Client{Transport: wire.Transport{Base: base}}
			for n := 1; n <= tc.calls; n++ {
				var seen wire.Capture
				req, err := http.NewRequestWithContext(wire.WithCapture(t.Context(), &seen), http.MethodPost, url, strings.NewReader("{}"))
				require.NoError(t, err)
				resp, err := hc.Do(req)
				if n < tc.calls {
					require.NoError(t, err)
					require.NoError(t, readValue(resp.Body))
					continue
				}
				require.Error(t, err)
				assert.Equal(t, tc.stale, errors.Is(err, wire.ErrStale), "%v: %s", err, tc.reason)
				assert.Equal(t, tc.stale, errors.Is(seen.Get().Err, wire.ErrStale), tc.reason)
			}
		})
	}
}

// TestErrStaleIdle: of a connection that goes while a call is on its way to it
// net/http says so in an error without a name.
func TestErrStaleIdle(t *testing.T) {
	gone := errors.New("http: server closed idle connection")
	for _, reused := range []bool{true, false} {
		calls := 0
		base := roundTrip(func(req *http.Request) (*http.Response, error) {
			calls++
			httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{Reused: reused})
			return nil, gone
		})
		var seen wire.Capture
		req, err := http.NewRequestWithContext(wire.WithCapture(t.Context(), &seen), http.MethodPost, "http://127.0.0.1", nil)
		require.NoError(t, err)
		_, err = wire.Transport{Base: base}.RoundTrip(req)
		assert.ErrorIs(t, err, gone)
		assert.Equal(t, reused, errors.Is(err, wire.ErrStale))
		assert.Equal(t, 1, calls, "a transport retries nothing")
	}
}
