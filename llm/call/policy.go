package call

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goevals/evals/llm"
)

// DefaultTries is how often one attempt is tried while the provider is busy.
const DefaultTries = 20

// A Policy tries again within an attempt while the provider says that it is
// busy. The zero value works. Safe for concurrent use.
//
// It is for code that calls a provider by itself, with an SDK of its own. Where
// there is an llm.Model to wrap, use [New]. A [Model] needs no Policy, and inside
// one it multiplies no tries.
type Policy struct {
	// Tries is the most tries of one attempt; default [DefaultTries].
	Tries int
	// Timeout bounds each try, waiting between tries excluded, and so is what
	// a [Model] inside it waits for its turn; default [DefaultTimeout],
	// negative for none.
	Timeout time.Duration
	// Scope is whose quota the tries use: each is admitted by it, before its
	// Timeout begins, and a rate limit pauses it. nil: each attempt waits for
	// itself.
	Scope *Scope
	// Backoff spaces tries out where there is no Scope and the provider did
	// not say how long to wait. With a Scope nothing is waited beside its
	// pause.
	Backoff Backoff
	// MaxWait is the longest wait that a provider may ask for where there is
	// no Scope, which has its own; default [DefaultMaxWait]. If it asks for
	// more, the attempt fails at once with its words.
	MaxWait time.Duration
}

// Check reports a Policy that cannot be used, naming the field and the value.
func (p Policy) Check() error {
	switch {
	case p.Tries < 0:
		return fmt.Errorf("call: Tries is %d; it must be at least 1, or 0 for the default of %d", p.Tries, DefaultTries)
	case p.MaxWait < 0:
		return fmt.Errorf("call: MaxWait is %v; it must not be negative (0 is the default of %v)", p.MaxWait, DefaultMaxWait)
	}
	return p.Backoff.Check()
}

// Errors of [Policy.Do] and [Model.Generate], beside the rate limit itself,
// which stands in their tree.
var (
	// ErrBusy is wrapped where all tries met a rate limit, or where the provider
	// of a [Scope] has answered nothing yet and refused every call for 2 minutes
	// ([Limits].MaxWait, if that is longer).
	ErrBusy = errors.New("call: the provider stayed busy")
	// ErrNoTime is wrapped where ctx would end before the next try.
	ErrNoTime = errors.New("call: no time to wait")
)

// Do calls try until it returns something else than a rate limit, up to Tries
// times, and returns what the last one did. It waits as long as the provider
// asked. Where ctx would end during the wait it does not wait but fails at
// once, with the rate limit as the cause: nothing is gained by waiting for the
// deadline. A try that failed with [wire.ErrStale], a connection that the server
// had closed, is followed by another at once, at most twice. It panics if p
// cannot be meant (see [Policy.Check]).
//
// An error of try that is no *llm.Error is classified, see [Classify]. A
// timeout says whose time was up, see [ErrAttemptTimeout].
//
// A rate limit that try itself gave up on ([ErrBusy], [ErrNoTime],
// [ErrTooLong], [ErrStopped]) is returned as it is: a Policy within a Policy
// multiplies no tries. Nor does one Scope count a call twice: the first call
// that a [Model] or Policy of the same Scope makes inside a try has the leave
// that the try was given.
func (p Policy) Do(ctx context.Context, try func(context.Context) (llm.Response, error)) (llm.Response, error) {
	if err := p.Check(); err != nil {
		panic(err)
	}
	e := engine{
		scope: p.Scope, tries: triesOr(p.Tries), timeout: timeoutOr(p.Timeout),
		backoff: p.Backoff, maxWait: maxWaitOr(p.MaxWait),
	}
	if p.Scope != nil {
		e.tokens, e.maxWait = p.Scope.estimate(llm.Request{}), maxWaitOr(p.Scope.limits.MaxWait)
	}
	return e.do(ctx, try)
}

// timeoutOr is a try's time as it applies; 0 for none.
func timeoutOr(d time.Duration) time.Duration {
	if d == 0 {
		return DefaultTimeout
	}
	return max(d, 0)
}

func triesOr(n int) int {
	if n <= 0 {
		return DefaultTries
	}
	return n
}

func maxWaitOr(d time.Duration) time.Duration {
	if d <= 0 {
		return DefaultMaxWait
	}
	return d
}
