package fake_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/fake"
)

const okBody = `{"messages":[{"role":"user","content":"the water"}],"max_tokens":2}`

const okAnswer = `"content":"the water"`

// talk writes text, in pieces of so many bytes, and reads as many answers as come.
func talk(t *testing.T, b *bench, text string, size int) (answers []string, statuses []int) {
	t.Helper()
	c, err := b.dial(t.Context(), "", "")
	require.NoError(t, err)
	go func() { // the server may stop reading
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := io.WriteString(c, rest[:n]); err != nil {
				return
			}
			rest = rest[n:]
		}
	}()
	r := bufio.NewReader(c)
	for range 3 {
		if synctest.Wait(); r.Buffered() == 0 && !waiting(c, r) {
			break
		}
		res, err := http.ReadResponse(r, &http.Request{Method: method(text)})
		if err != nil {
			break
		}
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		answers, statuses = append(answers, string(body)), append(statuses, res.StatusCode)
		if res.Close {
			_, err := r.ReadByte()
			assert.ErrorIs(t, err, io.EOF, "Connection: close is kept")
		}
	}
	require.NoError(t, c.Close())
	return answers, statuses
}

func method(text string) string {
	m, _, _ := strings.Cut(text, " ")
	return m
}

// waiting reports whether there is anything to read; in a bubble a second passes
// only when nothing else can happen.
func waiting(c net.Conn, r *bufio.Reader) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	_, err := r.Peek(1)
	_ = c.SetReadDeadline(time.Now().Add(time.Hour))
	return err == nil
}

