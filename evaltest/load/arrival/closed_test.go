package arrival_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/record"
)

func perUser(user int) *rand.Rand { return rand.New(rand.NewPCG(uint64(user), 1)) }

// run runs a closed loop whose requests take the time that took says, and
// returns what each user was handed.
func run(t *testing.T, ctx context.Context, c arrival.Closed, took func(arrival.Arrival) time.Duration) (arrival.Report, [][]arrival.Arrival) {
	var mu sync.Mutex
	got := make([][]arrival.Arrival, c.Users)
	seen := map[int]bool{}
	report, err := c.Run(ctx, func(_ context.Context, a arrival.Arrival) {
		mu.Lock()
		assert.False(t, seen[a.Seq], "number %d twice", a.Seq)
		seen[a.Seq] = true
		assert.Equal(t, len(got[a.User]), a.Turn)
		got[a.User] = append(got[a.User], a)
		mu.Unlock()
		time.Sleep(took(a))
	})
	require.NoError(t, err)
	for i := range seen {
		assert.Less(t, i, len(seen), "numbers have a gap")
	}
	return report, got
}

func always(d time.Duration) func(arrival.Arrival) time.Duration {
	return func(arrival.Arrival) time.Duration { return d }
}

func dues(of []arrival.Arrival) (d []time.Duration) {
	for _, a := range of {
		d = append(d, a.Due)
	}
	return d
}

func TestClosedTimes(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		loop         arrival.Closed
		took         func(arrival.Arrival) time.Duration
		want         [][]time.Duration // a user's due times in ms
		total        time.Duration     // in ms
	}{
		{"back to back", "the next is due when the last is answered", arrival.Closed{Users: 1, RequestsPerUser: 3}, always(100 * ms),
			[][]time.Duration{{0, 100, 200}}, 300},
		{"think time", "it begins with the answer", arrival.Closed{Users: 1, RequestsPerUser: 3, Think: arrival.Fixed(50 * ms), Rand: perUser}, always(100 * ms),
			[][]time.Duration{{0, 150, 300}}, 400},
		{"joining", "evenly over the time", arrival.Closed{Users: 4, RequestsPerUser: 2, Join: 2 * sec}, always(100 * ms),
			[][]time.Duration{{0, 100}, {500, 600}, {1000, 1100}, {1500, 1600}}, 1700},
		{"at least every second", "quick answers wait, a slow one is not made up for", arrival.Closed{Users: 1, RequestsPerUser: 5, Every: arrival.Fixed(sec), Rand: perUser},
			func(a arrival.Arrival) time.Duration {
				if a.Turn == 1 {
					return 2500 * ms
				}
				return 100 * ms
			}, [][]time.Duration{{0, 1000, 3500, 4500, 5500}}, 5600},
		{"both", "the later one", arrival.Closed{Users: 1, RequestsPerUser: 3, Every: arrival.Fixed(sec), Think: arrival.Fixed(300 * ms), Rand: perUser},
			func(a arrival.Arrival) time.Duration { return time.Duration(a.Turn+1) * 450 * ms },
			[][]time.Duration{{0, 1000, 2200}}, 3550},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				report, got := run(t, t.Context(), tt.loop, tt.took)
				n := 0
				for user, want := range tt.want {
					for i := range want {
						want[i] *= ms
					}
					assert.Equal(t, want, dues(got[user]), "user %d", user)
					n += len(want)
				}
				assert.Equal(t, tt.total*ms, time.Since(begin))
				assert.Equal(t, arrival.Complete, report.End, "every user made its requests, and no phase has a limit")
				assert.Equal(t, n, report.Total.N)
				assert.Zero(t, report.Total.LagMax)
			})
		})
	}
}

