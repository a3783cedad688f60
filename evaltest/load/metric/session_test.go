package metric

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
)

// G2: inputs 100, 180, 250, 400 could have had 530 tokens cached; 500 then 450
// could have had 450.
func TestG2CachedEstimate(t *testing.T) {
	for _, c := range []struct {
		inputs []int64
		want   int64
	}{{[]int64{100, 180, 250, 400}, 530}, {[]int64{500, 450}, 450}, {[]int64{7}, 0}} {
		var p Prefix
		var sum int64
		for _, in := range c.inputs {
			sum += p.Add(in)
		}
		assert.Equal(t, c.want, sum, "%v", c.inputs)
	}
}

// turn is a request of a session that takes 100 ms.
func turn(name string, n int, at time.Duration, input int64) *record.Request {
	r := answered(n, at, at+40*ms, at+100*ms)
	r.Trajectory, r.Turn, r.Usage.Input = name, n, input
	return r
}

func TestJobs(t *testing.T) {
	m := meter(t, Config{Loop: Sessions, Users: 2})
	late := turn("a", 1, 170*ms, 180)
	late.Due = 150 * ms // 100 + 50 in a tool; the client was 20 late
	reset := turn("a", 2, 300*ms, 90)
	reset.Reset = true
	dead := failing(3, 0, 80*ms, record.Server)
	dead.Trajectory, dead.User, dead.Failure.Message = "b\n", 1, "HTTP 500"
	add(t, m, turn("a", 0, 0, 100), late, reset, turn("a", 3, 400*ms, 250), dead)
	for _, j := range []Job{
		{Trajectory: "b\n", Agent: 7, Finished: 80 * ms, Turns: 3},
		{Trajectory: "a", Finished: 500 * ms, Turns: 4, Tool: 60 * ms, Completed: true},
		{Trajectory: "c", Agent: 2, Due: 40 * ms, Admitted: 90 * ms, Finished: 600 * ms, Turns: 5, Canceled: true, Replaced: true},
	} {
		require.NoError(t, m.AddJob(j))
	}
	res := m.Result(Health{})
	j := res.Jobs
	assert.Equal(t, []int64{3, 1, 1, 1, 12}, []int64{j.Total, j.Completed, j.Failed, j.Canceled, j.Planned})
	assert.Equal(t, Some(0.5), j.Success, "the one that was cut is neither")
	assert.InEpsilon(t, 6000, must(t, j.PerHour), exactly, "one in 0.6 s")
	for _, c := range []struct {
		name string
		d    Dist
		want time.Duration
	}{{"wall", j.Wall, 500 * ms}, {"model", j.ModelTime, 400 * ms}, {"tools", j.ToolTime, 60 * ms}, {"lag", j.ClientLag, 20 * ms}, {"other", j.Other, 20 * ms}} {
		assert.Equal(t, Some(float64(c.want)), c.d.Mean, c.name)
		assert.Equal(t, int64(1), c.d.N, c.name)
	}
	assert.Equal(t, Some(float64(50*ms)), j.QueueWait.Max)
	assert.Equal(t, int64(100+0+90), j.EstimatedCached, "min(100,180), none after the reset, min(90,250)")
	assert.Equal(t, []time.Duration{90 * ms, 510 * ms, 600 * ms}, []time.Duration{j.LastReplacement, j.Drain, j.Elapsed})
	assert.Empty(t, m.sessions, "what ended is forgotten")
	require.Len(t, res.failed, 1)
	assert.Equal(t, FailedRequest{Agent: 7, User: 1, Trajectory: `b\n`, Seq: 3, Message: "server: HTTP 500"}, res.failed[0])

	require.Error(t, m.AddJob(Job{Admitted: 2, Finished: 1}))
	require.Error(t, m.AddJob(Job{Completed: true, Canceled: true}))
}

func TestBuckets(t *testing.T) {
	m := meter(t, Config{Loop: Sessions})
	for n, input := range map[int]int64{0: 100, 1: 1023, 2: 1024, 31: 2047, 32: 2048, 63: 5000, 64: 5001} {
		r := turn("a", n, time.Duration(n)*time.Second, input)
		r.Usage.CachedInput = input / 2
		add(t, m, r)
	}
	alone := answered(9, 0, 30*ms)
	alone.Usage.Known = false
	add(t, m, alone) // no session, no length: in no bucket
	res := m.Result(Health{})
	edges := func(list []Bucket) (all [][3]int64) {
		for _, b := range list {
			all = append(all, [3]int64{b.From, b.To, b.N})
		}
		return all
	}
	assert.Equal(t, [][3]int64{{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {31, 31, 1}, {32, 63, 2}, {64, 127, 1}}, edges(res.Turns))
	assert.Equal(t, [][3]int64{{0, 1023, 2}, {1024, 2047, 2}, {2048, 4095, 1}, {4096, 8191, 2}}, edges(res.Contexts))
	assert.Equal(t, Some(float64(40*ms)), res.Turns[0].TTFT.At(0.5).Value)
	assert.Equal(t, Some(0.5), res.Contexts[2].CachedShare)
}

// A server may invent a class, a finish reason or a model a request, and write
// what it likes into a message: memory stays bounded, and text harmless.
func TestHostileServer(t *testing.T) {
	m := meter(t, Config{Failures: 5})
	for i := range 1000 {
		r := answered(i, 0, 5*ms)
		r.Finish = "stop\x1b[2J" + time.Duration(i).String()
		r.Model = r.Finish
		bad := failing(i, 0, ms, record.Class("c"+r.Finish))
		bad.Status, bad.Failure.Message = i, "=cmd()\x16\n--- FAIL: x"
		add(t, m, r, bad)
	}
	res := m.Result(Health{})
	assert.LessOrEqual(t, len(res.Finishes), finishesKept+1)
	assert.LessOrEqual(t, len(res.Models), finishesKept+1)
	assert.LessOrEqual(t, len(res.Errors), finishesKept+1)
	sum := int64(0)
	for _, e := range res.Errors {
		sum += e.Count
		assert.LessOrEqual(t, len(e.Status), finishesKept)
		assert.NotContains(t, e.Class, "\x1b")
	}
	assert.Equal(t, int64(1000), sum, "all are counted")
	assert.Len(t, res.failed, 5)
	assert.Equal(t, int64(995), res.unkept)
}
