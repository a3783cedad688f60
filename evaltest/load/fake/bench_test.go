package fake_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/fake"
)

// A rawConn is a client that costs next to nothing: it writes the same bytes and
// looks for the end of the answer.
type rawConn struct {
	net.Conn
	buf []byte
}

func dialRaw(tb testing.TB, url string) *rawConn {
	tb.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = c.Close() })
	return &rawConn{c, make([]byte, 64<<10)}
}

// rawRequest is a whole request.
func rawRequest(path, body string) []byte {
	return []byte("POST " + path + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// do sends a request and reads its answer, which is valid until the next.
func (c *rawConn) do(request []byte) ([]byte, error) {
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	for n := 0; ; {
		m, err := c.Read(c.buf[n:])
		if err != nil {
			return c.buf[:n], err
		}
		n += m
		if whole(c.buf[:n]) {
			return c.buf[:n], nil
		}
		if n == len(c.buf) {
			c.buf = append(c.buf, make([]byte, n)...)
		}
	}
}

func whole(b []byte) bool {
	if bytes.HasSuffix(b, []byte("\r\n0\r\n\r\n")) {
		return true
	}
	head, body, ok := bytes.Cut(b, []byte("\r\n\r\n"))
	if !ok {
		return false
	}
	_, length, ok := bytes.Cut(head, []byte("\r\nContent-Length: "))
	if !ok {
		return false
	}
	length, _, _ = bytes.Cut(length, []byte{'\r'})
	n, err := strconv.Atoi(string(length))
	return err == nil && len(body) >= n
}

// loop makes n requests over as many connections as there are, in a closed loop.
func loop(tb testing.TB, conns []*rawConn, n int, request []byte) time.Duration {
	var next atomic.Int64
	var wg sync.WaitGroup
	begun := time.Now()
	for _, c := range conns {
		wg.Go(func() {
			for next.Add(1) <= int64(n) {
				if _, err := c.do(request); err != nil {
					tb.Errorf("a request failed: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(begun)
}

// constant is net/http's server with an answer that is always the same.
func constant(tb testing.TB, answer []byte) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(answer)
	}))
	tb.Cleanup(s.Close)
	return s.URL
}

// BenchmarkRequests is the rate of calls in a closed loop of 16 connections whose
// client does next to nothing, beside that of net/http's server with a handler
// that writes a constant of the same size. The two take turns in short rounds; the
// ratio is the median of those of neighbours.
func BenchmarkRequests(b *testing.B) {
	const users, n = 16, 1000
	text := strings.Repeat(" water", 100)
	for _, bench := range []struct{ name, more string }{
		{"whole", ""},
		{"stream", `,"stream":true,"stream_options":{"include_usage":true}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			request := rawRequest("/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"the`+text+`"}],"max_tokens":16,"min_tokens":16`+bench.more+`}`)
			url, stop, err := (&fake.Server{}).Start()
			require.NoError(b, err)
			defer stop()
			answer, err := dialRaw(b, url).do(request)
			require.NoError(b, err)
			plain := constant(b, answer)
			ours, theirs := make([]*rawConn, users), make([]*rawConn, users)
			for i := range users {
				ours[i], theirs[i] = dialRaw(b, url), dialRaw(b, plain)
			}
			loop(b, ours, n, request)
			loop(b, theirs, n, request)
			var ratios, fakes, plains []float64
			for b.Loop() {
				o, t := loop(b, ours, n, request), loop(b, theirs, n, request)
				fakes, plains = append(fakes, n/o.Seconds()), append(plains, n/t.Seconds())
				ratios = append(ratios, t.Seconds()/o.Seconds())
			}
			b.ReportMetric(0, "ns/op") // two loops: it says nothing
			b.ReportMetric(quantile(fakes, 0.5), "fake-req/s")
			b.ReportMetric(quantile(plains, 0.5), "net/http-req/s")
			b.ReportMetric(quantile(ratios, 0.5), "ratio")
		})
	}
}

// quantile sorts v.
func quantile(v []float64, p float64) float64 {
	slices.Sort(v)
	at := p * float64(len(v)-1)
	i := int(at)
	if i+1 >= len(v) {
		return v[len(v)-1]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// BenchmarkPaced is how late the fake writes the events of 300 streams of 50
// tokens/s (30 with -short), all at once, to clients in the same process that do
// nothing but read. What the machine's timers and other programs take is in it.
func BenchmarkPaced(b *testing.B) {
	streams, tokens := 300, 100
	if testing.Short() {
		streams, tokens = 30, 25
	}
	var mu sync.Mutex
	var late []float64
	s := &fake.Server{TTFT: 200 * time.Millisecond, ITL: 20 * time.Millisecond, Saw: func(seen *fake.Seen) {
		mu.Lock()
		defer mu.Unlock()
		for i, w := range seen.Written {
			late = append(late, float64(w.Sub(seen.Due[i])))
		}
	}}
	url, stop, err := s.Start()
	require.NoError(b, err)
	defer stop()
	request := rawRequest("/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":"the"}],"max_tokens":%d,"stream":true}`, tokens))
	conns := make([]*rawConn, streams)
	for i := range conns {
		conns[i] = dialRaw(b, url)
	}
	cpu := cpuTime()
	begun := time.Now()
	for b.Loop() {
		var wg sync.WaitGroup
		for i, c := range conns {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 20 * time.Millisecond / time.Duration(streams)) // not all on one tick
				if _, err := c.do(request); err != nil {
					b.Errorf("stream %d: %v", i, err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric((cpuTime()-cpu).Seconds()/time.Since(begun).Seconds(), "cpus")
	stop()
	b.ReportMetric(quantile(late, 0.5)/1e3, "late-p50-us")
	b.ReportMetric(quantile(late, 0.99)/1e3, "late-p99-us")
	b.ReportMetric(late[len(late)-1]/1e3, "late-max-us")
	runtime.KeepAlive(conns)
}
