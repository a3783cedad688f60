package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/trace"
)

// agentFlags are the flags of evals agent.
type agentFlags struct {
	p      *program
	fs     *flag.FlagSet
	server serverFlags
	output outputFlags
	limit  limitFlag

	families []*family
	agents   int
	active   int

	manifest              string
	initialOver, turnOver int
	admission             string
	timeScale             float64
	trace, traceKind      string
	traceSalt             string
	traceMaxDelay         time.Duration
	traceLimit            int
	writePlans            string
	tokenizer             string
	seed                  uint64 // that is used
	seedGiven             optional[uint64]
	replies               string
	stream, declareTool   bool
	ignoreEOS             bool
	lookahead, inFlight   int
	userPrefix            string
	noTags, perfect       bool
	ranks                 int
	events                string
	verbose, dryRun       bool
	given                 map[string]string // the flags on the command line, and their values
}

var agentCommand = command{
	name:   "agent",
	line:   "agent -host URL -model MODEL [flags]",
	what:   "loads a model server with agents: conversations that grow, wait for tools and start over",
	more:   agentManual,
	groups: agentGroups,
	setup: func(p *program, fs *flag.FlagSet) func([]string) error {
		f := &agentFlags{p: p, fs: fs, families: families()}
		f.declare()
		return f.run
	},
}

func (f *agentFlags) declare() {
	fs := f.fs
	f.server.declare(fs)
	f.output.declare(fs, f.p)
	f.output.benchName, fs.Lookup("bench-name").DefValue = "Agent", "Agent"
	for name, usage := range map[string]string{ // what agents know less of
		"api":                  "how the server is spoken to: agents know `chat` only",
		"lengths":              "the `NAMES` of an answer's length: vllm or sglang (default vllm)",
		"request-timeout-secs": "give a try up after so many `SECONDS`, at least 1",
		"retry-delay-ms":       fs.Lookup("retry-delay-ms").Usage + "; 0 is 250",
	} {
		fs.Lookup(name).Usage = usage
	}
	f.limit.declare(fs)
	for _, x := range f.families {
		x.declare(fs)
	}
	f.declarePlans(fs)
	f.declareRun(fs)
}

// declarePlans declares what says which trajectories there are.
func (f *agentFlags) declarePlans(fs *flag.FlagSet) {
	fs.IntVar(&f.agents, "agents", 1, "how many agents there are: `N` trajectories of their own")
	fs.StringVar(&f.manifest, "agent-plans-jsonl", "", "replay the trajectories of a manifest `FILE`, plain, gzip or zstd, in place of synthetic ones")
	fs.IntVar(&f.initialOver, "replay-initial-overhead-tokens", 0, "the server's chat template adds `N` tokens to a first or reset prompt: texts are so much shorter")
	fs.IntVar(&f.turnOver, "replay-turn-overhead-tokens", 0, "the server's chat template adds `N` tokens with each turn")
	fs.StringVar(&f.admission, "admission", "closed-loop", "when trajectories begin: `WHEN` is closed-loop, as slots become free, or open-loop, at their start_after_ms")
	fs.Float64Var(&f.timeScale, "time-scale", 1, "divide starts and delays by `X`: 2 is twice as fast")
	fs.StringVar(&f.trace, "trace", "", "replay a trace `FILE` of requests: "+traceKinds())
	fs.StringVar(&f.traceKind, "trace-kind", "auto", "the `KIND` of the trace; auto looks at what it holds")
	fs.StringVar(&f.traceSalt, "trace-salt", "", "other `TEXT`, other texts of the same structure, which no cache holds from the run before")
	fs.DurationVar(&f.traceMaxDelay, "trace-max-delay", 0, "cut longer delays between turns to this `TIME`; 0 cuts none")
	fs.IntVar(&f.traceLimit, "trace-limit", 0, "read the first `N` requests of the trace; 0 reads all")
	fs.StringVar(&f.writePlans, "write-plans", "", "write the plans to `FILE` as a manifest, and send nothing")
}

