package fake

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

// flushAt is how many bytes are collected of events that are due at once.
const flushAt = 32 << 10

// keepOut is how large a buffer of an answer may be to be kept for the next.
const keepOut = 256 << 10

// answer answers a call and counts it.
func (c *conn) answer(k *call) {
	c.out = c.out[:0]
	switch {
	case k.problem != nil:
		c.status(k, k.problem.status, k.problem.object(), nil)
	case k.what == models:
		c.status(k, http.StatusOK, []byte(modelList), nil)
	case k.fail.atOnce():
		c.fail(k, false)
	case !c.seated(k):
		k.canceled = true
	case k.order.stream:
		c.stream(k)
	default:
		c.whole(k)
	}
	c.unseat(k)
	c.run.finish(k, c)
	if cap(c.out) > keepOut {
		c.out = nil
	}
	if cap(c.frame.event) > keepOut {
		c.frame.event = nil
	}
}

// seated waits for the call's slot.
func (c *conn) seated(k *call) bool {
	if k.waiter == nil {
		return true
	}
	select {
	case k.began = <-k.waiter.ready:
		k.waiter = nil // it has it, and gives it back
		return true
	case <-k.gone:
	case <-c.run.stop:
	}
	k.began = time.Time{}
	return false
}

// wait returns at a moment, or with false earlier if the client has gone or the
// server is stopped.
func (c *conn) wait(k *call, until time.Time) bool {
	d := time.Until(until)
	if d <= 0 {
		return true
	}
	if w := c.run.wheel; w != nil {
		if c.sleeper == nil {
			c.sleeper = newSleeper()
		}
		w.add(c.sleeper, until)
		if woken(c, k, c.sleeper.wake) {
			return true
		}
		w.drop(c.sleeper)
		return false
	}
	if c.timer == nil {
		c.timer = time.NewTimer(d)
	} else {
		c.timer.Reset(d)
	}
	if woken(c, k, c.timer.C) {
		return true
	}
	c.timer.Stop()
	return false
}

// woken waits for a ring. It is false if the client has gone or the server is
// stopped before.
func woken[T any](c *conn, k *call, ring <-chan T) bool {
	select {
	case <-ring:
		return true
	case <-k.gone:
	case <-c.run.stop:
	}
	k.canceled = true
	return false
}

// flush writes what has been collected, after a stall if there is one. It is
// false if the client has gone.
func (c *conn) flush(k *call) bool {
	for len(c.run.stalls) > 0 {
		now := time.Now()
		moved := c.run.moved(now)
		if moved.Equal(now) {
			break
		}
		if !c.wait(k, moved) {
			return false
		}
	}
	if c.run.server.Saw != nil {
		for now := time.Now(); len(k.written) < len(k.due); {
			k.written = append(k.written, now)
		}
	}
	_, err := c.nc.Write(c.out)
	c.out = c.out[:0]
	k.canceled = k.canceled || err != nil
	return err == nil
}

// status writes a whole answer.
func (c *conn) status(k *call, status int, body []byte, extra http.Header) bool {
	c.out = appendHead(c.out, k, status, len(body), extra)
	if !k.bare {
		c.out = append(c.out, body...)
	}
	if !c.flush(k) {
		return false
	}
	k.status = status
	return true
}

// fail fails a call as it should; inside says that a stream has begun.
func (c *conn) fail(k *call, inside bool) {
	f := &k.fail
	if f.Drop {
		if len(c.out) == 0 || c.flush(k) {
			k.last = true
		}
		return
	}
	status, body := orDefault(f.Status, http.StatusInternalServerError), []byte(f.Body)
	if f.Body == "" {
		body = (&problem{status, "the fake was told to fail", ""}).object()
	}
	if !inside {
		c.status(k, status, body, f.Header)
		return
	}
	c.frame.event = append(c.frame.event[:0], bytes.ReplaceAll(body, []byte("\n"), []byte("\ndata: "))...)
	c.event(k)
	c.finishChunks(k)
	c.flush(k)
}

// due is when token n is.
func (c *conn) due(k *call, n int) time.Time {
	s := c.run.server
	return c.run.moved(k.began.Add(s.TTFT + time.Duration(n)*s.ITL))
}

