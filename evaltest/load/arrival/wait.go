package arrival

import (
	"context"
	"runtime"
	"time"
)

// A Waiter waits until a moment.
type Waiter interface {
	// Wait returns nil at the moment or as soon after it as can be, at once if
	// it has passed. It returns the context's cause if that has ended, before
	// the moment or after.
	Wait(ctx context.Context, until time.Time) error
}

var (
	_ Waiter = Sleep{}
	_ Waiter = (*Spin)(nil)
)

// Sleep is a [Waiter] that sleeps. It is late by as much as the machine wakes
// it late: about 0.6 ms at the median and 2 to 3 ms at p99 on a small shared
// virtual machine. It may be used by many goroutines at once, costs no
// processor time, and works in virtual time.
type Sleep struct{}

// Wait waits for the moment or the context.
func (Sleep) Wait(ctx context.Context, until time.Time) error {
	return sleep(ctx, time.Until(until))
}

func sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// DefaultMaxSpin is the longest that [Spin] looks at the clock by default.
const DefaultMaxSpin = 2 * time.Millisecond

const (
	firstSpin = time.Millisecond
	leastSpin = 20 * time.Microsecond
	forget    = 1.0 / 1024 // of the window, by a wait that did not sleep
	// frozenLooks is how often the clock may show the same time in a row
	// before it is taken to stand still: some 10 ms of looking, far above the
	// 0.5 ms of the coarsest monotonic clock.
	frozenLooks = 1 << 17
)

// Spin is a [Waiter] that sleeps until shortly before the moment and then looks
// at the clock until it has come, letting other goroutines run between looks.
// It is late by less than a microsecond at the median where a processor is
// free. It keeps the processor busy for the spin window before each moment, so
// one that waits more often than once a window occupies a processor whole. On a
// machine whose processors are all taken that helps nobody: the system gives a
// goroutine that never sleeps its turn late, and [Sleep] may do better.
//
// The window follows how late the sleeps end: their smoothed lateness plus four
// times its smoothed mean deviation, with the weights that TCP uses for its
// retransmission time-out (RFC 6298), not below 20 µs nor above Max. The first
// wait sleeps for half of its time at least, to know. Waits too short to sleep in
// teach nothing; each lowers the window by a thousandth, so that after some
// hundreds of them one sleeps, and a window that one bad sleep made does not last.
//
// Looking at the clock in a testing/synctest bubble would never end, since no
// time passes there while a goroutine runs. A Spin whose clock stands still
// notices after some milliseconds of real time and only sleeps from then on.
//
// The zero value works. A Spin is used by one goroutine at a time.
type Spin struct {
	// Max bounds the window; 0: [DefaultMaxSpin]; negative: never spin.
	Max time.Duration

	late, dev float64 // smoothed lateness of sleeps and its deviation, ns
	seen      bool    // whether a sleep has been measured
	frozen    bool

	// For tests; nil: the real ones.
	now    func() time.Time
	rest   func(context.Context, time.Duration) error
	giveUp func()
}

// Window returns how long before a moment it now begins to look at the clock; 0
// if it only sleeps.
func (s *Spin) Window() time.Duration {
	limit := s.Max
	if limit == 0 {
		limit = DefaultMaxSpin
	}
	switch {
	case limit < 0 || s.frozen:
		return 0
	case !s.seen:
		return min(limit, firstSpin)
	}
	return min(limit, max(leastSpin, time.Duration(s.late+4*s.dev)))
}

// Wait waits for the moment or the context.
func (s *Spin) Wait(ctx context.Context, until time.Time) error {
	if s.now == nil {
		s.now, s.rest, s.giveUp = time.Now, sleep, runtime.Gosched
	}
	left := until.Sub(s.now())
	window := s.Window()
	if !s.seen {
		window = min(window, left/2)
	}
	if left > window {
		if err := s.rest(ctx, left-window); err != nil {
			return err
		}
		left = until.Sub(s.now())
		s.learn(window - left)
	} else if left > 0 {
		s.late -= s.late * forget
		s.dev -= s.dev * forget
	}
	for same := 0; left > 0; {
		if s.Window() == 0 {
			return s.rest(ctx, left)
		}
		if ctx.Err() != nil {
			break
		}
		s.giveUp()
		before := left
		if left = until.Sub(s.now()); left != before {
			same = 0
		} else if same++; same == frozenLooks {
			s.frozen = true
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// learn takes in by how much a sleep ended late.
func (s *Spin) learn(late time.Duration) {
	l := max(0, float64(late))
	if !s.seen {
		s.seen, s.late, s.dev = true, l, l/2
		return
	}
	s.dev += (abs(l-s.late) - s.dev) / 4
	s.late += (l - s.late) / 8
}

func abs(x float64) float64 { return max(x, -x) }
