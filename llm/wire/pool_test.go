package wire_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/wire"
)

func TestNewPool(t *testing.T) {
	p := wire.NewPool(250)
	assert.Equal(t, 250, p.MaxIdleConnsPerHost)
	assert.Zero(t, p.MaxIdleConns, "no limit over all hosts")
	assert.Zero(t, p.MaxConnsPerHost, "a limit would make calls wait within their own time")
	assert.True(t, p.ForceAttemptHTTP2)
	assert.NotNil(t, p.Proxy)
	assert.Empty(t, wire.CheckPool(p, 250))
	assert.NotSame(t, http.DefaultTransport, p)
	assert.PanicsWithValue(t, "wire: NewPool(0): want the number of calls in flight, at least 1", func() { wire.NewPool(0) })
}

// TestReplacedDefaultTransport: where somebody has replaced net/http's default
// transport, a new pool has what matters all the same, and the shared one is
// theirs.
func TestReplacedDefaultTransport(t *testing.T) {
	theirs := http.DefaultTransport
	defer func() { http.DefaultTransport = theirs }()
	http.DefaultTransport = roundTrip(nil)
	p := wire.NewPool(3)
	assert.True(t, p.ForceAttemptHTTP2)
	assert.NotNil(t, p.Proxy)
	assert.Equal(t, 3, p.MaxIdleConnsPerHost)
	assert.Empty(t, wire.CheckPool(nil, 250), "not judged")
}

// TestCustomTLSKeepsHTTP2: net/http leaves HTTP/2 off once a TLS configuration
// is set, unless it is told.
func TestCustomTLSKeepsHTTP2(t *testing.T) {
	s := newLateServer(t, "application/json", goodAnswer, true)
	proto := func(p *http.Transport) string {
		resp, err := (&http.Client{Transport: s.under(p)}).Post(s.URL, "application/json", nil)
		require.NoError(t, err)
		require.NoError(t, readValue(resp.Body))
		return resp.Proto
	}
	p := s.pool(t, 2)
	assert.Equal(t, "HTTP/2.0", proto(p))
	bare := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.TLSClientConfig.RootCAs}}
	defer bare.CloseIdleConnections()
	assert.Equal(t, "HTTP/1.1", proto(bare), "the reason for ForceAttemptHTTP2")
}

// TestTrap15PoolIsSizedToTheParallelism: Go keeps 2 idle connections to a host,
// which a run of hundreds of calls in flight makes dial again and again.
func TestTrap15PoolIsSizedToTheParallelism(t *testing.T) {
	rows := []struct {
		name, reason string
		rt           http.RoundTripper
		parallel     int
		warnings     []string // parts of them
	}{
		{"the zero Transport", "its shared pool keeps 1,024", wire.Transport{}, 250, nil},
		{"a pointer", "of a type whose settings are known to be enough", &wire.Transport{}, 1024, nil},
		{"more than the shared pool", "told, not silent", wire.Transport{}, 2000, []string{"keeps 1024 idle connections to a host (MaxIdleConnsPerHost is 1024), fewer than the 2000 calls in flight"}},
		{"a pool", "it fits what it was made for", wire.NewPool(250), 250, nil},
		{"http.Client's own", "2 a host", nil, 250, []string{"keeps 2 idle connections to a host (MaxIdleConnsPerHost is 0), fewer than the 250"}},
		{"a user's own", "2 a host", &http.Transport{}, 250, []string{"keeps 2 idle"}},
		{"under wire", "found through it", wire.Transport{Base: wire.Transport{Base: &http.Transport{}}}, 250, []string{"wire.NewPool(250) makes a fitting one"}},
		{"few calls", "2 are enough", &http.Transport{}, 2, nil},
		{"in all", "fewer in all than for the one host", &http.Transport{MaxIdleConnsPerHost: 250, MaxIdleConns: 100}, 250, []string{"keeps 100 idle connections in all (MaxIdleConns)"}},
		{"limited", "both are told", &http.Transport{MaxConnsPerHost: 10}, 250, []string{"keeps 2 idle", "opens at most 10 connections to a host (MaxConnsPerHost)"}},
		{"none kept", "every call would dial", &http.Transport{DisableKeepAlives: true}, 250, []string{"DisableKeepAlives"}},
		{"unknown", "not judged", roundTrip(nil), 250, nil},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := wire.CheckPool(r.rt, r.parallel)
			require.Len(t, got, len(r.warnings), "%v", got)
			for i, w := range r.warnings {
				assert.ErrorContains(t, got[i], w, r.reason)
			}
		})
	}
}

func TestTrap15Descriptors(t *testing.T) {
	soft, ok := wire.Descriptors()
	assert.Equal(t, runtime.GOOS != "windows", ok)
	if !ok {
		assert.NoError(t, wire.CheckDescriptors(1<<40))
		return
	}
	assert.Positive(t, soft)
	if soft > 1<<40 {
		t.Skip("no limit here")
	}
	assert.NoError(t, wire.CheckDescriptors(int(soft)-128))
	err := wire.CheckDescriptors(int(soft) - 127)
	assert.ErrorContains(t, err, fmt.Sprintf("%d calls in flight need about %d open files, and the limit of this process is %d", soft-127, soft+1, soft))
	assert.NoError(t, wire.CheckDescriptors(-1))
}
