// Package brokenconn has the connections and bodies that the clients' tests
// break: a server that answers one call with given bytes and then does what it
// is told with the connection, and a body in which the caller gives up. It is
// for tests only, and not for answers that are merely wrong: those are
// llm/llmtest's.
package brokenconn

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Serve listens on this machine, answers one call with the bytes of text and
// hands its connection to then, which is closed after it. url has no path; stop
// ends the listening, not the call.
func Serve(text string, then func(*net.TCPConn)) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		serveKept(c.(*net.TCPConn), then, []string{text})
	}()
	return "http://" + l.Addr().String(), func() { _ = l.Close() }, nil
}

// ServeKept listens on this machine until stop, keeps each connection for as
// many calls as there are texts, answers them in turn, and hands it to then,
// which is closed after it.
func ServeKept(then func(*net.TCPConn), texts ...string) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveKept(c.(*net.TCPConn), then, texts)
		}
	}()
	return "http://" + l.Addr().String(), func() { _ = l.Close() }, nil
}

func serveKept(c *net.TCPConn, then func(*net.TCPConn), texts []string) {
	defer c.Close()
	r := bufio.NewReader(c)
	for _, text := range texts {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
	}
	then(c)
}

// HangUp closes the connection as a server does that is done.
func HangUp(*net.TCPConn) {}

// Hang says nothing more until the client closes.
func Hang(c *net.TCPConn) { _, _ = io.Copy(io.Discard, c) }

// Reset breaks the connection once what was written has been read.
func Reset(c *net.TCPConn) {
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	_, _ = io.Copy(io.Discard, c)
	_ = c.SetLinger(0)
}

// GivenUp is a body of text that does not end with the call's context. Its first
// read calls cancel, which ends that.
func GivenUp(text string, cancel func()) io.ReadCloser {
	return &givenUp{strings.NewReader(text), cancel}
}

type givenUp struct {
	text   io.Reader
	cancel func()
}

func (g *givenUp) Read(p []byte) (int, error) {
	g.cancel()
	return g.text.Read(p)
}

func (g *givenUp) Close() error { return nil }
