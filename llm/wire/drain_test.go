package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// A lateServer sends a whole answer and ends the body only once the client
// looks for its end or gives up: the moment between the last event and the end
// of a body, as long as it takes. It counts the connections made to it.
type lateServer struct {
	*httptest.Server
	answer string
	dials  atomic.Int64
	ends   sync.Map       // of a call's name: closed once its body is to end
	n      atomic.Int64   // calls named so far
	gone   chan struct{}  // the test is over
	first  sync.WaitGroup // of as many calls as there are workers
	coming atomic.Int64   // that first still waits for
}

func newLateServer(t testing.TB, contentType, answer string, h2 bool) *lateServer {
	s := &lateServer{answer: answer, gone: make(chan struct{})}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if s.coming.Add(-1) >= 0 {
			s.first.Done()
		}
		s.first.Wait()
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, s.answer)
		w.(http.Flusher).Flush()
		end, _ := s.ends.Load(r.Header.Get("X-Call"))
		select {
		case <-end.(chan struct{}):
		case <-s.gone:
		}
	}))
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.dials.Add(1)
		}
	}
	if h2 {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		close(s.gone) // Close waits for handlers
		s.Close()
	})
	return s
}

// pool is a fitting pool of connections that trusts the server.
func (s *lateServer) pool(t testing.TB, n int) *http.Transport {
	p := wire.NewPool(n)
	if s.Certificate() != nil {
		p.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		p.TLSClientConfig.NextProtos = nil
	}
	t.Cleanup(p.CloseIdleConnections)
	return p
}

// under tells the server when the client looks for the end, or closes.
func (s *lateServer) under(base http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		name, end := fmt.Sprint(s.n.Add(1)), make(chan struct{})
		s.ends.Store(name, end)
		r = r.Clone(r.Context())
		r.Header.Set("X-Call", name)
		resp, err := base.RoundTrip(r)
		if err == nil {
			resp.Body = &lookout{ReadCloser: resp.Body, left: len(s.answer), tell: sync.OnceFunc(func() { close(end) })}
		}
		return resp, err
	})
}

type lookout struct {
	io.ReadCloser
	left int
	tell func()
}

func (l *lookout) Read(p []byte) (int, error) {
	if l.left <= 0 {
		l.tell()
	}
	n, err := l.ReadCloser.Read(p)
	l.left -= n
	return n, err
}

func (l *lookout) Close() error {
	err := l.ReadCloser.Close()
	l.tell()
	return err
}

// readToDone reads as an SDK does: to the last event or the end of the JSON
// value, and no further.
func readToDone(body io.ReadCloser) error {
	defer body.Close()
	buf := make([]byte, 4096)
	var got []byte
	for !bytes.Contains(got, []byte("[DONE]")) {
		n, err := body.Read(buf)
		if got = append(got, buf[:n]...); err != nil && !bytes.Contains(got, []byte("[DONE]")) {
			return err
		}
	}
	return nil
}

func readValue(body io.ReadCloser) error {
	defer body.Close()
	var v any
	return json.NewDecoder(body).Decode(&v)
}

// run makes calls with so many workers. No call is answered before there are as
// many as workers: net/http dials one connection more for each call that finds
// none while others are still being dialled, which real calls, longer than a
// dial, do not see.
func (s *lateServer) run(t testing.TB, rt http.RoundTripper, calls, workers int, read func(io.ReadCloser) error) int64 {
	before := s.dials.Load()
	s.first.Add(workers)
	s.coming.Store(int64(workers))
	client := &http.Client{Transport: rt}
	var left atomic.Int64
	left.Store(int64(calls))
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				resp, err := client.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader("{}"))
				if !assert.NoError(t, err) {
					return
				}
				assert.NoError(t, read(resp.Body))
			}
		})
	}
	wg.Wait()
	return s.dials.Load() - before
}

// TestConnectionsAreReused is the reason for the drain: SDKs close at [DONE] or
// after the JSON value, before the body's end, and net/http then drops the
// connection.
func TestConnectionsAreReused(t *testing.T) {
	wire.SetDrainTime(t, time.Minute) // the server ends each body, however busy the machine is
	streamed := llmtest.Text("a") + llmtest.Finish("stop") + llmtest.Done
	rows := []struct {
		name, contentType, answer string
		read                      func(io.ReadCloser) error
		h2                        bool
		calls, workers            int
	}{
		{"streamed", "text/event-stream", streamed, readToDone, false, 1000, 1},
		{"streamed by 20", "text/event-stream", streamed, readToDone, false, 1000, 20},
		{"unary, chunked", "application/json", goodAnswer, readValue, false, 1000, 1},
		{"unary, chunked, by 20", "application/json", goodAnswer, readValue, false, 1000, 20},
		{"streamed over HTTP/2", "text/event-stream", streamed, readToDone, true, 300, 1},
		{"streamed over HTTP/2 by 20", "text/event-stream", streamed, readToDone, true, 300, 20},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			s := newLateServer(t, r.contentType, r.answer, r.h2)
			pool := s.pool(t, r.workers)
			dials := s.run(t, wire.Transport{Base: s.under(pool)}, r.calls, r.workers, r.read)
			// net/http gives up a connection whose request it has not noticed to
			// be written 50 ms after the answer: a busy machine may lose some so.
			assert.LessOrEqual(t, dials, int64(r.workers+r.calls/100), "%d calls by %d", r.calls, r.workers)
			if r.h2 || r.workers > 1 {
				return
			}
			bare := s.run(t, s.under(pool), 50, 1, r.read)
			assert.GreaterOrEqual(t, bare, int64(49), "without the drain each call dials; if this fails, net/http has learnt it")
		})
	}
}

