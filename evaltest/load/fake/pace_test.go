package fake_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/record"
)

const ms = time.Millisecond

func millis(at ...int) (d []time.Duration) {
	for _, a := range at {
		d = append(d, time.Duration(a)*ms)
	}
	return d
}

// TestTimes: events come at the times of the schedule, to the nanosecond of a
// bubble.
func TestTimes(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		server       *fake.Server
		tokens       int
		whole        bool
		want         []time.Duration
	}{
		{"at once", "the zero value does not wait", &fake.Server{}, 3, false, millis(0, 0, 0)},
		{"first", "all tokens are due with the first", &fake.Server{TTFT: 30 * ms}, 2, false, millis(30, 30)},
		{"gap", "token k is due at TTFT + k·ITL", &fake.Server{TTFT: 30 * ms, ITL: 20 * ms}, 4, false, millis(30, 50, 70, 90)},
		{"gap alone", "the first token is due at once", &fake.Server{ITL: 20 * ms}, 3, false, millis(0, 20, 40)},
		{"chunk", "an event is due with its last token, and the last event is shorter", &fake.Server{TTFT: 30 * ms, ITL: 20 * ms, Chunk: 2}, 5, false, millis(50, 90, 110)},
		{"large chunk", "an answer may be one event", &fake.Server{TTFT: 30 * ms, ITL: 20 * ms, Chunk: 99}, 3, false, millis(70)},
		{"whole", "a whole answer comes with its last token", &fake.Server{TTFT: 30 * ms, ITL: 20 * ms}, 4, true, millis(90)},
		{
			"stall", "what falls into a stall comes at its end, all together, and what comes after it is on time",
			&fake.Server{TTFT: 30 * ms, ITL: 20 * ms, Stalls: []fake.Stall{{At: 40 * ms, For: 50 * ms}}}, 5, false, millis(30, 90, 90, 90, 110),
		},
		{
			"stalls merged", "stalls that overlap or touch are one, in whatever order they are given",
			&fake.Server{ITL: 10 * ms, Stalls: []fake.Stall{{At: 30 * ms, For: 10 * ms}, {At: 5 * ms, For: 15 * ms}, {At: 10 * ms, For: 20 * ms}, {}}}, 5, false, millis(0, 40, 40, 40, 40),
		},
		{"stall at the begin", "nothing is written in it, though nothing else waits", &fake.Server{Stalls: []fake.Stall{{For: 70 * ms}}}, 2, false, millis(70, 70)},
		{"whole in a stall", "it holds whole answers too", &fake.Server{Stalls: []fake.Stall{{For: 70 * ms}}}, 2, true, millis(70)},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := serve(t, row.server)
				rec := b.call(t.Context(), client.Prompt{MaxTokens: row.tokens, Whole: row.whole})
				b.stop()
				require.True(t, rec.OK(), "%v", rec.Failure)
				assert.Equal(t, row.want, times(rec), row.reason)
				assert.Equal(t, int64(row.tokens), rec.Usage.Output)
				require.Len(t, b.saw(), 1)
				seen := b.saw()[0]
				assert.Equal(t, row.want, since(b.start, seen.Written), "Written is what the client saw")
				assert.Equal(t, row.want, since(b.start, seen.Due), "Due is the schedule")
				assert.Equal(t, b.start, seen.Arrived)
				assert.Equal(t, row.tokens, seen.Output)
			})
		})
	}
}

func since(start time.Time, at []time.Time) (d []time.Duration) {
	for _, a := range at {
		d = append(d, a.Sub(start))
	}
	return d
}

// TestHead: a stream's head comes when the request has been taken up, not with
// the first token.
func TestHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serve(t, &fake.Server{TTFT: 30 * ms})
		time.Sleep(time.Millisecond) // 0 stands for no head
		rec := b.call(t.Context(), client.Prompt{MaxTokens: 1})
		b.stop()
		assert.Equal(t, time.Millisecond, rec.Headers)
		assert.Equal(t, millis(31), times(rec))
	})
}

