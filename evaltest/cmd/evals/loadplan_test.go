package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/workload"
)

// parsed are the flags of words, as evals load has them.
func parsed(t *testing.T, words ...string) (*loadFlags, *bytes.Buffer) {
	t.Helper()
	f, fs := &loadFlags{}, flag.NewFlagSet("load", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	errs := &bytes.Buffer{}
	f.declare(fs, &program{stdin: strings.NewReader(""), stdout: io.Discard, stderr: errs, env: noEnv})
	require.NoError(t, fs.Parse(words))
	require.Zero(t, fs.NArg())
	return f, errs
}

// planned is the load that words describe.
func planned(t *testing.T, words ...string) (load.Load, *loadFlags, *loadStuff) {
	t.Helper()
	f, _ := parsed(t, words...)
	s, err := f.read(context.Background(), noEnv)
	require.NoError(t, err)
	l, err := f.plan(s, func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "from-env", "MINE": "from-mine"}[name]
	}, 7, 9, 0)
	require.NoError(t, err)
	return l, f, s
}

func options(l load.Load) workload.Options { return l.Source.(*workload.Workload).Options() }

func prompt(l load.Load) client.Prompt {
	var p client.Prompt
	l.ModifyPrompt(&p)
	return p
}

// draws are three of a distribution of times.
func draws(d arrival.Dist) []time.Duration {
	if d == nil {
		return nil
	}
	r := rand.New(rand.NewPCG(1, 2))
	return []time.Duration{d(r), d(r), d(r)}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// TestFlagsToLoad says what each flag does to the load.
func TestFlagsToLoad(t *testing.T) {
	rows := file(t, "rows.jsonl", `{"text":"a b"}`+"\n"+`{"text":"a c"}`+"\n"+`{"text":"d"}`+"\n"+`{"text":"e"}`+"\n")
	bodies := file(t, "bodies.jsonl", `{"body":{"messages":[]}}`+"\n"+`{"model":"x","messages":[],"input_tokens":5}`+"\n")
	mooncake := file(t, "mooncake.jsonl", `{"timestamp":0,"input_length":10,"output_length":3,"hash_ids":[1]}`+"\n"+`{"timestamp":500,"input_length":20,"output_length":4,"hash_ids":[2]}`+"\n")
	lengths := file(t, "lengths.jsonl", `{"in":5}`+"\n"+`{"in":7}`+"\n")
	must := workload.Must
	tests := []struct {
		name, reason, args string
		get                func(l load.Load, f *loadFlags, s *loadStuff) any
		want               any
	}{
		{"nothing", "batchbench's defaults: one user, one request, one token", "",
			func(l load.Load, f *loadFlags, s *loadStuff) any {
				return []any{l.Users, l.RequestsPerUser, options(l).Input, options(l).Output.IsZero(), options(l).Count}
			},
			[]any{1, 1, must(workload.Fixed(1, 0)), true, 1}},
		{"server by default", "batchbench's defaults", "", func(l load.Load, f *loadFlags, s *loadStuff) any {
			c := l.Client
			return []any{c.Model, c.Host, c.Endpoint, c.Key, c.Timeouts.Total, c.Retry.Max, c.Retry.Delay, c.Lengths}
		}, []any{"Qwen/Qwen3-VL-235B-A22B-Instruct-FP8", "https://api.openai.com", "", "from-env", time.Minute, 2, 250 * time.Millisecond, client.Lengths("")}},
		{"model", "in the body", "--model m", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Client.Model }, "m"},
		{"host", "as given; client completes it", "--host h:8000/", func(l load.Load, f *loadFlags, s *loadStuff) any { return serverURL(l.Client) }, "https://h:8000/v1/chat/completions"},
		{"endpoint", "a path", "--host http://h --endpoint v1/c", func(l load.Load, f *loadFlags, s *loadStuff) any { return serverURL(l.Client) }, "http://h/v1/c"},
		{"endpoint, whole", "replaces the host", "--host http://h --endpoint http://z/y", func(l load.Load, f *loadFlags, s *loadStuff) any { return serverURL(l.Client) }, "http://z/y"},
		{"api-key", "goes before the environment", "--api-key k", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Client.Key }, "k"},
		{"api-key-env", "another variable", "--api-key-env MINE", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Client.Key }, "from-mine"},
		{"api-key-env, empty", "no key is sent", "--api-key-env NONE", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Client.Key }, ""},
		{"sglang", "other names", "--sglang", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Client.Lengths }, client.SGLang},
		{"sglang=false", "a bool needs = to be off", "--sglang=false", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Client.Lengths }, client.Lengths("")},
		{"request-timeout-secs", "seconds", "--request-timeout-secs 5", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Client.Timeouts.Total }, 5 * time.Second},
		{"request-timeout-secs 0", "no limit, and not 6000 s", "--request-timeout-secs 0", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Client.Timeouts.Total }, time.Duration(0)},
		{"max-retries", "used, unlike batchbench's", "--max-retries 7", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Client.Retry.Max }, 7},
		{"retry-delay-ms", "used, unlike batchbench's", "--retry-delay-ms 10", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Client.Retry.Delay }, 10 * time.Millisecond},
		{"users, requests-per-user", "their product is the workload", "--users 3 --requests-per-user 4", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []int{l.Users, l.RequestsPerUser, l.Source.Len()}
		}, []int{3, 4, 12}},
		{"input-tokens", "fixed", "--input-tokens 9", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.Fixed(9, 0))},
		{"input-tokens 0", "is off", "--input-tokens 0 --input-lognorm-median 5 --input-lognorm-sigma 1", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.LogNormal(5, 1, 0))},
		{"gen-approx-input-tokens", "the old name", "--gen-approx-input-tokens 9", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.Fixed(9, 0))},
		{"input-vary", "to both sides", "--input-tokens 9 --input-vary 2", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.Fixed(9, 2))},
		{"gen-token-tolerance", "the old name", "--input-tokens 9 --gen-token-tolerance 2", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.Fixed(9, 2))},
		{"input-lognorm-mu, -sigma", "by the mean of the logarithms", "--input-lognorm-mu 3 --input-lognorm-sigma 1", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.LogNormalMu(3, 1, 0))},
		{"input-lognorm-median, -max", "by the median, with a cap", "--input-lognorm-median 30 --input-lognorm-sigma 1 --input-lognorm-max 99", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.LogNormal(30, 1, 99))},
		{"gen-dist-*", "the old names", "--gen-dist-median 30 --gen-dist-sigma 1 --gen-dist-max 99", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.LogNormal(30, 1, 99))},
		{"gen-dist-mode lognormal", "the old sigma of 0.5", "--gen-dist-mode LogNormal --gen-dist-median 30", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.LogNormal(30, 0.5, 0))},
		{"gen-dist-mode fixed", "says nothing new", "--gen-dist-mode FIXED --input-tokens 4", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.Fixed(4, 0))},
		{"input-prefix-overlap", "of each prompt", "--input-tokens 10 --input-prefix-overlap 0.5", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Overlap }, workload.Overlap{Share: 0.5, Step: 1}},
		{"gen-prefix-overlap", "the old name, limited to 1", "--input-tokens 10 --gen-prefix-overlap 1.5", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Overlap }, workload.Overlap{Share: 1, Step: 1}},
		{"input-prefix-overlap below 0", "limited to 0", "--input-prefix-overlap -1", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Overlap }, workload.Overlap{}},
		{"output-tokens", "both ends are asked for", "--output-tokens 8", func(l load.Load, f *loadFlags, s *loadStuff) any { r, _ := l.Source.Request(0); return r.Output }, workload.Output{Min: 8, Max: 8}},
		{"output-vary", "to both sides", "--output-tokens 8 --output-vary 3", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Output }, must(workload.Fixed(8, 3))},
		{"output-lognorm-mu", "log-normal", "--output-lognorm-mu 3 --output-lognorm-sigma 1", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Output }, must(workload.LogNormalMu(3, 1, 0))},
		{"output-lognorm-median, -max", "log-normal", "--output-lognorm-median 3 --output-lognorm-sigma 1 --output-lognorm-max 5", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Output }, must(workload.LogNormal(3, 1, 5))},
		{"dataset-jsonl", "users are the rows divided", "--dataset-jsonl " + rows + " --requests-per-user 2", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []int{l.Users, l.RequestsPerUser, l.Source.Len()}
		}, []int{2, 2, 4}},
		{"jsonl", "the other name", "--jsonl " + rows, func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []int{l.Users, l.RequestsPerUser, l.Source.Len()}
		}, []int{4, 1, 4}},
		{"dataset: text", "one message of the user, no salt", "--jsonl " + rows, func(l load.Load, f *loadFlags, s *loadStuff) any {
			r, _ := l.Source.Request(1)
			return r.Chat()[0].Content
		}, "a c"},
		{"dataset: body", "sent as it is, without what it knows of itself", "--jsonl " + bodies, func(l load.Load, f *loadFlags, s *loadStuff) any { r, _ := l.Source.Request(1); return string(r.Body) }, `{"model":"x","messages":[]}`},
		{"dataset and outputs", "batchbench allows them", "--jsonl " + rows + " --output-tokens 3", func(l load.Load, f *loadFlags, s *loadStuff) any { r, _ := l.Source.Request(1); return r.Output }, workload.Output{Min: 3, Max: 3}},
		{"seed", "of the workload and of arrivals", "--seed 5", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []uint64{rooted(f.seed), l.Seed, options(l).Seed}
		}, []uint64{5, 7, 7}},
		{"seed 0", "a seed like any other", "--seed 0", func(l load.Load, f *loadFlags, s *loadStuff) any { return rooted(f.seed) }, uint64(standIn)},
		{"results-csv", "a file", "--results-csv a/b.csv", func(l load.Load, f *loadFlags, s *loadStuff) any { return f.out.csv }, "a/b.csv"},
		{"verbose", "asked for", "--verbose", func(l load.Load, f *loadFlags, s *loadStuff) any { return f.verbose }, true},
		{"v", "the short name", "-v", func(l load.Load, f *loadFlags, s *loadStuff) any { return f.verbose }, true},
		{"dry-run", "asked for", "--dry-run", func(l load.Load, f *loadFlags, s *loadStuff) any { return f.dry }, true},

		{"repeat", "more requests than rows", "-jsonl " + rows + " -repeat -users 3 -requests-per-user 5", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []int{l.Users, l.RequestsPerUser, l.Source.Len()}
		}, []int{3, 5, 0}},
		{"dataset and duration", "one user, who takes what is left", "-jsonl " + rows + " -duration 1s", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []int{l.Users, l.RequestsPerUser, l.Source.Len()}
		}, []int{1, 0, 4}},
		{"dataset and salt", "before the first message", "-jsonl " + rows + " -salt 3", func(l load.Load, f *loadFlags, s *loadStuff) any {
			r, _ := l.Source.Request(1)
			return strings.HasSuffix(r.Chat()[0].Content, "\n\na c")
		}, true},
		{"input-uniform", "from, to", "-input-uniform 3..9", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.Uniform(3, 9))},
		{"output-uniform", "from, to", "-output-uniform 3..9", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Output }, must(workload.Uniform(3, 9))},
		{"input-lengths", "measured", "-input-lengths " + lengths + ":in", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Input }, must(workload.Empirical([]int{5, 7}))},
		{"overlap-of", "batchbench's rule", "-users 2 -input-tokens 10 -input-prefix-overlap 0.5 -overlap-of shortest", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Overlap }, workload.Overlap{Share: 0.5, Of: workload.OfShortest}},
		{"groups", "one of two texts", "-groups 2 -group-tokens 5 -group-system", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Groups }, workload.Groups{Count: 2, Tokens: 5, System: true}},
		{"salt", "as given to the plan", "-salt 3", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []uint64{rooted(f.salt), options(l).Salt.Value}
		}, []uint64{3, 9}},
		{"no-salt", "none", "-no-salt", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Salt }, workload.Salt{Off: true}},
		{"block", "of the cache", "-block 16", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).CacheBlock }, 16},
		{"cache-wanted", "hits are no fault", "-cache-wanted", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Metric.CacheWanted }, true},
		{"tokenizer", "the text is by it", "-tokenizer r50k_base -input-tokens 5 -input-prefix-overlap 0.5", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []any{s.tokens.Name(), options(l).Overlap.Step}
		}, []any{"r50k_base", 64}},
		{"streamed", "by default", "", func(l load.Load, f *loadFlags, s *loadStuff) any { return prompt(l) }, client.Prompt{}},
		{"whole, ignore-eos, extra", "of each prompt", `-whole -ignore-eos -extra {"top_p":1}`, func(l load.Load, f *loadFlags, s *loadStuff) any { return prompt(l) },
			client.Prompt{Whole: true, IgnoreEOS: true, Extra: map[string]json.RawMessage{"top_p": json.RawMessage("1")}}},
		{"rate", "poisson", "-rate 5 -duration 1s", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []any{l.Users, l.Schedule.String(), l.Source.Len()}
		}, []any{0, "poisson forever:5", 0}},
		{"rate, constant", "even gaps", "-rate 5 -arrival constant -requests 9", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []any{l.Schedule.String(), l.Source.Len(), l.Phases}
		},
			[]any{"constant forever:5", 9, arrival.Phases{Measured: arrival.Limit{Count: 9}}}},
		{"rate, gamma", "in bursts", "-rate 5 -arrival gamma -burstiness 0.5 -requests 9", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Schedule.String() }, "gamma(0.5) forever:5"},
		{"burstiness alone", "means gamma", "-rate 5 -burstiness 0.5 -requests 9", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Schedule.String() }, "gamma(0.5) forever:5"},
		{"stages", "a rate that changes", "-stages 30s:0..100,5m:100 -warmup 30s", func(l load.Load, f *loadFlags, s *loadStuff) any { return []any{l.Schedule.String(), l.Phases} },
			[]any{"poisson 30s:0..100,5m0s:100", arrival.Phases{Warmup: arrival.Limit{For: 30 * time.Second}}}},
		{"max-in-flight", "of an open loop", "-rate 5 -duration 1s -max-in-flight 3", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.MaxInFlight }, 3},
		{"trace", "its lengths and times", "-trace " + mooncake, func(l load.Load, f *loadFlags, s *loadStuff) any { return []any{options(l).Pairs, s.offsets, l.Users} },
			[]any{[]workload.Pair{{Input: 10, Output: 3}, {Input: 20, Output: 4}}, []time.Duration{0, 500 * time.Millisecond}, 0}},
		{"time-scale", "twice as fast", "-trace " + mooncake + " -time-scale 2 -trace-kind Mooncake", func(l load.Load, f *loadFlags, s *loadStuff) any {
			d, ends := l.Schedule.Length()
			return []any{d, ends}
		}, []any{250 * time.Millisecond, true}},
		{"trace-limit", "the first row", "-trace " + mooncake + " -trace-limit 1", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Source.Len() }, 1},
		{"trace-keep-failed", "with one token", "-trace testdata/load-mooncake.jsonl -trace-keep-failed", func(l load.Load, f *loadFlags, s *loadStuff) any { return options(l).Pairs[2] }, workload.Pair{Input: 30, Output: 1}},
		{"trace-block", "other blocks", "-trace testdata/load-mooncake.jsonl -trace-block 64", func(l load.Load, f *loadFlags, s *loadStuff) any { return s.trace.Report().BlockTokens }, 64},
		{"trace-from", "without the first", "-trace " + mooncake + " -trace-from 1ms -trace-to 1s", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Source.Len() }, 1},
		{"trace and users", "its lengths only, each once", "-trace " + mooncake + " -users 2", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []any{l.Users, l.RequestsPerUser, l.Source.Len()}
		}, []any{2, 0, 2}},
		{"think", "a time", "-think 2s -duration 1s", func(l load.Load, f *loadFlags, s *loadStuff) any { return draws(l.Think) }, draws(arrival.Fixed(2 * time.Second))},
		{"think, between", "equally likely", "-think 1s..3s -duration 1s", func(l load.Load, f *loadFlags, s *loadStuff) any { return draws(l.Think) }, draws(arrival.Between(time.Second, 3*time.Second))},
		{"think, exponential", "by its mean", "-think exp:2s -duration 1s", func(l load.Load, f *loadFlags, s *loadStuff) any { return draws(l.Think) }, draws(arrival.Exponential(2 * time.Second))},
		{"every, join", "pacing", "-every 2s -join 3s -duration 1s", func(l load.Load, f *loadFlags, s *loadStuff) any { return []any{draws(l.Every), l.Join} }, []any{draws(arrival.Fixed(2 * time.Second)), 3 * time.Second}},
		{"duration", "without a limit to a user's requests", "-users 2 -duration 3s", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []any{l.RequestsPerUser, l.Phases, l.Source.Len()}
		}, []any{0, arrival.Phases{Measured: arrival.Limit{For: 3 * time.Second}}, 0}},
		{"warmup, requests, cooldown", "counts", "-warmup 10x -requests 20 -cooldown 5x", func(l load.Load, f *loadFlags, s *loadStuff) any { return []any{l.Phases, l.Source.Len()} },
			[]any{arrival.Phases{Warmup: arrival.Limit{Count: 10}, Measured: arrival.Limit{Count: 20}, Cooldown: arrival.Limit{Count: 5}}, 35}},
		{"cooldown forever", "until the last is answered", "-requests 20 -cooldown forever", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Phases.Cooldown.For }, arrival.Forever},
		{"drain", "a time", "-drain 2s", func(l load.Load, f *loadFlags, s *loadStuff) any { return l.Drain }, 2 * time.Second},
		{"limit", "when a run is not valid", "-limit lag-p99=20ms -limit cpu=off -limit cached=0.5", func(l load.Load, f *loadFlags, s *loadStuff) any {
			return []any{l.Metric.Limits.LagP99, l.Metric.Limits.CPU, l.Metric.Limits.Cached}
		}, []any{20 * time.Millisecond, -1.0, 0.5}},
		{"slo", "limits of one's own go before a preset's", "-slo mlperf-llama2-70b -slo-ttft 1s -slo-share 0.9 -slo-service", func(l load.Load, f *loadFlags, s *loadStuff) any {
			o := l.Metric.SLO
			return []any{o.TTFT, o.TPOT, o.Share, o.Service}
		}, []any{time.Second, 200 * time.Millisecond, 0.9, true}},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NotEmpty(t, tt.reason)
			require.False(t, seen[tt.name], "two rows of one name")
			seen[tt.name] = true
			l, f, s := planned(t, strings.Fields(tt.args)...)
			assert.Equal(t, tt.want, tt.get(l, f, s), tt.reason)
		})
	}
	all := ""
	for _, tt := range tests {
		all += " " + tt.args
	}
	for _, name := range strings.Fields(batchbenchFlags) {
		assert.Regexp(t, `(^| )`+name+`(=| |$)`, all+" ", "a flag of batchbench that no row is about")
	}
}

