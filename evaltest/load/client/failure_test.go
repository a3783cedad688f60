package client_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
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

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/record"
)

// one makes one call.
func one(t *testing.T, cfg client.Config, call client.Call) record.Request {
	t.Helper()
	if cfg.Concurrency == 0 {
		cfg.Concurrency = 1
	}
	c, err := client.New(cfg)
	require.NoError(t, err)
	defer c.Close()
	call.Start = time.Now()
	if call.Body == nil {
		call.Body = hello
	}
	var rec record.Request
	c.Do(t.Context(), &call, &rec)
	checkTimes(t, rec)
	return rec
}

// checkTimes are what holds of the times of every record.
func checkTimes(t testing.TB, rec record.Request) {
	t.Helper()
	last := rec.Sent
	assert.GreaterOrEqual(t, rec.Sent, rec.FirstSent)
	for _, at := range []time.Duration{rec.Connected, rec.Headers} {
		if at != 0 {
			assert.GreaterOrEqual(t, at, last)
			last = at
		}
	}
	for _, f := range rec.Fragments {
		assert.GreaterOrEqual(t, f.At, last)
		last = f.At
	}
	assert.GreaterOrEqual(t, rec.Done, last)
}

func failed(t *testing.T, rec record.Request, class record.Class, says string) {
	t.Helper()
	require.NotNil(t, rec.Failure)
	assert.Equal(t, class, rec.Failure.Class, rec.Failure.Message)
	assert.Contains(t, rec.Failure.Message, says)
	assert.False(t, rec.OK())
}

func TestConnectRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	l.Close()
	for _, scheme := range []string{"http", "https"} {
		rec := one(t, client.Config{Host: scheme + "://" + addr, Timeouts: client.Timeouts{Total: time.Minute}}, client.Call{})
		failed(t, rec, record.Connect, "no connection")
		assert.Zero(t, rec.Connected)
		assert.Zero(t, rec.Status)
	}
}

func TestUnknownHost(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		failed(t, one(t, client.Config{Host: scheme + "://nobody.invalid"}, client.Call{}), record.Connect, "nobody.invalid")
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, okStream) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	failed(t, one(t, client.Config{Host: s.URL}, client.Call{}), record.TLS, "Config.TLS")

	plain := canned(t, chunked("", okStream))
	failed(t, one(t, client.Config{Host: strings.Replace(plain, "http:", "https:", 1)}, client.Call{}), record.TLS, "")

	hangUp := listen(t, func(c *net.TCPConn, r *bufio.Reader) { _, _ = r.ReadByte() })
	failed(t, one(t, client.Config{Host: strings.Replace(hangUp, "http:", "https:", 1)}, client.Call{}), record.TLS, "handshake")

	// It may say nothing at all.
	silent := listen(t, func(c *net.TCPConn, r *bufio.Reader) { _, _ = io.Copy(io.Discard, r) })
	failed(t, one(t, client.Config{Host: strings.Replace(silent, "http:", "https:", 1), Timeouts: client.Timeouts{Connect: 50 * time.Millisecond}}, client.Call{}), record.TLS, "timeout")

	trusting := s.Client().Transport.(*http.Transport).TLSClientConfig
	require.Nil(t, one(t, client.Config{Host: s.URL, TLS: trusting}, client.Call{}).Failure)
}

func TestHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Proto)
		say(w, r, 0, piece(r.Proto), okStream)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	trusting := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trusting.NextProtos = nil
	for _, two := range []bool{false, true} {
		var reply client.Reply
		rec := one(t, client.Config{Host: s.URL, TLS: trusting, HTTP2: two}, client.Call{Reply: &reply})
		require.Nil(t, rec.Failure)
		m, err := reply.Message()
		require.NoError(t, err)
		want := "HTTP/1.1Hello"
		if two {
			want = "HTTP/2.0Hello"
		}
		assert.Equal(t, want, *m.Content)
		assert.NotZero(t, rec.Connected)
	}
}

