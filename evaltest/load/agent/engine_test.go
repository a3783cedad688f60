package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
)

// manifest200 writes 200 trajectories of 1 to 8 requests with resets, delays
// and, in every third, overheads of their own.
func manifest200(t *testing.T) *Manifest {
	r := rand.New(rand.NewPCG(1, 2))
	var ts []Trajectory
	for i := range 200 {
		tr := Trajectory{Version: 1 + i%3/2, ID: fmt.Sprintf("t%03d", i)}
		prompt := 0
		for k := range 1 + r.IntN(8) {
			q := Request{PromptTokens: prompt + 40 + r.IntN(60), OutputTokens: 1 + r.IntN(30), DelayAfter: time.Duration(r.IntN(900)) * time.Millisecond}
			if k > 0 && r.IntN(4) == 0 {
				q.ResetBefore, q.PromptTokens = true, 30+r.IntN(50)
			}
			if tr.Version == 2 && r.IntN(3) == 0 {
				n := 5 + r.IntN(10)
				q.Overhead = &n
			}
			prompt = q.PromptTokens + q.OutputTokens + 10
			tr.Requests = append(tr.Requests, q)
		}
		ts = append(ts, tr)
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, ts))
	m, err := Read(&b, "plans.jsonl")
	require.NoError(t, err)
	return m
}

// uneven is a latency that no two requests end at the same time with.
func uneven(c *Call) time.Duration {
	return 10*time.Millisecond + time.Duration(c.Max)*time.Millisecond + time.Duration(c.Agent*64+c.Turn+1)*time.Nanosecond
}

func TestReplay(t *testing.T) {
	m := manifest200(t)
	p, err := Compile(m, Replay{InitialOverhead: 5, TurnOverhead: 3})
	require.NoError(t, err)
	var sink memory
	s := &server{latency: uneven}
	var res *Result
	synctest.Test(t, func(t *testing.T) {
		cfg := config()
		cfg.MaxActive, cfg.Ranks, cfg.Sink, cfg.Tags = 16, 5, &sink, Tags{Prefix: "load"}
		res, err = Run(t.Context(), p, cfg, s)
	})
	require.NoError(t, err)
	balanced(t, res)
	assert.Equal(t, 200, res.Completed)
	assert.Equal(t, p.Turns(), res.Succeeded)
	assert.Equal(t, 16, res.MaxActive)
	assert.LessOrEqual(t, s.peak, 16)

	// What the server saw is the plan.
	by := s.of()
	for _, plan := range p.List {
		seen := by[plan.Agent]
		require.Len(t, seen, len(plan.Turns), plan.ID)
		for k, a := range seen {
			turn := plan.Turns[k]
			assert.Equal(t, k, a.call.Turn, "in order")
			assert.Equal(t, turn.Content, a.content(t), "%s turn %d", plan.ID, k)
			assert.Equal(t, [2]int{turn.Output, turn.Output}, [2]int{a.body.Min, a.body.Max})
			assert.Equal(t, "load-"+strconv.Itoa(plan.Agent), a.body.User)
			if k > 0 && !turn.Reset {
				before := seen[k-1].body.Messages
				require.Len(t, a.body.Messages, len(before)+2, "the reply and the tool's answer are added")
				assert.Equal(t, before, a.body.Messages[:len(before)], "the prompt before is the prefix")
			} else {
				assert.Len(t, a.body.Messages, 1, "it starts over")
			}
		}
	}

	// Slots and times are those of the same queue worked out by hand.
	free := make([]time.Duration, 16)
	for i, plan := range p.List {
		slot := i
		if i >= 16 {
			slot = slices.Index(free, slices.Min(free))
		}
		e := res.Trajectories[i]
		want := Event{Agent: i, Trajectory: plan.ID, Slot: slot, Admitted: free[slot], End: Completed, Planned: len(plan.Turns), Succeeded: len(plan.Turns)}
		at, cached := free[slot], 0
		for k, turn := range plan.Turns {
			call := by[i][k].call
			assert.Equal(t, at, by[i][k].at, "%s turn %d is sent when it is due", plan.ID, k)
			assert.Equal(t, slot, call.Slot)
			assert.Equal(t, []Header{{"X-SMG-Routing-Key", "load-" + strconv.Itoa(i)}, {"X-SMG-Target-Worker", strconv.Itoa(slot % 5)}}, call.Headers)
			took := uneven(call)
			at += took + turn.Delay
			want.Model += took
			want.ToolLatency += turn.Delay
			want.Input, want.Output = want.Input+int64(turn.Prompt), want.Output+int64(turn.Output)
			if turn.Reset {
				cached = 0
			}
			want.EstimatedCached += int64(min(cached, turn.Prompt))
			cached = turn.Prompt
		}
		free[slot], want.Finished = at, at
		rank := slot % 5
		want.Rank = &rank
		assert.Equal(t, &want, e)
	}
	assert.Equal(t, slices.Max(free), res.Duration)
	assert.Equal(t, res.Duration-res.LastAdmitted, res.Drain)

	// The sink has it all, with due times that follow from the turn before.
	require.Len(t, sink.trajectories, 200)
	require.Len(t, sink.requests, p.Turns())
	done := map[string]time.Duration{}
	seq := map[int]bool{}
	for _, r := range sink.requests {
		seq[r.Seq] = true
		turn := p.List[by[0][0].call.Agent].Turns[0]
		plan := p.List[mustInt(t, r.Trajectory[1:])]
		turn = plan.Turns[r.Turn]
		assert.Equal(t, [3]int{turn.Prompt, turn.Output, turn.Cacheable}, [3]int{r.AskedInput, r.AskedOutput, r.PossibleCached})
		assert.Equal(t, record.Measured, r.Phase)
		if r.Turn > 0 {
			assert.Equal(t, done[r.Trajectory]+plan.Turns[r.Turn-1].Delay, r.Due)
		}
		done[r.Trajectory] = r.Done
	}
	assert.Len(t, seq, p.Turns(), "each request has a number of its own")
}

