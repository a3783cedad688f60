package run

import (
	"context"
	"reflect"
	"sync"
)

// Tests that run in parallel may share a strategy, such as one in a package's
// variable: it is prepared by the first of their runs and closed by the last,
// for what one run closes another may be using.

// leases are of the strategies that are prepared, or about to be.
var leases struct {
	mu sync.Mutex
	of map[any]*lease
}

// A lease is of one strategy.
type lease struct {
	runs int // that have it; guarded by leases.mu

	turn     chan struct{} // holds one: who has it may prepare
	prepared bool
	err      error // of a Prepare that failed
}

// acquire notes that a run uses these strategies. Those that cannot be compared
// are every run's own.
func acquire(parts []any) {
	leases.mu.Lock()
	defer leases.mu.Unlock()
	for _, part := range parts {
		if !sharable(part) {
			continue
		}
		l := leases.of[part]
		if l == nil {
			if leases.of == nil {
				leases.of = map[any]*lease{}
			}
			l = &lease{turn: make(chan struct{}, 1)}
			leases.of[part] = l
		}
		l.runs++
	}
}

// release notes that a run has ended, and reports whether that was the last one.
func release(part any) (last bool) {
	leases.mu.Lock()
	defer leases.mu.Unlock()
	l := leaseOf(part)
	if l == nil {
		return true
	}
	if l.runs--; l.runs > 0 {
		return false
	}
	delete(leases.of, part)
	return true
}

// leaseOf returns a strategy's lease; nil if it has none. The caller holds
// leases.mu.
func leaseOf(part any) *lease {
	if !sharable(part) {
		return nil
	}
	return leases.of[part]
}

func sharable(v any) bool { return reflect.ValueOf(v).Comparable() }

// once calls prepare unless another run has. All share a failure, unless it is
// that of a run that was stopped.
func (l *lease) once(ctx context.Context, prepare func() error) error {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if l.prepared || l.err != nil {
		return l.err
	}
	err := prepare()
	l.prepared = err == nil
	if ctx.Err() == nil {
		l.err = err
	}
	return err
}
