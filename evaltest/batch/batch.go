package batch

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"
)

// DefaultParallel is how many items are worked on at once by default.
const DefaultParallel = 16

// Options of [Run]. The zero value works.
type Options struct {
	// Parallel is how many items are worked on at once. Default
	// [DefaultParallel]; negative panics.
	Parallel int
}

// Run calls fn for the items of in, Parallel at once, and yields the results
// as they complete. Nothing happens before the sequence is ranged over; each
// range is a run of its own.
//
// The consumer's loop body is on the caller's goroutine. A slow one holds the
// run up: never more than Parallel+1 items are taken and not yet yielded.
// Leaving the loop, by break, return, panic or Goexit, cancels fn's context
// and waits until every call has returned.
//
// When ctx ends, no further item is taken. Items already taken get their one
// result: fn's if it was called, else the context's cause as Err. What was
// never taken is not yielded. An fn that ignores its context is waited for.
//
// A panic or Goexit in fn becomes that item's Err. A panic in the input is
// raised again as a *[PanicError] in the consumer after the results of the
// items taken before it, a Goexit likewise. The input runs on a goroutine of
// its own; it must return soon after its yield returned false, and an input
// that blocks forever blocks Run.
func Run[In, Out any](ctx context.Context, in iter.Seq[In], fn func(context.Context, In) (Out, error), opt Options) iter.Seq[Result[In, Out]] {
	n := opt.Parallel
	switch {
	case in == nil:
		panic("batch.Run: in is nil")
	case fn == nil:
		panic("batch.Run: fn is nil")
	case n < 0:
		panic(fmt.Sprintf("batch.Run: Parallel is %d; it must be at least 1, or 0 for the default of %d", n, DefaultParallel))
	case n == 0:
		n = DefaultParallel
	}
	return func(yield func(Result[In, Out]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		r := &runner[In, Out]{
			ctx: ctx, fn: fn, parallel: n,
			// Unbuffered: with buffers of Parallel items are a fifth faster at
			// 64 workers, with buffers of 8 no faster, and either breaks the
			// promise of Parallel+1.
			work: make(chan task[In]),
			out:  make(chan Result[In, Out]),
		}
		r.workers.Add(1) // the feeder counts as one, so that out closes last
		go r.feed(in)
		go func() {
			r.workers.Wait()
			close(r.out)
		}()
		defer func() {
			cancel()
			for range r.out { // the taken items' results; nobody wants them now
			}
			r.raise()
		}()
		for res := range r.out {
			if !yield(res) {
				return
			}
		}
	}
}

// A task is an item on its way to a worker.
type task[In any] struct {
	index int
	item  In
}

type runner[In, Out any] struct {
	ctx      context.Context
	fn       func(context.Context, In) (Out, error)
	parallel int
	work     chan task[In]
	out      chan Result[In, Out]
	workers  sync.WaitGroup
	// Written by the feeder, read after out is closed.
	inputPanic  *PanicError
	inputGoexit bool
}

// raise ends the consumer as the input ended, if that was not by returning.
// If the consumer is panicking itself, this panic is shown beside its own.
func (r *runner[In, Out]) raise() {
	switch {
	case r.inputPanic != nil:
		panic(r.inputPanic)
	case r.inputGoexit:
		runtime.Goexit()
	}
}

// feed hands the input's items to workers, which it starts as they are
// needed: an input of three items costs three goroutines.
func (r *runner[In, Out]) feed(in iter.Seq[In]) {
	returned := false
	defer func() {
		if !returned {
			if v := recover(); v != nil {
				r.inputPanic = &PanicError{Value: v, Stack: debug.Stack()}
			} else {
				r.inputGoexit = true
			}
		}
		close(r.work)
		r.workers.Done()
	}()
	if r.ctx.Err() == nil {
		index := 0
		for item := range in {
			if !r.admit(task[In]{index, item}) {
				break
			}
			index++
		}
	}
	returned = true
}

// admit hands over one item. If the context has ended the item gets its
// result here, and no other is taken.
func (r *runner[In, Out]) admit(t task[In]) bool {
	if r.ctx.Err() != nil {
		r.out <- r.late(t)
		return false
	}
	if t.index < r.parallel {
		r.workers.Add(1)
		go r.start(t)
		return true
	}
	select {
	case r.work <- t:
		return true
	case <-r.ctx.Done():
		r.out <- r.late(t)
		return false
	}
}

func (r *runner[In, Out]) late(t task[In]) Result[In, Out] {
	return Result[In, Out]{Index: t.index, In: t.item, Err: context.Cause(r.ctx)}
}

// start is a worker's life: the item that it was started for, then what comes.
func (r *runner[In, Out]) start(first task[In]) {
	r.call(first)
	r.serve()
}

// serve works on what comes. A Goexit in fn ends this goroutine; call's
// deferred function has sent the result by then and put another one in its
// place.
func (r *runner[In, Out]) serve() {
	for t := range r.work {
		if r.ctx.Err() != nil {
			r.out <- r.late(t)
			continue
		}
		r.call(t)
	}
	r.workers.Done()
}

// call runs fn on one item and sends its one result.
func (r *runner[In, Out]) call(t task[In]) {
	res := Result[In, Out]{Index: t.index, In: t.item}
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v != nil {
			res.Err = &PanicError{Value: v, Stack: debug.Stack()}
			r.out <- res
			return
		}
		res.Err = ErrGoexit
		r.out <- res
		go r.serve() // takes over this goroutine's count in workers
	}()
	res.Out, res.Err = r.fn(r.ctx, t.item)
	returned = true
	r.out <- res
}
