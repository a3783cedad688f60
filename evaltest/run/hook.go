package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/goevals/evals/llm"
)

// A Preparer is a [Strategy], or the model of an [Ask], that has something to do
// before the first item: to start a server, to load an index, to upload a cached
// prefix. A strategy of one's own that is made of others calls their hooks
// itself.
type Preparer interface {
	// Prepare is called once a run, before the first Execute, and once for all
	// runs that share the strategy at the same time. If it fails nothing is run.
	// It must return soon after ctx is done, which is when the run's time is up
	// or it is interrupted; what it starts must not end with ctx.
	Prepare(ctx context.Context) error
}

// A Closer is a [Strategy], or the model of an [Ask], that has something to give
// back. It must bear to be closed without having been prepared; and one that
// several runs share, to be prepared again.
type Closer interface {
	// Close is called once a run, after the last Execute has returned or was
	// abandoned, whatever else happened, also if Prepare failed or has not
	// returned; of runs that share the strategy at the same time, by the last
	// one.
	Close() error
}

const (
	preparing stage = "Prepare of strategy"
	closing   stage = "Close of strategy"
)

// Prepare prepares a strategy and the strategies in it, if they ask for it and no
// other run has. A panic is an error, and so is the end of the hook's goroutine,
// which is one of its own. Call [Close] once in the end, whatever it returned.
func Prepare(ctx context.Context, s Strategy) error {
	parts := hooked(s)
	acquire(parts)
	for _, part := range parts {
		p, ok := part.(Preparer)
		if !ok {
			continue
		}
		leases.mu.Lock()
		l := leaseOf(part)
		leases.mu.Unlock()
		if l == nil { // every run's own
			l = &lease{turn: make(chan struct{}, 1)}
		}
		err := l.once(ctx, func() error {
			return aside(preparing, part, func() error { return p.Prepare(ctx) })
		})
		if err != nil {
			return fmt.Errorf("strategy %s: Prepare: %w", NameOf(part), err)
		}
	}
	return nil
}

// Close closes a strategy and the strategies in it, if they ask for it and no
// other run has them, the last one first, and returns what went wrong: one error
// each.
func Close(s Strategy) (errs []error) {
	parts := hooked(s)
	for i := range parts {
		part := parts[len(parts)-1-i]
		if last := release(part); !last {
			continue
		}
		if c, ok := part.(Closer); ok {
			if err := aside(closing, part, c.Close); err != nil {
				errs = append(errs, fmt.Errorf("strategy %s: Close: %w", NameOf(part), err))
			}
		}
	}
	return errs
}

// aside calls a hook in a goroutine of its own: where FailNow of a *testing.T
// ends that, the run must go on to its end.
func aside(who stage, v any, f func() error) error {
	done := make(chan error, 1)
	go func() {
		err := error(&llm.Error{Kind: llm.KindPanic, Err: errors.New(goexited)})
		defer func() { done <- err }()
		err = guard(who, v, f)
	}()
	return <-done
}

const goexited = "it ended its goroutine (runtime.Goexit). The likely cause is FailNow, Fatal, Skip or a require assertion: " +
	"a hook must not call methods of the outer *testing.T; return an error instead"

// hooked returns whose hooks to call: a strategy of ours stands for what it is
// made of, each part once, for one strategy may stand in it twice.
func hooked(s Strategy) []any {
	var list []any
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case escalate:
			add(v.fast)
			add(v.thinking)
			return
		case ask:
			add(v.model)
			return
		}
		for _, seen := range list {
			if same(seen, v) {
				return
			}
		}
		list = append(list, v)
	}
	add(s)
	return list
}

// same reports whether a and b are one; values that cannot be compared are not.
func same(a, b any) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}
