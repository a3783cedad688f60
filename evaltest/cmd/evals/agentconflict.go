package main

import (
	"slices"
	"strings"
)

// said returns the first of these flags that is on the command line, as it
// could be written there.
func (f *agentFlags) said(names ...string) string {
	for _, name := range names {
		if value, ok := f.given[name]; ok {
			if value == "" { // families keep their values to themselves
				return "-" + name
			}
			return "-" + name + " " + value
		}
	}
	return ""
}

// shapeNames are the flags that say what synthetic agents look like.
func (f *agentFlags) shapeNames() []string {
	var names []string
	for _, x := range f.families {
		for _, y := range x.flags() {
			names = append(names, y.name[2:])
			if y.alias != "" {
				names = append(names, y.alias[2:])
			}
		}
	}
	return names
}

// conflicts has batchbench-agent's rules, and the like for what is ours.
func (f *agentFlags) conflicts() error {
	source := f.said("agent-plans-jsonl", "trace")
	shape := f.said(f.shapeNames()...)
	agents := f.said("agents")
	replay := f.said("replay-initial-overhead-tokens", "replay-turn-overhead-tokens", "admission", "time-scale")
	ofTrace := f.said("trace-kind", "trace-salt", "trace-max-delay", "trace-limit")
	perfect, ranks := f.perfect, f.said("dp-rank-perfect-routing-num")
	for _, x := range []struct {
		bad bool
		msg string
	}{
		{f.manifest == "" && f.said("agent-plans-jsonl") != "", "-agent-plans-jsonl is empty: name a file"},
		{f.trace == "" && f.said("trace") != "", "-trace is empty: name a file"},
		{f.manifest != "" && f.trace != "", source + " and " + f.said("trace") + ": one of them says what the agents do"},
		{source != "" && agents != "", agents + " cannot be used with " + source + ": the file says how many agents there are"},
		{source != "" && shape != "", shape + " cannot be used with " + source + ": the file says how long all is"},
		{source == "" && replay != "", replay + " needs -agent-plans-jsonl or -trace: it says how a file is replayed"},
		{f.trace == "" && ofTrace != "", ofTrace + " needs -trace"},
		{perfect && ranks == "", "-dp-rank-perfect-routing needs -dp-rank-perfect-routing-num: say how many workers there are"},
		{!perfect && ranks != "", ranks + " needs -dp-rank-perfect-routing"},
	} {
		if x.bad {
			return usagef("agent: %s", x.msg)
		}
	}
	if silent := f.said("dry-run", "write-plans"); f.dryRun || f.writePlans != "" {
		names := strings.Fields(measuredFlags + " agent-events-jsonl")
		if !f.verbose { // -verbose=false is no wish
			names = slices.DeleteFunc(names, func(name string) bool { return name == "verbose" })
		} else {
			names = append(names, "v")
		}
		if measured := f.said(names...); measured != "" {
			return usagef("agent: %s cannot be used with %s: nothing is sent, so nothing is measured", measured, silent)
		}
	}
	inputs := append(tokenizerFiles("tokenizer-model", f.tokenizer), namedFile{"agent-plans-jsonl", f.manifest}, namedFile{"trace", f.trace})
	return f.output.check(inputs, namedFile{"write-plans", f.writePlans}, namedFile{"agent-events-jsonl", f.events})
}
