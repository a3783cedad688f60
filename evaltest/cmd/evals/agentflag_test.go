package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/agent"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/token"
)

// TestAgentFlags shows what each flag makes of the run.
func TestAgentFlags(t *testing.T) {
	g4 := fileOf(t, "g4.jsonl", manifestG4)
	turns := func(p *agent.Plans) (n []int) {
		for _, x := range p.List {
			n = append(n, len(x.Turns))
		}
		return n
	}
	first := func(p *agent.Plans) agent.Turn { return p.List[0].Turns[0] }
	all := func(p *agent.Plans) (list []agent.Turn) {
		for _, x := range p.List {
			list = append(list, x.Turns...)
		}
		return list
	}
	for _, row := range []struct {
		name, reason, flags string
		check               func(t *testing.T, p *agent.Plans, a load.Agents)
	}{
		{"defaults", "those of batchbench-agent", "", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, []int{4}, turns(p))
			assert.Equal(t, agent.Turn{Prompt: 128, Content: 128, Output: 64, Min: 64, Max: 64, Environment: 64}, first(p))
			assert.Equal(t, time.Minute, a.Client.Timeouts.Total)
			assert.Equal(t, client.Retry{Max: 2, Delay: 250 * time.Millisecond}, a.Client.Retry)
			assert.True(t, a.Client.RequireUsage)
			assert.False(t, a.Config.Body.Stream)
			assert.Equal(t, agent.Live, a.Config.Replies)
			assert.Equal(t, agent.ClosedLoop, a.Config.Admission)
			assert.Equal(t, token.Words{}, a.Config.Text)
			assert.NotZero(t, a.Config.Seed)
		}},
		{"agents", "so many trajectories", "--agents 3", func(t *testing.T, p *agent.Plans, a load.Agents) { assert.Equal(t, []int{4, 4, 4}, turns(p)) }},
		{"fixed", "each length", "-input-tokens 10 -output-tokens 3 -environment-tokens 5 -tool-invocations 2 -tool-call-latency-ms 7", func(t *testing.T, p *agent.Plans, a load.Agents) {
			x := agent.Turn{Prompt: 10, Content: 10, Output: 3, Min: 3, Max: 3, Environment: 5, Delay: 7 * time.Millisecond}
			y := x
			y.Prompt, y.Content, y.Cacheable = 18, 18, 13
			assert.Equal(t, []agent.Turn{x, y}, p.List[0].Turns)
		}},
		{"other names", "batchbench-agent's aliases", "-initial-prompt-tokens 10 -model-response-tokens 3 -environment-response-tokens 5 -tool-latency-ms 7", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, agent.Turn{Prompt: 10, Content: 10, Output: 3, Min: 3, Max: 3, Environment: 5, Delay: 7 * time.Millisecond}, first(p))
		}},
		{"no latency", "an explicit 0 is none", "-tool-call-latency-ms 0", func(t *testing.T, p *agent.Plans, a load.Agents) { assert.Zero(t, first(p).Delay) }},
		{"log-normal", "by median, mu and max", "-agents 20 -seed 5 -input-lognorm-median 100 -input-lognorm-sigma 1 -input-lognorm-max 40 -output-lognorm-mu 3 -output-lognorm-sigma 0.1" +
			" -environment-lognorm-median 9 -environment-lognorm-sigma 0.01 -tool-invocations-lognorm-median 3 -tool-invocations-lognorm-sigma 0.5 -tool-invocations-lognorm-max 4" +
			" -tool-call-latency-lognorm-median-ms 8 -tool-call-latency-lognorm-sigma 1 -tool-call-latency-lognorm-max-ms 9", func(t *testing.T, p *agent.Plans, a load.Agents) {
			capped := 0
			for _, x := range p.List {
				assert.LessOrEqual(t, x.Turns[0].Prompt, 40)
				if x.Turns[0].Prompt == 40 {
					capped++
				}
				assert.LessOrEqual(t, len(x.Turns), 4)
			}
			assert.Greater(t, capped, 5, "most would be above the cap, and lie on it")
			for _, x := range all(p) {
				assert.InDelta(t, 20, x.Output, 10)
				assert.Equal(t, 9, x.Environment)
				assert.LessOrEqual(t, x.Delay, 9*time.Millisecond)
				assert.GreaterOrEqual(t, x.Delay, time.Millisecond)
			}
		}},
		{"log-normal by other names", "the aliases", "-initial-prompt-lognorm-mu 2 -initial-prompt-lognorm-sigma 0.001 -model-response-lognorm-median 6 -model-response-lognorm-sigma 0.001 -model-response-lognorm-max 5" +
			" -environment-response-lognorm-mu 1 -environment-response-lognorm-sigma 0.001 -tool-call-latency-lognorm-median 30 -tool-call-latency-lognorm-max 20 -tool-call-latency-lognorm-sigma 0.1", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, agent.Turn{Prompt: 7, Content: 7, Output: 5, Min: 5, Max: 5, Environment: 3, Delay: 20 * time.Millisecond}, first(p))
		}},
		{"manifest", "replayed", "-agent-plans-jsonl " + g4, func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, []int{2, 3, 2}, turns(p))
			assert.Equal(t, g4, p.File)
			assert.Equal(t, 25*time.Millisecond, p.List[1].Turns[1].Delay)
		}},
		{"overheads", "texts are shorter", "-agent-plans-jsonl " + g4 + " -replay-initial-overhead-tokens 5 -replay-turn-overhead-tokens 10", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, 251, first(p).Content)
			assert.Equal(t, 448-15, p.List[0].Turns[1].Content)
		}},
		{"time scale", "twice as fast", "-agent-plans-jsonl " + g4 + " -time-scale 2", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, 12500*time.Microsecond, p.List[1].Turns[1].Delay)
		}},
		{"open loop", "with a manifest", "-agent-plans-jsonl " + g4 + " -admission open-loop", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, agent.OpenLoop, a.Config.Admission)
		}},
		{"closed loop", "said, and the default", "-agent-plans-jsonl " + g4 + " -admission closed-loop", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, agent.ClosedLoop, a.Config.Admission)
		}},
		{"active", "also without a manifest", "-agents 9 -max-active-agents 4", func(t *testing.T, p *agent.Plans, a load.Agents) { assert.Equal(t, 4, a.Config.MaxActive) }},
		{"allowed with a manifest", "routing, tags, tries, body and seed", "-agent-plans-jsonl " + g4 + " -max-active-agents 2 -user-prefix x -dp-rank-perfect-routing -dp-rank-perfect-routing-num 8 -max-retries 0 -sglang -ignore-eos -seed 3",
			func(t *testing.T, p *agent.Plans, a load.Agents) {
				assert.Equal(t, uint64(3), a.Config.Seed)
				assert.Equal(t, 8, a.Config.Ranks)
				assert.Equal(t, agent.Tags{Prefix: "x"}, a.Config.Tags)
				assert.True(t, a.Config.Body.SGLang)
				assert.True(t, a.Config.Body.IgnoreEOS)
			}},
		{"tags off", "whatever the prefix", "-disable-user-tagging -user-prefix x", func(t *testing.T, p *agent.Plans, a load.Agents) { assert.True(t, a.Config.Tags.Disabled) }},
		{"server", "model, host, endpoint and key", "-model q -host h:1 -endpoint /x -api-key secret-key-1", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, "q", a.Client.Model)
			assert.Equal(t, "q", a.Config.Body.Model)
			assert.Equal(t, "h:1", a.Client.Host)
			assert.Equal(t, "/x", a.Client.Endpoint)
			assert.Equal(t, "secret-key-1", a.Client.Key)
		}},
		{"delay 0", "keeps 250 ms: the client's default", "-retry-delay-ms 0 -max-retries 5 -request-timeout-secs 3", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Zero(t, a.Client.Retry.Delay)
			assert.Equal(t, 250*time.Millisecond, client.DefaultDelay)
			assert.Equal(t, 5, a.Client.Retry.Max)
			assert.Equal(t, 3*time.Second, a.Client.Timeouts.Total)
		}},
		{"ours", "replies, tool, stream, limits", "-replies recorded -declare-tool -stream -lookahead 3 -max-in-flight 2 -slo-e2e 1s -v", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, agent.Recorded, a.Config.Replies)
			assert.True(t, a.Config.Body.DeclareTool)
			assert.True(t, a.Config.Body.Stream)
			assert.Equal(t, 3, a.Config.Lookahead)
			assert.Equal(t, 2, a.Config.MaxInFlight)
			assert.Equal(t, metric.SLO{E2E: time.Second}, a.Metric.SLO)
			assert.NotNil(t, a.Verbose)
		}},
		{"limits", "as evals load has them", "-limit lag-max=3s -limit cpu=off", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, metric.Limits{LagMax: 3 * time.Second, CPU: -1}, a.Metric.Limits)
		}},
		{"tokenizer", "it counts, too", "-tokenizer-model o200k_base", func(t *testing.T, p *agent.Plans, a load.Agents) {
			c, ok := a.Config.Text.(agent.Counter)
			require.True(t, ok)
			assert.Equal(t, 2, c.Count("hello world"))
		}},
		{"trace", "its rows are trajectories", "-trace ../../load/trace/testdata/mooncake.jsonl -trace-kind mooncake -trace-limit 3 -trace-salt s -time-scale 3", func(t *testing.T, p *agent.Plans, a load.Agents) {
			assert.Equal(t, []int{1, 1, 1}, turns(p))
			assert.Equal(t, 500*time.Millisecond, p.List[1].StartAfter)
			assert.Contains(t, first(p).Blocks[0].Seed, "@s")
			assert.Len(t, p.SHA256, 64)
		}},
		{"trace delays", "long ones are cut", "-trace ../../load/trace/testdata/burst-new.csv -trace-max-delay 10ms", func(t *testing.T, p *agent.Plans, a load.Agents) {
			for _, x := range all(p) {
				assert.LessOrEqual(t, x.Delay, 10*time.Millisecond)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.NotEmpty(t, row.reason)
			_, plan, run, err := prepared(strings.Fields(row.flags)...)
			require.NoError(t, err)
			row.check(t, plan.plans, run)
		})
	}
}

