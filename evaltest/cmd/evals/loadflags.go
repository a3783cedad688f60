package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load/workload"
)

// loadFlags are the flags of evals load.
type loadFlags struct {
	server serverFlags
	out    outputFlags

	input, output lengthFlags
	mode          string // batchbench's old --gen-dist-mode
	overlap       optional[float64]
	overlapOf     string
	groups        int
	groupTokens   int
	groupSystem   bool
	dataset       string
	repeat        bool
	tokenizer     string
	seed, salt    optional[uint64]
	noSalt        bool
	block         int
	cacheWanted   bool

	trace     traceFlags
	when      whenFlags
	search    searchFlags
	calibrate calibrateFlags
	limit     limitFlag
	whole     bool
	ignoreEOS bool
	extra     extraFlag
	dry       bool
	verbose   bool

	fs      *flag.FlagSet
	aliases aliasNames
}

// An optional is a number that may not have been given.
type optional[T int | uint64 | float64] struct{ p *T }

func (o *optional[T]) String() string {
	if o == nil || o.p == nil {
		return ""
	}
	return fmt.Sprint(*o.p)
}

// Set reads a number in base 10: 010 is ten.
func (o *optional[T]) Set(s string) error {
	o.p = new(T)
	var err error
	switch p := any(o.p).(type) {
	case *int:
		*p, err = strconv.Atoi(s)
	case *uint64:
		*p, err = strconv.ParseUint(s, 10, 64)
	case *float64:
		*p, err = strconv.ParseFloat(s, 64)
	}
	if err != nil {
		return fmt.Errorf("want %s", map[bool]string{true: "a number", false: "a whole number"}[isFloat(o.p)])
	}
	return nil
}

func isFloat(p any) bool { _, ok := p.(*float64); return ok }

// or returns the number, or what it is by default.
func (o *optional[T]) or(v T) T {
	if o.p == nil {
		return v
	}
	return *o.p
}

// aliasNames are flags that go by several names: each name after the first with
// the first.
type aliasNames map[string]string

// add declares the other names of a flag.
func (a aliasNames) add(fs *flag.FlagSet, name string, others ...string) {
	f := fs.Lookup(name)
	for _, other := range others {
		fs.Var(f.Value, other, "the same as -"+name)
		a[other] = name
	}
}

// lengthFlags are one length: batchbench's flags, and ours.
type lengthFlags struct {
	family            string // input or output
	fixed, vary, max  optional[int]
	mu, median, sigma optional[float64]
	uniform, file     string
}

func (l *lengthFlags) declare(fs *flag.FlagSet, family, what string) {
	l.family = family
	fs.Var(&l.fixed, family+"-tokens", what+" is so many `TOKENS` long")
	fs.Var(&l.vary, family+"-vary", "vary -"+family+"-tokens by up to so many `TOKENS` to both sides, each length equally likely")
	fs.Var(&l.mu, family+"-lognorm-mu", "log-normal lengths: the mean `MU` of the logarithms")
	fs.Var(&l.median, family+"-lognorm-median", "log-normal lengths: the median in `TOKENS`, in place of mu")
	fs.Var(&l.sigma, family+"-lognorm-sigma", "log-normal lengths: the standard deviation `SIGMA` of the logarithms")
	fs.Var(&l.max, family+"-lognorm-max", "log-normal lengths: what is longer becomes so many `TOKENS`")
	fs.StringVar(&l.uniform, family+"-uniform", "", "lengths from `LO..HI` tokens, each equally likely")
	fs.StringVar(&l.file, family+"-lengths", "", "lengths drawn from those in a `FILE[:COLUMN]` of JSONL or CSV")
}

