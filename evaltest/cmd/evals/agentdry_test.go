package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/fake"
)

// reportOf is a report of a run of a plan, as far as settings need one.
func reportOf(p *agentPlan) *load.Report {
	return &load.Report{Seed: 7, Agents: &agent.Result{MaxActive: len(p.plans.List)}}
}

// agentDryLine is what batchbench-agent prints for each request.
var agentDryLine = regexp.MustCompile(`^\[DRY-RUN\] agent=\d+ invocation=\d+ input_content_tokens=\d+ output_tokens=\d+ environment_tokens=\d+ tool_call_latency_ms=\d+ trajectory_id=\S+ routing_slot=\d+ admitted_at_ms=\d+ target_prompt_tokens=\d+ reset_before=(true|false)`)

func TestAgentDryRun(t *testing.T) {
	g4, g5, g12 := fileOf(t, "g4.jsonl", manifestG4), fileOf(t, "g5.jsonl", manifestG5), fileOf(t, "g12.jsonl", manifestG12)
	var b strings.Builder
	for _, row := range []struct{ name, args string }{
		{"synthetic", "-agents 2 -tool-invocations 2 -tool-call-latency-ms 30 -max-active-agents 1"},
		{"G4", "-agent-plans-jsonl " + g4 + " -max-active-agents 2"},
		{"G5", "-agent-plans-jsonl " + g5 + " -replay-initial-overhead-tokens 5 -replay-turn-overhead-tokens 10"},
		{"G12", "-agent-plans-jsonl " + g12 + " -tokenizer-model o200k_base -admission open-loop -time-scale 2"},
		{"trace", "-trace ../../load/trace/testdata/mooncake.jsonl -trace-limit 2"},
	} {
		r := evals("", noEnv, append([]string{"agent", "-dry-run", "-seed", "7"}, strings.Fields(row.args)...)...)
		require.Equal(t, 0, r.code, r.stderr)
		for line := range strings.Lines(r.stdout) {
			assert.Regexp(t, agentDryLine, line)
		}
		name := regexp.MustCompile(`\S*/(g[0-9]+\.jsonl)`)
		b.WriteString("=== " + row.name + ": evals agent -dry-run -seed 7 " + name.ReplaceAllString(row.args, "$1") + "\n")
		b.WriteString(name.ReplaceAllString(r.stdout+"--- stderr\n"+r.stderr, "$1") + "\n")
	}
	golden(t, "agent-dryrun.golden", b.String())
}

// TestAgentWritePlans: a written manifest gives, without the other flags, the
// same bytes as what it was made of.
func TestAgentWritePlans(t *testing.T) {
	g5, g12 := fileOf(t, "g5.jsonl", manifestG5), fileOf(t, "g12.jsonl", manifestG12)
	for _, row := range []struct{ name, reason, flags, both, says string }{
		{"synthetic", "lengths that were drawn", "-agents 3 -input-lognorm-median 50 -input-lognorm-sigma 1 -tool-call-latency-ms 2 -tool-invocations-lognorm-mu 1 -tool-invocations-lognorm-sigma 1 -tool-invocations-lognorm-max 5", "", `"schema_version":1`},
		{"overheads", "they are in the file", "-agent-plans-jsonl " + g5 + " -replay-initial-overhead-tokens 5 -replay-turn-overhead-tokens 10 -time-scale 5", "", `"overhead_tokens":15`},
		{"blocks", "with what each turn says", "-agent-plans-jsonl " + g12 + " -time-scale 2", "-tokenizer-model o200k_base", `"start_after_ms":20`},
		{"trace", "rows as trajectories", "-trace ../../load/trace/testdata/mooncake-sessions.jsonl -time-scale 100", "", `"trajectory_id":"mooncake:`},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.NotEmpty(t, row.reason)
			path := filepath.Join(t.TempDir(), "new", "plans.jsonl")
			both := append(strings.Fields(row.both), "-user-prefix", "u")
			bodies := func(flags ...string) map[string][]string {
				w := serveFake(t, &fake.Server{})
				r := w.agents(t, append(flags, both...)...)
				require.Equal(t, 0, r.code, r.stderr)
				list := map[string][]string{}
				for _, s := range w.seen() {
					list[s.User] = append(list[s.User], string(s.Body))
				}
				return list
			}
			want := bodies(strings.Fields(row.flags)...)
			none := serveFake(t, &fake.Server{})
			r := none.agents(t, append(append(strings.Fields(row.flags), both...), "-write-plans", path)...)
			require.Equal(t, 0, r.code, r.stderr)
			assert.Zero(t, none.Counts().Requests, "nothing is sent")
			assert.Contains(t, strings.Join(linesOf(t, path), "\n"), row.says)
			assert.Equal(t, want, bodies("-agent-plans-jsonl", path))
		})
	}
}

// TestAgentTrace: what was read and what was made of it is said.
func TestAgentTrace(t *testing.T) {
	r := evals("", noEnv, "agent", "-trace", "../../load/trace/testdata/sharegpt.json", "-tokenizer-model", "o200k_base", "-dry-run", "-seed", "7")
	require.Equal(t, 0, r.code, r.stderr)
	for _, says := range []string{"(sharegpt, timestamps: none)", "dropped: ", "plans: 2 trajectories, 3 requests", "trace replay of ", "schema 2, SHA-256 "} {
		assert.Contains(t, r.stderr, says)
	}
	w := serveFake(t, &fake.Server{})
	r = w.agents(t, "-trace", "../../load/trace/testdata/mooncake.jsonl")
	require.Equal(t, 0, r.code, r.stderr)
	assert.Equal(t, 4, w.Counts().Requests)
}