func mustInt(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}

func TestInterruptKeepsAll(t *testing.T) {
	p, err := Compile(manifest200(t), Replay{InitialOverhead: 5})
	require.NoError(t, err)
	var requests, events bytes.Buffer
	s := &server{latency: uneven}
	var res *Result
	stop := errors.New("ctrl+c")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { cancel(stop) })
		cfg := config()
		cfg.MaxActive, cfg.Sink = 16, JSONL(&requests, &events)
		res, err = Run(ctx, p, cfg, s)
		assert.Equal(t, 5*time.Second, res.Duration, "it ends at once")
	})
	require.ErrorIs(t, err, stop)
	balanced(t, res)
	assert.Equal(t, 16, res.Interrupted)
	assert.Positive(t, res.Completed)
	assert.Positive(t, res.NotStarted)
	assert.Equal(t, 200, res.Completed+res.Interrupted+res.NotStarted)
	lines := strings.Split(strings.TrimSpace(requests.String()), "\n")
	assert.Len(t, lines, len(s.asked), "all that was sent is on disk")
	canceled := 0
	for _, line := range lines {
		var r record.Request
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if r.Failure != nil {
			assert.Equal(t, record.Canceled, r.Failure.Class)
			canceled++
		}
	}
	assert.Equal(t, res.Canceled, canceled)
	assert.Equal(t, res.Succeeded+res.Canceled, len(s.asked))
	assert.Equal(t, res.Completed+res.Interrupted, strings.Count(events.String(), "\n"))
}

func TestInterruptBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, admission := range []Admission{ClosedLoop, OpenLoop} {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			cfg := config()
			cfg.Admission = admission
			res, err := Run(ctx, plans(t, Replay{}, golden4...), cfg, &server{latency: uneven})
			require.ErrorIs(t, err, context.Canceled)
			balanced(t, res)
			assert.Equal(t, [2]int{3, 7}, [2]int{res.NotStarted, res.NotAttempted})
		}
	})
}

// The bytes of a request do not depend on when it is sent.
func TestBodiesDoNotDependOnScheduling(t *testing.T) {
	p, err := Compile(manifest200(t), Replay{})
	require.NoError(t, err)
	bodies := func(t *testing.T, change func(*Config)) map[[2]int]string {
		out := map[[2]int]string{}
		synctest.Test(t, func(t *testing.T) {
			s := &server{latency: uneven}
			cfg := config()
			change(&cfg)
			_, err := Run(t.Context(), &Plans{List: p.List[:40]}, cfg, s)
			require.NoError(t, err)
			for _, a := range s.asked {
				out[[2]int{a.call.Agent, a.call.Turn}] = string(a.call.Body)
			}
		})
		return out
	}
	one := bodies(t, func(c *Config) { c.MaxActive = 1 })
	assert.Equal(t, one, bodies(t, func(c *Config) { c.MaxActive, c.Workers, c.Lookahead = 0, 7, 1 }))
	assert.Equal(t, one, bodies(t, func(c *Config) { c.Admission, c.MaxInFlight = OpenLoop, 3 }))
	assert.NotEqual(t, one, bodies(t, func(c *Config) { c.Seed = 43 }))
	recorded := bodies(t, func(c *Config) { c.Replies = Recorded })
	assert.NotEqual(t, one, recorded)
	for key, body := range recorded {
		assert.Equal(t, len(strings.Fields(one[key])), len(strings.Fields(body)), "a recorded reply has the planned length")
	}
}

