// Package batch runs a function over many items at once.
package batch

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// DefaultParallel is how many items are worked on at once by default.
const DefaultParallel = 16

// Options of [Run]. The zero value works.
type Options struct {
	// Parallel is how many items are worked on at once; default
	// [DefaultParallel].
	Parallel int
}

// A Result is what became of one item.
type Result[In, Out any] struct {
	Index int // the item's position in the input, from 0
	In    In
	Out   Out
	Err   error
}

// ErrGoexit is the error of an item whose function ended its goroutine.
var ErrGoexit = errors.New("batch: the function called runtime.Goexit")

// A PanicError is the error of an item whose function panicked.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the panic's value and stack.
func (e *PanicError) Error() string { return fmt.Sprintf("batch: panic: %v\n%s", e.Value, e.Stack) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Run calls fn for the items of in, Parallel at once, and yields the results
// as they complete.
func Run[In, Out any](ctx context.Context, in iter.Seq[In], fn func(context.Context, In) (Out, error), opt Options) iter.Seq[Result[In, Out]] {
	return func(yield func(Result[In, Out]) bool) {}
}
