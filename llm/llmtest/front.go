package llmtest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Start serves on a loopback port until the test ends and returns the base
// URL of the OpenAI API, version included, without a slash at its end. It
// panics if the server's fields cannot be meant.
func (s *Server) Start(tb testing.TB) string { return s.StartRoot(tb) + "/v1" }

// StartRoot is Start, but returns the root URL: what Gemini's SDKs want, which
// add the version.
func (s *Server) StartRoot(tb testing.TB) string {
	srv := s.listen(tb)
	srv.Start()
	return srv.URL
}

// StartTLS serves HTTP/2 over TLS on a loopback port until the test ends, and
// returns the root URL and a client that trusts the server.
func (s *Server) StartTLS(tb testing.TB) (root string, client *http.Client) {
	srv := s.listen(tb)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	return srv.URL, srv.Client()
}

func (s *Server) listen(tb testing.TB) *httptest.Server {
	s.must()
	srv := httptest.NewUnstartedServer(s)
	srv.Config.ConnState = s.connection
	tb.Cleanup(func() {
		// First break what hangs, or Close would wait for it for ever.
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

func (s *Server) connection(_ net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.counts.Dialed++
		s.counts.Connections++
	case http.StateClosed, http.StateHijacked:
		s.counts.Connections--
	}
}

// Client returns a client whose calls, to whatever host, come to s without a
// socket. See [Memory].
func (s *Server) Client() *http.Client { return &http.Client{Transport: s.Memory()} }

// Memory is the transport of Client: its Wait waits for the server's side of
// calls that their callers have given up. It panics if the server's fields
// cannot be meant.
func (s *Server) Memory() *Memory {
	s.must()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory.Handler == nil {
		s.memory.Handler, s.memory.changed = s, s.change
	}
	return &s.memory
}

func (s *Server) must() {
	if err := s.check(); err != nil {
		panic(err)
	}
}