// whole answers in one piece.
func (c *conn) whole(k *call) {
	last := k.order.tokens
	if k.fail.set() {
		last = min(last, k.fail.After)
	}
	due := c.due(k, last-1)
	if c.run.waits && !c.wait(k, due) {
		return
	}
	if k.fail.set() {
		c.fail(k, false)
		return
	}
	c.frame.begin(k, true)
	c.frame.whole(k)
	if c.run.server.Saw != nil {
		k.due = append(k.due, due)
	}
	c.keepReply(k, k.order.tokens)
	if c.status(k, http.StatusOK, c.frame.event, nil) {
		k.output = k.order.tokens
	}
}

// stream answers in events.
func (c *conn) stream(k *call) {
	chunk, last := orDefault(c.run.server.Chunk, 1), k.order.tokens
	if k.fail.set() {
		last = min(last, k.fail.After)
	}
	c.out = appendHead(c.out, k, http.StatusOK, -1, nil)
	c.frame.begin(k, false)
	for n, collected := 0, 0; n < last; {
		to := min(n+chunk, last)
		if c.run.waits || c.run.server.Saw != nil {
			if !c.pace(k, to, &collected) {
				return
			}
		}
		if n == 0 && k.what == chat {
			c.frame.role()
			c.event(k)
		}
		c.frame.tokens(k.what, n, to)
		c.event(k)
		collected += to - n
		n = to
		if n == last { // what ends the stream goes out with its last token
			c.keepReply(k, n)
			if c.tail(k) {
				k.output = n
			}
			return
		}
		if len(c.out) >= flushAt && !c.send(k, &collected) {
			return
		}
	}
}

// pace waits until token to-1 is due. What has been collected goes out before
// it waits: the head alone, too, as a server has written it when it has begun.
func (c *conn) pace(k *call, to int, collected *int) bool {
	due := c.due(k, to-1)
	if c.run.waits && time.Until(due) > 0 {
		if len(c.out) > 0 && !c.send(k, collected) {
			return false
		}
		if !c.wait(k, due) {
			return false
		}
	}
	if c.run.server.Saw != nil {
		k.due = append(k.due, due)
	}
	return true
}

// send writes what has been collected and counts its tokens.
func (c *conn) send(k *call, collected *int) bool {
	if !c.flush(k) {
		return false
	}
	k.status = http.StatusOK
	k.output += *collected
	*collected = 0
	return true
}

// tail writes the end of a stream, with what has been collected.
func (c *conn) tail(k *call) bool {
	if k.fail.set() {
		c.fail(k, true)
	} else {
		c.frame.finish(k)
		c.event(k)
		if k.order.usage {
			c.frame.usage(k)
			c.event(k)
		}
		c.frame.event = append(c.frame.event[:0], "[DONE]"...)
		c.event(k)
		c.finishChunks(k)
		c.flush(k)
	}
	if k.canceled {
		return false
	}
	k.status = http.StatusOK
	return true
}

// event appends the frame's event to what will be written, as a chunk of its own.
func (c *conn) event(k *call) {
	const before, after = "data: ", "\n\n"
	if !k.http10 {
		c.out = strconv.AppendUint(c.out, uint64(len(before)+len(c.frame.event)+len(after)), 16)
		c.out = append(c.out, "\r\n"...)
	}
	c.out = append(c.out, before...)
	c.out = append(c.out, c.frame.event...)
	c.out = append(c.out, after...)
	if !k.http10 {
		c.out = append(c.out, "\r\n"...)
	}
}

func (c *conn) finishChunks(k *call) {
	if !k.http10 {
		c.out = append(c.out, "0\r\n\r\n"...)
	}
}

// keepReply puts n tokens of the answer into the cache: a conversation goes on
// with it. It is called before the last of them is written, for the next turn
// may be here at once. An answer that is given up leaves nothing there.
func (c *conn) keepReply(k *call, n int) {
	if c.run.cache == nil {
		return
	}
	p := prompt{server: c.run.server, tokens: k.endTokens, hash: k.endHash}
	if k.what == chat {
		p.message()
		p.markText([]byte("assistant"))
	}
	p.text(appendWords(nil, k.what, 0, n))
	c.run.cache.hold(p.blocks)
}