// TestHTTP: requests as clients write them, whole, in pieces and byte by byte,
// with a server that may wait and one that does not.
func TestHTTP(t *testing.T) {
	size := fmt.Sprintf("Content-Length: %d\r\n", len(okBody))
	post := "POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n"
	chunks := "8\r\n" + okBody[:8] + "\r\n" + fmt.Sprintf("%X;a=b\r\n%s\r\n", len(okBody)-8, okBody[8:])
	for _, row := range []struct {
		name, reason, text string
		statuses           []int
		has                string
	}{
		{"length", "the usual", post + size + "\r\n" + okBody, []int{200}, okAnswer},
		{"names of any case", "header names have none", post + strings.ToLower(size) + "\r\n" + okBody, []int{200}, okAnswer},
		{"keep-alive", "one after the other, and ahead of the answer", post + size + "\r\n" + okBody + post + size + "\r\n" + okBody, []int{200, 200}, okAnswer},
		{"empty lines between", "some old clients send them", "\r\n" + post + size + "\r\n" + okBody + "\r\n" + post + size + "\r\n" + okBody, []int{200, 200}, okAnswer},
		{"line feeds alone", "lenient, as net/http is", strings.ReplaceAll(post+size+"\r\n", "\r\n", "\n") + okBody, []int{200}, okAnswer},
		{"close", "the connection ends with the answer", post + "Connection: foo, Close\r\n" + size + "\r\n" + okBody + post, []int{200}, okAnswer},
		{"1.0", "has no chunks and no keep-alive", strings.Replace(post, "1.1", "1.0", 1) + size + "\r\n" + okBody, []int{200}, okAnswer},
		{"chunked", "sizes in any case, extensions, and a trailer", post + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\nA: b\r\n\r\n" + post + size + "\r\n" + okBody, []int{200, 200}, okAnswer},
		{"query", "is of no matter", strings.Replace(post, " HTTP", "?a=/b HTTP", 1) + size + "\r\n" + okBody, []int{200}, okAnswer},
		{"proxy form", "the target may be a URL", strings.Replace(post, " /", " http://h:1/", 1) + size + "\r\n" + okBody, []int{200}, okAnswer},
		{"models", "has the fake's", "GET /v1/models HTTP/1.1\r\n\r\n", []int{200}, `"id":"fake"`},
		{"head of models", "has no body, and another request follows", "HEAD /v1/nothing HTTP/1.1\r\n\r\nGET /v1/models HTTP/1.1\r\n\r\n", []int{404, 200}, ""},
		{"no path", "is named", "GET /v2 HTTP/1.1\r\n\r\nGET /v1/models HTTP/1.1\r\n\r\n", []int{404, 200}, ""},
		{"no method", "the answer says which", "GET /v1/completions HTTP/1.1\r\n\r\n", []int{405}, "wants POST"},
		{"no body", "the next request can be read", post + "\r\n" + post + size + "\r\n" + okBody, []int{400, 200}, okAnswer},
		{"no JSON", "the next request can be read", post + "Content-Length: 3\r\n\r\n{a}" + post + size + "\r\n" + okBody, []int{400, 200}, okAnswer},
		{"no HTTP", "the rest cannot be read", "hello\r\n\r\n" + post, []int{400}, "no line of HTTP"},
		{"HTTP/2", "is not spoken", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{505}, "HTTP/2.0"},
		{"no field", "a line without a colon", post + "a b\r\n\r\n", []int{400}, "no line of a header"},
		{"space before the colon", "a known way to smuggle", post + "Content-Length : 5\r\n\r\nhello", []int{400}, "no line of a header"},
		{"length that is none", "a sign is none", post + "Content-Length: +5\r\n\r\nhello", []int{400}, "cannot be"},
		{"two lengths", "they differ", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", []int{400}, "cannot be"},
		{"length and chunks", "which holds?", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", []int{400}, "both"},
		{"too long", "it is not even read", post + "Content-Length: 1000000\r\n\r\nabc", []int{413}, "1000000 bytes"},
		{"length that overflows", "no integer takes it", post + "Content-Length: 99999999999999999999\r\n\r\nabc", []int{400}, "cannot be"},
		{"chunks too long", "in sum", post + "Transfer-Encoding: chunked\r\n\r\nfff\r\n" + strings.Repeat("a", 0xfff) + "\r\n7fffffff\r\n", []int{413}, "more than 4096"},
		{"chunk without size", "the rest cannot be read", post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", []int{400}, "no size"},
		{"chunk longer than it says", "the rest cannot be read", post + "Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n", []int{400}, "longer than it says"},
		{"another coding", "is not known", post + "Transfer-Encoding: gzip, chunked\r\n\r\n", []int{501}, "gzip"},
		{"compressed", "is not read", post + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\na", []int{415}, "gzip"},
		{"endless head", "ends", post + "A: " + strings.Repeat("a", 70_000), []int{431}, "65536"},
		{"endless line of chunks", "ends", post + "Transfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("a", 7_000), []int{400}, "between chunks"},
		{"cut off", "no answer, and nothing left running", post + size + "\r\n" + okBody[:9], nil, ""},
	} {
		for _, waits := range []bool{false, true} {
			for _, size := range []int{1 << 20, 7, 1} {
				t.Run(fmt.Sprintf("%s/%v/%d", row.name, waits, size), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := &fake.Server{MaxBody: 4096}
						if waits {
							s.TTFT = 5 * ms
						}
						b := serve(t, s)
						answers, statuses := talk(t, b, row.text, size)
						b.stop()
						assert.Equal(t, row.statuses, statuses, row.reason)
						if len(answers) > 0 {
							assert.Contains(t, answers[len(answers)-1], row.has, row.reason)
						}
						counts := s.Counts()
						assert.Zero(t, counts.InFlight)
						assert.Equal(t, counts.Requests, counts.Answered+counts.Failed+counts.Refused+counts.Canceled)
						assert.Len(t, b.saw(), counts.Requests+counts.Other, "each is seen")
					})
				})
			}
		}
	}
}

// TestExpect: a client that waits for leave to send its body gets it.
func TestExpect(t *testing.T) {
	url, stop, err := (&fake.Server{}).Start()
	require.NoError(t, err)
	defer stop()
	c := dialRaw(t, url)
	head := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(okBody))
	_, err = io.WriteString(c, head)
	require.NoError(t, err)
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
	_, err = r.ReadString('\n')
	require.NoError(t, err)
	_, err = io.WriteString(c, okBody)
	require.NoError(t, err)
	res, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Contains(t, string(body), okAnswer)
}

// TestSeen: what a request says is seen.
func TestSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serve(t, &fake.Server{})
		body := `{"model":"a\"b","user":"u\u00e9","messages":[{"role":"system","content":"the"},{"role":"user","content":"water house"}],"max_tokens":3,"stream":true}`
		_, statuses := talk(t, b, string(rawRequest("/v1/chat/completions?x", body))+"GET /v1/models HTTP/1.1\r\nX-A: 1\r\nx-a:  2 \r\n\r\n", 1<<20)
		b.stop()
		require.Equal(t, []int{200, 200}, statuses)
		s := b.saw()[0]
		assert.Equal(t, "/v1/chat/completions", s.Path)
		assert.Equal(t, body, string(s.Body))
		assert.Equal(t, "application/json", s.Header.Get("Content-Type"))
		assert.Equal(t, []any{`a"b`, "ué", 2, 3, 3, 3, true, 200, 0}, []any{s.Model, s.User, s.Messages, s.Input, s.Asked, s.Output, s.Streamed, s.Status, s.N})
		assert.Equal(t, http.Header{"X-A": {"1", "2"}}, b.saw()[1].Header)
		assert.Equal(t, []any{"/v1/models", -1, 200}, []any{b.saw()[1].Path, b.saw()[1].N, b.saw()[1].Status})
	})
}

