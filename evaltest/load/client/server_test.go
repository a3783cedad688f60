package client_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
)

const okStream = `data: {"model":"m","choices":[{"delta":{"content":"Hello"}}]}` + "\n\n" +
	`data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
	`data: {"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":2,"total_tokens":14}}` + "\n\n" + "data: [DONE]\n\n"

const okWhole = `{"model":"m","choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":2,"total_tokens":14}}`

// chunked is a whole HTTP answer with this body.
func chunked(head, body string) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\n" + head + "Transfer-Encoding: chunked\r\n\r\n")
	for _, part := range strings.SplitAfter(body, "\n\n") {
		if part != "" {
			b.WriteString(hex(len(part)) + "\r\n" + part + "\r\n")
		}
	}
	return b.String() + "0\r\n\r\n"
}

func hex(n int) string {
	const digits = "0123456789abcdef"
	if n < 16 {
		return digits[n : n+1]
	}
	return hex(n/16) + digits[n%16:n%16+1]
}

// listen serves each connection with handle until the test ends. It uses real
// sockets.
func listen(tb testing.TB, handle func(*net.TCPConn, *bufio.Reader)) (url string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			wg.Go(func() {
				defer c.Close()
				handle(c.(*net.TCPConn), bufio.NewReaderSize(c, 64<<10))
			})
		}
	})
	tb.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

// take reads one request and throws its body away.
func take(r *bufio.Reader) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

// canned answers each request with the same bytes.
func canned(tb testing.TB, answer string) string {
	b := []byte(answer)
	return listen(tb, func(c *net.TCPConn, r *bufio.Reader) {
		for take(r) == nil {
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	})
}

// inMemory serves h in memory and returns a client of it. For bubbles: it ends
// with the call of stop.
func inMemory(t *testing.T, cfg client.Config, h http.HandlerFunc) (c *client.Client, stop func()) {
	p := fake.NewPipe()
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // without this the server does not see that the client gives up
		h(w, r)
	})}
	done := make(chan struct{})
	go func() {
		_ = s.Serve(p)
		close(done)
	}()
	cfg.Host, cfg.Dial = "http://h", p.Dial
	if cfg.Concurrency == 0 {
		cfg.Concurrency = 4
	}
	c, err := client.New(cfg)
	require.NoError(t, err)
	return c, func() {
		c.Close()
		_ = s.Close()
		<-done
	}
}

// say writes pieces of a stream, each after a wait.
func say(w http.ResponseWriter, r *http.Request, wait time.Duration, pieces ...string) {
	f := http.NewResponseController(w)
	for _, p := range pieces {
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-r.Context().Done():
			return
		}
		_, _ = io.WriteString(w, p)
		_ = f.Flush()
	}
}

func piece(s string) string { return `data: {"choices":[{"delta":{"content":"` + s + `"}}]}` + "\n\n" }
