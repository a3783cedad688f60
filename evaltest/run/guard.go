package run

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

var errAbandoned = errors.New("abandoned")

// A panicError is a panic of the user's code.
type panicError struct {
	who   string
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.who, e.value) }

func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// guard calls f, which runs code of v, and returns its panic as an error. A
// Goexit passes through; one.crashed deals with it.
func guard(who stage, v any, f func() error) (err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		// recover returns nil for panic(nil) under GODEBUG=panicnil=1, and for
		// Goexit; then nobody sees err.
		value := recover()
		err = &llm.Error{Kind: llm.KindPanic, Err: &panicError{
			who: fmt.Sprintf("%s %s", who, NameOf(v)), value: value, stack: debug.Stack(),
		}}
	}()
	err = f()
	returned = true
	return err
}

// crashed ends an item whose goroutine is ending without having returned: by
// Goexit, or by a panic outside guard, such as in the Error method of a
// strategy's error.
func (o *one) crashed(value any) {
	if calls := o.crash(value); len(calls) > 0 && o.c.Budget != nil {
		o.mu.Lock()
		o.doing = pricing
		o.mu.Unlock()
		_ = o.c.Budget.Spend(calls...)
	}
}

// crash does so, and returns the calls that are not booked yet.
func (o *one) crash(value any) (calls []llm.Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.left {
		if o.stray == nil {
			return nil
		}
		calls = o.stray.Calls()
		return calls[min(o.paid, len(calls)):]
	}
	e := &result.Error{Kind: llm.KindPanic}
	if value != nil {
		e.Message = fmt.Sprintf("panic while handling what the %s returned: %v", o.doing, value)
		e.Stack = string(debug.Stack())
	} else {
		e.Message = fmt.Sprintf("the %[1]s ended its goroutine (runtime.Goexit). The likely cause is FailNow, Fatal, Skip or a require assertion: "+
			"a %[1]s must not call methods of the outer *testing.T; return an error instead", o.doing)
	}
	calls = o.breakOff(&llm.Error{Kind: llm.KindPanic}, e)
	o.rec.Outcome, o.rec.Score, o.rec.Error = result.Errored, 0, e
	if o.doing == judging { // the answer is there; only its verdict is not
		o.ungraded(o.rec, e.Message)
	}
	return calls
}

// ungraded sets the outcome of an item whose judge gave no legal verdict.
func (o *one) ungraded(rec *result.Record, why string) {
	if rec.Graded == nil {
		rec.Graded = rec.Verdict
	}
	rec.Outcome, rec.Score = result.Ungraded, 0
	rec.Verdict = &grade.Verdict{Mark: grade.Ungraded, How: "judge: " + NameOf(o.c.Judge), Why: why}
}
