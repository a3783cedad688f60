package llmtest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
)

func memory(h http.HandlerFunc) *llmtest.Memory { return &llmtest.Memory{Handler: h} }

func fetch(ctx context.Context, m *llmtest.Memory) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://fake/", nil)
	if err != nil {
		return nil, err
	}
	return m.RoundTrip(req)
}

// TestMemoryTellsWhyThereIsNoAnswer: a handler's mistake is not taken for a
// fault that the test asked for.
func TestMemoryTellsWhyThereIsNoAnswer(t *testing.T) {
	for _, r := range []struct {
		name, want string
		handler    http.HandlerFunc
		midway     bool // the error is the body's
	}{
		{"panic", "the handler panicked: my mistake", func(http.ResponseWriter, *http.Request) { panic("my mistake") }, false},
		{"a panic in the answer", "the handler panicked: my mistake", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			panic("my mistake")
		}, true},
		{"t.FailNow", "ended its goroutine (runtime.Goexit): use t.Error", func(http.ResponseWriter, *http.Request) { runtime.Goexit() }, false},
		{"t.FailNow in the answer", "runtime.Goexit", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			runtime.Goexit()
		}, true},
		{"abort", "EOF", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
		{"abort in the answer", "unexpected EOF", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, true},
		{"no handler", "Memory.Handler is nil", nil, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			m := new(llmtest.Memory)
			if r.handler != nil {
				m.Handler = r.handler
			}
			resp, err := fetch(t.Context(), m)
			if r.midway {
				require.NoError(t, err)
				defer resp.Body.Close()
				_, err = io.ReadAll(resp.Body)
			}
			require.ErrorContains(t, err, r.want)
			if strings.HasPrefix(r.want, "the handler panicked") {
				assert.ErrorContains(t, err, "memory_test.go:", "with the place")
			}
			m.Wait()
		})
	}
}

// TestRuleThatPanics: so is a function of the Server's.
func TestRuleThatPanics(t *testing.T) {
	s := &llmtest.Server{Rules: []llmtest.Rule{{Faults: llmtest.Named(llmtest.FaultHang), Match: func(llmtest.Chat) bool { panic("my mistake") }}}}
	_, err := ask(t.Context(), s.Client(), llmtest.OpenAI, false, "q")
	require.ErrorContains(t, err, "the handler panicked: my mistake")
	s.Memory().Wait()
	assert.Zero(t, s.Counts().InFlight)
}

// TestMemoryHoldsBackABuffer: a handler that writes and never flushes waits for
// its reader, as over a socket, and learns that he has gone.
func TestMemoryHoldsBackABuffer(t *testing.T) {
	var written atomic.Int64
	failed := make(chan error, 1)
	m := memory(func(w http.ResponseWriter, _ *http.Request) {
		for {
			n, err := w.Write(make([]byte, 1000))
			written.Add(int64(n))
			if err != nil {
				failed <- err
				return
			}
		}
	})
	resp, err := fetch(t.Context(), m)
	require.NoError(t, err)
	assert.EqualValues(t, -1, resp.ContentLength)
	_, err = io.ReadFull(resp.Body, make([]byte, 10_000))
	require.NoError(t, err)
	resp.Body.Close()
	m.Wait()
	require.ErrorIs(t, <-failed, io.ErrClosedPipe)
	assert.Less(t, written.Load(), int64(20_000))
}

func TestMemoryLengths(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 10_000)
	for _, r := range []struct {
		name    string
		handler http.HandlerFunc
		want    int64 // of the header
		read    int
	}{
		{"nothing", func(http.ResponseWriter, *http.Request) {}, 0, 0},
		{"short", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(long[:5]) }, 5, 5},
		{"flushed", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(long[:5]); w.(http.Flusher).Flush() }, -1, 5},
		{"long", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(long) }, -1, len(long)},
		{"as the handler says", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10000")
			_, _ = w.Write(long)
		}, int64(len(long)), len(long)},
	} {
		t.Run(r.name, func(t *testing.T) {
			resp, err := fetch(t.Context(), memory(r.handler))
			require.NoError(t, err)
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Len(t, b, r.read)
			assert.Equal(t, r.want, resp.ContentLength)
			real := httptest.NewServer(r.handler)
			defer real.Close()
			over, err := real.Client().Get(real.URL)
			require.NoError(t, err)
			over.Body.Close()
			assert.Equal(t, over.ContentLength, resp.ContentLength, "as over a socket")
		})
	}
}

// TestMemoryAsOverASocket: what a client may look at is what net/http says.
func TestMemoryAsOverASocket(t *testing.T) {
	mine := errors.New("mine")
	host := make(chan string, 2)
	answer := func(w http.ResponseWriter, r *http.Request) {
		host <- r.Host
		<-r.Context().Done()
	}
	for name, transport := range map[string]func(t *testing.T) (http.RoundTripper, string){
		"memory": func(*testing.T) (http.RoundTripper, string) { return memory(answer), "http://fake" },
		"socket": func(t *testing.T) (http.RoundTripper, string) {
			s := httptest.NewServer(http.HandlerFunc(answer))
			t.Cleanup(s.Close)
			return http.DefaultTransport, s.URL
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt, url := transport(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			require.NoError(t, err)
			req.Host = "tenant.example"
			done := make(chan error)
			go func() {
				_, err := rt.RoundTrip(req)
				done <- err
			}()
			assert.Equal(t, "tenant.example", <-host)
			cancel(mine)
			assert.ErrorIs(t, <-done, mine)
		})
	}
}

// TestMemoryLetsGoOfRequests: once RoundTrip has returned, the caller's request
// is not looked at; -race sees if it is.
func TestMemoryLetsGoOfRequests(t *testing.T) {
	m := memory(func(_ http.ResponseWriter, r *http.Request) { _ = r.Header.Get("X") })
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://fake/", nil)
		require.NoError(t, err)
		cancel()
		if resp, err := m.RoundTrip(req); err == nil {
			resp.Body.Close()
		}
		req.Header.Set("X", "y")
	}
	m.Wait()
}

// TestMemoryEndsUploads: a handler that waits for the rest of a request does not
// wait for one that was given up.
func TestMemoryEndsUploads(t *testing.T) {
	m := memory(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	ctx, cancel := context.WithCancel(t.Context())
	pr, pw := io.Pipe()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://fake/", pr)
	require.NoError(t, err)
	go func() {
		_, _ = io.WriteString(pw, "half")
		cancel()
	}()
	_, err = m.RoundTrip(req)
	require.ErrorIs(t, err, context.Canceled)
	m.Wait()
	_, err = pw.Write([]byte("more"))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

// TestMemoryInBubbles: a Memory that one bubble has used works in the next.
func TestMemoryInBubbles(t *testing.T) {
	m := memory(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := fetch(ctx, m)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			synctest.Wait()
		})
	}
	m.Wait()
	assert.Equal(t, 2, m.Calls())
}
