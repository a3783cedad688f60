package load_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/fake"
)

// A pipe is a listener in memory, for bubbles of testing/synctest.
type pipe struct {
	conns chan net.Conn
	stop  chan struct{}
	once  sync.Once
}

func newPipe() *pipe { return &pipe{conns: make(chan net.Conn), stop: make(chan struct{})} }

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.stop:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error   { p.once.Do(func() { close(p.stop) }); return nil }
func (p *pipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipe) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.stop:
		return nil, errors.New("refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inMemory runs a load against a server in memory, in a bubble: in virtual time,
// so that every time is exact whatever the machine does besides. Host and Dial of the
// load's client are set.
func inMemory(t *testing.T, s *fake.Server, l load.Load) *load.Report {
	t.Helper()
	p := newPipe()
	stop, err := s.Serve(p)
	require.NoError(t, err)
	defer stop()
	l.Client.Host, l.Client.Model, l.Client.Dial = "http://h", "m", p.dial
	l.Seed = 1
	rep, err := load.Run(t.Context(), l)
	require.NoError(t, err)
	return rep
}
