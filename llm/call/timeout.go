package call

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goevals/evals/llm"
)

// Whose time was up. One of them is in the tree of every timeout error of
// [Policy.Do] and [Model.Generate] that came from the context; the kind is
// [llm.KindTimeout], and errors.Is with context.DeadlineExceeded holds.
var (
	// ErrAttemptTimeout: the Timeout of a [Policy] or [Config], which bounds
	// one try, was up.
	ErrAttemptTimeout = errors.New("call: the attempt's time was up")
	// ErrItemTimeout: the time of the item ([Until]), which bounds all its
	// attempts and waits, was up.
	ErrItemTimeout = errors.New("call: the item's time was up")
	// ErrRunTimeout: the deadline above the item was up, or the caller's
	// where there is no item.
	ErrRunTimeout = errors.New("call: the run's time was up")
)

// A timeoutError says whose time was up.
type timeoutError struct {
	which error
	of    time.Duration // how long that time was; 0 if that is not known
	cause error
}

func (e *timeoutError) Error() string {
	s := e.which.Error()
	if e.of > 0 {
		s += fmt.Sprintf(" (%v)", e.of)
	}
	if e.cause == nil {
		return s
	}
	return s + ": " + e.cause.Error()
}

func (e *timeoutError) Is(target error) bool {
	return target == e.which || target == context.DeadlineExceeded
}

func (e *timeoutError) Unwrap() error { return e.cause }

// ended returns whose time above a call is up; nil if none is that has a name.
// The furthest out counts: where the item's time is up, it does not matter that
// the attempt's is too.
func ended(ctx context.Context) (which error) {
	if err := ctx.Err(); err != nil && err != context.DeadlineExceeded {
		return nil
	}
	above := ctx // all Bounds
	for b := nearest(ctx); b != nil; b = nearest(b.parent) {
		switch {
		case !b.expired():
		case b.kind == ofItem:
			which = ErrItemTimeout
		default:
			which = ErrAttemptTimeout
		}
		above = b.parent
	}
	// Its timer may be about to fire too.
	if end, ok := above.Deadline(); above.Err() == context.DeadlineExceeded || ok && time.Until(end) <= 0 {
		return ErrRunTimeout
	}
	return which
}

// explain returns err as it leaves the try: classified if it was not, and with
// whose time was up if that is why.
func (t *try) explain(ctx context.Context, timeout time.Duration, err error) error {
	if final(err) {
		return err
	}
	var known *llm.Error
	if !errors.As(err, &known) {
		if known = Classify(err); known.Kind != llm.KindUnknown {
			err = known
		}
	}
	switch known.Kind {
	case llm.KindTimeout, llm.KindUnknown, llm.KindConnection, llm.KindIncomplete, llm.KindCanceled, "":
	default:
		return err // it has a cause of its own
	}
	which, of := ended(ctx), time.Duration(0)
	if which == nil && t.expired() {
		which, of = ErrAttemptTimeout, timeout
	}
	if which == nil || errors.Is(err, which) {
		return err
	}
	// A copy: the provider's error may be shared.
	out := *known
	out.Kind = llm.KindTimeout
	cause := err
	if error(known) == err {
		cause = known.Err
	} else {
		out.Message, out.Hint = "", "" // they are in the cause's text
	}
	out.Err = &timeoutError{which: which, of: of, cause: cause}
	return &out
}
