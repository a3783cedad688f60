package arrival_test

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/record"
)

func count(n int) arrival.Phases { return arrival.Phases{Measured: arrival.Limit{Count: n}} }

// In virtual time nothing is late: whatever the waiter, every arrival is handed
// over at the nanosecond, while requests take an hour each.
func TestPacerKeepsTime(t *testing.T) {
	for _, tt := range []struct {
		name   string
		waiter arrival.Waiter
	}{{"default", nil}, {"sleep", arrival.Sleep{}}, {"spin", &arrival.Spin{}}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := arrival.Poisson(100)
				want := take(s, seeded(1), 500)
				var requests sync.WaitGroup
				begin := time.Now()
				p := arrival.Pacer{Waiter: tt.waiter, Phases: count(500)}
				seq := 0
				report := p.Run(t.Context(), s, seeded(1), func(a arrival.Arrival) {
					assert.Equal(t, seq, a.Seq)
					assert.Equal(t, want[seq], a.Due.Seconds())
					assert.Equal(t, a.Due, a.At)
					assert.Equal(t, a.Due, time.Since(begin))
					seq++
					requests.Go(func() { time.Sleep(time.Hour) })
				})
				assert.Equal(t, 500, seq)
				assert.Equal(t, want[499], time.Since(begin).Seconds(), "it does not wait for another arrival, nor for answers")
				requests.Wait()
				assert.Equal(t, arrival.Complete, report.End)
				assert.Equal(t, 500, report.Total.N)
				assert.InDelta(t, 499/(want[499]-want[0]), report.Total.Asked, 1e-6)
				assert.Equal(t, report.Total.Asked, report.Total.Achieved)
				assert.Equal(t, report.Total, report.Measured)
				assert.Zero(t, report.Total.LagMax)
				assert.Zero(t, report.Total.Late)
				assert.Zero(t, report.Spin, "nothing is spun in virtual time")
			})
		})
	}
}

// Case B01: 10 requests a second of 190 ms each, by a client with one slot. The
// pacer keeps the due times and shows that they were not kept.
func TestPacerShowsABlockedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last arrival.Arrival
		p := arrival.Pacer{Waiter: arrival.Sleep{}, Phases: count(100)}
		report := p.Run(t.Context(), arrival.Constant(10), nil, func(a arrival.Arrival) {
			time.Sleep(190 * ms) // the slot
			last = a
		})
		assert.Equal(t, 9900*ms, last.Due)
		assert.Equal(t, 99*190*ms, last.At)
		pace := report.Measured
		assert.Equal(t, 10.0, pace.Asked)
		assert.InDelta(t, 1/0.19, pace.Achieved, 1e-9, "5.3 a second")
		assert.InDelta(t, 0.474, pace.Shortfall(), 0.001)
		assert.Equal(t, 99, pace.Late, "all but the first")
		assert.Equal(t, 99*90*ms, pace.LagMax, "9 s late in the end")
		assert.Greater(t, pace.LagP99, 8*sec)
		assert.InEpsilon(t, 50*90*ms, pace.LagP50, 0.03)
		assert.Equal(t, 190*ms, report.Longest)
	})
}

// A stall moves no due time: what has become overdue is handed over at once, all
// of it, and the schedule goes on as if nothing had been.
func TestPacerCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		p := arrival.Pacer{Waiter: arrival.Sleep{}, Phases: count(60)}
		report := p.Run(t.Context(), arrival.Constant(10), nil, func(a arrival.Arrival) {
			assert.Equal(t, time.Duration(len(at))*100*ms, a.Due)
			if at = append(at, a.At); a.Seq == 10 {
				time.Sleep(2 * sec)
			}
		})
		for i, got := range at {
			want := time.Duration(i) * 100 * ms
			if i > 10 && i < 30 {
				want = 3 * sec
			}
			assert.Equal(t, want, got, "arrival %d", i)
		}
		assert.Equal(t, 10.0, report.Total.Achieved)
		assert.Equal(t, 19, report.Total.Late)
		assert.Equal(t, 1900*ms, report.Total.LagMax)
		assert.Equal(t, 2*sec, report.Longest)
	})
}