func TestGoldenBodies(t *testing.T) {
	s := &server{latency: uneven}
	cfg := config()
	cfg.Seed, cfg.Body = 3, Body{Model: "some/model", Stream: true, IgnoreEOS: true, DeclareTool: true, Extra: map[string]jsontext.Value{"temperature": jsontext.Value(" 0 ")}}
	synctest.Test(t, func(t *testing.T) {
		_, err := Run(t.Context(), plans(t, Replay{}, v1(`{"prompt_tokens":9,"output_tokens":3},{"prompt_tokens":15,"output_tokens":2},{"prompt_tokens":4,"output_tokens":1,"reset_before":true}`)), cfg, s)
		require.NoError(t, err)
	})
	var out strings.Builder
	for _, a := range s.asked {
		fmt.Fprintf(&out, "%s\n", a.call.Body)
		assert.True(t, a.call.Stream)
	}
	golden(t, "testdata/bodies.golden", []byte(out.String()))
}

func TestToolsHoldNoConcurrencySlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := Synthesize(1, 10, Shape{Input: Fixed(5), Turns: Fixed(3), Output: Fixed(2), Environment: Fixed(2), Latency: Fixed(1000)})
		require.NoError(t, err)
		var sink memory
		s := &server{latency: func(*Call) time.Duration { return 10 * time.Millisecond }}
		cfg := config()
		cfg.MaxInFlight, cfg.Sink = 2, &sink
		res, err := Run(t.Context(), p, cfg, s)
		require.NoError(t, err)
		assert.Equal(t, 2, s.peak)
		// Five waves of two at first; after that each is due when a slot is free.
		// Were a slot held through a tool call, this took 15 seconds.
		assert.Equal(t, 3*(10*time.Millisecond+time.Second)+40*time.Millisecond, res.Duration)
		lag := time.Duration(0)
		for _, r := range sink.requests {
			assert.Equal(t, 10*time.Millisecond, r.Done-r.Sent, "waiting for a slot is no latency")
			lag = max(lag, r.Sent-r.Due)
		}
		assert.Equal(t, 40*time.Millisecond, lag, "but it is a lag")
		assert.Equal(t, 30*time.Second, res.ToolLatency)
		for _, e := range res.Trajectories {
			assert.Equal(t, 30*time.Millisecond, e.Model)
		}
	})
}

func TestPreparationIsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := Synthesize(1, 3, Shape{Input: Fixed(5), Turns: Fixed(3), Output: Fixed(2), Environment: Fixed(2), Latency: Fixed(20)})
		require.NoError(t, err)
		var sink memory
		cfg := config()
		cfg.Workers, cfg.Sink = 8, &sink
		cfg.Text = makeFunc(func(r *rand.Rand, n int) (string, error) {
			time.Sleep(50 * time.Millisecond) // virtual
			return words{}.Make(r, n)
		})
		s := &server{latency: func(*Call) time.Duration { return 10 * time.Millisecond }}
		res, err := Run(t.Context(), p, cfg, s)
		require.NoError(t, err)
		for _, r := range sink.requests {
			assert.Equal(t, 10*time.Millisecond, r.Done-r.Sent)
			if r.Turn == 0 {
				assert.Zero(t, r.Due, "the first prompts are made before the clock starts")
				assert.Zero(t, r.Sent)
			} else {
				// Made while 10 ms of request and 20 ms of tool went by.
				assert.Equal(t, 20*time.Millisecond, r.Sent-r.Due)
			}
		}
		assert.Equal(t, 6*20*time.Millisecond, res.PreparationWait)
		assert.Equal(t, 20*time.Millisecond, res.MaxPreparationWait)
		assert.Equal(t, 9*50*time.Millisecond, res.Preparation)
	})
}

func TestEventRow(t *testing.T) {
	rank := 3
	row, err := json.Marshal(&Event{
		Agent: 1, Trajectory: "a\x16", Slot: 11, Rank: &rank, Scheduled: time.Second, Admitted: 1500 * time.Millisecond, Finished: 4 * time.Second,
		End: Failed, Planned: 3, Succeeded: 1, Failed: 1, NotAttempted: 1, Err: errors.New("no"),
	})
	require.NoError(t, err)
	golden(t, "testdata/event.golden", append(row, '\n'))
	row, err = json.Marshal(&Event{})
	require.NoError(t, err)
	assert.Contains(t, string(row), `"dp_rank":null`)
}