// TestAgentMistakes has what is refused: with the flag, its value, and exit
// code 2.
func TestAgentMistakes(t *testing.T) {
	g4, blocks := fileOf(t, "g4.jsonl", manifestG4), fileOf(t, "blocks.jsonl", manifestG12)
	replay := "-agent-plans-jsonl " + g4
	for _, row := range []struct{ name, reason, flags, says string }{
		{"argument", "a bool flag takes no word", "-sglang true", `"true" is one`},
		{"agents and manifest", "theirs", "-agents 3 " + replay, "-agents 3 cannot be used with -agent-plans-jsonl " + g4},
		{"one agent and manifest", "also where it is the default", "-agents 1 " + replay, "-agents 1 cannot be used"},
		{"shape and manifest", "theirs", "-output-tokens 3 " + replay, "-output-tokens 3 cannot be used with -agent-plans-jsonl"},
		{"other name and manifest", "theirs", "-tool-latency-ms 0 " + replay, "-tool-latency-ms 0 cannot be used with"},
		{"log-normal and manifest", "theirs", "-tool-invocations-lognorm-sigma 0.5 " + replay, "-tool-invocations-lognorm-sigma 0.5 cannot be used with"},
		{"shape and trace", "ours, likewise", "-input-tokens 3 -trace x", "-input-tokens 3 cannot be used with -trace x"},
		{"two files", "which one?", "-trace x " + replay, "-trace x: one of them"},
		{"conflict before the file", "the file is not there, and that is not said", "-agents 2 -agent-plans-jsonl none.jsonl", "cannot be used with"},
		{"routing without a number", "each needs the other", "-dp-rank-perfect-routing", "needs -dp-rank-perfect-routing-num"},
		{"number without routing", "each needs the other", "-dp-rank-perfect-routing-num 8", "-dp-rank-perfect-routing-num 8 needs -dp-rank-perfect-routing"},
		{"routing over none", "above 0", "-dp-rank-perfect-routing -dp-rank-perfect-routing-num 0", "-dp-rank-perfect-routing-num is 0"},
		{"initial overhead alone", "needs a manifest", "-replay-initial-overhead-tokens 0", "-replay-initial-overhead-tokens 0 needs -agent-plans-jsonl"},
		{"turn overhead alone", "needs a manifest", "-replay-turn-overhead-tokens 4", "-replay-turn-overhead-tokens 4 needs"},
		{"admission alone", "needs a manifest", "-admission closed-loop", "-admission closed-loop needs"},
		{"time scale alone", "needs a manifest", "-time-scale 1", "-time-scale 1 needs"},
		{"time scale 0", "above 0", replay + " -time-scale 0", "-time-scale is 0"},
		{"time scale infinite", "finite", replay + " -time-scale Inf", "-time-scale is +Inf"},
		{"time scale NaN", "finite", replay + " -time-scale NaN", "-time-scale is NaN"},
		{"negative overhead", "no text grows by it", replay + " -replay-turn-overhead-tokens -1", "-replay-turn-overhead-tokens is -1"},
		{"admission", "one of two", replay + " -admission often", `-admission is "often": want closed-loop or open-loop`},
		{"replies", "one of two", "-replies dead", `-replies is "dead"`},
		{"agents 0", "above 0", "-agents 0", "-agents is 0"},
		{"active 0", "above 0", "-max-active-agents 0", "-max-active-agents is 0"},
		{"timeout 0", "an error here, as theirs", "-request-timeout-secs 0", "-request-timeout-secs is 0"},
		{"retries", "at least 0", "-max-retries -1", "-max-retries is -1"},
		{"delay", "at least 0", "-retry-delay-ms -1", "-retry-delay-ms is -1"},
		{"lookahead", "at least 0", "-lookahead -1", "-lookahead is -1"},
		{"in flight", "at least 0", "-max-in-flight -1", "-max-in-flight is -1"},
		{"api", "no tool messages there", "-api completions", `-api is "completions"`},
		{"lengths", "no least length there", "-lengths openai", "-lengths is openai"},
		{"lengths twice", "which one?", "-lengths vllm -sglang", "contradict"},
		{"no model", "each request names it", "-model=", "-model is empty"},
		{"host", "the client's words", "-host=", "Host is empty"},
		{"prefix", "it becomes a header", "-user-prefix a\x01b", `"a\x01b"`},
		{"slo", "unknown", "-slo none", "-slo"},
		{"limit", "no name", "-limit lag=3s", `no limit is called "lag"`},
		{"trace flag alone", "needs a trace", "-trace-salt x", "-trace-salt x needs -trace"},
		{"trace limit", "at least 0", "-trace x -trace-limit -1", "-trace-limit is -1"},
		{"trace kind", "unknown", "-trace x -trace-kind csv", `-trace-kind is "csv": want auto, azure`},
		{"trace delay", "at least 0", "-trace x -trace-max-delay -1s", "-trace-max-delay is -1s"},
		{"texts without a tokenizer", "nobody counts them", "-trace ../../load/trace/testdata/sharegpt.json", "give the model's tokenizer with -tokenizer-model"},
		{"tools without a tokenizer", "words cannot count JSON", "-agent-plans-jsonl " + blocks, `trajectory "coding-agent-a" request 1 has a block of the role tool_definition`},
		{"no file", "a variable that was not set", "-agent-plans-jsonl=", "-agent-plans-jsonl is empty"},
		{"fixed and log-normal", "theirs, input", "-input-tokens 3 -input-lognorm-mu 1", "--input-tokens cannot be combined with --input-lognorm-* (--input-lognorm-mu)"},
		{"0 and log-normal", "an explicit 0 is a latency, too", "-tool-call-latency-ms 0 -tool-call-latency-lognorm-max-ms 1", "--tool-call-latency-ms cannot be combined with --tool-call-latency-lognorm-*"},
		{"mu and median", "theirs, output", "-output-lognorm-mu 1 -output-lognorm-median 3 -output-lognorm-sigma 1", "--output-lognorm-mu cannot be combined with --output-lognorm-median"},
		{"no sigma", "theirs, environment; before the location is missed", "-environment-lognorm-max 3", "--environment-lognorm-sigma is missing"},
		{"no location", "theirs, invocations", "-tool-invocations-lognorm-sigma 1", "--tool-invocations-lognorm-median or --tool-invocations-lognorm-mu is missing"},
		{"sigma", "above 0", "-tool-call-latency-lognorm-sigma 0 -tool-call-latency-lognorm-median-ms 3", "--tool-call-latency-lognorm-sigma is 0"},
		{"median", "above 0; named as it is here", "-tool-call-latency-lognorm-sigma 1 -tool-call-latency-lognorm-median -3", "--tool-call-latency-lognorm-median-ms is -3"},
		{"mu", "finite", "-input-lognorm-mu Inf -input-lognorm-sigma 1", "--input-lognorm-mu is +Inf"},
		{"max", "not 0", "-input-lognorm-mu 1 -input-lognorm-sigma 1 -input-lognorm-max 0", "--input-lognorm-max is 0"},
		{"input 0", "above 0", "-input-tokens 0", "--input-tokens is 0"},
		{"invocations 0", "above 0", "-tool-invocations 0", "--tool-invocations is 0"},
		{"no number", "not whole", "-input-tokens 1.5", "want a whole number"},
		{"dry run and csv", "nothing is measured, as in evals load", "-dry-run -results-csv x.jsonl", "-results-csv x.jsonl cannot be used with -dry-run true: nothing is sent"},
		{"dry run and events", "likewise", "-dry-run -agent-events-jsonl x.jsonl", "-agent-events-jsonl x.jsonl cannot"},
		{"dry run and a threshold", "it could not be kept", "-dry-run -require ok-%>=1", "-require cannot be used"},
		{"dry run and verbose", "by either name", "-dry-run -v", "-v true cannot be used"},
		{"plans and json", "nothing is sent either", "-write-plans x.jsonl -json y.json", "-json y.json cannot be used with -write-plans x.jsonl"},
		{"one file for two", "one would overwrite the other", "-requests-jsonl x.jsonl -agent-events-jsonl ./x.jsonl", `-requests-jsonl and -agent-events-jsonl are both "./x.jsonl"`},
		{"plans over plans", "the file is being read", replay + " -write-plans " + g4, "each needs a file of its own"},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.NotEmpty(t, row.reason)
			r := evals("", noEnv, append([]string{"agent"}, strings.Fields(row.flags)...)...)
			assert.Equal(t, 2, r.code)
			assert.Contains(t, r.stderr, row.says)
			assert.Empty(t, r.stdout)
		})
	}
	_, err := os.Stat("x.jsonl")
	assert.True(t, errors.Is(err, os.ErrNotExist), "nothing was written")
}

// TestAgentBadFiles has what is wrong with files: exit code 1.
func TestAgentBadFiles(t *testing.T) {
	for _, row := range []struct{ name, reason, flag, text, more, says string }{
		{"growth", "G3, with file and line", "-agent-plans-jsonl", strings.Replace(manifestG5, "150", "110", 1), "", "f:1: request 2 prompt_tokens (110) cannot follow"},
		{"overhead", "it takes all of the prompt", "-agent-plans-jsonl", manifestG5, "-replay-initial-overhead-tokens 60", "must exceed its replay overhead"},
		{"empty", "no trajectory", "-agent-plans-jsonl", "\n", "", "contains no trajectory plans"},
		{"trace", "no known kind", "-trace", "hello", "", "unknown kind of trace"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := fileOf(t, "f", row.text)
			r := evals("", noEnv, append([]string{"agent", row.flag, path}, strings.Fields(row.more)...)...)
			assert.Equal(t, 1, r.code, r.stderr)
			assert.Contains(t, r.stderr, row.says)
		})
	}
	r := evals("", noEnv, "agent", "-agent-plans-jsonl", "none.jsonl")
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.stderr, "none.jsonl")
}
