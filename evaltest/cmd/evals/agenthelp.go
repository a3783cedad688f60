package main

import "strings"

const agentManual = `Agent keeps a model server busy as stateful agents do. Each agent is a
conversation: a first prompt, then turn by turn the server's answer, a synthetic
tool call, as long a wait as the tool takes, and the tool's answer. What the
agents do is drawn from lengths, or read from a manifest of trajectories, or from
a trace of real traffic.

A manifest holds a trajectory a line:

  {"schema_version":1,"trajectory_id":"a","requests":[
    {"prompt_tokens":256,"output_tokens":64,"delay_after_ms":25},
    {"prompt_tokens":448,"output_tokens":96}]}

(in one line). reset_before starts a conversation over. Schema 2 adds
start_after_ms, overhead_tokens, stream, max_tokens and blocks.

Examples:

  evals agent -host http://127.0.0.1:8000 -model m -agents 20 -max-active-agents 8
  evals agent -agent-plans-jsonl plans.jsonl -dry-run
  evals agent -trace mooncake.jsonl -trace-limit 1000 -write-plans plans.jsonl
  evals agent -host http://127.0.0.1:8000 -model m -agent-plans-jsonl plans.jsonl \
    -admission open-loop -stream -results-csv agents.csv -requests-jsonl requests.jsonl

Ctrl+C ends the run: the summary and all files are of what has ended by then. A
second one ends the program. The exit code is 0 if something was answered, the
run is valid and all thresholds hold; 1 if not, or if it was interrupted; 2 for a
mistake in the command line.

The flags of batchbench-agent work under their own names, with one dash or two,
and with their meaning. An on/off flag is set off by -name=false.

What differs from batchbench-agent:

  - Texts are words that are one token in all common tokenizers, so that no
    tokenizer is needed; batchbench-agent downloads that of -model.
    -tokenizer-model does it with one. Blocks of tools need one.
  - A text that cannot be made ends its own trajectory, not the run. The JSON of
    a tool's block has the asked size, or the block is an error; the nearest
    size is never taken in its place.
  - What cannot help is not tried again: another 4xx than 429, a timeout, an
    answer that is malformed or has no usage. A server's Retry-After is kept.
    Failed tries and waits stand apart in -requests-jsonl and -json; the request
    latency of the summary still holds them, as batchbench-agent's.
  - An interrupt loses nothing. Rows of -agent-events-jsonl are written as
    trajectories end, in that order, not sorted by agent when all is over.
  - The exit code is 1 if no request was answered, if the client was the
    bottleneck, or if a threshold was missed; theirs is 0.
  - User tags follow from the seed, so that a run is routed alike when it is
    repeated. The seed is always in the summary, the CSV and the JSON. The same
    seed gives other texts than batchbench-agent's.
  - A synthetic tool is declared with -declare-tool only, as theirs is never.
  - An answer's reasoning stays in the next prompt, also under its newer name.
  - Cached tokens that the server reports stand beside the estimate.
  - -dry-run and -write-plans refuse flags of a run, such as -results-csv: nothing
    is measured.
  - The CSV has further columns behind theirs: lengths, retries, jobs an hour.

The same as theirs: -request-timeout-secs 0 is an error, -retry-delay-ms 0 keeps
250, an answer without usage is a failure, and answers are asked for whole unless
the manifest says stream. -stream is ours.`

// agentGroups are the flags by topic. Other names of a flag stand beside it.
var agentGroups = []flagGroup{
	{"Server", "host endpoint model api api-key api-key-env header http2 sglang lengths ignore-eos stream declare-tool"},
	{"Time-outs and retries", "request-timeout-secs first-token-timeout idle-timeout max-retries retry-delay-ms"},
	{"Synthetic agents: each length is fixed, or log-normal by sigma, mu or median, and perhaps a max", "agents " + familyNames()},
	{"A manifest or a trace in their place", "agent-plans-jsonl replay-initial-overhead-tokens replay-turn-overhead-tokens admission time-scale" +
		" trace trace-kind trace-salt trace-max-delay trace-limit write-plans"},
	{"How they run", "max-active-agents max-in-flight lookahead replies seed tokenizer-model"},
	{"Routing", "user-prefix disable-user-tagging dp-rank-perfect-routing dp-rank-perfect-routing-num"},
	{"Limits of a good answer, thresholds, and when a run is not valid", "slo slo-ttft slo-tpot slo-e2e slo-share slo-service require limit"},
	{"What is left behind", "results-csv json requests-jsonl agent-events-jsonl bench bench-name full quiet verbose dry-run"},
}

// familyNames are the flags of the five lengths.
func familyNames() string {
	var names []string
	for _, f := range families() {
		for _, x := range f.flags() {
			names = append(names, x.name[2:])
		}
	}
	return strings.Join(names, " ")
}
