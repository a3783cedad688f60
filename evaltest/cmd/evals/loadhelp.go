package main

import (
	"flag"
	"fmt"
	"strings"
)

// A flagGroup is flags of the help under one title. What is in none, as other
// names of a flag, is not shown on its own.
type flagGroup struct {
	title string
	flags string // names with spaces between
}

// helpWidth is where the help's lines are broken.
const helpWidth = 80

// writeFlags writes the flags by groups, each with its other names.
func writeFlags(b *strings.Builder, fs *flag.FlagSet, groups []flagGroup) {
	for i, g := range groups {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "%s:\n", g.title)
		for name := range strings.FieldsSeq(g.flags) {
			writeFlag(b, fs, fs.Lookup(name))
		}
	}
}

func writeFlag(b *strings.Builder, fs *flag.FlagSet, f *flag.Flag) {
	value, usage := flag.UnquoteUsage(f)
	head := "  -" + f.Name
	if value != "" {
		head += " " + value
	}
	fs.VisitAll(func(other *flag.Flag) {
		if other.Value == f.Value && other != f {
			head += ", -" + other.Name
		}
	})
	if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "0s" && !strings.Contains(usage, "(default") {
		usage += " (default " + d + ")"
	}
	b.WriteString(head + "\n" + wrap(usage, "        ", helpWidth))
}

// wrap breaks a text into lines of at most width characters, indent included. A
// longer word has a line of its own.
func wrap(text, indent string, width int) string {
	var b strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}

// loadGroups are the flags of evals load. In none are batchbench's
// --gen-dist-mode, which it does not show either, and -calibrate-server, which
// is for this program only.
var loadGroups = []flagGroup{
	{"Server", "model host endpoint api api-key api-key-env header http2 sglang lengths"},
	{"Time-outs and retries", "request-timeout-secs first-token-timeout idle-timeout max-retries retry-delay-ms"},
	{"Length of prompts", "input-tokens input-vary input-lognorm-mu input-lognorm-median input-lognorm-sigma input-lognorm-max input-uniform input-lengths"},
	{"Length of answers", "output-tokens output-vary output-lognorm-mu output-lognorm-median output-lognorm-sigma output-lognorm-max output-uniform output-lengths ignore-eos"},
	{"Prompts", "tokenizer seed salt no-salt whole extra"},
	{"What prompts share", "input-prefix-overlap overlap-of groups group-tokens group-system block cache-wanted"},
	{"Requests from a file", "dataset-jsonl repeat trace trace-kind time-scale trace-limit trace-block trace-from trace-to trace-keep-failed"},
	{"Closed loop", "users requests-per-user think every join"},
	{"Open loop", "rate arrival burstiness stages max-in-flight"},
	{"What is measured", "duration requests warmup cooldown drain"},
	{"Limits of a good answer, thresholds, and when a run is not valid", "slo slo-ttft slo-tpot slo-e2e slo-share slo-service require limit"},
	{"Highest sustained rate", "search search-start search-target search-growth search-tolerance search-lead search-max-repeats search-max-tries search-min search-max"},
	{"This machine", "calibrate"},
	{"What is left behind", "results-csv json requests-jsonl bench bench-name full quiet verbose dry-run"},
}

const loadHelp = `Load sends requests to a model server, measures every piece of the answers, and
prints what they come to. It takes all flags of batchbench, with one dash or two.

A closed loop has -users that each wait for their answer before they ask again:
a slow server gets less to do. An open loop, with -rate, -stages or -trace,
sends when a request is due, whatever is in flight, as many independent clients
do: a slow server gets queues. -search looks for the highest rate at which the
answers keep to limits.

Exit code: 0 if the run is valid, something was answered, and every threshold of
-require and -slo-share holds. A run is not valid if this client was the limit,
or if the server answered from its prefix cache and that was not wanted; the
summary says so and -full shows all checks. Failed requests alone are no error:
say how many are too many with -require "ok-%>=99".

The first Ctrl+C ends the load: the summary and all files are of what was
finished, and the exit code is 1. A second one ends the program at once.

Standard output has the summary, or the lines of a dry run; standard error has
what will be done, progress and warnings.

Examples:

  evals load -host http://127.0.0.1:8000 -model m -users 8 -requests-per-user 20 \
    -input-tokens 1000 -output-tokens 200
  evals load … -rate 5 -duration 5m -warmup 30s -requests-jsonl requests.jsonl \
    -require "ttft-p99-ns<=500ms"
  evals load … -trace mooncake.jsonl -time-scale 2 -dry-run
  evals load … -search -search-start 4 -duration 1m -slo-ttft 500ms -slo-tpot 50ms

What differs from batchbench:

  - Answers are streamed: without that there is no first token and no time
    between tokens. -whole asks for one piece, as batchbench always does.
  - Prompts have exactly the asked number of tokens. They are words that are one
    token each in all common tokenizers; batchbench decodes random ids of the
    tokenizer of --model, never counts the result, and cannot run for a model
    whose tokenizer is not on the hub. -tokenizer NAME takes a tokenizer, and
    then every text is counted.
  - The first 4 tokens of each prompt change from run to run (-salt), so that a
    prefix cache does not answer a repeat. -no-salt has the same prompts for the
    same -seed.
  - -input-prefix-overlap is a share of each prompt; batchbench's is one of the
    shortest of all: -overlap-of shortest. Outside of 0 to 1 it is limited, as
    there, with a warning.
  - -max-retries and -retry-delay-ms work; there they do nothing. A 4xx other
    than 429 is not tried again. Time spent on failed tries is in the summary's
    latency, as batchbench-agent counts it, and in no other number.
  - -request-timeout-secs 0 means no limit; there it means 6000 s.
  - -output-lognorm-sigma or -max alone is an error; there it is ignored. So is
    a flag that would have no effect.
  - The exit code is 1 if nothing was answered, if the run is not valid, or if a
    file could not be written; there it is 0. After Ctrl+C it is 1 as well.
  - Latencies end with the last byte; there they end with a file for each answer, in
    ./logs. No such file is written here: -requests-jsonl keeps every request.
  - -seed gives lengths of the same distributions, not the same numbers. The mean
    and the share at the cap that are printed take -lognorm-max into account. The
    histogram of input lengths is printed by -dry-run: prompts are made while the
    load runs.
  - -verbose prints to standard error. -dry-run refuses it, and flags of files and
    thresholds: nothing is measured.`
