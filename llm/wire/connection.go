package wire

import (
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrStale is wrapped by the error of a call that was written to a connection
// kept from an earlier one, which the server closed before any of an answer
// came. A server that closes a connection it has promised to keep (llama.cpp
// does after each stream), restarts, or closes idle ones just then does this
// to calls that it never saw, so that another try on a new connection is due
// at once. It is no proof that the server did nothing: one that dies over a
// call looks the same, so that the try belongs in the record.
//
// net/http makes such a try itself where a request says that it may be
// repeated (an Idempotency-Key header). No client of ours does: what is billed
// twice must not be hidden. It is only told apart for calls with a [Capture]
// or a context with an [llm.CallLog], and over HTTP/1.1.
var ErrStale = errors.New("the server closed a connection kept from an earlier call before any of the answer came")

// A connection is what a call's trace says of the one it got. net/http calls a
// trace from goroutines of its own, and after the call has failed too.
type connection struct {
	reused, answered atomic.Bool
}

// trace notes what the connection does.
func (c *call) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			c.conn.reused.Store(i.Reused)
			at := time.Since(c.start)
			for _, cp := range c.captures {
				cp.update(func(g *Captured) {
					if g.Connected, g.Reused = at, i.Reused; !i.Reused {
						g.Dials++
					}
				})
			}
		},
		WroteRequest: func(httptrace.WroteRequestInfo) {
			at := time.Since(c.start)
			for _, cp := range c.captures {
				cp.update(func(g *Captured) { g.Written = at })
			}
		},
		GotFirstResponseByte: func() { c.conn.answered.Store(true) },
	}
}

// explain adds [ErrStale] to the error of a call where it is why.
func (c *connection) explain(err error) error {
	if !c.reused.Load() || c.answered.Load() || !closedByServer(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrStale, err)
}

// closedByServer reports whether err is what net/http makes of a connection
// that the other side has closed or reset. HTTP/2 has errors of its own, which
// say what became of the call, and net/http repeats by itself what the server
// refused unseen.
func closedByServer(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return true
	}
	for _, errno := range closedErrnos {
		if errors.Is(err, errno) {
			return true
		}
	}
	// The server closed it while it was idle: net/http exports no such error.
	for e := err; e != nil; e = errors.Unwrap(e) {
		if e.Error() == "http: server closed idle connection" {
			return true
		}
	}
	return false
}
