package fake

import (
	"errors"
	"net"
	"sync"
	"time"
)

// A run is one run of a server.
type run struct {
	server   *Server
	listener net.Listener
	begun    time.Time
	stalls   []Stall
	cache    *cache // nil: none
	slots    *slots // nil: no limit
	wheel    *wheel // nil: the runtime's timers
	// waits says that answers may wait. Where none does, the goroutine that reads
	// a connection answers too, and nobody looks for clients that have gone.
	waits bool
	stop  chan struct{}
	all   sync.WaitGroup

	order  sync.Mutex // held while a call is let in; never inside mu
	mu     sync.Mutex
	counts Counts
	conns  map[*conn]struct{}
	ended  bool
}

func newRun(s *Server, l net.Listener) *run {
	r := &run{
		server: s, listener: l, begun: time.Now(), stalls: merged(s.Stalls),
		stop: make(chan struct{}), conns: map[*conn]struct{}{},
	}
	if s.CacheBlock > 0 {
		r.cache = newCache(orDefault(s.CacheBlocks, DefaultCacheBlocks))
	}
	if s.Slots > 0 {
		r.slots = &slots{free: s.Slots}
	}
	r.waits = s.TTFT > 0 || s.ITL > 0 || s.Slots > 0 || len(r.stalls) > 0
	// A bubble has a clock of its own, and no sockets.
	if _, real := l.(*net.TCPListener); real && r.waits {
		if a := newAlarm(); a != nil {
			r.wheel = &wheel{alarm: a}
			r.all.Go(r.wheel.run)
		}
	}
	return r
}

// accept takes connections until the run ends.
func (r *run) accept() {
	delay := time.Duration(0)
	for n := 0; ; {
		nc, err := r.listener.Accept()
		if err != nil {
			if r.over() || errors.Is(err, net.ErrClosed) {
				return
			}
			r.mu.Lock()
			r.counts.AcceptErrors++
			r.mu.Unlock()
			delay = min(max(2*delay, 5*time.Millisecond), time.Second)
			r.pause(delay)
			continue
		}
		delay = 0
		c := newConn(r, nc, n)
		n++
		if !r.add(c) {
			_ = nc.Close() // nobody is served any more
			return
		}
		r.all.Go(func() { c.serve(nil) })
	}
}

func (r *run) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.stop:
	}
}

func (r *run) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

func (r *run) add(c *conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return false
	}
	r.conns[c] = struct{}{}
	r.counts.Connections++
	return true
}

func (r *run) remove(c *conn) {
	r.mu.Lock()
	delete(r.conns, c)
	r.mu.Unlock()
}

// end ends the run and waits for its goroutines.
func (r *run) end() {
	r.mu.Lock()
	r.ended = true
	conns := make([]*conn, 0, len(r.conns))
	for c := range r.conns {
		conns = append(conns, c)
	}
	r.mu.Unlock()
	close(r.stop)
	_ = r.listener.Close() // nothing can be done about it
	for _, c := range conns {
		_ = c.nc.Close()
	}
	if r.wheel != nil {
		r.wheel.close()
	}
	r.all.Wait()
}

func (r *run) snapshot() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// admit numbers a call, decides whether it fails and gives it its slot or its
// place in the queue: under one lock, so that all have the same order.
func (r *run) admit(c *call) {
	r.order.Lock()
	defer r.order.Unlock()
	r.mu.Lock()
	k := &r.counts
	c.n = k.Requests
	k.Requests++
	k.InFlight++
	k.MostInFlight = max(k.MostInFlight, k.InFlight)
	if c.problem == nil {
		k.Input += int64(c.input)
		k.Cached += int64(c.cached)
	}
	r.mu.Unlock()
	if c.problem != nil {
		return
	}
	if r.server.Fail != nil {
		c.fail = r.server.Fail(c.n)
	}
	if c.fail.atOnce() {
		return
	}
	c.began = c.arrived
	if r.slots != nil {
		c.slot, c.waiter = true, r.slots.ask()
	}
}

// finish counts a call that has ended, and shows it.
func (r *run) finish(c *call, cn *conn) {
	ended := time.Now()
	r.mu.Lock()
	k := &r.counts
	switch {
	case c.n < 0:
		k.Other++
	case c.canceled:
		k.Canceled++
	case c.problem != nil:
		k.Refused++
	case c.fail.set():
		k.Failed++
	default:
		k.Answered++
	}
	if c.n >= 0 {
		k.InFlight--
	}
	k.Output += int64(c.output)
	r.mu.Unlock()
	if r.server.Saw == nil {
		return
	}
	s := &Seen{
		N: c.n, Conn: cn.n, Path: c.path, Header: c.header, Body: c.body, User: c.order.user, Model: modelName(c.order.model),
		Messages: c.order.messages, Input: c.input, Cached: c.cached, Output: c.output, Asked: c.order.tokens,
		Streamed: c.order.stream, Status: c.status, Arrived: c.arrived, Began: c.began, Due: c.due, Written: c.written,
		Ended: ended, Failed: c.problem == nil && c.fail.set() && !c.canceled, Canceled: c.canceled,
	}
	if c.problem != nil {
		s.Refused = c.problem.message
	}
	r.server.Saw(s)
}

// moved is a time of the schedule, after the stall that it falls into.
func (r *run) moved(t time.Time) time.Time {
	since := t.Sub(r.begun)
	for _, s := range r.stalls {
		if since >= s.At && since < s.At+s.For {
			return r.begun.Add(s.At + s.For)
		}
	}
	return t
}
