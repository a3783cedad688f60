package arrival

import (
	"context"
	"math/rand/v2"
	"time"
)

// Gap draws a gap of mean 1 before it is rounded to nanoseconds.
func (p Process) Gap(r *rand.Rand) float64 { return p.gap(r) }

// FakeSpin returns a Spin on a clock and a sleep of the test's own.
func FakeSpin(limit time.Duration, now func() time.Time, rest func(context.Context, time.Duration) error, giveUp func()) *Spin {
	return &Spin{Max: limit, now: now, rest: rest, giveUp: giveUp}
}

// Bucket and Upper are the lag histogram's.
var (
	Bucket = bucket
	Upper  = upper
)