func TestClosedEnds(t *testing.T) {
	type L = arrival.Limit
	hour := arrival.Fixed(time.Hour)
	slow2 := func(r *rand.Rand) time.Duration { // user 2 thinks for an hour, the others for 10 s
		if r.Uint64() == perUser(2).Uint64() {
			return time.Hour
		}
		return 10 * sec
	}
	for _, tt := range []struct {
		name, reason string
		loop         arrival.Closed
		stop         time.Duration
		end          arrival.End
		n            [3]int
		window       arrival.Window
		took         time.Duration
	}{
		{"by time", "what is in flight ends", arrival.Closed{Users: 2, Phases: arrival.Phases{L{For: 2 * sec}, L{For: 4 * sec}, L{For: sec + ms}}}, 0,
			arrival.Complete, [3]int{4, 8, 4}, arrival.Window{From: 2 * sec, To: 6 * sec}, 8 * sec},
		{"by count", "over all users", arrival.Closed{Users: 3, Phases: arrival.Phases{L{Count: 4}, L{Count: 5}, L{}}}, 0,
			arrival.Complete, [3]int{4, 5, 0}, arrival.Window{From: sec, To: 2 * sec}, 3 * sec},
		{"by count, thinking", "nobody waits for an hour when the count is full", arrival.Closed{Users: 3, Think: hour, Rand: perUser, Phases: count(3)}, 0,
			arrival.Complete, [3]int{0, 3, 0}, arrival.Window{}, sec},
		{"by time, thinking", "nor beyond the time", arrival.Closed{Users: 3, Think: hour, Rand: perUser, Phases: arrival.Phases{Measured: L{For: time.Minute}}}, 0,
			arrival.Complete, [3]int{0, 3, 0}, arrival.Window{To: time.Minute}, sec},
		{"a count that others fill", "a thinker is woken", arrival.Closed{Users: 3, Think: slow2, Rand: perUser, Phases: count(7)}, 0,
			arrival.Complete, [3]int{0, 7, 0}, arrival.Window{To: 22 * sec}, 23 * sec},
		{"a time that a count begins", "a thinker is woken at the end that was not known when it began to wait", arrival.Closed{
			Users: 3, Think: slow2, Rand: perUser, Phases: arrival.Phases{Warmup: L{Count: 3}, Measured: L{For: time.Minute}}}, 0,
			arrival.Complete, [3]int{3, 12, 0}, arrival.Window{From: 11 * sec, To: 71 * sec}, 71 * sec},
		{"requests and time", "the requests end first", arrival.Closed{Users: 2, RequestsPerUser: 3, Phases: arrival.Phases{Measured: L{For: time.Minute}}}, 0,
			arrival.Exhausted, [3]int{0, 6, 0}, arrival.Window{To: 3 * sec}, 3 * sec},
		{"each and count", "the requests end first", arrival.Closed{Users: 2, RequestsPerUser: 3, Phases: count(7)}, 0,
			arrival.Exhausted, [3]int{0, 6, 0}, arrival.Window{To: 3 * sec}, 3 * sec},
		{"each and count", "both at once", arrival.Closed{Users: 2, RequestsPerUser: 3, Phases: count(6)}, 0,
			arrival.Complete, [3]int{0, 6, 0}, arrival.Window{To: 2 * sec}, 3 * sec},
		{"stopped", "no request is begun after, those in flight are waited for", arrival.Closed{Users: 2}, 2500 * ms,
			arrival.Stopped, [3]int{0, 6, 0}, arrival.Window{To: 3 * sec}, 3 * sec},
		{"stopped while thinking", "", arrival.Closed{Users: 2, Think: hour, Rand: perUser}, 2500 * ms,
			arrival.Stopped, [3]int{0, 2, 0}, arrival.Window{To: 2500 * ms}, 2500 * ms},
		{"stopped while joining", "", arrival.Closed{Users: 10, Join: 10 * sec, RequestsPerUser: 1}, 2500 * ms,
			arrival.Stopped, [3]int{0, 3, 0}, arrival.Window{To: 3 * sec}, 3 * sec},
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
				report, got := run(t, ctx, tt.loop, always(sec))
				assert.Equal(t, tt.took, time.Since(begin))
				assert.Equal(t, tt.end, report.End)
				assert.Equal(t, tt.n, [3]int{report.Warmup, report.Measured.N, report.Cooldown})
				assert.Equal(t, tt.window, report.Window)
				var labelled [3]int
				for _, a := range slices.Concat(got...) {
					labelled[map[record.Phase]int{record.Warmup: 0, record.Measured: 1, record.Cooldown: 2}[a.Phase]]++
				}
				assert.Equal(t, tt.n, labelled)
			})
		})
	}
}

// What a user draws depends on its own stream only, not on how long the server
// takes for whom.
func TestClosedStreams(t *testing.T) {
	thinks := func(took func(arrival.Arrival) time.Duration) [][]time.Duration {
		var drawn [][]time.Duration
		synctest.Test(t, func(t *testing.T) {
			c := arrival.Closed{Users: 5, RequestsPerUser: 20, Think: arrival.Exponential(sec), Every: arrival.Between(0, 0), Rand: perUser}
			_, got := run(t, t.Context(), c, took)
			for _, of := range got {
				var d []time.Duration
				for i := 1; i < len(of); i++ {
					d = append(d, of[i].Due-of[i-1].Due-took(of[i-1]))
				}
				drawn = append(drawn, d)
			}
		})
		return drawn
	}
	same := thinks(always(100 * ms))
	assert.Equal(t, same, thinks(func(a arrival.Arrival) time.Duration { return time.Duration(a.User*a.Turn) * 77 * ms }))
	assert.NotEqual(t, same[0], same[1])
}

// Case B07: 64 users at a server whose first token takes longer the more
// prompts it has at once. Joining at once makes the first answers the slowest; a
// warm-up that keeps the users busy takes them out and leaves the load as it is.
func TestClosedWarmUp(t *testing.T) {
	worst := func(c arrival.Closed) (worst time.Duration, report arrival.Report) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			prefilling := 0
			c.Users, c.Rand, c.Think = 64, perUser, arrival.Between(0, 2*sec)
			report, _ = c.Run(t.Context(), func(_ context.Context, a arrival.Arrival) {
				mu.Lock()
				prefilling++
				first := time.Duration(prefilling) * 20 * ms
				mu.Unlock()
				time.Sleep(first)
				mu.Lock()
				prefilling--
				if a.Phase == record.Measured {
					worst = max(worst, first)
				}
				mu.Unlock()
				time.Sleep(2 * sec) // decode
			})
		})
		return worst, report
	}
	cold, _ := worst(arrival.Closed{RequestsPerUser: 10})
	warm, report := worst(arrival.Closed{Phases: arrival.Phases{Warmup: arrival.Limit{Count: 192}, Measured: arrival.Limit{Count: 640}, Cooldown: arrival.Limit{Count: 64}}})
	joined, _ := worst(arrival.Closed{RequestsPerUser: 10, Join: 4 * sec})
	assert.Equal(t, 64*20*ms, cold, "all prompts at once")
	assert.Less(t, warm, cold/2)
	assert.Less(t, joined, cold/2)
	assert.Equal(t, 192, report.Warmup)
	assert.Equal(t, 64, report.Cooldown)
	assert.Equal(t, arrival.Complete, report.End)
}

func TestDists(t *testing.T) {
	r := seeded(1)
	sum := time.Duration(0)
	seen := map[time.Duration]bool{}
	for range 10_000 {
		sum += arrival.Exponential(sec)(r)
		d := arrival.Between(3, 5)(r)
		require.True(t, d >= 3 && d <= 5)
		seen[d] = true
	}
	assert.InDelta(t, 1, sum.Seconds()/10_000, 5/100.0, "5 standard deviations of the mean")
	assert.Len(t, seen, 3)
	assert.Equal(t, sec, arrival.Fixed(sec)(nil))
	assert.Panics(t, func() { arrival.Fixed(-1) })
	assert.Panics(t, func() { arrival.Between(2, 1) })
	assert.Panics(t, func() { arrival.Between(-1, 1) })
	assert.Panics(t, func() { arrival.Between(0, arrival.Forever) })
	assert.Panics(t, func() { arrival.Exponential(-1) })
	assert.Panics(t, func() { arrival.Exponential(arrival.Forever) })
}

func TestClosedRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		loop arrival.Closed
		want string
	}{
		{"no users", arrival.Closed{}, "Closed: Users is 0; at least one is needed"},
		{"negative requests per user", arrival.Closed{Users: 1, RequestsPerUser: -1}, "Closed: RequestsPerUser is -1"},
		{"negative join", arrival.Closed{Users: 1, Join: -1}, "Closed: Join is -1ns"},
		{"join overflows", arrival.Closed{Users: 3, Join: arrival.Forever / 2}, "Closed: Join is"},
		{"no generator", arrival.Closed{Users: 1, Think: arrival.Fixed(0)}, "Closed: Rand is nil"},
		{"phases", arrival.Closed{Users: 1, Phases: count(-1)}, "the measured phase's Count is -1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.loop.Run(t.Context(), func(context.Context, arrival.Arrival) { t.Error("called") })
			require.ErrorContains(t, err, tt.want)
			var e *arrival.OptionError
			require.ErrorAs(t, err, &e)
		})
	}
	assert.Panics(t, func() { _, _ = arrival.Closed{Users: 1}.Run(t.Context(), nil) })
}

// A negative think time ends the run with an error that says whose it was.
func TestClosedBadDraw(t *testing.T) {
	for _, name := range []string{"Think", "Every"} {
		synctest.Test(t, func(t *testing.T) {
			bad := func(r *rand.Rand) time.Duration {
				if r.Uint64() == perUser(2).Uint64() {
					return -sec
				}
				return time.Hour
			}
			c := arrival.Closed{Users: 4, Rand: perUser, Think: bad}
			if name == "Every" {
				c.Think, c.Every = nil, bad
			}
			begin := time.Now()
			report, err := c.Run(t.Context(), func(context.Context, arrival.Arrival) { time.Sleep(sec) })
			require.EqualError(t, err, "arrival: Closed: "+name+" of user 2 after request 0 is -1s; a time must not be negative")
			assert.Equal(t, arrival.Stopped, report.End)
			assert.Equal(t, 4, report.Total.N)
			assert.Equal(t, sec, time.Since(begin), "those who think are woken")
		})
	}
}
