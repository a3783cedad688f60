package call

import (
	"context"
	"fmt"
	"time"
)

// DefaultAttempts is how many attempts something gets.
const DefaultAttempts = 3

// Attempts is a loop of attempts: what evaltest/run gives an item, and a judge
// its verdict. An attempt is a logical one: tries after a rate limit are within
// it. The zero value works. Safe for concurrent use.
type Attempts struct {
	// Max is the most attempts, the first included; default
	// [DefaultAttempts].
	Max int
	// Backoff spaces attempts after failed ones.
	Backoff Backoff
	// MaxWait is the longest wait that a server may ask for; default
	// [DefaultMaxWait]. If it asks for more there is no other attempt: never
	// one before the server wants it.
	MaxWait time.Duration
}

// Check reports Attempts that cannot be used, naming the field and the value.
func (a Attempts) Check() error {
	switch {
	case a.Max < 0:
		return fmt.Errorf("call: Attempts.Max is %d; it must be at least 1, or 0 for the default of %d", a.Max, DefaultAttempts)
	case a.MaxWait < 0:
		return fmt.Errorf("call: Attempts.MaxWait is %v; it must not be negative (0 is the default of %v)", a.MaxWait, DefaultMaxWait)
	}
	return a.Backoff.Check()
}

// A Next says what follows an attempt.
type Next string

// What may follow.
const (
	// Stop: what it came to stands.
	Stop Next = "stop"
	// Again: an answer came that cannot be used. The next attempt follows at
	// once, for waiting makes no answer better.
	Again Next = "again"
	// Later: it failed in a way that may pass. The next attempt follows after
	// the backoff, and not before the time that the server stated.
	Later Next = "later"
)

// An Ending says why there is no other attempt.
type Ending string

// The endings.
const (
	// Settled: the last attempt said Stop.
	Settled Ending = "settled"
	// UsedUp: it did not, and was the last one allowed.
	UsedUp Ending = "used_up"
	// NoTime: ctx's deadline comes before the next attempt would, or has come.
	// Nothing was waited for.
	NoTime Ending = "no_time"
	// TooLong: the server asked for a longer wait than MaxWait.
	TooLong Ending = "too_long"
	// Interrupted: ctx was cancelled after an attempt or during the wait.
	Interrupted Ending = "interrupted"
)

// An End is how a loop of attempts ended.
type End struct {
	Why Ending
	// Attempts is how many were made.
	Attempts int
	// Wait is how long the next attempt would have had to wait, and Left how
	// much time ctx had, with NoTime; Wait is what the server asked for with
	// TooLong. Left may be negative.
	Wait, Left time.Duration
	// Err is the last attempt's error. With NoTime and TooLong it also says
	// why there is no other ([ErrNoTime], [ErrTooLong]), with Interrupted that
	// ctx has ended; its kind, the status and the server's words stay in its
	// tree.
	Err error
}

// Do calls attempt with 1, 2, 3 … until one says Stop, Max are made, or there
// is no time for another. The error is what the attempt failed with: a server's
// Retry-After is read from it. attempt keeps what it came to; work between two
// attempts belongs to the beginning of the second, which is only called once
// the wait before it is over. It panics if a cannot be meant (see
// [Attempts.Check]).
func (a Attempts) Do(ctx context.Context, attempt func(n int) (Next, error)) End {
	if err := a.Check(); err != nil {
		panic(err)
	}
	most := a.Max
	if most == 0 {
		most = DefaultAttempts
	}
	for n, failures := 1, 0; ; n++ {
		next, err := attempt(n)
		end := End{Attempts: n, Err: err}
		switch {
		case next != Again && next != Later:
			end.Why = Settled
			return end
		case n == most:
			end.Why = UsedUp
			return end
		}
		var wait time.Duration
		if next == Later {
			failures++
			wait = a.Backoff.failed(failures, err)
		}
		if end.wait(ctx, wait, maxWaitOr(a.MaxWait)); end.Why != "" {
			return end
		}
	}
}

// wait waits before the next attempt. It sets Why if there is none.
func (e *End) wait(ctx context.Context, wait, most time.Duration) {
	left, ok := fits(ctx, wait)
	asked := askedFor(e.Err)
	switch over := ctx.Err(); {
	case over != nil && over != context.DeadlineExceeded:
		e.interrupted(ctx)
	case wait >= asked && asked > most:
		e.Why, e.Wait, e.Err = TooLong, asked, tooLong(asked, most, e.Err)
	case over != nil || !ok:
		e.Why, e.Wait, e.Left = NoTime, wait, left
		e.Err = noTime(fmt.Sprintf("attempt %d", e.Attempts+1), wait, left, e.Err)
	case sleep(ctx, wait) != nil: // the deadline lies after the wait
		e.interrupted(ctx)
	}
}

func (e *End) interrupted(ctx context.Context) {
	err := context.Cause(ctx)
	if e.Err != nil {
		err = fmt.Errorf("%w: %w", err, e.Err)
	}
	e.Why, e.Err = Interrupted, err
}
