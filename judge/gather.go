package judge

import (
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/goevals/evals/llm"
)

// gather runs do for each of 0..n-1, at most width of them at once, and returns
// their errors by index when all have returned. A panic, or the end of a
// goroutine (runtime.Goexit), is an [llm.Error] of that index alone: in a
// goroutine of its own nobody else could catch it, and the process would end.
func gather(n, width int, do func(i int) error) []error {
	errs := make([]error, n)
	slots := make(chan struct{}, width)
	var wait sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			errs[i] = &llm.Error{Kind: llm.KindPanic, Message: "the goroutine ended without an answer (runtime.Goexit); the likely cause is FailNow, Fatal or a require assertion: return an error instead"}
			errs[i] = caught(func() error { return do(i) })
		})
	}
	wait.Wait()
	return errs
}

// caught makes a panic an error.
func caught(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &llm.Error{Kind: llm.KindPanic, Message: fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	return do()
}

// firstOf returns the first error that is one, and its index.
func firstOf(errs []error) (int, error) {
	for i, err := range errs {
		if err != nil {
			return i, err
		}
	}
	return -1, nil
}
