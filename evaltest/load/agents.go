package load

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/evaltest/load/workload"
)

// Agents is a load of stateful sessions: trajectories whose prompts grow by the
// replies of the server. Client and Plans are needed, and Config.Text.
type Agents struct {
	// Client says which server and how, by chat completions: the other APIs have
	// no tool messages here. Its Concurrency is set by RunAgents, and its Seed.
	Client client.Config
	// Plans are the trajectories: agent.Compile or agent.Synthesize makes them.
	Plans *agent.Plans
	// Config says how they are run. Seed 0 is drawn, and the report has it;
	// Body.Model is Client.Model if it is empty. Its Sink gets every finished
	// request and trajectory after they were counted.
	Config agent.Config
	// Metric says how the requests are judged. Loop and Users are set by
	// RunAgents. CacheWanted is set too: an agent's prompt repeats the one
	// before. With Config.MaxInFlight, which makes requests wait, how late they
	// were sent makes a run invalid only if Limits say so.
	Metric metric.Config
	// Progress and Tick are as in [Load].
	Progress func(Progress)
	Tick     time.Duration
	// Verbose gets each call when it has ended: what was sent, what became of
	// it, and the assistant's message, nil if there is none. It is called from
	// several goroutines, and the agent's next turn waits for it. Default:
	// nobody does.
	Verbose func(c *agent.Call, r *record.Request, message []byte)
}

// RunAgents runs the trajectories and returns when those that were admitted have
// ended. When ctx ends, or the sink fails, the report has what was finished, and
// the error wraps the cause. Errors before anything is sent have a nil report.
func RunAgents(ctx context.Context, a Agents) (*Report, error) {
	r, err := newAgentRunner(&a)
	if err != nil {
		return nil, err
	}
	defer r.client.Close()
	defer r.tell()()
	r.watch.begin()
	result, err := agent.Run(ctx, a.Plans, r.cfg, r)
	if result == nil {
		r.watch.heart.stop()
		return nil, fmt.Errorf("load: %w: %w", ErrConfig, err)
	}
	report := r.report(result)
	if err != nil {
		report.Interrupted = ctx.Err() != nil
		return report, fmt.Errorf("load: the agents' run ended early: %w", err)
	}
	return report, nil
}

// An agentRunner is the caller and the sink of a run of agents.
type agentRunner struct {
	*Agents
	cfg      agent.Config
	client   *client.Client
	meter    *metric.Meter
	watch    monitor
	inFlight atomic.Int64
	used     map[int]bool // slots that a trajectory has left; of the sink's goroutine
	refused  []error
}

func newAgentRunner(a *Agents) (*agentRunner, error) {
	if a.Plans == nil || len(a.Plans.List) == 0 {
		return nil, &OptionError{"Plans", "empty", "want trajectories: agent.Compile, or agent.Synthesize"}
	}
	if a.Client.API != "" && a.Client.API != client.Chat {
		return nil, &OptionError{"Client.API", a.Client.API, fmt.Sprintf("agents speak %q only", client.Chat)}
	}
	if a.Tick < 0 {
		return nil, &OptionError{"Tick", a.Tick, "want a time above 0, or 0 for the default"}
	}
	if a.Tick == 0 {
		a.Tick = DefaultTick
	}
	r := &agentRunner{Agents: a, cfg: a.Config, used: map[int]bool{}}
	if r.cfg.Seed == 0 {
		r.cfg.Seed = workload.NewSeed()
	}
	if r.cfg.Body.Model == "" {
		r.cfg.Body.Model = a.Client.Model
	}
	r.cfg.Sink, r.cfg.Discard = r, true // there may be thousands, and the sink has them all
	cfg := a.Client
	cfg.Seed, cfg.Concurrency = r.cfg.Seed, r.atOnce(cfg)
	var err error
	if r.client, err = client.New(cfg); err != nil {
		return nil, fmt.Errorf("load: %w: %w", ErrConfig, err)
	}
	m := a.Metric
	m.Loop, m.CacheWanted = metric.Sessions, true
	if r.cfg.MaxInFlight > 0 { // requests wait for each other by design
		m.Limits.LagP99, m.Limits.LagMax = cmp.Or(m.Limits.LagP99, -1), cmp.Or(m.Limits.LagMax, -1)
	}
	if r.cfg.Admission == agent.ClosedLoop {
		m.Users = cfg.Concurrency
	}
	if r.meter, err = metric.New(m); err != nil {
		r.client.Close()
		return nil, fmt.Errorf("load: %w: %w", ErrConfig, err)
	}
	return r, nil
}

