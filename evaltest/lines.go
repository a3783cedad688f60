package evaltest

import (
	"sync"
	"testing"
)

// lines keeps what one item logs together under -v. testing prints a log line
// by line, and between two of them what other subtests print: their logs, and
// the lines about their start and end, which come from within t.Run. A nil
// lines does nothing: without -v testing keeps each subtest's log apart.
type lines struct {
	mu sync.RWMutex // held for writing while an item logs, for reading while testing may print
}

// run is t.Run.
func (l *lines) run(t *testing.T, name string, body func(*testing.T)) {
	if l == nil {
		t.Run(name, body)
		return
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	t.Run(name, func(st *testing.T) {
		l.mu.RUnlock()
		defer l.mu.RLock()
		body(st)
	})
}

// together calls log while nobody else prints.
func (l *lines) together(log func()) {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
	}
	log()
}