// TestStale: a kept connection that the server closes on the next call. net/http
// must not try again by itself.
func TestStale(t *testing.T) {
	for _, reset := range []bool{false, true} {
		conns := make(chan int, 10)
		url := listen(t, func(c *net.TCPConn, r *bufio.Reader) {
			conns <- 1
			if take(r) != nil {
				return
			}
			_, _ = io.WriteString(c, chunked("", okStream))
			if _, err := r.Peek(1); err != nil { // the next call, or the client's end
				return
			}
			if reset {
				_ = c.SetLinger(0)
			}
		})
		c, err := client.New(client.Config{Host: url, Concurrency: 1})
		require.NoError(t, err)
		defer c.Close()
		var rec record.Request
		call := client.Call{Start: time.Now(), Body: hello}
		c.Do(t.Context(), &call, &rec)
		require.Nil(t, rec.Failure)
		c.Do(t.Context(), &call, &rec)
		require.Nil(t, rec.Failure, "it is sent again at once, without a Retry")
		assert.False(t, rec.Reused)
		require.Len(t, rec.Tries, 1)
		assert.Equal(t, record.Stale, rec.Tries[0].Failure.Class)
		assert.Contains(t, rec.Tries[0].Failure.Message, "kept")
		assert.Len(t, conns, 2)
	}
}

// TestBroken: what servers do wrong on the wire.
func TestBroken(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, tc := range []struct {
		name, reason, answer string
		class                record.Class
		says                 string
		frags                int
	}{
		{"no answer", "a new connection that is closed is not stale", "", record.Truncated, "new connection", 0},
		{"half a header", "it broke off", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n", record.Truncated, "", 0},
		{"no HTTP", "some other protocol", "SSH-2.0-OpenSSH\r\n\r\n", record.Malformed, "no HTTP", 0},
		{"cut stream", "the connection goes before the last chunk", head + hex(len(piece("a"))) + "\r\n" + piece("a") + "\r\n", record.Truncated, "after 1 fragments", 1},
		{"cut after the finish reason", "the answer is there", head + hex(len(okStream)) + "\r\n" + okStream + "\r\n", "", "", 1},
		{"cut whole", "half a body", "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"choices\":[", record.Truncated, "after 12 bytes", 0},
		{"gzip", "not asked for", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx", record.Malformed, "gzip", 0},
		{"redirect", "not followed", "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://else/\r\nContent-Length: 0\r\n\r\n", record.Malformed, "http://else/", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			url := listen(t, func(c *net.TCPConn, r *bufio.Reader) {
				if take(r) == nil {
					_, _ = io.WriteString(c, tc.answer)
				}
			})
			rec := one(t, client.Config{Host: url}, client.Call{})
			assert.Len(t, rec.Fragments, tc.frags, tc.reason)
			if tc.class == "" {
				require.Nil(t, rec.Failure, tc.reason)
				return
			}
			failed(t, rec, tc.class, tc.says)
		})
	}
}

// TestStatus: what a status means, and what a body says against it.
func TestStatus(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		status       int
		body         string
		class        record.Class
		says         string
	}{
		{"429", "too fast", 429, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, record.RateLimited, "[rate_limit_exceeded]: slow down"},
		{"500", "the server", 500, "boom", record.Server, "HTTP 500: boom"},
		{"503 HTML", "a proxy", 503, "<html>secret page</html>", record.Server, "HTML"},
		{"400", "the request", 400, `{"error":{"message":"bad temperature"}}`, record.Rejected, "bad temperature"},
		{"401", "the key", 401, `{"error":{"message":"Incorrect API key provided: secret-key-1"}}`, record.Rejected, "[masked]"},
		{"404", "the model", 404, `{"error":{"message":"no such model","code":"model_not_found"}}`, record.Rejected, "model_not_found"},
		{"context by code", "OpenAI", 400, `{"error":{"message":"no","code":"context_length_exceeded"}}`, record.Context, ""},
		{"context of llama.cpp", "its type", 400, `{"error":{"code":400,"message":"no","type":"exceed_context_size_error"}}`, record.Context, ""},
		{"context by words", "vLLM says it in a sentence only", 400, `{"object":"error","message":"This model's maximum context length is 2048 tokens. However, you requested 4096","type":"BadRequestError","code":400}`, record.Context, "2048"},
		{"413", "too large", 413, "", record.Context, "HTTP 413"},
		{"words in a 500", "words count for a 400 only", 500, `{"error":{"message":"maximum context length"}}`, record.Server, ""},
		{"empty body", "the status is all there is", 502, "", record.Server, "HTTP 502"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			defer s.Close()
			rec := one(t, client.Config{Host: s.URL, Key: "secret-key-1"}, client.Call{})
			failed(t, rec, tc.class, tc.says)
			assert.Equal(t, tc.status, rec.Status)
			assert.NotContains(t, rec.Failure.Message, "secret-key-1", "a key never reaches a record")
			assert.Empty(t, rec.Tries)
		})
	}
}