// batchbenchFlags are all of batchbench's, with their other names.
const batchbenchFlags = `--model --host --endpoint --users --requests-per-user --input-tokens --gen-approx-input-tokens --input-vary --gen-token-tolerance
	--input-prefix-overlap --gen-prefix-overlap --input-lognorm-mu --input-lognorm-median --gen-dist-median --input-lognorm-sigma --gen-dist-sigma
	--input-lognorm-max --gen-dist-max --gen-dist-mode --output-tokens --output-vary --output-lognorm-mu --output-lognorm-median --output-lognorm-sigma
	--output-lognorm-max --sglang --api-key --api-key-env --request-timeout-secs --max-retries --retry-delay-ms --verbose -v --dry-run --results-csv --seed
	--dataset-jsonl --jsonl`

// TestPlanTwice runs one seed and salt twice: the same bytes; and with another
// salt: others.
func TestPlanTwice(t *testing.T) {
	f, _ := parsed(t, "-users", "2", "-input-tokens", "20")
	s, err := f.read(context.Background(), noEnv)
	require.NoError(t, err)
	text := func(seed, salt uint64) string {
		l, err := f.plan(s, noEnv, seed, salt, 0)
		require.NoError(t, err)
		r, err := l.Source.Request(1)
		require.NoError(t, err)
		return r.Prompt
	}
	assert.Equal(t, text(1, 2), text(1, 2))
	assert.NotEqual(t, text(1, 2), text(1, 3))
	assert.NotEqual(t, text(1, 2), text(2, 2))
}

