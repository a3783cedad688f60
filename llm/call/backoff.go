package call

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/goevals/evals/llm"
)

// Defaults of a [Backoff].
const (
	DefaultFirst = time.Second
	DefaultMax   = time.Minute
)

// DefaultMaxWait is the longest wait that a provider may ask for.
const DefaultMaxWait = 2 * time.Minute

// A Backoff is how long to wait before trying again: a random time (full
// jitter: many callers that failed together do not come back together) up to
// First, then up to twice that, and so on up to Max. The zero value has the
// defaults. Safe for concurrent use if Rand is.
type Backoff struct {
	// First bounds the first wait; default [DefaultFirst].
	First time.Duration
	// Max bounds every wait; default [DefaultMax].
	Max time.Duration
	// Rand returns a number in 0..1, 1 excluded; default math/rand/v2's
	// Float64. Tests set it.
	Rand func() float64
}

// Check reports a Backoff that cannot be used, naming the field and the value.
func (b Backoff) Check() error {
	switch {
	case b.First < 0:
		return fmt.Errorf("call: Backoff.First is %v; it must not be negative (0 is the default of %v)", b.First, DefaultFirst)
	case b.Max < 0:
		return fmt.Errorf("call: Backoff.Max is %v; it must not be negative (0 is the default of %v)", b.Max, DefaultMax)
	}
	return nil
}

// Wait returns how long to wait before try n+1, where n tries, at least 1,
// have failed. What a server asked for with Retry-After is the least,
// whatever Max says: coming earlier only makes it longer.
func (b Backoff) Wait(n int, retryAfter time.Duration) time.Duration {
	first, most, random := b.First, b.Max, b.Rand
	if first <= 0 {
		first = DefaultFirst
	}
	if most <= 0 {
		most = DefaultMax
	}
	if random == nil {
		random = rand.Float64
	}
	bound := first
	for i := 1; i < n && bound < most; i++ { // ends before bound can overflow
		bound *= 2
	}
	return max(time.Duration(random()*float64(min(bound, most))), retryAfter)
}

// failed is how long to wait after the n-th failure: at least what the server
// stated. A stated 0 asks to come back at once, which is not the same as saying
// nothing; a tenth of the jitter is left so that all do not come together, and
// so that a server that always says 0 is asked less and less often.
func (b Backoff) failed(n int, err error) time.Duration {
	switch asked := retryAfter(err); {
	case asked == nil:
		return b.Wait(n, 0)
	case *asked <= 0:
		return b.Wait(n, 0) / 10
	default:
		return b.Wait(n, *asked)
	}
}

// busy is how long to wait after the n-th rate limit: exactly what the server
// stated.
func (b Backoff) busy(n int, err error) time.Duration {
	if asked := retryAfter(err); asked != nil && *asked > 0 {
		return *asked
	}
	return b.failed(n, err)
}

// retryAfter is what the server asked to wait; nil if it did not say.
func retryAfter(err error) *time.Duration {
	var e *llm.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return nil
}

// askedFor is the same, 0 if it did not.
func askedFor(err error) time.Duration {
	if asked := retryAfter(err); asked != nil {
		return *asked
	}
	return 0
}
