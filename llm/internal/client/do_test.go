package client_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/internal/client"
	"github.com/goevals/evals/llm/wire"
)

// answering serves one connection at a time with these bytes and then does what
// then says: whatever net/http's server would not write.
func answering(t *testing.T, text string, then func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.WriteString(c, text)
				then(c)
			}
			c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func hangUp(net.Conn) {}

func hang(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// reset waits until what was written is read, as far as the other side tells.
func reset(c net.Conn) {
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	_, _ = io.Copy(io.Discard, c)
	_ = c.(*net.TCPConn).SetLinger(0)
}

// TestDo: what comes of connections that net/http's server does not make.
func TestDo(t *testing.T) {
	const ok, plain = "HTTP/1.1 200 OK\r\n", "Content-Type: text/plain\r\n\r\n"
	rows := []struct {
		name, reason string
		text         string
		then         func(net.Conn)
		stream       bool
		status       int
		events       bool
		body         string
		err          bool
	}{
		{"101", "its body is the connection, which no context ends", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", hang, true, 101, false, "", false},
		{"refusal cut", "the status says what it is", "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 99\r\n\r\nslow", hangUp, false, 429, false, "slow", false},
		{"refusal reset", "the status says what it is", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 99\r\n\r\nno", reset, true, 401, false, "no", false},
		{"refusal in bad chunks", "the status says what it is", "HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", hangUp, false, 403, false, "", false},
		{"answer cut", "half of it is none", ok + "Content-Length: 99\r\n\r\n{", hangUp, false, 200, false, "{", true},
		{"events as text", "it is what it looks like", ok + plain + "data: {}\n\n", hangUp, true, 200, true, "data: {}\n\n", false},
		{"events behind a comment", "a stream may begin with a keep-alive", ok + plain + ":\n\ndata: {}\n\n", hangUp, true, 200, true, ":\n\ndata: {}\n\n", false},
		{"events behind a byte order mark", "it is no part of the first field", ok + plain + "\xef\xbb\xbfdata: {}\n\n", hangUp, true, 200, true, "\xef\xbb\xbfdata: {}\n\n", false},
		{"events that nobody asked for", "are read whole", ok + plain + "data: {}\n\n", hangUp, false, 200, false, "data: {}\n\n", false},
		{"a short text", "is no stream", ok + plain + "data", hangUp, true, 200, false, "data", false},
		{"nothing", "an end at once must not hang", ok + plain, hangUp, true, 200, false, "", false},
		{"JSON", "what is peeked at is not lost", ok + plain + `{"a":1}`, hangUp, true, 200, false, `{"a":1}`, false},
		{"a refused stream", "its events are no answer", "HTTP/1.1 500 x\r\n" + plain + "data: {}\n\n", hangUp, true, 500, false, "data: {}\n\n", false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			pool := wire.NewPool(1)
			defer pool.CloseIdleConnections()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "POST", answering(t, r.text, r.then), nil)
			require.NoError(t, err)
			var a client.Answer
			resp, events, err := a.Do(&http.Client{Transport: pool}, req, r.stream)
			require.NoError(t, err)
			b := a.Body
			if events {
				b, err = io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
			}
			assert.Equal(t, r.status, a.Status)
			assert.Equal(t, r.events, events, r.reason)
			assert.Equal(t, r.body, string(b), r.reason)
			assert.Equal(t, r.err, a.Err != nil, "%s: %v", r.reason, a.Err)
		})
	}
}

// TestDoGivesUp: a refusal that does not end is the caller's to give up.
func TestDoGivesUp(t *testing.T) {
	url := answering(t, "HTTP/1.1 429 x\r\nContent-Length: 99\r\n\r\nslow", hang)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", url, nil)
	require.NoError(t, err)
	var a client.Answer
	_, _, err = a.Do(&http.Client{}, req, false)
	require.NoError(t, err)
	require.ErrorIs(t, a.Err, context.DeadlineExceeded)
}

func TestHeaderFault(t *testing.T) {
	const key = "topsecret-0123456789"
	rows := []struct {
		name, reason, header, value string
		kind                        llm.ErrorKind
	}{
		{"good", "the rows below are told from this one", "Authorization", "Bearer " + key, ""},
		{"tab", "may stand in a header", "X-A", "a\tb", ""},
		{"beyond ASCII", "net/http sends it", "Authorization", "Bearer " + key + "é", ""},
		{"line end", "of the file that the key was read from", "Authorization", "Bearer " + key + "\n", llm.KindAuth},
		{"carriage return", "the line end of a file of Windows", "X-Api-Key", key + "\r\n", llm.KindAuth},
		{"NUL", "a character that no header may have", "X-Api-Key", key + "\x00", llm.KindAuth},
		{"another header", "is no key", "X-Title", "a\nb", llm.KindBadRequest},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			err := client.HeaderFault(&http.Request{Header: http.Header{r.header: {r.value}}}, "p")
			assert.Equal(t, r.kind, llm.KindOf(err), r.reason)
			if err != nil {
				assert.ErrorContains(t, err, r.header)
				assert.NotContains(t, err.Error(), "topsecret")
			}
		})
	}
}

func TestBroke(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	rows := []struct {
		name, reason string
		ctx          context.Context
		err          error
		want         bool
	}{
		{"reset", "the connection broke, not the answer", t.Context(), &net.OpError{Op: "read", Err: errors.New("reset")}, true},
		{"cut", "the connection broke, not the answer", t.Context(), io.ErrUnexpectedEOF, true},
		{"given up", "by the caller", over, io.ErrUnexpectedEOF, false},
		{"time", "of the http.Client's own", t.Context(), context.DeadlineExceeded, false},
		{"error object", "the server's word", t.Context(), &client.NoAnswer{Why: "x"}, false},
		{"refused below", "by a cassette", t.Context(), &llm.Error{Kind: llm.KindBadRequest}, false},
		{"too long", "the answer is at fault", t.Context(), client.ErrTooLong, false},
		{"event too long", "the answer is at fault", t.Context(), wire.ErrEventTooLong, false},
		{"nothing", "no error is no trouble", t.Context(), nil, false},
	}
	for _, r := range rows {
		assert.Equal(t, r.want, client.Broke(r.ctx, r.err), "%s: %s", r.name, r.reason)
	}
}

// TestLongestKey: a key that fills what is masked leaves nothing to show.
func TestLongestKey(t *testing.T) {
	long := strings.Repeat("topsecret ", 2000)
	a := client.Answer{Secrets: []string{long}}
	assert.NotContains(t, a.Mask("x"+long), "topsecret")
	assert.NotContains(t, a.Excerpt([]byte("x"+long)), "topsecret")
}
