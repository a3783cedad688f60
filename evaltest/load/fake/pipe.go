package fake

import (
	"context"
	"errors"
	"net"
	"sync"
)

// A Pipe is a listener whose connections stay in memory, for [Server.Serve] in a
// bubble of testing/synctest, where a socket would never be idle: times are
// exact there, whatever the machine does besides. Make it with [NewPipe]. It is
// safe for concurrent use.
type Pipe struct {
	conns chan net.Conn
	stop  chan struct{}
	once  sync.Once
}

// NewPipe returns a Pipe. In a bubble it has to be made there.
func NewPipe() *Pipe { return &Pipe{conns: make(chan net.Conn), stop: make(chan struct{})} }

// errRefused is what dialing a closed pipe gives.
var errRefused = errors.New("fake: the pipe is closed: connection refused")

// Dial connects to the pipe, whatever the network and the address: it is for
// client.Config.Dial and http.Transport.DialContext. It waits until the
// connection is accepted, and returns the context's error if that ends first.
func (p *Pipe) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.stop:
		return nil, errRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next connection; net.ErrClosed after Close.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.stop:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections. Those that are open stay so. It may be
// called more than once, and returns nil.
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.stop) })
	return nil
}

// Addr is a name; there is no address.
func (p *Pipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }
