package agent

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
)

// G9: seats are admitted in the order in which they were given, though a later
// one is ready first.
func TestAdmissionOrder(t *testing.T) {
	r := &rolling{plans: 4}
	assert.Equal(t, []seat{{0, 0}, {1, 1}}, r.first(2))
	for _, slot := range []int{1, 0} {
		next, ok := r.inherit(slot)
		assert.True(t, ok)
		assert.Equal(t, seat{3 - slot, slot}, next)
	}
	_, ok := r.inherit(0)
	assert.False(t, ok)
	assert.Equal(t, []seat{{0, 0}}, (&rolling{plans: 1}).first(2), "a cap of 2 with one plan")

	synctest.Test(t, func(t *testing.T) {
		one := func(id string, prompt int) string {
			return fmt.Sprintf(`{"schema_version":1,"trajectory_id":%q,"requests":[{"prompt_tokens":%d,"output_tokens":1}]}`, id, prompt)
		}
		cfg := config()
		cfg.MaxActive, cfg.Lookahead, cfg.Workers = 2, 1, 8
		cfg.Text = makeFunc(func(r *rand.Rand, n int) (string, error) {
			if n == 4 {
				time.Sleep(time.Second)
			}
			return words{}.Make(r, n)
		})
		s := &server{latency: func(c *Call) time.Duration { return time.Duration(10+c.Agent) * time.Millisecond }}
		res, err := Run(t.Context(), plans(t, Replay{}, one("a", 1), one("b", 2), one("c", 3), one("d", 4), one("e", 5)), cfg, s)
		require.NoError(t, err)
		d, e := res.Trajectories[3], res.Trajectories[4]
		assert.Greater(t, d.Admitted, 900*time.Millisecond, "it was long in the making")
		assert.Equal(t, d.Admitted, e.Admitted, "and the next, long ready, comes behind it")
		assert.Equal(t, []int{0, 1, 0, 1, 0}, []int{res.Trajectories[0].Slot, res.Trajectories[1].Slot, res.Trajectories[2].Slot, d.Slot, e.Slot})
	})
}

func TestSlotPool(t *testing.T) { // G9
	var p slotPool
	var got []int
	for range 3 {
		got = append(got, p.acquire())
	}
	p.release(1)
	p.release(0)
	for range 3 {
		got = append(got, p.acquire())
	}
	assert.Equal(t, []int{0, 1, 2, 0, 1, 3}, got)
	assert.Equal(t, 4, p.given)
}

func TestOpenLoop(t *testing.T) {
	line := func(id string, start int) string {
		return fmt.Sprintf(`{"schema_version":2,"trajectory_id":%q,"start_after_ms":%d,"requests":[{"prompt_tokens":4,"output_tokens":1,"delay_after_ms":300}]}`, id, start)
	}
	p := plans(t, Replay{}, line("c", 200), line("a", 0), line("b", 100), line("d", 1000))
	for _, row := range []struct {
		name, reason string
		cap          int
		admitted     []int // of c, a, b, d, in milliseconds
		slots        []int
		late, lag    int
		peak         int
	}{
		{"no cap", "each begins when it is due; slots are the lowest free", 0, []int{200, 0, 100, 1000}, []int{2, 0, 1, 0}, 0, 0, 3},
		{"cap of 1", "what is active delays the rest, which is counted", 1, []int{800, 0, 400, 1200}, []int{0, 0, 0, 0}, 3, 600, 1},
		{"cap of 3", "it is never reached", 3, []int{200, 0, 100, 1000}, []int{2, 0, 1, 0}, 0, 0, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sink memory
				cfg := config()
				cfg.Admission, cfg.MaxActive, cfg.Sink = OpenLoop, row.cap, &sink
				res, err := Run(t.Context(), p, cfg, &server{latency: func(*Call) time.Duration { return 100 * time.Millisecond }})
				require.NoError(t, err)
				balanced(t, res)
				for i, e := range res.Trajectories {
					assert.Equal(t, time.Duration(row.admitted[i])*time.Millisecond, e.Admitted, "%s: %s", row.reason, e.Trajectory)
					assert.Equal(t, row.slots[i], e.Slot, e.Trajectory)
					assert.Equal(t, p.List[i].StartAfter, e.Scheduled)
				}
				for _, r := range sink.requests {
					assert.Equal(t, p.List[slices.IndexFunc(p.List, func(p *Plan) bool { return p.ID == r.Trajectory })].StartAfter, r.Due, "due is the schedule's time, late or not")
				}
				assert.Equal(t, row.late, res.Late)
				assert.Equal(t, time.Duration(row.lag)*time.Millisecond, res.MaxAdmissionLag)
				assert.Equal(t, row.peak, res.MaxActive)
			})
		})
	}
}

// A trajectory whose text is not ready in time lags without being late.
func TestOpenLoopStarved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		for i := range 6 {
			lines = append(lines, fmt.Sprintf(`{"schema_version":2,"trajectory_id":"t%d","requests":[{"prompt_tokens":4,"output_tokens":1}]}`, i))
		}
		cfg := config()
		cfg.Admission, cfg.Lookahead, cfg.Workers = OpenLoop, 1, 1
		cfg.Text = makeFunc(func(r *rand.Rand, n int) (string, error) {
			time.Sleep(10 * time.Millisecond)
			return words{}.Make(r, n)
		})
		res, err := Run(t.Context(), plans(t, Replay{}, lines...), cfg, &server{latency: uneven})
		require.NoError(t, err)
		assert.Zero(t, res.Late)
		assert.Equal(t, 40*time.Millisecond, res.MaxAdmissionLag, "four of six are made behind the clock, one at a time")
	})
}

func TestTags(t *testing.T) { // G10
	assert.Equal(t, "loadtest-1", Tags{Prefix: "loadtest"}.of(1, 1))
	assert.Empty(t, Tags{Disabled: true, Prefix: "loadtest"}.of(1, 1), "it wins over the prefix")
	uuid := Tags{}.of(1, 1)
	assert.Regexp(t, regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`), uuid)
	assert.Equal(t, uuid, Tags{}.of(1, 1), "routing can be repeated")
	assert.NotEqual(t, uuid, Tags{}.of(1, 2))
	assert.NotEqual(t, uuid, Tags{}.of(2, 1))

	var workers []string
	for slot := range 10 {
		workers = append(workers, routing("", slot, 8)[0].Value)
	}
	assert.Equal(t, strings.Fields("0 1 2 3 4 5 6 7 0 1"), workers)
	assert.Empty(t, routing("", 3, 0))
}

func TestPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink memory
		cfg := config()
		cfg.MaxActive, cfg.Sink = 1, &sink
		cfg.Phase = func(due time.Duration) record.Phase {
			if due < 200*time.Millisecond {
				return record.Warmup
			}
			return record.Measured
		}
		_, err := Run(t.Context(), plans(t, Replay{}, golden4...), cfg, &server{latency: uneven})
		require.NoError(t, err)
		assert.Equal(t, record.Warmup, sink.requests[0].Phase)
		assert.Equal(t, record.Measured, sink.requests[6].Phase)
	})
}