// TestMasked: a server that repeats the key in whatever it says.
func TestMasked(t *testing.T) {
	const key = "my-own-unusual-key"
	for name, body := range map[string]string{
		"model":  `{"model":"` + key + `","choices":[{"message":{"content":"a"},"finish_reason":"` + key + `"}]}`,
		"stream": `data: {"error":{"message":"` + key + `"}}` + "\n\n",
		"event":  "data: " + key + "\n\n",
		"body":   "{" + key,
	} {
		t.Run(name, func(t *testing.T) {
			url := canned(t, chunked("", body))
			rec := one(t, client.Config{Host: url, Key: key}, client.Call{Header: http.Header{"X-Api-Key": {key + "2"}}})
			assert.NotContains(t, fmt.Sprintf("%+v %+v", rec, rec.Failure), key)
		})
	}
}

// TestShortKey: local servers are called with keys that stand in any text.
func TestShortKey(t *testing.T) {
	url := canned(t, "HTTP/1.1 500 Oops\r\nContent-Length: 12\r\n\r\nextra boxes.")
	failed(t, one(t, client.Config{Host: url, Key: "x"}, client.Call{}), record.Server, "extra boxes.")
}

// TestFlatCalls: memory does not grow with the number of calls.
func TestFlatCalls(t *testing.T) {
	c, err := client.New(client.Config{Host: canned(t, chunked("", okStream)), Concurrency: 4, Timeouts: client.Timeouts{Idle: time.Minute, Total: time.Minute}})
	require.NoError(t, err)
	defer c.Close()
	recs, start := make([]record.Request, 4), time.Now()
	calls := func(n int) uint64 {
		closedLoop(4, n, func(user int) { c.Do(t.Context(), &client.Call{Start: start, Body: hello}, &recs[user]) })
		runtime.GC()
		runtime.GC() // pools are emptied by the second one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := calls(300)
	after := calls(3000)
	require.Nil(t, recs[0].Failure)
	assert.Less(t, int64(after)-int64(before), int64(512<<10))
}

func TestBuild(t *testing.T) {
	rec := one(t, client.Config{Host: "http://nobody.invalid", Retry: client.Retry{Max: 3}}, client.Call{Header: http.Header{"X-SMG-Routing-Key": {"a\nb"}}})
	failed(t, rec, record.Build, "X-SMG-Routing-Key")
	assert.Empty(t, rec.Tries, "it is not tried again: it would fail alike")
	failed(t, one(t, client.Config{Host: "http://nobody.invalid"}, client.Call{Body: []byte{}}), record.Build, "no body")
	assert.Panics(t, func() {
		one(t, client.Config{Host: "http://h"}, client.Call{})
		new(client.Client).Do(t.Context(), &client.Call{}, &record.Request{})
	})
}

// TestTimeouts: each limit, at its time exactly.
func TestTimeouts(t *testing.T) {
	type limits = client.Timeouts
	sec := time.Second
	for _, tc := range []struct {
		name, reason string
		limits       limits
		whole        bool
		before, gap  time.Duration // until the header, and between the pieces
		pieces       []string
		class        record.Class
		done         time.Duration
		frags        int
	}{
		{"no header", "nothing came", limits{First: 2 * sec}, false, time.Hour, 0, nil, record.TimeoutFirst, 2 * sec, 0},
		{"no fragment", "a role and comments are none", limits{First: 2 * sec}, false, 0, sec / 2, []string{": hi\n\n", `data: {"choices":[{"delta":{"role":"assistant"}}]}` + "\n\n", ":\n\n", ":\n\n", ":\n\n", okStream}, record.TimeoutFirst, 2 * sec, 0},
		{"first in time", "First does not count after the first", limits{First: 2 * sec}, false, 0, sec, []string{piece("a"), piece("b"), okStream}, "", 3 * sec, 3},
		{"idle", "a fragment, and then none", limits{Idle: 2 * sec}, false, 0, sec, []string{piece("a"), piece("b"), ":\n\n", ":\n\n", okStream}, record.TimeoutIdle, 4 * sec, 2},
		{"idle before the first", "Idle does not count before it", limits{Idle: 2 * sec}, false, 5 * sec, 0, []string{okStream}, "", 5 * sec, 1},
		{"idle and first", "both", limits{First: 10 * sec, Idle: sec}, false, 3 * sec, 0, []string{piece("a"), "hang"}, record.TimeoutIdle, 4 * sec, 1},
		{"total", "however lively", limits{Total: 3 * sec, Idle: 2 * sec, First: 2 * sec}, false, 0, sec / 2, []string{piece("a"), piece("b"), piece("c"), piece("d"), piece("e"), piece("f"), piece("g")}, record.TimeoutTotal, 3 * sec, 5},
		{"whole", "First and Idle are for streams", limits{First: sec, Idle: sec}, true, 5 * sec, 0, []string{okWhole}, "", 5 * sec, 1},
		{"whole total", "Total is for all", limits{Total: 2 * sec}, true, 5 * sec, 0, []string{okWhole}, record.TimeoutTotal, 2 * sec, 0},
		{"held after [DONE]", "a server that does not end the body costs its connection, no more", limits{}, false, 0, sec, []string{okStream, "hang"}, "", sec, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, stop := inMemory(t, client.Config{Timeouts: tc.limits}, func(w http.ResponseWriter, r *http.Request) {
					say(w, r, tc.before, "")
					for _, p := range tc.pieces {
						if p == "hang" {
							<-r.Context().Done()
							return
						}
						say(w, r, tc.gap, p)
					}
					if tc.class != "" {
						<-r.Context().Done()
					}
				})
				defer stop()
				start := time.Now()
				var rec record.Request
				c.Do(t.Context(), &client.Call{Start: start, Body: hello, Whole: tc.whole}, &rec)
				assert.LessOrEqual(t, time.Since(start)-rec.Done, 250*time.Millisecond)
				if tc.class == "" {
					require.Nil(t, rec.Failure, tc.reason)
				} else {
					failed(t, rec, tc.class, "Timeouts.")
				}
				// The total case: a piece that is due at the same instant may be seen or not.
				assert.InDelta(t, tc.frags, len(rec.Fragments), map[bool]float64{true: 1}[tc.class == record.TimeoutTotal && tc.frags > 0], tc.reason)
				assert.Equal(t, tc.done, rec.Done, tc.reason)
				checkTimes(t, rec)
			})
		})
	}
}

