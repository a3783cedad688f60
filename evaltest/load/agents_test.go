package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/token"
)

// The template of the server that replays go to: so many tokens before each
// message, and before each request. A turn appends the reply with its call, whose
// arguments are one word, and the tool's answer.
const (
	perMessage, perRequest = 3, 2
	initialOverhead        = perRequest + perMessage
	turnOverhead           = 2*perMessage + 1
)

// plans200 are 200 trajectories of 1 to 8 requests, with resets, delays, and
// overheads of their own where the template's are the same.
func plans200(tb testing.TB) *agent.Plans {
	r := rand.New(rand.NewPCG(1, 2))
	var ts []agent.Trajectory
	for i := range 200 {
		tr := agent.Trajectory{Version: 1 + i%2, ID: fmt.Sprintf("t%03d", i)}
		prompt, appended := 0, 0
		for k := range 1 + r.IntN(8) {
			q := agent.Request{PromptTokens: prompt + 40 + r.IntN(60), OutputTokens: 1 + r.IntN(30), DelayAfter: time.Duration(r.IntN(4)) * time.Millisecond}
			if k > 0 && r.IntN(4) == 0 {
				q.ResetBefore, q.PromptTokens, appended = true, 30+r.IntN(50), 0
			}
			if tr.Version == 2 && r.IntN(3) == 0 {
				q.Overhead = new(initialOverhead + appended*turnOverhead)
			}
			appended++
			prompt = q.PromptTokens + q.OutputTokens + 10
			tr.Requests = append(tr.Requests, q)
		}
		ts = append(ts, tr)
	}
	var b bytes.Buffer
	require.NoError(tb, agent.Write(&b, ts))
	m, err := agent.Read(&b, "plans.jsonl")
	require.NoError(tb, err)
	plans, err := agent.Compile(m, agent.Replay{InitialOverhead: initialOverhead, TurnOverhead: turnOverhead})
	require.NoError(tb, err)
	return plans
}

// replay is the run of plans200 with 16 active slots.
func replay(tb testing.TB, url string, sink agent.Sink) load.Agents {
	return load.Agents{
		Client: client.Config{Host: url, Model: "m", RequireUsage: true}, Plans: plans200(tb),
		Config: agent.Config{Text: token.Words{}, Seed: 3, MaxActive: 16, Ranks: 5, Tags: agent.Tags{Prefix: "load"}, Sink: sink},
		Metric: metric.Config{Limits: easy, InputTolerance: metric.Tolerance{Exact: true}, OutputTolerance: metric.Tolerance{Exact: true}},
	}
}

// events keeps what became of trajectories.
type events struct {
	requests []record.Request
	list     map[string]agent.Event
}

func (e *events) Request(r *record.Request) error {
	e.requests = append(e.requests, *r)
	return nil
}

func (e *events) Trajectory(ev *agent.Event) error {
	e.list[ev.Trajectory] = *ev
	return nil
}

// TestReplay: what the server saw is the plan, request by request.
func TestReplay(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream=", stream), func(t *testing.T) { testReplay(t, stream) })
	}
}

func testReplay(t *testing.T, stream bool) {
	server := &fake.Server{PerMessage: perMessage, PerRequest: perRequest}
	url, saw := serve(t, server)
	sink := &events{list: map[string]agent.Event{}}
	a := replay(t, url, sink)
	a.Config.Body.Stream = stream
	rep, err := load.RunAgents(t.Context(), a)
	require.NoError(t, err)
	require.NoError(t, rep.Problem())
	assert.Equal(t, 200, rep.Agents.Completed)
	assert.Equal(t, a.Plans.Turns(), rep.Agents.Succeeded)
	assert.EqualValues(t, 200, rep.Result.Jobs.Completed)
	assert.EqualValues(t, a.Plans.Turns(), rep.Result.Counts.OK)
	assert.Zero(t, rep.Result.Lengths.Input, "prompts that were not of the planned length")
	assert.Zero(t, rep.Result.Lengths.Output)

	by := map[string][]*fake.Seen{}
	for _, s := range saw.all() {
		by[s.User] = append(by[s.User], s)
	}
	require.Len(t, by, 200)
	slots := map[int]bool{}
	for _, plan := range a.Plans.List {
		ev, seen := sink.list[plan.ID], by["load-"+strconv.Itoa(plan.Agent)]
		slots[ev.Slot] = true
		require.Len(t, seen, len(plan.Turns), plan.ID)
		for k, turn := range plan.Turns {
			s := seen[k]
			assert.Equal(t, []int{turn.Prompt, turn.Max, turn.Output}, []int{s.Input, s.Asked, s.Output}, "%s request %d", plan.ID, k+1)
			assert.Equal(t, stream, s.Streamed)
			assert.Equal(t, "load-"+strconv.Itoa(plan.Agent), s.Header.Get(agent.HeaderRoutingKey))
			assert.Equal(t, strconv.Itoa(ev.Slot%5), s.Header.Get(agent.HeaderTargetWorker))
			if k > 0 {
				before := seen[k-1].Written
				assert.False(t, s.Arrived.Before(before[len(before)-1].Add(plan.Turns[k-1].Delay)), "%s request %d came before its tool was done", plan.ID, k+1)
			}
			if k == 0 || turn.Reset {
				assert.Equal(t, 1, s.Messages)
			}
		}
	}
	assert.Len(t, slots, 16)
	assert.LessOrEqual(t, server.Counts().MostInFlight, 16)
	assert.Len(t, sink.requests, a.Plans.Turns())
}