// dist is the distribution that the flags describe; none if nothing was given.
func (l *lengthFlags) dist() (workload.Dist, error) {
	s := workload.Settings{
		Names: workload.FlagNames(l.family), Fixed: l.fixed.p, Vary: l.vary.p, Mu: l.mu.p, Median: l.median.p, Sigma: l.sigma.p, Max: l.max.p,
	}
	if s.Fixed != nil && *s.Fixed == 0 && l.family == "input" {
		s.Fixed = nil // batchbench's default, which means that nothing was said
	}
	switch {
	case l.uniform != "":
		lo, hi, err := span(l.uniform, strconv.Atoi)
		if err != nil {
			return workload.Dist{}, usagef("-%s-uniform is %q: %v", l.family, l.uniform, err)
		}
		d, err := workload.Uniform(lo, hi)
		if err != nil {
			return workload.Dist{}, usagef("-%s-uniform is %q: %s", l.family, l.uniform, reason(err))
		}
		return d, nil
	case l.file != "":
		values, err := workload.LoadLengths(lengthsFile(l.file))
		if err != nil {
			return workload.Dist{}, fmt.Errorf("-%s-lengths: %w", l.family, err)
		}
		return workload.Empirical(values)
	}
	d, err := s.Dist()
	if err != nil {
		return d, usagef("%s", l.valued(err))
	}
	return d, nil
}

// lengthsFile divides FILE:COLUMN; the column is empty if there is none.
func lengthsFile(s string) (path, column string) {
	if i := strings.LastIndexByte(s, ':'); i > 1 { // a drive's name is one letter
		return s[:i], s[i+1:]
	}
	return s, ""
}

// valued is an error of the settings, with the value of the flag that it is
// about where it leaves that out.
func (l *lengthFlags) valued(err error) string {
	text := strings.TrimPrefix(err.Error(), "workload: ")
	var o *workload.OptionError
	if !errors.As(err, &o) || o.Value != "" {
		return text
	}
	n := workload.FlagNames(l.family)
	values := map[string]fmt.Stringer{n.Fixed: &l.fixed, n.Vary: &l.vary, n.Mu: &l.mu, n.Median: &l.median, n.Sigma: &l.sigma, n.Max: &l.max}
	if v := values[o.Option]; v != nil && v.String() != "" {
		return fmt.Sprintf("%s is %v: it %s", o.Option, v, o.Reason)
	}
	return text
}

// span reads LO..HI.
func span[T any](s string, parse func(string) (T, error)) (lo, hi T, err error) {
	a, b, ok := strings.Cut(s, "..")
	if ok {
		if lo, err = parse(strings.TrimSpace(a)); err == nil {
			hi, err = parse(strings.TrimSpace(b))
		}
	}
	if !ok || err != nil {
		return lo, hi, errors.New("want the least and the most with two dots between, such as 100..200")
	}
	return lo, hi, nil
}

// traceFlags name recorded traffic.
type traceFlags struct {
	path, kind string
	scale      optional[float64]
	limit      int
	block      int
	from, to   time.Duration
	keepFailed bool
}

func (t *traceFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&t.path, "trace", "", "take the requests' lengths and times from a `FILE` of recorded traffic; with -users, -rate or -stages, the lengths only")
	fs.StringVar(&t.kind, "trace-kind", "", "the file's `KIND`: "+traceKinds()+" (default: told by what it holds)")
	fs.Var(&t.scale, "time-scale", "divide the trace's times by `FACTOR`: 2 is twice as fast (default 1)")
	fs.IntVar(&t.limit, "trace-limit", 0, "take the first `N` rows only")
	fs.IntVar(&t.block, "trace-block", 0, "a hash id of the trace stands for so many `TOKENS` (default: its kind's, 512 or 16)")
	fs.DurationVar(&t.from, "trace-from", 0, "leave out what is before this `TIME` of the trace")
	fs.DurationVar(&t.to, "trace-to", 0, "leave out what is from this `TIME` of the trace on")
	fs.BoolVar(&t.keepFailed, "trace-keep-failed", false, "keep rows without output, with one token, in place of leaving them out")
}

// whenFlags say when requests are sent.
type whenFlags struct {
	users, each      optional[int]
	think, every     string
	join             time.Duration
	rate             optional[float64]
	process          string
	shape            optional[float64]
	stages           string
	duration         time.Duration
	requests         optional[int]
	warmup, cooldown string
	maxInFlight      int
	drain            time.Duration
}