// atOnce is how many requests may be in flight: each trajectory has one.
func (r *agentRunner) atOnce(cfg client.Config) int {
	n := len(r.Plans.List)
	if r.cfg.MaxActive > 0 {
		n = min(n, r.cfg.MaxActive)
	} else if r.cfg.Admission == agent.OpenLoop {
		n = min(n, defaultInFlight(cfg))
	}
	if r.cfg.MaxInFlight > 0 {
		n = min(n, r.cfg.MaxInFlight)
	}
	return n
}

// tell starts telling of progress and returns what ends it.
func (r *agentRunner) tell() (stop func()) {
	return tell(r.Progress, r.Tick, r.meter, &r.inFlight)
}

// Call sends a request of a trajectory: it is the agents' [agent.Caller].
func (r *agentRunner) Call(ctx context.Context, c *agent.Call, rec *record.Request) []byte {
	message := r.call(ctx, c, rec)
	if r.Verbose != nil {
		r.Verbose(c, rec, message)
	}
	return message
}

func (r *agentRunner) call(ctx context.Context, c *agent.Call, rec *record.Request) []byte {
	r.inFlight.Add(1)
	defer r.inFlight.Add(-1)
	call := client.Call{Start: c.Start, Body: c.Body, Whole: !c.Stream, Reply: new(client.Reply)}
	if len(c.Headers) > 0 {
		call.Header = make(http.Header, len(c.Headers))
		for _, h := range c.Headers {
			call.Header.Set(h.Name, h.Value)
		}
	}
	r.client.Do(ctx, &call, rec)
	if rec.Failure != nil {
		return nil
	}
	m, err := call.Reply.Message()
	if err != nil {
		rec.Failure = &record.Failure{Class: record.Malformed, Message: err.Error()}
		return nil
	}
	return m.Raw
}

// Request counts a finished request and hands it on: it is one of the agents'
// [agent.Sink].
func (r *agentRunner) Request(rec *record.Request) error {
	r.watch.see(rec)
	if err := r.meter.Add(rec); err != nil && len(r.refused) < refusedKept {
		r.refused = append(r.refused, err)
	}
	if r.Config.Sink == nil {
		return nil
	}
	return r.Config.Sink.Request(rec)
}

// Trajectory counts a trajectory that has ended and hands it on.
func (r *agentRunner) Trajectory(e *agent.Event) error {
	err := r.meter.AddJob(metric.Job{
		Trajectory: e.Trajectory, Agent: e.Agent, Due: e.Scheduled, Admitted: e.Admitted, Finished: e.Finished,
		Turns: e.Planned, Tool: e.ToolLatency, Completed: e.End == agent.Completed, Canceled: e.End == agent.Interrupted,
		Replaced: r.used[e.Slot],
	})
	r.used[e.Slot] = true
	if err != nil && len(r.refused) < refusedKept {
		r.refused = append(r.refused, err)
	}
	if r.Config.Sink == nil {
		return nil
	}
	return r.Config.Sink.Trajectory(e)
}

// report puts together what is known when all has ended.
func (r *agentRunner) report(result *agent.Result) *Report {
	health := r.watch.health()
	if all := float64(result.MaxActive) * float64(result.Duration); all > 0 {
		health.Held = metric.Some(float64(result.SinkWait) / all)
	}
	rep := &Report{
		Schema: Schema, Started: result.Start.UTC(), URL: r.client.URL(), Model: r.cfg.Body.Model, Seed: r.cfg.Seed, Workload: describedPlans(r.Plans),
		Client: r.client.Limits(), Agents: result, Result: r.meter.Result(health),
	}
	if r.cfg.Admission == agent.ClosedLoop {
		rep.Users = result.MaxActive
	}
	rep.SinkWait = result.SinkWait
	rep.warn(r.client, r.refused)
	for _, w := range r.Plans.Warnings {
		rep.Warnings = append(rep.Warnings, w.Error())
	}
	return rep
}

// describedPlans says where trajectories came from.
func describedPlans(p *agent.Plans) any {
	return struct {
		File          string `json:"file,omitempty"`
		SHA256        string `json:"sha256,omitempty"`
		SchemaVersion int    `json:"schema_version,omitempty"`
		Trajectories  int    `json:"trajectories"`
		Requests      int    `json:"requests"`
	}{p.File, p.SHA256, p.SchemaVersion, len(p.List), p.Turns()}
}
