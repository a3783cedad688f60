package arrival_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
)

// A machine is a clock on which a look takes 100 ns, or a step, and a sleep ends
// late.
type machine struct {
	at     time.Time
	step   time.Duration
	late   time.Duration
	looks  int
	sleeps []time.Duration
	frozen bool
}

func (m *machine) now() time.Time { return m.at }

func (m *machine) giveUp() {
	m.looks++
	if !m.frozen {
		m.at = m.at.Add(cmp.Or(m.step, 100))
	}
}

func (m *machine) rest(ctx context.Context, d time.Duration) error {
	m.sleeps = append(m.sleeps, d)
	m.at = m.at.Add(d + m.late)
	return context.Cause(ctx)
}

func (m *machine) spin(limit time.Duration) *arrival.Spin {
	m.at = time.Unix(0, 0)
	return arrival.FakeSpin(limit, m.now, m.rest, m.giveUp)
}

const us = time.Microsecond

func TestSpinSleepsAndSpins(t *testing.T) {
	m := &machine{late: 300 * us}
	s := m.spin(0)
	require.Equal(t, ms, s.Window(), "before it knows")
	until := m.at.Add(10 * ms)
	require.NoError(t, s.Wait(t.Context(), until))
	assert.Equal(t, []time.Duration{9 * ms}, m.sleeps)
	assert.Equal(t, 7000, m.looks, "700 µs at 100 ns a look")
	assert.Equal(t, until, m.at)

	require.NoError(t, s.Wait(t.Context(), until.Add(-ms)), "what has passed is not waited for")
	assert.Equal(t, until, m.at)
}

func TestSpinWindowFollowsTheSleeps(t *testing.T) {
	m := &machine{late: 300 * us}
	s := m.spin(0)
	wait := func(n int) {
		for range n {
			require.NoError(t, s.Wait(t.Context(), m.at.Add(10*ms)))
		}
	}
	wait(1)
	assert.Equal(t, 900*us, s.Window(), "300 µs and 4 times half of that")
	wait(50)
	assert.InDelta(t, 300*us, s.Window(), float64(us), "always the same lateness needs no margin")
	m.late = 800 * us
	wait(1)
	// The deviation gains a quarter of 500 µs, the mean an eighth.
	assert.InDelta(t, (300+62.5+4*125)*1000, s.Window(), 2000)
	m.late = 0
	wait(200)
	assert.Equal(t, 20*us, s.Window(), "never below 20 µs")
	m.late = 50 * ms
	wait(1)
	assert.Equal(t, arrival.DefaultMaxSpin, s.Window(), "never above the bound")
}

func TestSpinBounds(t *testing.T) {
	m := &machine{late: 300 * us}
	s := m.spin(100 * us)
	until := m.at.Add(ms)
	require.NoError(t, s.Wait(t.Context(), until))
	assert.Equal(t, []time.Duration{900 * us}, m.sleeps, "all but the bound")
	assert.Equal(t, until.Add(200*us), m.at, "the sleep ended 300 µs late, the window was 100 µs")
	assert.Zero(t, m.looks)

	m = &machine{late: 300 * us}
	s = m.spin(-1)
	assert.Zero(t, s.Window())
	require.NoError(t, s.Wait(t.Context(), m.at.Add(ms)))
	assert.Equal(t, []time.Duration{ms}, m.sleeps, "one sleep, all the way")
	assert.Zero(t, m.looks)
}

// A rate whose gaps are shorter than the window is spun, but not for ever.
func TestSpinTriesToSleepAgain(t *testing.T) {
	m := &machine{late: 1500 * us, step: 5 * us}
	s := m.spin(0)
	wait := func(n int, d time.Duration) {
		for range n {
			require.NoError(t, s.Wait(t.Context(), m.at.Add(d)))
		}
	}
	wait(1, ms)
	assert.Equal(t, []time.Duration{500 * us}, m.sleeps, "the first wait sleeps to know")
	assert.Equal(t, 2*ms, s.Window())

	m.late = 100 * us
	wait(1000, ms)
	assert.Len(t, m.sleeps, 1, "4.5 ms, by a thousandth a wait, are 1.7 ms after 1000")
	wait(2000, ms)
	assert.Greater(t, len(m.sleeps), 1000, "and below 1 ms after 1540")
	assert.Less(t, s.Window(), 150*us)
	known := s.Window()
	wait(100, -ms)
	assert.Equal(t, known, s.Window(), "what is overdue teaches nothing")
}

func TestSpinOnAFrozenClock(t *testing.T) {
	m := &machine{frozen: true}
	s := m.spin(0)
	until := m.at.Add(500 * us)
	require.NoError(t, s.Wait(t.Context(), until))
	assert.Equal(t, until, m.at)
	assert.Equal(t, 1<<17, m.looks)
	assert.Equal(t, []time.Duration{250 * us, 250 * us}, m.sleeps)
	assert.Zero(t, s.Window())

	require.NoError(t, s.Wait(t.Context(), m.at.Add(500*us)))
	assert.Equal(t, 1<<17, m.looks, "it has learnt")
}

func TestSpinStops(t *testing.T) {
	why := errors.New("why")
	m := &machine{at: time.Unix(0, 0)}
	ctx, cancel := context.WithCancelCause(t.Context())
	begin := m.at
	n := 0
	s := arrival.FakeSpin(0, m.now, m.rest, func() {
		if m.giveUp(); n == 10 {
			cancel(why)
		}
		n++
	})
	require.ErrorIs(t, s.Wait(ctx, begin.Add(500*us)), why, "while looking at the clock")
	assert.Equal(t, begin.Add(250*us+1100), m.at, "half of it asleep, 11 looks")
	require.ErrorIs(t, s.Wait(ctx, begin), why, "also if the moment has passed")
	require.ErrorIs(t, s.Wait(ctx, begin.Add(time.Hour)), why, "also before a long sleep")
}

// Both waiters work in virtual time and stop with the context.
func TestWaitersInABubble(t *testing.T) {
	for name, w := range map[string]arrival.Waiter{"sleep": arrival.Sleep{}, "spin": &arrival.Spin{}, "spin off": &arrival.Spin{Max: -1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				require.NoError(t, w.Wait(t.Context(), begin.Add(time.Hour)))
				assert.Equal(t, time.Hour, time.Since(begin))
				require.NoError(t, w.Wait(t.Context(), begin))
				assert.Equal(t, time.Hour, time.Since(begin))

				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("enough"))
				defer cancel()
				require.EqualError(t, w.Wait(ctx, begin.Add(2*time.Hour)), "enough")
				assert.Equal(t, time.Hour+time.Minute, time.Since(begin))
				require.EqualError(t, w.Wait(ctx, begin), "enough")
			})
		})
	}
}
