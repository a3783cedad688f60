package wire

import (
	"io"
	"sync"
	"time"
)

// A Mark says that the first End bytes of a body had come by time At, counted
// from the start of the call.
type Mark struct {
	End int
	At  time.Duration
}

// Recorded is the body of a replayed answer: it yields the recorded bytes at
// once, never across a mark, and says when each had come. A [Middleware] that
// replays returns it as the response's body, and the transport takes the
// call's timing from it instead of the clock.
type Recorded struct {
	mu     sync.Mutex
	data   []byte
	marks  []Mark
	total  time.Duration
	pos    int
	mark   int
	at     time.Duration
	closed bool
}

var _ io.ReadCloser = (*Recorded)(nil)

// NewRecorded returns a body that yields data. Marks are ascending; total is
// when the body ended. data and marks are not changed and may be shared.
func NewRecorded(data []byte, marks []Mark, total time.Duration) *Recorded {
	return &Recorded{data: data, marks: marks, total: total}
}

// Read yields bytes up to the next mark.
func (r *Recorded) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return 0, errClosed
	case r.pos >= len(r.data):
		r.at = r.total
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	for r.mark < len(r.marks) && r.marks[r.mark].End <= r.pos {
		r.mark++
	}
	end := len(r.data)
	if r.mark < len(r.marks) {
		end, r.at = min(end, r.marks[r.mark].End), r.marks[r.mark].At
	}
	n := copy(p, r.data[r.pos:end])
	r.pos += n
	return n, nil
}

// Close ends the body.
func (r *Recorded) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

// Elapsed is when the bytes read last had come; after the end, when the body
// had ended.
func (r *Recorded) Elapsed() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}