// declareRun declares what says how they are run.
func (f *agentFlags) declareRun(fs *flag.FlagSet) {
	fs.IntVar(&f.active, "max-active-agents", 0, "`N` agents are active at most; the next one takes the slot of one that has ended (default: all)")
	fs.StringVar(&f.tokenizer, "tokenizer-model", "", "make and count texts with the tokenizer `NAME`: a tokenizer.json or its folder, an encoding such as o200k_base, or the id of a repository of the hub (default: words that are one token in all common tokenizers)")
	fs.Var(&f.seedGiven, "seed", "the `SEED` of all lengths, texts and tags (default: drawn, and printed)")
	fs.StringVar(&f.replies, "replies", "live", "what stands in prompts for earlier answers: `WHAT` is live, the server's own, or recorded, texts of the planned length")
	fs.BoolVar(&f.stream, "stream", false, "ask for streamed answers unless the manifest says otherwise: without it there is no time to the first token")
	fs.BoolVar(&f.declareTool, "declare-tool", false, "declare the tool that the synthetic calls are to: strict servers want that")
	fs.BoolVar(&f.ignoreEOS, "ignore-eos", false, "ask the server to go on to the full length")
	fs.IntVar(&f.lookahead, "lookahead", 0, fmt.Sprintf("make the first prompts of `N` trajectories before they are due (default %d)", agent.DefaultLookahead))
	fs.IntVar(&f.inFlight, "max-in-flight", 0, "`N` requests are at the server at most; 0 is no limit but the active agents. A tool call holds none. Requests then wait by intent, and lag makes no run invalid unless -limit says so")
	fs.StringVar(&f.userPrefix, "user-prefix", "", "name agents `PREFIX`-0, PREFIX-1 and so on to the server (default: UUIDs that follow from the seed)")
	fs.BoolVar(&f.noTags, "disable-user-tagging", false, "send neither user nor "+agent.HeaderRoutingKey)
	fs.BoolVar(&f.perfect, "dp-rank-perfect-routing", false, "send "+agent.HeaderTargetWorker+": the agent's slot modulo -dp-rank-perfect-routing-num")
	fs.IntVar(&f.ranks, "dp-rank-perfect-routing-num", 0, "the server has `N` workers")
	fs.StringVar(&f.events, "agent-events-jsonl", "", "write a line to `FILE` for each trajectory, as it ends")
	fs.BoolVar(&f.verbose, "verbose", false, "print each request and answer to standard error, cut to 50 characters")
	fs.BoolVar(&f.verbose, "v", false, "another name of -verbose")
	fs.BoolVar(&f.dryRun, "dry-run", false, "make all texts, print a line for each request, and send nothing")
}

// run does what the flags ask for.
func (f *agentFlags) run(args []string) error {
	if len(args) > 0 {
		return usagef("agent takes no arguments besides its flags, and %q is one; a flag that is on or off is written -name or -name=false", args[0])
	}
	ctx, stop := interruptible()
	defer stop()
	plan, run, err := f.prepare(ctx)
	if err != nil {
		return err
	}
	f.tellPlan(plan)
	if f.writePlans != "" {
		if err := f.writeManifest(plan); err != nil || !f.dryRun {
			return err
		}
	}
	if f.dryRun {
		return agent.DryRun(ctx, f.p.stdout, plan.plans, run.Config)
	}
	return f.send(ctx, plan, run)
}

// prepare makes of the flags what is to be run. It sends nothing, and writes
// nothing.
func (f *agentFlags) prepare(ctx context.Context) (*agentPlan, load.Agents, error) {
	f.given = map[string]string{}
	f.fs.Visit(func(x *flag.Flag) { f.given[x.Name] = x.Value.String() })
	if err := f.check(); err != nil {
		return nil, load.Agents{}, err
	}
	text, err := f.text(ctx)
	if err != nil {
		return nil, load.Agents{}, err
	}
	plan, err := f.plan(text)
	if err != nil {
		return nil, load.Agents{}, err
	}
	run, err := f.load(plan, text)
	return plan, run, err
}

// load is the run that the flags describe. It has been checked as far as that
// is possible before anything is written.
func (f *agentFlags) load(plan *agentPlan, text agent.Text) (load.Agents, error) {
	cfg, err := f.server.config(f.p.env)
	if err != nil {
		return load.Agents{}, err
	}
	cfg.RequireUsage = true
	slo, err := f.output.slo.slo()
	if err != nil {
		return load.Agents{}, err
	}
	a := load.Agents{
		Client: cfg, Plans: plan.plans, Metric: metric.Config{SLO: slo, Limits: f.limit.limits},
		Config: agent.Config{
			Text: text, Seed: f.seed,
			Body: agent.Body{
				Model: cfg.Model, SGLang: cfg.Lengths == client.SGLang, IgnoreEOS: f.ignoreEOS, Stream: f.stream, DeclareTool: f.declareTool,
			},
			MaxActive: f.active, MaxInFlight: f.inFlight, Lookahead: f.lookahead,
			Tags: agent.Tags{Disabled: f.noTags, Prefix: f.userPrefix}, Ranks: f.ranks,
		},
	}
	if f.replies == "recorded" {
		a.Config.Replies = agent.Recorded
	}
	if f.admission == "open-loop" {
		a.Config.Admission = agent.OpenLoop
	}
	a.Progress, a.Tick = f.output.progress()
	if f.verbose {
		a.Verbose = newAgentTalk(f.p.stderr).tell
	}
	return a, f.rehearse(a)
}

