package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/token"
	"github.com/goevals/evals/evaltest/load/trace"
)

// wordsName is what the tokenizer column has for words without a tokenizer.
const wordsName = "words"

// countedText makes texts with a tokenizer, and counts with it.
type countedText struct {
	token.Maker
	tokenizer token.Tokenizer
}

// Count returns how many tokens a text is.
func (c countedText) Count(text string) int { return len(c.tokenizer.Encode(text)) }

var _ agent.Counter = countedText{}

// text returns what makes texts.
func (f *agentFlags) text(ctx context.Context) (agent.Text, error) {
	if f.tokenizer == "" {
		return token.Words{}, nil
	}
	t, err := token.Load(ctx, f.tokenizer, token.HubFromEnv(f.p.env))
	if err != nil {
		return nil, fmt.Errorf("-tokenizer-model %q: %w", f.tokenizer, err)
	}
	return countedText{token.Random(t), t}, nil
}

func textName(text agent.Text) string {
	if c, ok := text.(countedText); ok {
		return c.tokenizer.Name()
	}
	return wordsName
}

// An agentPlan is what the agents are to do, and where that came from.
type agentPlan struct {
	plans     *agent.Plans
	mode      string            // batchbench-agent's word for it, or ours
	shape     *agentShape       // of synthetic ones
	tokenizer string            // its name
	traced    *trace.Report     // of a trace
	made      *trace.PlanReport // likewise
}

// plan reads or draws the plans.
func (f *agentFlags) plan(text agent.Text) (*agentPlan, error) {
	p := &agentPlan{tokenizer: textName(text)}
	m, err := f.source(p, text)
	if err != nil {
		return nil, err
	}
	if m == nil {
		p.mode = "synthetic"
		shape, err := shapeOf(f.families)
		if err != nil {
			return nil, err
		}
		p.shape = &shape
		if p.plans, err = shape.plan(f.seed, f.agents); err != nil {
			return nil, fmt.Errorf("cannot draw the agents: %w", err)
		}
		return p, nil
	}
	p.plans, err = agent.Compile(m, agent.Replay{InitialOverhead: f.initialOver, TurnOverhead: f.turnOver, TimeScale: f.timeScale})
	switch {
	case errors.Is(err, agent.ErrConfig):
		return nil, usagef("agent: %v", err)
	case err != nil:
		return nil, err
	}
	return p, f.countable(p, text)
}

// source reads a manifest or a trace; nil if there is neither.
func (f *agentFlags) source(p *agentPlan, text agent.Text) (*agent.Manifest, error) {
	if f.manifest != "" {
		p.mode = "trajectory_replay"
		return agent.Open(f.manifest)
	}
	if f.trace == "" {
		return nil, nil
	}
	p.mode = "trace_replay"
	kind, err := trace.ParseKind(f.traceKind)
	if err != nil {
		return nil, usagef("agent: -trace-kind: %v", err)
	}
	opt := trace.Options{Kind: kind, Limit: f.traceLimit}
	if c, ok := text.(agent.Counter); ok {
		opt.Count = c.Count
	}
	t, err := trace.Open(f.trace, opt)
	if err != nil {
		return nil, err
	}
	p.traced = t.Report()
	list, made, err := t.Plan(trace.PlanOptions{Salt: f.traceSalt, MaxDelay: f.traceMaxDelay})
	switch {
	case errors.Is(err, trace.ErrNoLengths):
		return nil, usagef("agent: -trace %s holds texts, whose tokens are to be counted: give the model's tokenizer with -tokenizer-model, such as -tokenizer-model o200k_base", f.trace)
	case errors.Is(err, trace.ErrOption):
		return nil, usagef("agent: -trace: %v", err)
	case err != nil:
		return nil, err
	}
	p.made = made
	sum, err := fileSum(f.trace)
	return &agent.Manifest{File: f.trace, SHA256: sum, SchemaVersion: 2, Trajectories: list}, err
}

func fileSum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// countable refuses tools' blocks that no tokenizer can size: every trajectory
// that has one would fail.
func (f *agentFlags) countable(p *agentPlan, text agent.Text) error {
	if _, ok := text.(agent.Counter); ok {
		return nil
	}
	for _, plan := range p.plans.List {
		for i, t := range plan.Turns {
			for _, b := range t.Blocks {
				if b.Role == agent.ToolDefinition || b.Role == agent.ToolCall {
					return usagef("agent: %s: trajectory %q request %d has a block of the role %s, whose tokens are those of its JSON: words alone cannot count it, so give the model's tokenizer with -tokenizer-model, such as -tokenizer-model o200k_base",
						p.plans.File, plan.ID, i+1, b.Role)
				}
			}
		}
	}
	return nil
}