// TestAllSettings fills every CSV cell that a closed loop with log-normal
// lengths can have.
func TestAllSettings(t *testing.T) {
	l, f, s := planned(t, strings.Fields("-users 2 -requests-per-user 3 -input-lognorm-median 5 -input-lognorm-sigma 1 -input-lognorm-max 9 -output-tokens 4 -output-vary 1 -duration 2s -input-prefix-overlap 0.25")...)
	m := f.settings(&l, s, 9)
	assert.Equal(t, map[string]string{
		"model": "Qwen/Qwen3-VL-235B-A22B-Instruct-FP8", "dataset_path": "synthetic", "dataset_size": "6", "users": "2", "requests_per_user": "3",
		"output_tokens": "4", "output_vary": "1", "output_lognorm_mu": "", "output_lognorm_sigma": "", "output_lognorm_max": "", "output_lognorm_median": "",
		"sglang": "false", "request_timeout_secs": "60", "max_retries": "2", "retry_delay_ms": "250", "seed": "7",
		"input_tokens": "", "input_vary": "", "input_prefix_overlap": "0.25", "input_lognorm_mu": "", "input_lognorm_median": "5", "input_lognorm_sigma": "1", "input_lognorm_max": "9",
		"arrival": "closed", "duration_seconds": "2", "salt": "9", "tokenizer": "words", "evals_version": version(),
	}, m, "timestamp, host, endpoint and rate are of the report")
}