func TestPacerEnds(t *testing.T) {
	type L = arrival.Limit
	for _, tt := range []struct {
		name, reason string
		schedule     string
		phases       arrival.Phases
		stop         time.Duration // of the context; 0: never
		end          arrival.End
		n            [3]int // warm-up, measured, cool-down
		window       arrival.Window
		took         time.Duration
	}{
		{"by time", "nothing is waited for beyond the phases", "forever:1", arrival.Phases{L{For: 3 * sec}, L{For: 5 * sec}, L{For: 2 * sec}}, 0,
			arrival.Complete, [3]int{3, 5, 2}, arrival.Window{From: 3 * sec, To: 8 * sec}, 9 * sec},
		{"by count", "the window ends with the next phase's first", "forever:1", arrival.Phases{L{Count: 3}, L{Count: 5}, L{Count: 2}}, 0,
			arrival.Complete, [3]int{3, 5, 2}, arrival.Window{From: 3 * sec, To: 8 * sec}, 9 * sec},
		{"by count, nothing after", "the window ends with its last arrival", "forever:1", arrival.Phases{Measured: L{Count: 5}}, 0,
			arrival.Complete, [3]int{0, 5, 0}, arrival.Window{From: 0, To: 4 * sec}, 4 * sec},
		{"rare arrivals", "the next would be due in an hour", "1s:2,1h:0,1s:2", arrival.Phases{L{Count: 1}, L{For: 10 * sec}, L{}}, 0,
			arrival.Complete, [3]int{1, 1, 0}, arrival.Window{From: 500 * ms, To: 10*sec + 500*ms}, 500 * ms},
		{"the schedule fills the phases", "it ends where they do", "10s:1", arrival.Phases{L{For: 4 * sec}, L{For: 6 * sec}, L{}}, 0,
			arrival.Complete, [3]int{4, 6, 0}, arrival.Window{From: 4 * sec, To: 10 * sec}, 9 * sec},
		{"the schedule is all there is", "measured has no limit", "10s:1", arrival.Phases{Warmup: L{For: 4 * sec}}, 0,
			arrival.Complete, [3]int{4, 6, 0}, arrival.Window{From: 4 * sec, To: 10 * sec}, 9 * sec},
		{"the schedule is too short", "by time", "10s:1", arrival.Phases{L{For: 4 * sec}, L{For: 7 * sec}, L{}}, 0,
			arrival.Exhausted, [3]int{4, 6, 0}, arrival.Window{From: 4 * sec, To: 10 * sec}, 9 * sec},
		{"the schedule is too short", "by count", "10s:1", arrival.Phases{L{For: 4 * sec}, L{Count: 7}, L{}}, 0,
			arrival.Exhausted, [3]int{4, 6, 0}, arrival.Window{From: 4 * sec, To: 10 * sec}, 9 * sec},
		{"the schedule ends in the warm-up", "nothing was measured", "10s:1", arrival.Phases{Warmup: L{Count: 11}}, 0,
			arrival.Exhausted, [3]int{10, 0, 0}, arrival.Window{}, 9 * sec},
		{"stopped in the measured part", "the window is cut", "forever:1", arrival.Phases{L{For: 3 * sec}, L{For: 5 * sec}, L{}}, 6500 * ms,
			arrival.Stopped, [3]int{3, 4, 0}, arrival.Window{From: 3 * sec, To: 6500 * ms}, 6500 * ms},
		{"stopped in an endless cool-down", "the window is whole", "forever:1", arrival.Phases{L{}, L{For: 5 * sec}, L{For: arrival.Forever}}, 6500 * ms,
			arrival.Stopped, [3]int{0, 5, 2}, arrival.Window{From: 0, To: 5 * sec}, 6500 * ms},
		{"an endless cool-down that ends", "with the schedule", "10s:1", arrival.Phases{L{}, L{For: 5 * sec}, L{For: arrival.Forever}}, 0,
			arrival.Complete, [3]int{0, 5, 5}, arrival.Window{From: 0, To: 5 * sec}, 9 * sec},
	} {
		t.Run(tt.name+", "+tt.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.stop > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.stop)
					defer cancel()
				}
				begin := time.Now()
				var n [3]int
				report := arrival.Pacer{Waiter: arrival.Sleep{}, Phases: tt.phases}.Run(ctx, staged(t, arrival.Even, tt.schedule), nil, func(a arrival.Arrival) {
					n[map[record.Phase]int{record.Warmup: 0, record.Measured: 1, record.Cooldown: 2}[a.Phase]]++
				})
				assert.Equal(t, tt.took, time.Since(begin))
				assert.Equal(t, tt.end, report.End)
				assert.Equal(t, tt.n, n)
				assert.Equal(t, tt.n, [3]int{report.Warmup, report.Measured.N, report.Cooldown})
				assert.Equal(t, tt.window, report.Window)
				assert.Equal(t, tt.n[0]+tt.n[1]+tt.n[2], report.Total.N)
			})
		})
	}
}

func TestPacerStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		run := func(start time.Time) (at []time.Duration) {
			arrival.Pacer{Start: start, Phases: count(3), Waiter: arrival.Sleep{}}.Run(t.Context(), arrival.Constant(1), nil, func(a arrival.Arrival) {
				at = append(at, a.At)
			})
			return at
		}
		assert.Equal(t, []time.Duration{0, sec, 2 * sec}, run(begin.Add(time.Minute)), "a start to come is waited for")
		assert.Equal(t, time.Minute+2*sec, time.Since(begin))
		assert.Equal(t, []time.Duration{1500 * ms, 1500 * ms, 2 * sec}, run(time.Now().Add(-1500*ms)), "what is overdue goes at once")
	})
}

// A loop that another rules takes the arrivals one at a time.
func TestArrivalsPulled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var report arrival.Report
		begin := time.Now()
		next, stop := iter.Pull(arrival.Pacer{Waiter: arrival.Sleep{}}.Arrivals(t.Context(), arrival.Constant(2), nil, &report))
		for i := range 5 {
			a, ok := next()
			require.True(t, ok)
			assert.Equal(t, i, a.Seq)
			assert.Equal(t, a.Due, time.Since(begin))
		}
		stop()
		assert.Equal(t, 5, report.Total.N)
		assert.Equal(t, arrival.Stopped, report.End)
		for range (arrival.Pacer{Phases: count(2), Waiter: arrival.Sleep{}}).Arrivals(t.Context(), arrival.Constant(2), nil, nil) {
		}
	})
}

func TestPacerOnOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	report := arrival.Pacer{Phases: count(3)}.Run(t.Context(), arrival.Constant(1e6), nil, func(arrival.Arrival) {})
	assert.Zero(t, report.Spin, "a spinning goroutine would keep the network from being polled")
}

func TestPacerMisuse(t *testing.T) {
	assert.Panics(t, func() { arrival.Pacer{}.Run(t.Context(), arrival.Constant(1), nil, nil) })
	bad := arrival.Pacer{Phases: count(-1)}
	assert.PanicsWithError(t, "arrival: the measured phase's Count is -1; it must not be negative", func() {
		bad.Run(t.Context(), arrival.Constant(1), nil, func(arrival.Arrival) {})
	})
}