// TestSlots: requests have slots in the order in which they came, each from when
// the one before has ended, and a call that gives up leaves the queue.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serve(t, &fake.Server{TTFT: 100 * ms, Slots: 2})
		gone, leave := context.WithCancel(t.Context())
		recs := make([]*record.Request, 7)
		done := make(chan struct{})
		for i := range recs {
			ctx := t.Context()
			if i == 3 || i == 1 { // one that waits, and one that has a slot
				ctx = gone
			}
			go func() {
				recs[i] = b.call(ctx, client.Prompt{MaxTokens: 1, User: fmt.Sprint(i)})
				done <- struct{}{}
			}()
			synctest.Wait() // it has come
		}
		time.Sleep(50 * ms)
		leave()
		for range recs {
			<-done
		}
		b.stop()

		// 0 and 1 have slots at 0. 1 leaves at 50 and 2 has its slot until 150; 0
		// ends at 100 and gives to 4 until 200; 2 gives to 5, 4 to 6.
		for i, want := range []int{100, -1, 150, -1, 200, 250, 300} {
			if want < 0 {
				assert.Equal(t, record.Canceled, recs[i].Failure.Class, "%d", i)
				continue
			}
			assert.Equal(t, millis(want), times(recs[i]), "%d", i)
		}
		counts := b.server.Counts()
		assert.Equal(t, 7, counts.MostInFlight)
		assert.Equal(t, 5, counts.Answered)
		assert.Equal(t, 2, counts.Canceled)
		assert.Zero(t, counts.InFlight)
		for _, seen := range b.saw() {
			assert.Equal(t, seen.User, fmt.Sprint(seen.N), "they are numbered as they came")
			assert.Equal(t, seen.N == 1 || seen.N == 3, seen.Canceled)
			assert.Equal(t, seen.N == 3, seen.Began.IsZero(), "%d", seen.N)
		}
	})
}

// TestCancel: the server sees at once that a client has gone, and writes nothing
// more.
func TestCancel(t *testing.T) {
	for _, row := range []struct {
		name   string
		at     time.Duration
		whole  bool
		output int
		status int
	}{
		{"before the first token", 10 * ms, false, 0, 200},
		{"in the stream", 75 * ms, false, 3, 200},
		{"before a whole answer", 75 * ms, true, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := serve(t, &fake.Server{TTFT: 30 * ms, ITL: 20 * ms})
				ctx, cancel := context.WithTimeout(t.Context(), row.at)
				defer cancel()
				rec := b.call(ctx, client.Prompt{MaxTokens: 10, Whole: row.whole})
				assert.Equal(t, record.Canceled, rec.Failure.Class)
				synctest.Wait()
				require.Len(t, b.saw(), 1, "without waiting for the schedule")
				seen := b.saw()[0]
				assert.True(t, seen.Canceled)
				assert.Equal(t, row.at, seen.Ended.Sub(b.start))
				assert.Equal(t, row.output, seen.Output)
				assert.Equal(t, row.status, seen.Status)
				if !row.whole {
					assert.Len(t, seen.Written, row.output)
				}
				assert.Equal(t, 1, b.server.Counts().Canceled)
				b.stop()
			})
		})
	}
}

// TestStopInFlight: stop does not wait for answers.
func TestStopInFlight(t *testing.T) {
	for _, s := range []*fake.Server{
		{TTFT: time.Hour},
		{TTFT: time.Hour, Slots: 1},
		{Stalls: []fake.Stall{{For: time.Hour}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := serve(t, s)
			for range 3 {
				go b.call(context.Background(), client.Prompt{MaxTokens: 10})
			}
			synctest.Wait()
			b.stop()
			assert.Zero(t, time.Since(b.start))
			counts := s.Counts()
			assert.Equal(t, 3, counts.Canceled)
			assert.Zero(t, counts.InFlight)
			assert.Len(t, b.saw(), 3)
		})
	}
}

// TestReuse: with waiting answers too, one connection serves one call after the
// other.
func TestReuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := serve(t, &fake.Server{TTFT: 10 * ms})
		for i := range 5 {
			rec := b.call(t.Context(), client.Prompt{MaxTokens: 2, Whole: i%2 == 1})
			require.True(t, rec.OK(), "%v", rec.Failure)
			assert.Equal(t, i > 0, rec.Reused)
		}
		b.stop()
		assert.Equal(t, 1, b.server.Counts().Connections)
		for _, seen := range b.saw() {
			assert.Zero(t, seen.Conn)
		}
	})
}
