package cassette

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// maxBody is the longest answer that is recorded, in bytes. Tests have a smaller
// one.
var maxBody = 256 << 20

// tape listens to an answer while the SDK reads it, without holding it up.
type tape struct {
	rc      io.ReadCloser
	c       *Cassette
	a       *asked
	start   time.Time
	secrets []string
	length  int64

	mu    sync.Mutex
	watch *wire.Watch
	data  []byte
	marks []wire.Mark
	long  bool // longer than maxBody: nothing more of it is kept
	done  bool
	err   error
	stop  func() bool // of the wait for the context's end
}

func (t *tape) Read(p []byte) (int, error) {
	n, err := t.rc.Read(p)
	at := time.Since(t.start)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		if err == io.EOF && t.err != nil {
			err = t.err
		}
		return n, err
	}
	if n > 0 {
		t.watch.Write(p[:n], at)
		t.keepBytes(p[:n], at)
	}
	switch {
	case err == io.EOF:
		t.watch.End(at)
		if storeErr := t.finish(at, true); storeErr != nil {
			return n, storeErr
		}
	case err != nil:
		t.finish(at, false)
	}
	return n, err
}

// keepBytes keeps what came, as long as all of it may be stored: an answer may
// have no end.
func (t *tape) keepBytes(p []byte, at time.Duration) {
	if t.long = t.long || len(t.data)+len(p) > maxBody; t.long {
		t.data, t.marks = nil, nil
		return
	}
	t.data = append(t.data, p...)
	t.mark(at)
}

// mark notes when the bytes so far had come. Reads within a tenth of a
// millisecond are one arrival.
func (t *tape) mark(at time.Duration) {
	if k := len(t.marks); k > 0 && at-t.marks[k-1].At < 100*time.Microsecond {
		t.marks[k-1].End = len(t.data)
		return
	}
	t.marks = append(t.marks, wire.Mark{End: len(t.data), At: at})
}

func (t *tape) Close() error {
	at := time.Since(t.start)
	err := t.rc.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return cmp.Or(t.err, err)
	}
	return cmp.Or(t.close(at), err)
}

// abandon is for a body that nobody closed before its context ended.
func (t *tape) abandon() {
	at := time.Since(t.start)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.done {
		_ = t.close(at) // kept in t.err, for whoever reads or closes it yet
	}
}

// close ends a body that was not read to its end. t.mu is held.
func (t *tape) close(at time.Duration) error {
	// Many SDKs stop at [DONE] or at the end of the JSON value, short of the
	// body's end.
	whole := t.length >= 0 && int64(len(t.data)) == t.length
	if !whole {
		t.watch.End(at)
		whole = t.watch.State().Done
	}
	return t.finish(at, whole)
}

// finish stores the call if it is one to keep.
func (t *tape) finish(at time.Duration, ended bool) error {
	t.done = true
	t.stop()
	stored := false
	defer func() { t.c.land(t.a, stored) }()
	if !t.keep(ended) {
		return nil
	}
	if t.long {
		t.err = own(llm.KindUnknown, fmt.Errorf("cassette: the answer to %s %s is longer than %d bytes; it was not recorded", t.a.entry.Method, t.a.entry.Path, maxBody))
		return t.err
	}
	e := t.a.entry
	e.body, e.marks, e.Total = t.data, t.marks, toMS(at)
	t.err = t.c.store(e, t.secrets)
	stored = t.err == nil
	return t.err
}

// keep reports whether the call may be replayed for ever after: an answer, or
// a refusal of the request itself.
func (t *tape) keep(ended bool) bool {
	s := t.watch.State()
	if t.c.opts.Failures {
		return ended
	}
	switch code := t.a.entry.Status; {
	case !ended || s.Failed || s.Bad != "" && code < 300 || !t.watch.Whole():
		return code == http.StatusBadRequest && ended
	case code >= 200 && code < 300:
		return true
	case isRedirect(code):
		return t.a.entry.Header.Get("Location") != "" // else a replay could not follow it
	default:
		return code == http.StatusBadRequest || code == http.StatusRequestEntityTooLarge || code == http.StatusUnprocessableEntity
	}
}