// TestConnectTimeout: a server that lets nobody in. The dialling goes on in
// net/http after the call has given up, and ends at its own limit.
func TestConnectTimeout(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		limits       client.Timeouts
		class        record.Class
		done         time.Duration
	}{
		{"connect", "its own limit", client.Timeouts{Connect: 3 * time.Second, Total: 7 * time.Second}, record.Connect, 3 * time.Second},
		{"default", "10 s", client.Timeouts{}, record.Connect, client.DefaultConnect},
		{"total", "another limit", client.Timeouts{Total: 7 * time.Second}, record.TimeoutTotal, 7 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := client.New(client.Config{Host: "https://h", Concurrency: 1, Timeouts: tc.limits,
					Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }})
				require.NoError(t, err)
				start := time.Now()
				var rec record.Request
				c.Do(t.Context(), &client.Call{Start: start, Body: hello}, &rec)
				failed(t, rec, tc.class, "Timeouts.")
				assert.Equal(t, tc.done, rec.Done, tc.reason)
				<-time.After(client.DefaultConnect)
			})
		})
	}
}

// TestCanceled: the run ends while a call is in flight, while it waits to try
// again, and after its answer was complete.
func TestCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := []string{piece("a")}
		var status atomic.Int64
		status.Store(200)
		c, stop := inMemory(t, client.Config{Retry: client.Retry{Max: 5, Delay: time.Minute}}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(int(status.Load()))
			say(w, r, 0, answers...)
			if status.Load() == 200 {
				<-r.Context().Done()
			}
		})
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		var rec record.Request
		c.Do(ctx, &client.Call{Start: time.Now(), Body: hello}, &rec)
		failed(t, rec, record.Canceled, "given up")
		assert.Len(t, rec.Fragments, 1)
		assert.Equal(t, 3*time.Second, rec.Done)

		status.Store(503)
		ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		c.Do(ctx, &client.Call{Start: time.Now(), Body: hello}, &rec)
		failed(t, rec, record.Canceled, "HTTP 503")
		require.Len(t, rec.Tries, 1)
		assert.Equal(t, 3*time.Second, rec.Done)

		c.Do(ctx, &client.Call{Start: time.Now(), Body: hello}, &rec)
		failed(t, rec, record.Canceled, "")
	})
}