// rehearse finds what would be refused, before a file of an earlier run is
// overwritten for nothing.
func (f *agentFlags) rehearse(a load.Agents) error {
	cfg := a.Client
	cfg.Concurrency = 1
	c, err := client.New(cfg)
	if err != nil {
		return usagef("agent: %v", err)
	}
	c.Close()
	if _, err := metric.New(a.Metric); err != nil {
		return usagef("agent: %v", err)
	}
	// A dry run whose context has ended looks at the configuration and no more.
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := agent.DryRun(ended, nil, a.Plans, a.Config); errors.Is(err, agent.ErrConfig) {
		return usagef("agent: %v", err)
	}
	return nil
}

// send runs the load and writes what was asked for.
func (f *agentFlags) send(ctx context.Context, plan *agentPlan, a load.Agents) (err error) {
	if err := f.output.open(); err != nil {
		return err
	}
	sink := &agentSink{requests: f.output.sink()}
	if f.events != "" {
		if err := os.MkdirAll(filepath.Dir(f.events), 0o777); err != nil {
			return err
		}
		file, failed := os.Create(f.events)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		sink.events = agent.JSONL(nil, file)
	}
	a.Config.Sink = sink
	rep, err := load.RunAgents(ctx, a)
	if rep == nil {
		return f.output.finish(nil, err, metric.AgentSheet, nil)
	}
	if plan.shape != nil {
		rep.Workload = struct {
			Plans any         `json:"plans"`
			Shape *agentShape `json:"shape"`
		}{rep.Workload, plan.shape}
	}
	err = f.output.finish(rep, err, metric.AgentSheet, f.settings(plan, rep))
	return errors.Join(err, f.tellAgents(rep))
}

// check refuses flags that contradict each other or are out of their range,
// before any file is read.
func (f *agentFlags) check() error {
	if err := f.conflicts(); err != nil {
		return err
	}
	for _, x := range []struct {
		name        string
		value, from int
	}{
		{"agents", f.agents, 1}, {"max-active-agents", f.active, 1}, {"dp-rank-perfect-routing-num", f.ranks, 1},
		{"replay-initial-overhead-tokens", f.initialOver, 0}, {"replay-turn-overhead-tokens", f.turnOver, 0},
		{"lookahead", f.lookahead, 0}, {"max-in-flight", f.inFlight, 0}, {"trace-limit", f.traceLimit, 0}, {"request-timeout-secs", f.server.timeout, 1},
	} {
		if _, set := f.given[x.name]; set && x.value < x.from {
			return usagef("agent: -%s is %d: want at least %d", x.name, x.value, x.from)
		}
	}
	oneOf := func(name, value string, want ...string) error {
		for _, w := range want {
			if value == w {
				return nil
			}
		}
		return usagef("agent: -%s is %q: want %s", name, value, strings.Join(want, " or "))
	}
	switch {
	case !(f.timeScale > 0) || math.IsInf(f.timeScale, 0):
		return usagef("agent: -time-scale is %v: want a finite number above 0", f.timeScale)
	case f.traceMaxDelay < 0:
		return usagef("agent: -trace-max-delay is %v: want 0 or more", f.traceMaxDelay)
	case f.server.model == "":
		return usagef("agent: -model is empty: name the model, which stands in each request")
	case f.server.lengths == string(client.OpenAI):
		return usagef("agent: -lengths is %s, which has no least length: an agent's plan is of exact lengths; want %s or %s", client.OpenAI, client.VLLM, client.SGLang)
	}
	if err := errors.Join(
		oneOf("admission", f.admission, "closed-loop", "open-loop"),
		oneOf("replies", f.replies, "live", "recorded"),
		oneOf("api", f.server.api, string(client.Chat)), // the others have no tool messages here
	); err != nil {
		return err
	}
	if _, err := trace.ParseKind(f.traceKind); err != nil {
		return usagef("agent: -trace-kind is %q: want auto, %s", f.traceKind, traceKinds())
	}
	f.seed = rooted(f.seedGiven)
	return nil
}