// TestReplayInterrupted: when the context ends, every request that was finished
// is in the file, and the sums say what became of the others.
func TestReplayInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var n atomic.Int64
	enough := errors.New("the test has seen enough")
	url, _ := serve(t, &fake.Server{PerMessage: perMessage, PerRequest: perRequest, Saw: func(*fake.Seen) {
		if n.Add(1) == 300 {
			cancel(enough)
		}
	}})
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	rep, err := load.RunAgents(ctx, replay(t, url, agent.JSONL(f, nil)))
	require.ErrorIs(t, err, enough)
	require.True(t, rep.Interrupted)
	ok, canceled := 0, 0
	for _, r := range requestsIn(t, path) {
		switch {
		case r.OK():
			ok++
		case r.Failure.Class == record.Canceled:
			canceled++
		}
	}
	assert.GreaterOrEqual(t, ok, 300-16, "what was answered is on disk, less what had just been")
	assert.EqualValues(t, ok, rep.Result.Counts.OK)
	assert.EqualValues(t, canceled, rep.Result.Counts.Incomplete)
	sum := rep.Agents
	assert.Equal(t, sum.Planned, sum.Succeeded+sum.FailedRequests+sum.Canceled+sum.Unbuilt+sum.NotAttempted)
}

// TestReplayKilled: even a kill leaves what was finished.
func TestReplayKilled(t *testing.T) {
	if raceDetector {
		t.Skip("starts this binary anew, which takes long with the race detector")
	}
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	var child *exec.Cmd
	var n atomic.Int64
	started, killed := make(chan struct{}), make(chan struct{})
	url, _ := serve(t, &fake.Server{PerMessage: perMessage, PerRequest: perRequest, Saw: func(*fake.Seen) {
		if n.Add(1) == 300 {
			<-started
			assert.NoError(t, child.Process.Kill())
			close(killed)
		}
	}})
	child = exec.Command(os.Args[0], "-test.run=^TestReplayChild$")
	child.Env = append(os.Environ(), "EVALS_LOAD_TEST_CHILD="+url+" "+path)
	require.NoError(t, child.Start())
	close(started)
	require.Error(t, child.Wait())
	<-killed
	ok := 0
	for _, r := range requestsIn(t, path) {
		if r.OK() {
			ok++
		}
	}
	assert.GreaterOrEqual(t, ok, 300-16)
}

// TestReplayChild is the process that TestReplayKilled kills.
func TestReplayChild(t *testing.T) {
	url, path, ok := strings.Cut(os.Getenv("EVALS_LOAD_TEST_CHILD"), " ")
	if !ok {
		t.Skip("only runs as a child of TestReplayKilled")
	}
	f, err := os.Create(path)
	require.NoError(t, err)
	_, err = load.RunAgents(t.Context(), replay(t, url, agent.JSONL(f, nil)))
	require.NoError(t, err)
}

// requestsIn reads a file of requests; a line that is cut off fails the test.
func requestsIn(t *testing.T, path string) (list []record.Request) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		var r record.Request
		require.NoError(t, json.Unmarshal(line, &r), "%q", line)
		list = append(list, r)
	}
	return list
}

// TestAgentsSlowSink: a sink that holds sessions back makes the run invalid.
func TestAgentsSlowSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fake.NewPipe()
		stop, err := (&fake.Server{}).Serve(p)
		require.NoError(t, err)
		defer stop()
		// Of 7,500 requests and trajectories 4,096 fit into the queue.
		plans, err := agent.Synthesize(1, 1500, agent.Shape{Input: agent.Fixed(4), Turns: agent.Fixed(4), Output: agent.Fixed(1), Environment: agent.Fixed(1)})
		require.NoError(t, err)
		a := replay(t, "http://h", counting{nil, sync.OnceFunc(func() { <-time.After(700 * time.Millisecond) })})
		a.Plans, a.Client.Dial = plans, p.Dial
		rep, err := load.RunAgents(t.Context(), a)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, rep.SinkWait, 700*time.Millisecond, "of each session that had something to write")
		require.ErrorIs(t, rep.Problem(), load.ErrInvalid)
		require.ErrorContains(t, rep.Problem(), "sink")
	})
}

func TestBadAgents(t *testing.T) {
	good := replay(t, "http://127.0.0.1:1", nil)
	for _, tt := range []struct {
		name   string
		change func(*load.Agents)
		want   error
	}{
		{"no plans", func(a *load.Agents) { a.Plans = nil }, load.ErrConfig},
		{"api", func(a *load.Agents) { a.Client.API = client.Gemini }, load.ErrConfig},
		{"host", func(a *load.Agents) { a.Client.Host = "" }, load.ErrConfig},
		{"tick", func(a *load.Agents) { a.Tick = -1 }, load.ErrConfig},
		{"text", func(a *load.Agents) { a.Config.Text = nil }, load.ErrConfig},
		{"text, of its room", func(a *load.Agents) { a.Config.Text = nil }, agent.ErrConfig},
		{"slo", func(a *load.Agents) { a.Metric.SLO.Share = 7 }, load.ErrConfig},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := good
			tt.change(&a)
			rep, err := load.RunAgents(t.Context(), a)
			require.ErrorIs(t, err, tt.want)
			assert.Nil(t, rep)
		})
	}
}
