package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// How much of an unread body Close reads, and for how long, so that the
// connection can be used again: SDKs stop at [DONE], or after the JSON value, a
// moment before the body ends. A body that goes on for longer costs its
// connection.
const drainBytes = 64 << 10

var drainTime = 50 * time.Millisecond // only tests change it

var errClosed = errors.New("wire: read on a closed body")

// ErrIncomplete is in the tree of the error that ends a streamed answer which
// stopped before it was over: without [DONE], a finish reason for every choice,
// message_stop, response.completed or whatever ends it in its API.
// [io.ErrUnexpectedEOF] is as well.
var ErrIncomplete = fmt.Errorf("wire: the stream ended without [DONE] and without a finish reason: %w", io.ErrUnexpectedEOF)

// errCut is why a call is logged as failed whose JSON stopped short; the SDK
// itself sees what came.
var errCut = fmt.Errorf("wire: the answer ended inside of its JSON: %w", io.ErrUnexpectedEOF)

// body reads along in an answer.
type body struct {
	rc       io.ReadCloser
	recorded *Recorded
	call     *call
	drain    bool // read what the SDK left unread, within bounds
	keep     bool // keep what a failed answer says

	mu     sync.Mutex
	watch  *Watch
	ended  bool // the end or an error was read
	told   bool // the call was reported
	closed bool
	said   []byte // the beginning of a failed answer
}

func (b *body) elapsed() time.Duration {
	if b.recorded != nil {
		return b.recorded.Elapsed()
	}
	return time.Since(b.call.start)
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.rc.Read(p)
	at := b.elapsed()
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > 0 {
		b.watch.Write(p[:n], at)
		b.hear(p[:n])
		for _, c := range b.call.captures {
			c.add(p[:n], at)
		}
	}
	if err == nil {
		// Some SDKs never close a stream that said it was over.
		if s := &b.watch.s; s.DoneAt > 0 && !s.Failed {
			b.finish(at, nil)
		}
		return n, nil
	}
	if err == io.EOF {
		b.watch.End(at)
		if b.call.status < 300 && !b.watch.Whole() {
			err = ErrIncomplete
		}
	}
	if err != io.EOF {
		err = MaskError(err, b.call.secrets...)
	}
	if !b.ended {
		b.ended = true
		b.finish(at, err)
	}
	return n, err
}

// hear keeps the beginning of a failed answer. b.mu is held.
func (b *body) hear(p []byte) {
	if b.keep {
		b.said = append(b.said, p[:min(len(p), maxErrorBody-len(b.said))]...)
	}
}

// finish reports the call, once; err is nil or io.EOF for a good end.
func (b *body) finish(at time.Duration, err error) {
	if b.told {
		return
	}
	b.told = true
	s := b.watch.State()
	if s.DoneAt > 0 {
		at = s.DoneAt
	}
	if err == io.EOF {
		err = nil
	}
	b.call.end(s, at, err, b.said)
}

func (b *body) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	skip := b.ended || !b.drain
	at := b.elapsed()
	b.mu.Unlock()
	if !skip && b.call.ctx.Err() == nil {
		at = b.drainSome(at)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.ended = true
		b.watch.End(at)
		var err error
		if s := b.watch.State(); !s.Done || !b.watch.Whole() {
			err = context.Cause(b.call.ctx)
			if err == nil && (s.Stream || s.Answer) {
				err = fmt.Errorf("wire: the answer was closed before its end: %w", io.ErrUnexpectedEOF)
			}
		}
		b.finish(at, err)
	}
	return b.rc.Close()
}

// drainSome reads the rest of a body within bounds and returns when the bytes
// that the SDK itself had read were over.
func (b *body) drainSome(at time.Duration) time.Duration {
	t := time.AfterFunc(drainTime, func() { b.rc.Close() })
	defer t.Stop()
	buf := make([]byte, 4<<10)
	for total := 0; total < drainBytes; {
		n, err := b.rc.Read(buf)
		total += n
		b.mu.Lock()
		b.watch.Write(buf[:n], at)
		b.hear(buf[:n])
		b.mu.Unlock()
		if err != nil {
			return at
		}
	}
	return at
}
