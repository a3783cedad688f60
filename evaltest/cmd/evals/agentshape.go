package main

import (
	"errors"
	"flag"
	"fmt"

	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/workload"
)

// A family is one length of an agent's shape: fixed or log-normal.
type family struct {
	column    string // what the CSV columns begin with
	standard  int    // the length if none is given; 0 for none
	names     workload.Names
	aliases   workload.Names // fields without one are empty
	fixed     optional[int]
	mu        optional[float64]
	median    optional[float64]
	sigma     optional[float64]
	max       optional[int]
	zeroIsOff bool
	what      string
}

// families returns batchbench-agent's five, in the order in which it lists
// them.
func families() []*family {
	input, output, environment, turns := workload.FlagNames("input"), workload.FlagNames("output"), workload.FlagNames("environment"), workload.FlagNames("tool-invocations")
	turns.Fixed = "--tool-invocations"
	latency := workload.FlagNames("tool-call-latency")
	latency.Fixed, latency.Median, latency.Max = "--tool-call-latency-ms", "--tool-call-latency-lognorm-median-ms", "--tool-call-latency-lognorm-max-ms"
	return []*family{
		{column: "input", standard: 128, names: input, aliases: workload.FlagNames("initial-prompt"), what: "an agent's first prompt has `N` tokens"},
		{column: "output", standard: 64, names: output, aliases: workload.FlagNames("model-response"), what: "each answer has `N` tokens, at least and at most"},
		{column: "environment", standard: 64, names: environment, aliases: workload.FlagNames("environment-response"), what: "each tool's answer has `N` tokens"},
		{column: "tool_invocations", standard: 4, names: turns, what: "an agent makes `N` requests"},
		{column: "tool_call_latency", names: latency, zeroIsOff: true, what: "a tool takes `N` milliseconds; 0 is no time",
			aliases: workload.Names{Fixed: "--tool-latency-ms", Median: "--tool-call-latency-lognorm-median", Max: "--tool-call-latency-lognorm-max"}},
	}
}

// flags are the family's flags, each with its other name.
func (f *family) flags() []familyFlag {
	return []familyFlag{
		{f.names.Fixed, f.aliases.Fixed, &f.fixed, f.what},
		{f.names.Mu, f.aliases.Mu, &f.mu, "`X` is the mean of the logarithms, in place of a median"},
		{f.names.Median, f.aliases.Median, &f.median, "half are below `X`, in place of a mu"},
		{f.names.Sigma, f.aliases.Sigma, &f.sigma, "`X` is the standard deviation of the logarithms; any of these four needs it"},
		{f.names.Max, f.aliases.Max, &f.max, "what would be above `N` is N"},
	}
}

type familyFlag struct {
	name, alias string // with two dashes; alias may be empty
	value       flag.Value
	what        string
}

func (f *family) declare(fs *flag.FlagSet) {
	for i, x := range f.flags() {
		what := x.what
		if i == 0 && f.standard > 0 {
			what += fmt.Sprintf(" (default %d)", f.standard)
		}
		fs.Var(x.value, x.name[2:], what)
		if x.alias != "" {
			fs.Var(x.value, x.alias[2:], "another name of -"+x.name[2:])
		}
	}
}

// dist is the length that was asked for, or the standard one.
func (f *family) dist() (workload.Dist, error) {
	d, err := workload.Settings{
		Names: f.names, Fixed: f.fixed.p, Mu: f.mu.p, Median: f.median.p, Sigma: f.sigma.p, Max: f.max.p, ZeroIsNone: f.zeroIsOff,
	}.Dist()
	var bad *workload.OptionError
	switch {
	case errors.As(err, &bad) && bad.Value == "":
		return d, usagef("agent: %s %s", bad.Option, bad.Reason)
	case errors.As(err, &bad):
		return d, usagef("agent: %s is %s: %s", bad.Option, bad.Value, bad.Reason)
	case err != nil:
		return d, usagef("agent: %v", err)
	case d.IsZero() && f.standard > 0:
		return workload.Fixed(f.standard, 0)
	}
	return d, nil
}

// A shape is what synthetic agents look like.
type agentShape struct {
	Input       workload.Dist `json:"input_tokens"`
	Output      workload.Dist `json:"output_tokens"`
	Environment workload.Dist `json:"environment_tokens"`
	Turns       workload.Dist `json:"tool_invocations"`
	Latency     workload.Dist `json:"tool_call_latency_ms"`
}

// shapeOf reads all families, so that all that is wrong with them is said at
// once.
func shapeOf(fs []*family) (agentShape, error) {
	var s agentShape
	var errs []error
	for i, to := range []*workload.Dist{&s.Input, &s.Output, &s.Environment, &s.Turns, &s.Latency} {
		d, err := fs[i].dist()
		*to = d
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

func (s agentShape) plan(seed uint64, agents int) (*agent.Plans, error) {
	shape := agent.Shape{Input: s.Input, Turns: s.Turns, Output: s.Output, Environment: s.Environment}
	if !s.Latency.IsZero() { // nil and a distribution of nothing are not the same
		shape.Latency = s.Latency
	}
	return agent.Synthesize(seed, agents, shape)
}
