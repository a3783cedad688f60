package client

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/goevals/evals/evaltest/load/record"
)

// Retry says when a failed try is followed by another: only where that can help,
// that is after record.Connect, record.Stale (after the two that [Client.Do] tries
// again at once), record.Server (except 501 and 505)
// and record.RateLimited (except an account without money or a daily quota), and
// after a timeout if Timeouts is set. The failed tries stand in
// record.Request.Tries, and their time is in no time of the last one.
type Retry struct {
	// Max is how many tries follow the first one. Default 0.
	Max int
	// Delay is the wait before the second try; it doubles with each further
	// one. Default 250 ms.
	Delay time.Duration
	// MaxWait is the longest wait, in all of which the call holds its slot.
	// Default 1 minute. If the server asks for a longer one (Retry-After), the
	// call fails at once.
	MaxWait time.Duration
	// Jitter takes up to this share off each wait that the server did not ask
	// for, at random: 0 (default) to 1.
	Jitter float64
	// Timeouts makes timeouts be tried again as well.
	Timeouts bool
}

// The defaults of [Retry].
const (
	DefaultDelay   = 250 * time.Millisecond
	DefaultMaxWait = time.Minute
)

func (r Retry) fault() error {
	switch {
	case r.Max < 0:
		return fmt.Errorf("client: Retry.Max is %d: want 0 or more", r.Max)
	case r.Delay < 0 || r.MaxWait < 0:
		return fmt.Errorf("client: Retry.Delay is %v and Retry.MaxWait %v: want 0 or more", r.Delay, r.MaxWait)
	case !(r.Jitter >= 0 && r.Jitter <= 1): // NaN is neither
		return fmt.Errorf("client: Retry.Jitter is %v: want 0 to 1", r.Jitter)
	}
	return nil
}

// An outcome is how one try ended.
type outcome struct {
	failure  *record.Failure // nil if it did not fail
	hopeless bool            // another try would fail alike
	asked    time.Duration   // how long the server asks to wait; -1 if it does not say
}

// next is how long to wait before the next try, after n tries failed; ok is
// false if there is to be none.
func (r Retry) next(n int, out *outcome, seed, seq uint64) (wait time.Duration, ok bool) {
	if n > r.Max || out.hopeless || !r.helps(out.failure.Class) {
		return 0, false
	}
	most := r.MaxWait
	if most == 0 {
		most = DefaultMaxWait
	}
	if out.asked >= 0 {
		if out.asked > most {
			out.failure.Message = cut(fmt.Sprintf("%s (not tried again: the server asks to wait %v, more than Retry.MaxWait, %v)", out.failure.Message, out.asked, most), maxMessage)
			return 0, false
		}
		return out.asked, true
	}
	delay := r.Delay
	if delay == 0 {
		delay = DefaultDelay
	}
	f := math.Min(float64(delay)*math.Pow(2, float64(n-1)), float64(most))
	if r.Jitter > 0 {
		f *= 1 - r.Jitter*rand.New(rand.NewPCG(seed, seq<<8|uint64(n)&0xff)).Float64()
	}
	return time.Duration(f), true
}

func (r Retry) helps(class record.Class) bool {
	switch class {
	case record.Connect, record.Stale, record.Server, record.RateLimited:
		return true
	case record.TimeoutFirst, record.TimeoutIdle, record.TimeoutTotal:
		return r.Timeouts
	}
	return false
}

// hopelessStatus are the server's failures that are not of the moment.
func hopelessStatus(status int) bool {
	return status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported
}

// pause waits; false if the context ended first.
func pause(ctx context.Context, wait time.Duration) bool {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
