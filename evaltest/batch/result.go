package batch

import (
	"errors"
	"fmt"
)

// A Result is what became of one item.
type Result[In, Out any] struct {
	// Index is the item's position in the input, from 0. Results come as they
	// complete, so it is what puts them in order again.
	Index int
	// In is the item itself.
	In In
	// Out is what fn returned; it may hold something beside an error.
	Out Out
	// Err is fn's error, a *[PanicError], [ErrGoexit], or the context's cause
	// for an item that was taken but not started before the context ended.
	Err error
}

// ErrGoexit is the error of an item whose fn ended its goroutine with
// runtime.Goexit. Under go test that is mostly a FailNow, Fatal, Skip or
// require on a *testing.T that fn should not have used.
var ErrGoexit = errors.New("batch: fn called runtime.Goexit (FailNow, Fatal or Skip of a *testing.T?); return an error instead")

// A PanicError is the error of an item whose fn panicked, and what [Run]
// panics with when its input did.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // the panicking goroutine's stack, as runtime/debug formats it
}

// Error returns the value and the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// Unwrap returns the value if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