// TestDrainIsBounded: neither a server that hangs nor one that goes on for ever
// holds Close up.
func TestDrainIsBounded(t *testing.T) {
	rows := []struct {
		name string
		more func(w http.ResponseWriter, r *http.Request)
		took time.Duration
	}{
		{"hung", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 50 * time.Millisecond},
		{"trickling", func(w http.ResponseWriter, r *http.Request) {
			tick := time.NewTicker(7 * time.Millisecond)
			defer tick.Stop()
			for r.Context().Err() == nil {
				fmt.Fprint(w, ": ping\n\n")
				w.(http.Flusher).Flush()
				select {
				case <-tick.C:
				case <-r.Context().Done():
				}
			}
		}, 50 * time.Millisecond},
		{"flooding", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, strings.Repeat(": ping\n", 1000)); err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		}, 0},
		{"ending", func(http.ResponseWriter, *http.Request) {}, 0},
	}
	start := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, llmtest.Done)
		w.(http.Flusher).Flush()
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := memory(func(w http.ResponseWriter, req *http.Request) { start(w); r.more(w, req) })
				resp, err := (&http.Client{Transport: rt}).Post(chatURL, "application/json", nil)
				require.NoError(t, err)
				at := time.Now()
				require.NoError(t, readToDone(resp.Body))
				assert.Equal(t, r.took, time.Since(at))
			})
		})
		for _, h2 := range []bool{false, true} {
			t.Run(fmt.Sprint(r.name, " over a socket, HTTP/2 ", h2), func(t *testing.T) {
				srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { start(w); r.more(w, req) }))
				srv.EnableHTTP2 = h2
				srv.StartTLS()
				defer srv.Close() // waits for the handler: it must see that the client is gone
				base := srv.Client().Transport
				resp, err := (&http.Client{Transport: wire.Transport{Base: base}}).Post(srv.URL+"/v1/chat/completions", "application/json", nil)
				require.NoError(t, err)
				at := time.Now()
				require.NoError(t, readToDone(resp.Body))
				assert.Less(t, time.Since(at), 5*time.Second, "not exact, since the machine may be busy")
			})
		}
	}
}

// TestReusedAndDials: a capture tells what the connection cost.
func TestReusedAndDials(t *testing.T) {
	s := newLateServer(t, "application/json", goodAnswer, false)
	client := &http.Client{Transport: wire.Transport{Base: s.under(s.pool(t, 1))}}
	var c wire.Capture
	for i := range 3 {
		req, err := http.NewRequestWithContext(wire.WithCapture(t.Context(), &c), "POST", s.URL+"/v1/chat/completions", strings.NewReader("{}"))
		require.NoError(t, err)
		resp, err := client.Do(req)
		require.NoError(t, err)
		require.NoError(t, readValue(resp.Body))
		g := c.Get()
		assert.Equal(t, i > 0, g.Reused)
		assert.Equal(t, 1, g.Dials)
		assert.Equal(t, i+1, g.Calls)
		assert.Positive(t, g.Connected)
		assert.LessOrEqual(t, g.Connected, g.Written)
		assert.LessOrEqual(t, g.Written, g.End)
	}
}

// BenchmarkStreamedCalls compares calls through the transport with the same
// ones through a bare client, in turns.
func BenchmarkStreamedCalls(b *testing.B) {
	s := newLateServer(b, "text/event-stream", strings.Repeat(llmtest.Text("word "), 50)+llmtest.Finish("stop")+llmtest.Done, false)
	bare, wired := s.under(s.pool(b, 1)), wire.Transport{Base: s.under(s.pool(b, 1))}
	var took [2]time.Duration
	var dials [2]int64
	calls := 0
	for b.Loop() {
		calls++
		for i, rt := range []http.RoundTripper{bare, wired} {
			at := time.Now()
			dials[i] += s.run(b, rt, 1, 1, readToDone)
			took[i] += time.Since(at)
		}
	}
	b.ReportMetric(float64(took[1])/float64(took[0]), "wire/bare")
	b.ReportMetric(float64(dials[0])/float64(calls), "bare-dials/op")
	b.ReportMetric(float64(dials[1])/float64(calls), "wire-dials/op")
}