// TestStart: the zero value works, runs once at a time, and begins anew.
func TestStart(t *testing.T) {
	var s fake.Server
	assert.Zero(t, s.Counts())
	for range 2 {
		url, stop, err := s.Start()
		require.NoError(t, err)
		_, _, err = s.Start()
		require.ErrorIs(t, err, fake.ErrStarted)
		c := dialRaw(t, url)
		for range 3 {
			answer, err := c.do(rawRequest("/v1/completions", `{"prompt":"the water"}`))
			require.NoError(t, err)
			assert.Contains(t, string(answer), `"completion_tokens":16,`)
			assert.Contains(t, string(answer), `"finish_reason":"stop"`)
		}
		stop()
		stop()
		assert.Equal(t, fake.Counts{Requests: 3, Answered: 3, MostInFlight: 1, Connections: 1, Input: 6, Output: 48}, s.Counts())
		_, err = net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.Error(t, err, "nobody listens")
		_, err = c.do(rawRequest("/v1/completions", `{"prompt":"the water"}`))
		require.Error(t, err, "the connection is closed")
	}
}

// TestFields: what cannot be meant is refused with the field and the value.
func TestFields(t *testing.T) {
	count := func(string) int { return 1 }
	for _, row := range []struct {
		server *fake.Server
		want   string
	}{
		{&fake.Server{Output: -1}, "Server.Output is -1"},
		{&fake.Server{Output: fake.MaxOutput + 1}, "Server.Output is 1048577"},
		{&fake.Server{Slots: -2}, "Server.Slots is -2"},
		{&fake.Server{TTFT: -1}, "Server.TTFT is -1ns"},
		{&fake.Server{ITL: -ms}, "Server.ITL is -1ms"},
		{&fake.Server{Stalls: []fake.Stall{{}, {At: 1, For: -1}}}, "Stalls[1] is 1ns for -1ns"},
		{&fake.Server{Count: count, Encode: func(string) []int { return nil }}, "both Count and Encode"},
		{&fake.Server{Count: count, CacheBlock: 16}, "Server.CacheBlock is 16 with Count"},
	} {
		_, _, err := row.server.Start()
		assert.ErrorContains(t, err, row.want)
	}
	_, _, err := (&fake.Server{}).Listen("nowhere.invalid:x")
	assert.ErrorContains(t, err, "nowhere.invalid:x")
}

// badListener fails to accept, then works.
type badListener struct {
	*fake.Pipe
	fails int
}

func (l *badListener) Accept() (net.Conn, error) {
	if l.fails > 0 {
		l.fails--
		return nil, errors.New("too many open files")
	}
	return l.Pipe.Accept()
}

// TestAccept: a connection that could not be accepted is not the last.
func TestAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s fake.Server
		p := fake.NewPipe()
		stop, err := s.Serve(&badListener{p, 3})
		require.NoError(t, err)
		c, err := p.Dial(t.Context(), "", "")
		require.NoError(t, err)
		answer, err := (&rawConn{c, make([]byte, 1<<10)}).do(rawRequest("/v1/chat/completions", okBody))
		require.NoError(t, err)
		assert.True(t, bytes.Contains(answer, []byte(okAnswer)))
		stop()
		assert.Equal(t, 3, s.Counts().AcceptErrors)
	})
}
