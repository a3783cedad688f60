package fake

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A conn is one connection. One goroutine reads it; where answers wait, the
// reading goes on in another one while an answer is written, which sees the
// client go. That one answers the next request, and a third goes on reading:
// at most two exist at a time but for clients that send ahead.
type conn struct {
	run *run
	nc  net.Conn
	n   int

	in     reader // of the goroutine that reads
	parser *parser
	head   head

	out   []byte // of the goroutine that answers
	frame frame
	// One of the two is what its waits are done with.
	timer   *time.Timer
	sleeper *sleeper
	once    sync.Once
}

func newConn(r *run, nc net.Conn, n int) *conn {
	return &conn{
		run: r, nc: nc, n: n, parser: newParser(r.server),
		in: reader{conn: nc, maxBody: orDefault(r.server.MaxBody, DefaultMaxBody)},
	}
}

func (c *conn) close() {
	c.once.Do(func() {
		_ = c.nc.Close() // the client sees it, whatever it says here
		c.run.remove(c)
	})
}

// serve reads requests and answers them. before is the call whose answer is
// still being written; nil if none is.
func (c *conn) serve(before *call) {
	var own call // used again where nobody else has it
	for {
		next := &own
		if c.run.waits {
			next = &call{}
		}
		refused, err := c.read(next, before)
		if err != nil {
			if before != nil {
				close(before.gone)
				<-before.done
			}
			c.close()
			return
		}
		if before != nil {
			if <-before.done; before.last || before.canceled {
				c.abandon(next)
				return
			}
			before = nil
		}
		if refused { // what follows cannot be read
			c.answer(next)
			c.linger()
			return
		}
		if !c.run.waits {
			if c.answer(next); next.last || next.canceled {
				c.close()
				return
			}
			continue
		}
		next.gone, next.done = make(chan struct{}), make(chan struct{})
		c.run.all.Go(func() { c.serve(next) })
		if c.answer(next); next.last || next.canceled {
			c.close() // ends the reading
		}
		close(next.done)
		return
	}
}

// read reads a request and decides what becomes of it. refused says that it was
// not HTTP; the error is the connection's.
func (c *conn) read(k *call, before *call) (refused bool, err error) {
	body, arrived, err := c.in.next(&c.head, func() error {
		if before != nil {
			<-before.done
		}
		_, err := c.nc.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
		return err
	})
	model := k.order.model[:0]
	*k = call{n: -1, arrived: arrived, http10: c.head.http10, last: c.head.close, bare: string(c.head.method) == http.MethodHead}
	k.order.model = model
	if fault := new(protocolError); errors.As(err, &fault) {
		k.problem, k.last, k.arrived = &fault.problem, true, time.Now()
		return true, nil
	} else if err != nil {
		return false, err
	}
	if k.what, k.path = targetOf(c.head.path()); c.run.server.Saw != nil {
		k.header, k.body = c.head.header(), bytes.Clone(body)
	}
	if k.problem = c.method(k); k.problem != nil || k.what == models {
		return false, nil
	}
	c.take(k, body)
	return false, nil
}

func (c *conn) method(k *call) *problem {
	want := "POST"
	switch k.what {
	case nothing:
		return &problem{http.StatusNotFound, "there is no " + cut([]byte(k.path)) + ": want /v1/chat/completions, /v1/completions or /v1/models", ""}
	case models:
		want = "GET"
	}
	if string(c.head.method) != want {
		return &problem{http.StatusMethodNotAllowed, k.path + " wants " + want + ", not " + cut(c.head.method), ""}
	}
	return nil
}

// take parses the body of a call and lets it in.
func (c *conn) take(k *call, body []byte) {
	r, p := c.run, &c.parser.prompt
	if k.problem = c.parser.parse(body, k.what, &k.order); k.problem == nil {
		k.input, k.endHash, k.endTokens = p.tokens, p.hash, p.tokens
		if r.cache != nil {
			k.cached = r.cache.hold(p.blocks) * r.server.CacheBlock
		}
	} else {
		k.order.tokens = 0
	}
	r.admit(k)
}

// abandon counts a request that came behind one after which the connection ends.
func (c *conn) abandon(k *call) {
	k.canceled = true
	c.unseat(k)
	c.run.finish(k, c)
	c.close()
}

// unseat gives back a call's slot or its place in the queue.
func (c *conn) unseat(k *call) {
	switch {
	case !k.slot:
	case k.waiter != nil:
		c.run.slots.leave(k.waiter)
	default:
		c.run.slots.release()
	}
	k.slot, k.waiter = false, nil
}

// linger closes a connection from which more may be coming, after a while in
// which the client can read the answer: closed at once with unread bytes, the
// system would throw the answer away.
func (c *conn) linger() {
	defer c.close()
	half, ok := c.nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || c.nc.SetReadDeadline(time.Now().Add(time.Second)) != nil {
		return
	}
	rest := make([]byte, readBuffer)
	for read := 0; read < c.in.maxBody; {
		n, err := c.nc.Read(rest)
		if err != nil {
			return
		}
		read += n
	}
}

func modelName(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	name, err := jsontext.AppendUnquote(nil, raw)
	_ = err // it was valid
	return string(name)
}
