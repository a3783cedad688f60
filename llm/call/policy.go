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
type Policy struct {
	// Tries is the most tries of one attempt; default [DefaultTries].
	Tries int
	// Timeout bounds each try, waiting between tries excluded; 0 for none.
	Timeout time.Duration
	// Backoff spaces tries out where the provider did not say how long to
	// wait.
	Backoff Backoff
}

// Check reports a Policy that cannot be used, naming the field and the value.
func (p Policy) Check() error {
	switch {
	case p.Tries < 0:
		return fmt.Errorf("call: Tries is %d; it must be at least 1, or 0 for the default of %d", p.Tries, DefaultTries)
	case p.Timeout < 0:
		return fmt.Errorf("call: Timeout is %v; it must not be negative (0 for none)", p.Timeout)
	}
	return p.Backoff.Check()
}

// Errors of [Policy.Do], beside the rate limit itself.
var (
	// ErrBusy is wrapped where all tries met a rate limit.
	ErrBusy = errors.New("call: the provider stayed busy")
	// ErrNoTime is wrapped where ctx would end before the next try.
	ErrNoTime = errors.New("call: no time to wait for a busy provider")
)

// Do calls try until it returns something else than a rate limit, up to Tries
// times, and returns what the last one did. It waits as long as the provider
// asked. Where ctx would end during the wait it does not wait but fails at
// once, with the rate limit as the cause: nothing is gained by waiting for the
// deadline.
//
// A rate limit that try itself gave up on ([ErrBusy], [ErrNoTime]) is returned
// as it is: a Policy within a Policy multiplies no tries.
func (p Policy) Do(ctx context.Context, try func(context.Context) (llm.Response, error)) (llm.Response, error) {
	tries := p.Tries
	if tries <= 0 {
		tries = DefaultTries
	}
	for n := 1; ; n++ {
		resp, err := p.once(ctx, try)
		if llm.KindOf(err) != llm.KindRateLimit || ctx.Err() != nil || errors.Is(err, ErrBusy) || errors.Is(err, ErrNoTime) {
			return resp, err
		}
		if n >= tries {
			return resp, fmt.Errorf("%w through %d tries: %w", ErrBusy, n, err)
		}
		wait := RetryAfter(err)
		if wait <= 0 {
			wait = p.Backoff.Wait(n, 0)
		}
		if left, fits := Fits(ctx, wait); !fits {
			return resp, fmt.Errorf("%w: try %d would come in %v, and %v are left: %w", ErrNoTime, n+1, wait.Round(time.Millisecond), left.Round(time.Millisecond), err)
		}
		if e := Sleep(ctx, wait); e != nil {
			return resp, fmt.Errorf("%w while waiting to try again: %w", e, err)
		}
	}
}

func (p Policy) once(ctx context.Context, try func(context.Context) (llm.Response, error)) (llm.Response, error) {
	if p.Timeout > 0 {
		bound := Until(ctx, time.Now().Add(p.Timeout))
		defer bound.Cancel()
		ctx = bound
	}
	return try(ctx)
}

// RetryAfter returns how long the server asked to wait; 0 if it did not.
func RetryAfter(err error) time.Duration {
	var e *llm.Error
	if errors.As(err, &e) && e.RetryAfter != nil {
		return *e.RetryAfter
	}
	return 0
}

// Fits reports whether a wait ends before ctx does by its deadline, and how
// much time is left.
func Fits(ctx context.Context, wait time.Duration) (left time.Duration, fits bool) {
	end, ok := ctx.Deadline()
	if !ok {
		return 0, true
	}
	left = time.Until(end)
	return left, wait < left
}

// Sleep waits, or returns ctx's error if that ends first.
func Sleep(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