func (w *whenFlags) declare(fs *flag.FlagSet) {
	fs.Var(&w.users, "users", "a closed loop of `N` users, each with one request in flight (default 1; with -dataset-jsonl, its rows divided by -requests-per-user)")
	fs.Var(&w.each, "requests-per-user", "each user makes `N` requests, whether they fail or not (default 1; without a limit if -duration or -requests is given)")
	fs.StringVar(&w.think, "think", "", "a user waits for a `TIME` after each answer: 2s, or 1s..3s with each equally likely, or exp:2s by its mean")
	fs.StringVar(&w.every, "every", "", "a user's requests are due no sooner than this `TIME` after each other; written as for -think")
	fs.DurationVar(&w.join, "join", 0, "users come one after the other over this `TIME`; make it a part of the warm-up")
	fs.Var(&w.rate, "rate", "an open loop of `R` requests a second, whatever is in flight")
	fs.StringVar(&w.process, "arrival", "", "`HOW` the gaps of an open loop vary: constant, poisson or gamma (default poisson)")
	fs.Var(&w.shape, "burstiness", "the `SHAPE` of gamma gaps: 1 is poisson, less comes in bursts, more is more even")
	fs.StringVar(&w.stages, "stages", "", "an open loop with a rate that changes, in `STAGES`: \"30s:0..100,5m:100\" is a ramp and then a constant rate")
	fs.DurationVar(&w.duration, "duration", 0, "the measured part takes this `TIME`")
	fs.Var(&w.requests, "requests", "the measured part has `N` requests")
	fs.StringVar(&w.warmup, "warmup", "", "do not count what comes first, for a `TIME` such as 30s or a number of requests such as 100x; the load goes on without a pause")
	fs.StringVar(&w.cooldown, "cooldown", "", "keep the load on after the measured part, for a `TIME` such as 10s, or 100x requests, or until what was measured is answered: forever")
	fs.IntVar(&w.maxInFlight, "max-in-flight", 0, "`N` requests of an open loop are in flight at most; what is due beyond is dropped and counts as failed (default 8192, or what this process may have)")
	fs.DurationVar(&w.drain, "drain", 0, "wait for answers for this `TIME` when nothing more is due; what is left is incomplete (default: until all have come)")
}

