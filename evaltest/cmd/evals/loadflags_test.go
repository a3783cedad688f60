package main

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLoadFlagErrors shows what is said of each mistake in the flags. Nothing is
// sent for any of them.
func TestLoadFlagErrors(t *testing.T) {
	tests := []struct{ name, reason, args string }{
		{"argument", "all is flags", "x"},
		{"unknown", "says where flags are listed", "-usres 3"},
		{"users 0", "batchbench wants 1 or more", "--users 0"},
		{"users below 0", "no number of users", "--users -2"},
		{"users in words", "no number", "--users many"},
		{"a time without a unit", "5 of what?", "-duration 5"},
		{"neither true nor false", "names both", "-quiet=maybe"},
		{"users too many", "beyond an int", "--users 99999999999999999999"},
		{"octal", "010 is ten, and 0x10 nothing", "--users 0x10"},
		{"requests-per-user 0", "batchbench wants 1 or more", "--requests-per-user 0"},
		{"product", "batchbench checks for overflow", "--users 100000 --requests-per-user 100000"},
		{"input-tokens below 0", "no length", "--input-tokens -5"},
		{"input-tokens too many", "no text of that length is made", "--input-tokens 99999999"},
		{"input-vary alone", "needs input-tokens", "--input-vary 5"},
		{"input-vary below 0", "no length", "--input-tokens 5 --input-vary -1"},
		{"fixed and log-normal", "batchbench: cannot be combined", "--input-tokens 5 --input-lognorm-median 5 --input-lognorm-sigma 1"},
		{"mu and median", "either", "--input-lognorm-mu 1 --input-lognorm-median 5 --input-lognorm-sigma 1"},
		{"no sigma", "required once any is given", "--input-lognorm-median 5"},
		{"max alone", "batchbench: missing sigma", "--input-lognorm-max 5"},
		{"sigma alone", "no location", "--gen-dist-sigma 1"},
		{"sigma 0", "above 0", "--input-lognorm-mu 1 --input-lognorm-sigma 0"},
		{"sigma nan", "finite", "--input-lognorm-mu 1 --input-lognorm-sigma NaN"},
		{"mu inf", "finite", "--input-lognorm-mu Inf --input-lognorm-sigma 1"},
		{"median 0", "above 0", "--input-lognorm-median 0 --input-lognorm-sigma 1"},
		{"lognorm max 0", "at least 1", "--input-lognorm-median 5 --input-lognorm-sigma 1 --input-lognorm-max 0"},
		{"old mode fixed", "contradicts", "--gen-dist-mode fixed --gen-dist-median 5"},
		{"old mode lognormal", "without a location", "--gen-dist-mode lognormal"},
		{"old mode", "unknown", "--gen-dist-mode normal"},
		{"uniform", "two numbers", "-input-uniform 5"},
		{"uniform backwards", "lo, hi", "-input-uniform 9..5"},
		{"uniform and fixed", "both say it", "-input-uniform 1..5 -input-tokens 5"},
		{"lengths and log-normal", "both say it", "-output-lengths x.csv -output-lognorm-sigma 1"},
		{"overlap nan", "no share", "--input-prefix-overlap NaN"},
		{"overlap-of alone", "of what", "-overlap-of each"},
		{"overlap-of", "unknown", "-input-prefix-overlap 0.5 -overlap-of all"},
		{"overlap of an unknown number", "the shortest of how many", "-input-prefix-overlap 0.5 -overlap-of shortest -duration 1s"},
		{"overlap and groups", "both say how prompts begin", "-input-prefix-overlap 0.5 -groups 2 -group-tokens 5"},
		{"groups alone", "how long", "-groups 2"},
		{"group-tokens alone", "how many", "-group-tokens 2"},
		{"groups 0", "none", "-groups 0 -group-tokens 5"},
		{"output-tokens 0", "batchbench wants more", "--output-tokens 0"},
		{"output-vary alone", "needs output-tokens", "--output-vary 3"},
		{"output sigma alone", "batchbench ignores it", "--output-lognorm-sigma 1"},
		{"output max alone", "batchbench ignores it", "--output-lognorm-max 1"},
		{"output both", "cannot be combined", "--output-tokens 4 --output-lognorm-mu 1 --output-lognorm-sigma 1"},
		{"output mu and median", "either", "--output-lognorm-mu 1 --output-lognorm-median 2 --output-lognorm-sigma 1"},
		{"dataset and generation", "mutually exclusive", "--dataset-jsonl testdata/load-rows.jsonl --input-tokens 5"},
		{"dataset and overlap", "mutually exclusive, also by the old names", "--jsonl testdata/load-rows.jsonl --gen-prefix-overlap 0.5"},
		{"more requests than rows", "an error in batchbench", "--jsonl testdata/load-rows.jsonl --users 2 --requests-per-user 2"},
		{"fewer rows than one user's", "no user would be left", "--jsonl testdata/load-rows.jsonl --requests-per-user 4"},
		{"repeat alone", "of what", "-repeat"},
		{"salt and whole bodies", "nothing can be put before", "--jsonl testdata/load-rows.jsonl -salt 3"},
		{"salt and no-salt", "contradict", "-salt 3 -no-salt"},
		{"seed", "no number", "--seed -1"},
		{"block 0", "no block", "-block 0"},
		{"rate 0", "no rate", "-rate 0 -duration 1s"},
		{"rate nan", "no rate", "-rate nan -duration 1s"},
		{"rate without an end", "would never end", "-rate 5"},
		{"rate and users", "open or closed", "-rate 5 -users 2"},
		{"rate and stages", "both say it", "-rate 5 -stages 1s:5"},
		{"rate and requests-per-user", "of users", "-rate 5 -requests-per-user 2"},
		{"arrival", "unknown", "-rate 5 -duration 1s -arrival even"},
		{"arrival of a closed loop", "has no gaps", "-arrival poisson"},
		{"gamma without a shape", "needs it", "-rate 5 -duration 1s -arrival gamma"},
		{"shape of poisson", "has none", "-rate 5 -duration 1s -arrival poisson -burstiness 2"},
		{"shape 0", "out of range", "-rate 5 -duration 1s -burstiness 0"},
		{"stages", "cannot be read", "-stages 30s"},
		{"stages of 0", "nothing would be due", "-stages 30s:0"},
		{"stages too short", "for the measured part", "-stages 5s:10 -warmup 10s"},
		{"stages forever", "no end", "-stages forever:10"},
		{"max-in-flight of a closed loop", "has users", "-users 2 -max-in-flight 3"},
		{"max-in-flight 0", "nothing would be sent", "-rate 5 -duration 1s -max-in-flight 0"},
		{"think", "cannot be read", "-think soon"},
		{"think below 0", "no time", "-think -1s"},
		{"think backwards", "lo, hi", "-think 3s..1s"},
		{"think once", "nothing to wait for", "-users 2 -think 1s"},
		{"whole and ttft", "there is none", "-whole -slo-ttft 1s"},
		{"every too long", "beyond a year", "-every exp:99999h"},
		{"join below 0", "no time", "-join -1s"},
		{"duration 0", "no time", "-duration 0s"},
		{"requests 0", "nothing", "-requests 0"},
		{"warmup", "neither time nor count", "-duration 1s -warmup 30"},
		{"warmup 0x", "no count", "-duration 1s -warmup 0x"},
		{"warmup alone", "nothing would be measured", "-users 2 -warmup 5s"},
		{"cooldown alone", "after what", "-users 2 -requests-per-user 3 -cooldown 5s"},
		{"drain", "below 0", "-drain -1s"},
		{"trace-kind alone", "of what", "-trace-kind azure"},
		{"trace-kind", "unknown", "-trace testdata/load-mooncake.jsonl -trace-kind openai"},
		{"trace and lengths", "the trace has them", "-trace testdata/load-mooncake.jsonl -output-tokens 5"},
		{"trace and dataset", "either", "-trace testdata/load-mooncake.jsonl -jsonl testdata/load-rows.jsonl"},
		{"trace of texts", "nobody counted", "-trace testdata/load-sharegpt.json"},
		{"trace without times", "when", "-trace testdata/load-sharegpt.json -tokenizer r50k_base"},
		{"time-scale 0", "stands still", "-trace testdata/load-mooncake.jsonl -time-scale 0"},
		{"time-scale of users", "not used", "-trace testdata/load-mooncake.jsonl -time-scale 2 -users 3"},
		{"trace-limit 0", "nothing", "-trace testdata/load-mooncake.jsonl -trace-limit 0"},
		{"trace-to", "before from", "-trace testdata/load-mooncake.jsonl -trace-from 2s -trace-to 1s"},
		{"api", "unknown", "-api grpc"},
		{"lengths", "unknown", "-lengths none"},
		{"sglang and lengths", "contradict", "--sglang -lengths openai"},
		{"timeout", "below 0", "--request-timeout-secs -1"},
		{"retries", "below 0", "--max-retries -1"},
		{"delay", "below 0", "--retry-delay-ms -1"},
		{"idle-timeout", "below 0", "-idle-timeout -1s"},
		{"header", "no name", "-header x"},
		{"header's name", "cannot be sent", "-header b@d:x"},
		{"host", "no scheme to call", "--host ftp://h"},
		{"key in the host", "refused", "--host http://u:p@h"},
		{"extra", "no JSON", "-extra x"},
		{"extra null", "no object", "-extra null"},
		{"extra stream", "has a flag", `-extra {"stream":true}`},
		{"extra n", "several answers", `-extra {"n":2}`},
		{"require", "no unit", "-require x<=3"},
		{"slo", "unknown", "-slo mine"},
		{"slo-share alone", "of what", "-slo-share 0.9"},
		{"slo-share", "out of range", "-slo-ttft 1s -slo-share 90"},
		{"slo-ttft", "below 0", "-slo-ttft -1s"},
		{"limit", "no name", "-limit lag=3s"},
		{"limit's value", "no share", "-limit cpu=90"},
		{"search alone", "where to begin", "-search"},
		{"search without a length", "how long", "-search -search-start 5 -slo-ttft 1s"},
		{"search without limits", "which are good", "-search -search-start 5 -duration 1s"},
		{"search and rate", "it sets the rate", "-search -search-start 5 -duration 1s -slo-ttft 1s -rate 3"},
		{"search and csv", "no one row", "-search -search-start 5 -duration 1s -slo-ttft 1s -results-csv x.csv"},
		{"search-start 0", "no rate", "-search -search-start 0 -duration 1s -slo-ttft 1s"},
		{"search-target", "no share", "-search -search-start 5 -duration 1s -slo-ttft 1s -search-target 0"},
		{"search-max", "below the start", "-search -search-start 5 -duration 1s -slo-ttft 1s -search-max 4"},
		{"search-min alone", "of what", "-search-min 4"},
		{"search of a file", "a cache will know it", "-search -search-start 5 -duration 1s -slo-ttft 1s -jsonl testdata/load-texts.jsonl"},
		{"dry run and files", "nothing is measured", "-dry-run -json x.json"},
		{"calibrate and a server", "measures no server", "-calibrate -model m"},
		{"calibrate rate", "no rate", "-calibrate -rate 0"},
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, tt := range tests {
		require.NotEmpty(t, tt.reason, tt.name)
		require.False(t, seen[tt.name], "two rows %q", tt.name)
		seen[tt.name] = true
		r := evals("", noEnv, append([]string{"load", "-model", "m", "-host", "http://127.0.0.1:1"}, strings.Fields(tt.args)...)...)
		if strings.Contains(tt.args, "-calibrate") {
			r = evals("", noEnv, append([]string{"load"}, strings.Fields(tt.args)...)...)
		}
		assert.Equal(t, 2, r.code, "%s: %s\n%s", tt.name, tt.reason, r.stderr)
		assert.Empty(t, r.stdout, tt.name)
		b.WriteString("evals load " + tt.args + "\n  " + strings.TrimSuffix(r.stderr, "\n") + "\n")
	}
	golden(t, "load-errors.golden", b.String())
}

// TestLoadMissingFiles ends with 1: the command line is right.
func TestLoadMissingFiles(t *testing.T) {
	for _, args := range []string{
		"-jsonl testdata/none.jsonl", "-trace testdata/none.jsonl", "-input-lengths testdata/none.csv", "-tokenizer ./none/tokenizer.json",
		"-jsonl testdata/broken.jsonl", "-results-csv testdata/answers.jsonl/x.csv",
	} {
		r := evals("", noEnv, append([]string{"load", "-host", "http://127.0.0.1:1", "-quiet"}, strings.Fields(args)...)...)
		assert.Equal(t, 1, r.code, "%s: %s", args, r.stderr)
		assert.Contains(t, r.stderr, "evals: ", args)
	}
}

// TestLoadKeyIsNoText keeps keys out of errors and help.
func TestLoadKeyIsNoText(t *testing.T) {
	for _, args := range []string{"-api-key sk-secret-123456 -users 0", "-header Authorization-sk-secret-123456", "-host http://u:sk-secret-123456@h"} {
		r := evals("", noEnv, append([]string{"load"}, strings.Fields(args)...)...)
		assert.Equal(t, 2, r.code)
		assert.NotContains(t, r.stdout+r.stderr, "sk-secret", args)
	}
}

// TestLoadHelpHasAllFlags wants each flag in one group, or to be another name of
// one, or hidden.
func TestLoadHelpHasAllFlags(t *testing.T) {
	f := &loadFlags{}
	fs := flag.NewFlagSet("load", flag.ContinueOnError)
	f.declare(fs, &program{stdout: io.Discard, stderr: io.Discard})
	shown := map[string]int{}
	for _, g := range loadGroups {
		for name := range strings.FieldsSeq(g.flags) {
			require.NotNil(t, fs.Lookup(name), "no flag is called %s", name)
			shown[name]++
		}
	}
	fs.VisitAll(func(fl *flag.Flag) {
		want := 1
		if f.aliases[fl.Name] != "" || fl.Name == "gen-dist-mode" || fl.Name == "calibrate-server" {
			want = 0
		}
		assert.Equal(t, want, shown[fl.Name], "-%s", fl.Name)
	})
	for _, r := range append(append([]flagRule{}, excluded...), needed...) {
		for name := range strings.FieldsSeq(r.flag + " " + r.others) {
			assert.NotNil(t, fs.Lookup(name), "a rule is about -%s, which there is not", name)
			assert.Empty(t, f.aliases[name], "a rule is about -%s by another name", name)
		}
	}
}

func TestLoadHelp(t *testing.T) {
	r := evals("", noEnv, "help", "load")
	assert.Zero(t, r.code)
	golden(t, "load-help.golden", r.stdout)
	for line := range strings.Lines(r.stdout) {
		assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), helpWidth+8, line)
	}
}

func TestWrap(t *testing.T) {
	assert.Equal(t, "  a b\n  c\n  longword\n  d\n", wrap("a b c longword d", "  ", 6))
	assert.Equal(t, " \n", wrap("", " ", 6))
}