// tellPlan says on standard error what is about to be done.
func (f *agentFlags) tellPlan(p *agentPlan) {
	w := bufio.NewWriter(f.p.stderr)
	defer w.Flush()
	p.tellTrace(w)
	for _, warning := range f.warnings(p) {
		fmt.Fprintf(w, "warning: %s\n", visibleLine(warning))
	}
	if f.output.quiet {
		return
	}
	fmt.Fprintf(w, "agents: %d with %d requests, %s", len(p.plans.List), p.plans.Turns(), strings.ReplaceAll(p.mode, "_", " "))
	if p.plans.File != "" {
		fmt.Fprintf(w, " of %s, schema %d, SHA-256 %s", visibleLine(p.plans.File), p.plans.SchemaVersion, p.plans.SHA256)
	}
	fmt.Fprintf(w, "; seed %d, texts of %s\n", f.seed, visibleLine(p.tokenizer))
	if s := p.shape; s != nil {
		fmt.Fprintf(w, "input tokens: %v\noutput tokens: %v\nenvironment tokens: %v\ntool invocations: %v\ntool call latency (ms): %v\n", s.Input, s.Output, s.Environment, s.Turns, s.Latency)
	}
}

// tellTrace says what a trace held and what was made of it.
func (p *agentPlan) tellTrace(w io.Writer) {
	if p.traced == nil {
		return
	}
	fmt.Fprint(w, visible(p.traced.String()))
	r := p.made
	fmt.Fprintf(w, "plans: %d trajectories, %d requests, %d blocks, %d resets\n", r.Trajectories, r.Requests, r.Blocks, r.Resets)
	if r.CappedDelays > 0 {
		fmt.Fprintf(w, "delays cut to -trace-max-delay: %d, %v in all\n", r.CappedDelays, r.Capped)
	}
	if r.RoundedTimes > 0 {
		fmt.Fprintf(w, "times rounded to whole milliseconds: %d\n", r.RoundedTimes)
	}
}

// warnings are what is odd about the plans and the flags, as far as the report
// of a run does not have it.
func (f *agentFlags) warnings(p *agentPlan) (list []string) {
	if f.dryRun || f.writePlans != "" {
		for _, warning := range p.plans.Warnings {
			list = append(list, warning.Error())
		}
	}
	if n := starts(p.plans); n > 0 && f.admission == "closed-loop" {
		list = append(list, fmt.Sprintf("%d trajectories have a start of their own, which a closed loop does not keep: -admission open-loop does", n))
	}
	if f.noTags && f.userPrefix != "" {
		list = append(list, fmt.Sprintf("-user-prefix %s is not used: -disable-user-tagging goes before it", f.userPrefix))
	}
	return list
}

// starts counts the trajectories that do not begin with the run.
func starts(p *agent.Plans) (n int) {
	for _, x := range p.List {
		if x.StartAfter > 0 {
			n++
		}
	}
	return n
}

// visibleLine makes text of a file fit for a line of a terminal.
func visibleLine(s string) string { return strings.ReplaceAll(visible(s), "\n", `\n`) }

// writeManifest writes the plans so that the file alone gives the same run:
// the overheads and the time scale are in it.
func (f *agentFlags) writeManifest(p *agentPlan) error {
	list, rounded := trajectories(p.plans)
	if err := os.MkdirAll(filepath.Dir(f.writePlans), 0o777); err != nil {
		return err
	}
	err := toFile(f.writePlans, os.O_TRUNC, func(w io.Writer) error { return agent.Write(w, list) })
	if err != nil {
		return fmt.Errorf("-write-plans %s: %w", f.writePlans, err)
	}
	if rounded > 0 {
		fmt.Fprintf(f.p.stderr, "warning: %d times were rounded to whole milliseconds, which is all that a manifest holds\n", rounded) //nolint:errcheck // nowhere to tell it
	}
	return nil
}

// trajectories makes of plans what a manifest holds. Times are rounded to
// milliseconds; rounded counts those that were not whole ones.
func trajectories(plans *agent.Plans) (list []agent.Trajectory, rounded int) {
	millis := func(d time.Duration) time.Duration {
		r := d.Round(time.Millisecond)
		if r != d {
			rounded++
		}
		return r
	}
	for _, p := range plans.List {
		t := agent.Trajectory{Version: 1, ID: p.ID, StartAfter: millis(p.StartAfter)}
		if t.StartAfter > 0 {
			t.Version = 2
		}
		overhead := false
		for i := range p.Turns {
			overhead = overhead || p.Turns[i].Overhead > 0
		}
		for i := range p.Turns {
			turn := &p.Turns[i]
			q := agent.Request{
				PromptTokens: turn.Prompt, OutputTokens: turn.Output, DelayAfter: millis(turn.Delay),
				ResetBefore: turn.Reset, Stream: turn.Stream, Blocks: turn.Blocks,
			}
			if turn.Max != turn.Output {
				q.MaxTokens = turn.Max
			}
			if overhead { // all of them: the next one would go on from this
				q.Overhead = &turn.Overhead
			}
			if overhead || q.Stream != nil || q.MaxTokens > 0 || len(q.Blocks) > 0 {
				t.Version = 2
			}
			t.Requests = append(t.Requests, q)
		}
		list = append(list, t)
	}
	return list, rounded
}