func (f *loadFlags) declare(fs *flag.FlagSet, p *program) {
	f.fs, f.aliases = fs, aliasNames{}
	f.server.declare(fs)
	f.out.declare(fs, p)
	f.input.declare(fs, "input", "a prompt")
	f.output.declare(fs, "output", "an answer, as the server is asked for with its least and its most,")
	f.aliases.add(fs, "input-tokens", "gen-approx-input-tokens")
	f.aliases.add(fs, "input-vary", "gen-token-tolerance")
	f.aliases.add(fs, "input-lognorm-median", "gen-dist-median")
	f.aliases.add(fs, "input-lognorm-sigma", "gen-dist-sigma")
	f.aliases.add(fs, "input-lognorm-max", "gen-dist-max")
	fs.StringVar(&f.mode, "gen-dist-mode", "", "fixed or lognormal: batchbench's old way to say which lengths are meant")
	fs.Var(&f.overlap, "input-prefix-overlap", "prompts begin alike for this `SHARE` of each, from 0 to 1")
	f.aliases.add(fs, "input-prefix-overlap", "gen-prefix-overlap")
	fs.StringVar(&f.overlapOf, "overlap-of", "", "what -input-prefix-overlap is a share `OF`: each prompt, or the shortest of all, as batchbench has it (default each)")
	fs.IntVar(&f.groups, "groups", 0, "prompts begin with one of `N` texts, as those of several applications do")
	fs.IntVar(&f.groupTokens, "group-tokens", 0, "the length of each of these texts in `TOKENS`, to which the input length is added")
	fs.BoolVar(&f.groupSystem, "group-system", false, "send the group's text as a system message")
	fs.StringVar(&f.dataset, "dataset-jsonl", "", "send the requests of a `FILE`, one a line: {\"text\": …}, {\"body\": {…}}, or a request itself")
	f.aliases.add(fs, "dataset-jsonl", "jsonl")
	fs.BoolVar(&f.repeat, "repeat", false, "begin anew after the file's last request")
	fs.StringVar(&f.tokenizer, "tokenizer", "", "make prompts of exactly the asked number of tokens by the tokenizer `NAME`: of OpenAI (o200k_base), a tokenizer.json or its folder, or a hub's id (default: words that are one token each in all common tokenizers)")
	fs.Var(&f.seed, "seed", "the `SEED` of all lengths, texts and times (default: drawn, and printed)")
	fs.Var(&f.salt, "salt", "the `NUMBER` that the first tokens of each prompt are drawn from, so that no cache knows them from an earlier run (default: drawn, and printed)")
	fs.BoolVar(&f.noSalt, "no-salt", false, "let the prompts of two runs with one seed be the same, for a cache to know them")
	fs.IntVar(&f.block, "block", 1, "the server's prefix cache holds blocks of so many `TOKENS`: for the best possible number of cached tokens")
	fs.BoolVar(&f.cacheWanted, "cache-wanted", false, "cache hits are a part of what is measured; without it they make the run invalid")
	f.trace.declare(fs)
	f.when.declare(fs)
	f.search.declare(fs)
	f.calibrate.declare(fs)
	f.limit.declare(fs)
	fs.BoolVar(&f.whole, "whole", false, "ask for answers in one piece, as batchbench does; there is then no first token to wait for")
	fs.BoolVar(&f.ignoreEOS, "ignore-eos", false, "ask the server to go on until -output-tokens")
	fs.Var(&f.extra, "extra", "further fields of each request, as a `JSON` object such as {\"temperature\":0}")
	fs.BoolVar(&f.dry, "dry-run", false, "make every request and send none")
	fs.BoolVar(&f.verbose, "verbose", false, "print each request and answer to standard error, cut to 50 characters")
	f.aliases.add(fs, "verbose", "v")
}

// given returns the flags that were given, by their first names. What says what
// is so anyway does not count.
func (f *loadFlags) given() map[string]bool {
	set := map[string]bool{}
	f.fs.Visit(func(fl *flag.Flag) {
		name := fl.Name
		if first, ok := f.aliases[name]; ok {
			name = first
		}
		value := fl.Value.String()
		if value == "false" || value == "0" && (name == "input-tokens" || name == "input-vary" || name == "output-vary" || name == "input-prefix-overlap") {
			return
		}
		set[name] = true
	})
	return set
}

// A flagRule is about one flag and the others, any of them.
type flagRule struct{ flag, others, why string }

const (
	inputFlags  = "input-tokens input-vary input-lognorm-mu input-lognorm-median input-lognorm-sigma input-lognorm-max input-uniform input-lengths gen-dist-mode"
	outputNames = "output-tokens output-vary output-lognorm-mu output-lognorm-median output-lognorm-sigma output-lognorm-max output-uniform output-lengths"
	fixedInput  = "input-tokens input-vary input-lognorm-mu input-lognorm-median input-lognorm-sigma input-lognorm-max"
)

// measuredFlags are about what was measured: where nothing is sent, they cannot be
// kept.
const measuredFlags = "results-csv json bench requests-jsonl require verbose"

// excluded are flags that cannot go together.
var excluded = []flagRule{
	{"dataset-jsonl", inputFlags + " input-prefix-overlap overlap-of groups group-tokens group-system trace", "the file has the prompts"},
	{"trace", inputFlags + " " + outputNames, "the trace has the lengths"},
	{"input-uniform", fixedInput + " input-lengths gen-dist-mode", "both say the input's length"},
	{"input-lengths", fixedInput + " gen-dist-mode", "both say the input's length"},
	{"output-uniform", outputNames[:strings.LastIndex(outputNames, " output-uniform")] + " output-lengths", "both say the output's length"},
	{"output-lengths", outputNames[:strings.LastIndex(outputNames, " output-uniform")], "both say the output's length"},
	{"input-prefix-overlap", "groups", "both say how prompts begin"},
	{"salt", "no-salt", "they contradict each other"},
	{"rate", "stages", "both say the rate"},
	{"search", "rate stages users requests-per-user think every join", "it sets the rate"},
	{"search", "dry-run results-csv bench bench-name full require requests-jsonl verbose slo-share", "it is many runs; -json keeps its answer"},
	{"whole", "first-token-timeout idle-timeout slo-ttft slo-tpot", "an answer in one piece has no first token"},
	{"rate", "users requests-per-user think every join", "a load is an open loop or a closed one"},
	{"stages", "users requests-per-user think every join", "a load is an open loop or a closed one"},
	{"time-scale", "users requests-per-user rate stages search", "the trace's times are not used then"},
	{"dry-run", measuredFlags, "nothing is measured in a dry run"},
}

// needed are flags that mean nothing without one of the others.
var needed = []flagRule{
	{"repeat", "dataset-jsonl", ""},
	{"overlap-of", "input-prefix-overlap", ""},
	{"groups", "group-tokens", ""},
	{"group-tokens", "groups", ""},
	{"group-system", "groups", ""},
	{"trace-kind", "trace", ""}, {"time-scale", "trace", ""}, {"trace-limit", "trace", ""}, {"trace-block", "trace", ""}, {"trace-from", "trace", ""},
	{"trace-to", "trace", ""}, {"trace-keep-failed", "trace", ""},
	{"arrival", "rate stages search", "only an open loop without a trace has gaps to draw"},
	{"burstiness", "rate stages search", "only an open loop without a trace has gaps to draw"},
	{"think", "duration requests requests-per-user trace dataset-jsonl", "a user who asks once never waits"},
	{"every", "duration requests requests-per-user trace dataset-jsonl", "a user who asks once never waits"},
	{"max-in-flight", "rate stages trace search", "a closed loop has as many in flight as users"},
	{"warmup", "duration requests requests-per-user stages trace dataset-jsonl", "how much is measured after it?"},
	{"cooldown", "duration requests", "how much is measured before it?"},
	{"search-start", "search", ""}, {"search-target", "search", ""}, {"search-growth", "search", ""}, {"search-tolerance", "search", ""},
	{"search-lead", "search", ""}, {"search-max-repeats", "search", ""}, {"search-max-tries", "search", ""}, {"search-min", "search", ""}, {"search-max", "search", ""},
	{"search", "search-start", "where does it begin?"},
	{"search", "duration requests", "how long is each run?"},
	{"slo-share", "slo slo-ttft slo-tpot slo-e2e", "a share of what?"},
	{"slo-service", "slo slo-ttft slo-e2e", "there is no limit to count from"},
	{"search", "slo slo-ttft slo-tpot slo-e2e", "which answers are good?"},
	{"bench-name", "bench", ""},
}

// checkRules refuses flags that cannot go together, or mean nothing alone.
func checkRules(fs *flag.FlagSet, given map[string]bool, excluded, needed []flagRule) error {
	show := func(name string) string {
		if v := fs.Lookup(name).Value.String(); v != "" && v != "true" {
			return fmt.Sprintf("-%s is %s", name, v)
		}
		return "-" + name + " is given"
	}
	because := func(why string) string {
		if why == "" {
			return ""
		}
		return ": " + why
	}
	for _, r := range excluded {
		for other := range strings.FieldsSeq(r.others) {
			if given[r.flag] && given[other] {
				return usagef("%s and %s: the two cannot be combined%s", show(r.flag), show(other), because(r.why))
			}
		}
	}
	for _, r := range needed {
		others := strings.Fields(r.others)
		if given[r.flag] && !slices.ContainsFunc(others, func(o string) bool { return given[o] }) {
			return usagef("%s: it needs -%s%s", show(r.flag), strings.Join(others, " or -"), because(r.why))
		}
	}
	return nil
}
