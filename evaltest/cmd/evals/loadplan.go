package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/token"
	"github.com/goevals/evals/evaltest/load/trace"
	"github.com/goevals/evals/evaltest/load/workload"
)

// standIn is the root of random numbers for a seed of 0, which is a seed like
// any other in batchbench and means "draw one" in our packages.
const standIn = 0x9E3779B97F4A7C15

func rooted(o optional[uint64]) uint64 {
	switch {
	case o.p == nil:
		return workload.NewSeed()
	case *o.p == 0:
		return standIn
	}
	return *o.p
}

// extraFlag are further fields of a body.
type extraFlag struct {
	text   string
	fields map[string]json.RawMessage
}

func (e *extraFlag) String() string { return e.text }

func (e *extraFlag) Set(s string) error {
	e.text = s
	if err := json.Unmarshal([]byte(s), &e.fields); err != nil || e.fields == nil {
		return errors.New(`want a JSON object such as {"temperature":0}`)
	}
	if _, ok := e.fields["stream"]; ok {
		return errors.New("stream is said with -whole")
	}
	if n, ok := e.fields["n"]; ok && string(n) != "1" {
		return errors.New("several answers (n) would be measured as one")
	}
	return nil
}

// A loadStuff is what the flags name and has to be read: files and a tokenizer.
type loadStuff struct {
	tokens  token.Tokenizer // nil: words
	input   workload.Dist
	output  workload.Dist
	rows    func(workload.RowsOptions) (*workload.Rows, error)
	length  int // rows of the dataset, or of the trace
	bodies  int // rows that are whole requests
	trace   *trace.Trace
	pairs   []workload.Pair
	offsets []time.Duration
	warn    []string
}

// read reads what the flags name. Errors of flags are usage errors, those of
// files are not.
func (f *loadFlags) read(ctx context.Context, env func(string) string) (*loadStuff, error) {
	given := f.given()
	if err := errors.Join(checkRules(f.fs, given, excluded, needed), f.checkValues(given)); err != nil {
		return nil, err
	}
	s := &loadStuff{}
	var err error
	if s.input, err = f.inputDist(); err != nil {
		return nil, err
	}
	if s.output, err = f.output.dist(); err != nil {
		return nil, err
	}
	if f.tokenizer != "" {
		if s.tokens, err = token.Load(ctx, f.tokenizer, token.HubFromEnv(env)); err != nil {
			return nil, fmt.Errorf("-tokenizer %s: %w", f.tokenizer, err)
		}
	}
	switch {
	case f.dataset != "":
		err = f.readDataset(s, given)
	case f.trace.path != "":
		err = f.readTrace(s, given)
	}
	return s, err
}

// checkValues refuses what no other check knows by the flag's name.
func (f *loadFlags) checkValues(given map[string]bool) error {
	w := &f.when
	for _, c := range []struct {
		bad         bool
		flag        string
		value, want any
	}{
		{given["users"] && w.users.or(1) < 1, "users", w.users.or(0), "at least 1"},
		{given["requests-per-user"] && w.each.or(1) < 1, "requests-per-user", w.each.or(0), "at least 1"},
		{given["requests"] && w.requests.or(1) < 1, "requests", w.requests.or(0), "at least 1"},
		{given["duration"] && w.duration <= 0, "duration", w.duration, "a time above 0"},
		{w.join < 0, "join", w.join, "a time of 0 or more"},
		{w.drain < 0, "drain", w.drain, "a time of 0 or more"},
		{given["max-in-flight"] && w.maxInFlight < 1, "max-in-flight", w.maxInFlight, "at least 1"},
		{f.block < 1, "block", f.block, "at least 1"},
		{given["groups"] && f.groups < 1, "groups", f.groups, "at least 1"},
		{given["group-tokens"] && f.groupTokens < 1, "group-tokens", f.groupTokens, "at least 1"},
		{given["overlap-of"] && f.overlapOf != "each" && f.overlapOf != "shortest", "overlap-of", f.overlapOf, "each or shortest"},
		{math.IsNaN(f.overlap.or(0)), "input-prefix-overlap", f.overlap.or(0), "a share from 0 to 1"},
		{f.mode != "" && !strings.EqualFold(f.mode, "fixed") && !strings.EqualFold(f.mode, "lognormal"), "gen-dist-mode", f.mode, "fixed or lognormal"},
		{given["trace-limit"] && f.trace.limit < 1, "trace-limit", f.trace.limit, "at least 1"},
		{given["trace-block"] && f.trace.block < 1, "trace-block", f.trace.block, "at least 1"},
		{given["time-scale"] && !(f.trace.scale.or(1) > 0 && f.trace.scale.or(1) <= math.MaxFloat64), "time-scale", f.trace.scale.or(0), "a number above 0"},
		{f.trace.from < 0, "trace-from", f.trace.from, "a time of 0 or more"},
		{given["trace-to"] && f.trace.to <= f.trace.from, "trace-to", f.trace.to, "a time after -trace-from"},
		{given["slo-share"] && !(f.out.slo.share > 0 && f.out.slo.share <= 1), "slo-share", f.out.slo.share, "a share above 0 and at most 1"},
		{f.out.slo.ttft < 0, "slo-ttft", f.out.slo.ttft, "a time above 0"},
		{f.out.slo.tpot < 0, "slo-tpot", f.out.slo.tpot, "a time above 0"},
		{f.out.slo.e2e < 0, "slo-e2e", f.out.slo.e2e, "a time above 0"},
	} {
		if c.bad {
			return usagef("-%s is %v: want %v", c.flag, c.value, c.want)
		}
	}
	_, err := trace.ParseKind(f.trace.kind)
	if err != nil {
		return usagef("-trace-kind is %q: want %s", f.trace.kind, traceKinds())
	}
	return nil
}

func traceKinds() string {
	list := make([]string, 0, len(trace.Kinds()))
	for _, k := range trace.Kinds() {
		list = append(list, string(k))
	}
	return strings.Join(list, ", ")
}

// inputDist is how long prompts are; one token if nothing was said, as
// batchbench has it.
func (f *loadFlags) inputDist() (workload.Dist, error) {
	given := f.given()
	switch strings.ToLower(f.mode) {
	case "fixed":
		for _, name := range []string{"input-lognorm-mu", "input-lognorm-median", "input-lognorm-sigma", "input-lognorm-max"} {
			if given[name] {
				return workload.Dist{}, usagef("-gen-dist-mode is %s: it cannot be combined with --input-lognorm-* (-%s)", f.mode, name)
			}
		}
	case "lognormal":
		if f.input.sigma.p == nil {
			f.input.sigma.p = new(0.5) // batchbench's, with this flag only
		}
	}
	d, err := f.input.dist()
	if err == nil && d.IsZero() && f.dataset == "" && f.trace.path == "" {
		return workload.Fixed(1, 0)
	}
	return d, err
}

func (f *loadFlags) readDataset(s *loadStuff, given map[string]bool) error {
	f.dataset = strings.TrimSpace(f.dataset)
	s.rows = func(o workload.RowsOptions) (*workload.Rows, error) { return workload.Load(f.dataset, o) }
	rows, err := s.rows(workload.RowsOptions{})
	if err != nil {
		return fmt.Errorf("-dataset-jsonl: %w", err)
	}
	s.length = rows.Rows()
	for i := range s.length {
		if r, err := rows.Request(i); err == nil && r.Body != nil {
			s.bodies++
		}
	}
	for _, w := range rows.Warnings() {
		s.warn = append(s.warn, fmt.Sprintf("%s: %v", f.dataset, w))
	}
	for _, name := range []string{"whole", "ignore-eos", "extra"} {
		if given[name] && s.bodies > 0 {
			s.warn = append(s.warn, fmt.Sprintf("-%s changes nothing of what %s holds as whole requests, which are %d: they are sent as they are", name, f.dataset, s.bodies))
		}
	}
	switch {
	case given["salt"] && s.bodies > 0:
		return usagef("-salt is %v: %s holds whole requests (%d), before which nothing can be put", f.salt.or(0), f.dataset, s.bodies)
	case f.search.on && !given["salt"] && !f.cacheWanted:
		return usagef("-search is given: its runs send the same prompts of %s again and again, which a cache will know: give -salt, or -cache-wanted", f.dataset)
	}
	return nil
}

func (f *loadFlags) readTrace(s *loadStuff, given map[string]bool) error {
	o := trace.Options{Kind: trace.Kind(strings.ToLower(f.trace.kind)), From: f.trace.from, To: f.trace.to, Limit: f.trace.limit, BlockTokens: f.trace.block}
	if o.Kind == "auto" {
		o.Kind = ""
	}
	if f.trace.keepFailed {
		o.NoOutput = trace.KeepAsOne
	}
	if s.tokens != nil {
		o.Count = func(text string) int { return token.Count(s.tokens, text) }
	}
	t, err := trace.Open(f.trace.path, o)
	if err != nil {
		return errors.New("-trace: " + strings.ReplaceAll(err.Error(), "set Options.BlockTokens", "give -trace-block"))
	}
	s.trace, s.length = t, t.Len()
	for row := range t.Rows() {
		if row.Input == 0 {
			return usagef("-trace is %s: it holds texts, and nobody counted their tokens: give -tokenizer", f.trace.path)
		}
		s.pairs = append(s.pairs, workload.Pair{Input: row.Input, Output: row.Output})
	}
	if given["users"] || given["rate"] || given["stages"] || f.search.on {
		return nil
	}
	if s.offsets, err = t.Offsets(1); errors.Is(err, trace.ErrNoTimes) {
		return usagef("-trace is %s: it does not say when its requests were sent: give -rate, -stages or -users", f.trace.path)
	}
	return err
}

// plan is the load that the flags describe. rate replaces that of the flags, if
// it is not 0. It reads nothing but the dataset, and changes nothing.
func (f *loadFlags) plan(s *loadStuff, env func(string) string, seed, salt uint64, rate float64) (load.Load, error) {
	l := load.Load{Seed: seed}
	var err error
	if l.Client, err = f.server.config(env); err != nil {
		return l, err
	}
	if l.Phases, err = f.when.phases(); err != nil {
		return l, err
	}
	if l.Schedule, err = f.schedule(s, rate); err != nil {
		return l, err
	}
	if f.open(s) {
		l.MaxInFlight = f.when.maxInFlight
	} else if err := f.closed(&l, s); err != nil {
		return l, err
	}
	l.Drain = f.when.drain
	if l.Source, err = f.source(&l, s, seed, salt); err != nil {
		return l, named(err)
	}
	if l.Metric.SLO, err = f.out.slo.slo(); err != nil {
		return l, err
	}
	l.Metric.CacheWanted, l.Metric.Limits = f.cacheWanted, f.limit.limits
	whole, ignore, extra := f.whole, f.ignoreEOS, f.extra.fields
	l.Ask = func(p *client.Prompt) {
		p.Whole, p.IgnoreEOS = whole, ignore
		if p.Extra == nil {
			p.Extra = extra
		} else {
			maps.Copy(p.Extra, extra)
		}
	}
	if err := l.Check(); err != nil {
		return l, named(err)
	}
	return l, f.ends(&l)
}

// open reports whether the flags ask for an open loop.
func (f *loadFlags) open(s *loadStuff) bool {
	return f.when.rate.p != nil || f.when.stages != "" || s.offsets != nil || f.search.on
}

// ends refuses an open loop that nothing ends.
func (f *loadFlags) ends(l *load.Load) error {
	if l.Users > 0 || l.Source.Len() > 0 || l.Phases.Measured != (arrival.Limit{}) {
		return nil
	}
	if _, ends := l.Schedule.Length(); ends {
		return nil
	}
	what := fmt.Sprintf("-stages is %s", f.when.stages)
	if f.when.rate.p != nil {
		what = fmt.Sprintf("-rate is %v", *f.when.rate.p)
	}
	return usagef("%s: nothing ends this load: give -duration or -requests", what)
}

// closed sets who sends in a closed loop.
func (f *loadFlags) closed(l *load.Load, s *loadStuff) error {
	w := &f.when
	limited := w.duration > 0 || w.requests.p != nil
	switch {
	case w.each.p != nil:
		l.Each = *w.each.p
	case !limited && s.trace == nil:
		l.Each = 1
	}
	l.Users = w.users.or(1)
	if s.rows != nil && w.users.p == nil && l.Each > 0 {
		if l.Users = s.length / l.Each; l.Users == 0 {
			return usagef("-requests-per-user is %d: %s has only %d requests", l.Each, f.dataset, s.length)
		}
	}
	if l.Each > math.MaxInt32/max(1, l.Users) {
		return usagef("-requests-per-user is %d: with -users %d these are more requests than can be counted", l.Each, l.Users)
	}
	if s.rows != nil && !f.repeat && l.Each*l.Users > s.length {
		return usagef("-users is %d: with -requests-per-user %d these are %d requests, and %s has %d; -repeat begins anew after the last", l.Users, l.Each, l.Users*l.Each, f.dataset, s.length)
	}
	var err error
	if l.Think, err = times("think", w.think); err != nil {
		return err
	}
	l.Every, err = times("every", w.every)
	l.Join = w.join
	return err
}

// times reads a time that may vary: 2s, 1s..3s or exp:2s; nil for "".
func times(flag, s string) (arrival.Dist, error) {
	bad := usagef("-%s is %q: want a time such as 2s, or 1s..3s, or exp:2s, of up to a year", flag, s)
	fits := func(d time.Duration) bool { return d >= 0 && d <= 8760*time.Hour }
	mean, exp := strings.CutPrefix(s, "exp:")
	switch {
	case s == "":
		return nil, nil
	case exp:
		if d, err := time.ParseDuration(mean); err == nil && fits(d) {
			return arrival.Exponential(d), nil
		}
	case strings.Contains(s, ".."):
		if lo, hi, err := span(s, time.ParseDuration); err == nil && fits(lo) && fits(hi) && lo <= hi {
			return arrival.Between(lo, hi), nil
		}
	default:
		if d, err := time.ParseDuration(s); err == nil && fits(d) {
			return arrival.Fixed(d), nil
		}
	}
	return nil, bad
}

// phases are the warm-up, the measured part and the cool-down.
func (w *whenFlags) phases() (p arrival.Phases, err error) {
	if p.Warmup, err = limit("warmup", w.warmup); err != nil {
		return p, err
	}
	p.Measured = arrival.Limit{For: w.duration, Count: w.requests.or(0)}
	if w.cooldown == "forever" {
		p.Cooldown.For = arrival.Forever
		return p, nil
	}
	p.Cooldown, err = limit("cooldown", w.cooldown)
	return p, err
}

// limit reads a time, or a number of requests with an x behind it.
func limit(flag, s string) (arrival.Limit, error) {
	if s == "" {
		return arrival.Limit{}, nil
	}
	if n, ok := strings.CutSuffix(s, "x"); ok {
		if count, err := strconv.Atoi(n); err == nil && count > 0 {
			return arrival.Limit{Count: count}, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return arrival.Limit{For: d}, nil
	}
	return arrival.Limit{}, usagef("-%s is %q: want a time such as 30s, or a number of requests such as 100x", flag, s)
}

// schedule is that of an open loop; the zero one in a closed loop.
func (f *loadFlags) schedule(s *loadStuff, rate float64) (arrival.Schedule, error) {
	w := &f.when
	process, err := w.gaps()
	if err != nil {
		return arrival.Schedule{}, err
	}
	rate = cmp.Or(rate, w.rate.or(0))
	var stages []arrival.Stage
	switch {
	case s.offsets != nil:
		schedule, err := arrival.Trace(s.offsets, f.trace.scale.or(1))
		return schedule, named(err)
	case w.stages != "":
		if stages, err = arrival.ParseStages(w.stages); err != nil {
			return arrival.Schedule{}, usagef("-stages is %q: %s", w.stages, reason(err))
		}
	case !f.open(s):
		return arrival.Schedule{}, nil
	case !(rate > 0 && rate <= arrival.MaxRate):
		return arrival.Schedule{}, usagef("-rate is %v: want requests a second, above 0 and at most %v", rate, arrival.MaxRate)
	default:
		stages = []arrival.Stage{arrival.Hold(arrival.Forever, rate)}
	}
	schedule, err := arrival.Stages(process, stages...)
	if err != nil {
		return schedule, usagef("-stages is %q: %s", w.stages, reason(err))
	}
	return schedule, nil
}

// gaps is how the gaps between arrivals vary.
func (w *whenFlags) gaps() (arrival.Process, error) {
	switch shape := w.shape.or(1); {
	case w.shape.p != nil && (w.process == "constant" || w.process == "poisson"):
		return 0, usagef("-burstiness is %v: it is of -arrival gamma, and -arrival is %s", shape, w.process)
	case w.shape.p != nil && !(shape >= float64(arrival.MinShape) && shape <= float64(arrival.MaxShape)):
		return 0, usagef("-burstiness is %v: want from %v to %v", shape, float64(arrival.MinShape), float64(arrival.MaxShape))
	case w.process == "gamma" && w.shape.p == nil:
		return 0, usagef("-arrival is gamma: it needs -burstiness")
	case w.process == "constant":
		return arrival.Even, nil
	case w.process == "", w.process == "poisson", w.process == "gamma":
		return arrival.Process(shape), nil
	}
	return 0, usagef("-arrival is %q: want constant, poisson or gamma", w.process)
}

// text makes prompts.
func (s *loadStuff) text() workload.Text {
	if s.tokens == nil {
		return token.Words{}
	}
	return token.Random(s.tokens)
}

// source makes the requests.
func (f *loadFlags) source(l *load.Load, s *loadStuff, seed, salt uint64) (workload.Source, error) {
	if s.rows != nil {
		o := workload.RowsOptions{Repeat: f.repeat, Output: s.output, Seed: seed, Block: f.block}
		if s.tokens != nil {
			o.Tokens = func(text string) int { return token.Count(s.tokens, text) }
		}
		if f.salt.p != nil {
			o.Text, o.Salt = s.text(), workload.Salt{Value: salt}
		}
		return s.rows(o)
	}
	o := workload.Options{
		Text: s.text(), Seed: seed, Input: s.input, Output: s.output, Pairs: s.pairs, Block: f.block,
		Groups: workload.Groups{Count: f.groups, Tokens: f.groupTokens, System: f.groupSystem},
		Salt:   workload.Salt{Off: f.noSalt, Value: salt},
		Count:  count(l),
	}
	if f.noSalt {
		o.Salt.Value = 0
	}
	if share := min(1, max(0, f.overlap.or(0))); share > 0 {
		o.Overlap.Share = share
		switch {
		case f.overlapOf == "shortest":
			o.Overlap.Of = workload.OfShortest
		case s.tokens != nil:
			o.Overlap.Step = 64 // token.Random counts anew all that comes before
		}
	}
	return workload.New(o)
}

// count is how many requests there will be, 0 if that is not known before.
func count(l *load.Load) int {
	p, total := l.Phases, l.Each*l.Users
	if p.Warmup.For > 0 || p.Cooldown.For > 0 || p.Measured.Count == 0 {
		return total
	}
	sum := p.Warmup.Count + p.Measured.Count + p.Cooldown.Count
	if total == 0 || sum < total && l.Each == 0 {
		return sum
	}
	return total
}

// flagOf names the flags for options of the packages.
var flagOf = strings.NewReplacer(
	"Overlap.Share", "-input-prefix-overlap", "Overlap.Of", "-overlap-of", "Groups.Count", "-groups", "Groups.Tokens", "-group-tokens",
	"Config.Header", "-header", "Timeouts.First", "-first-token-timeout", "Timeouts.Idle", "-idle-timeout", "Timeouts.Total", "-request-timeout-secs",
	"Endpoint", "-endpoint", "Host", "-host", "Key has", "-api-key has", "as Key", "with -api-key-env", "API is", "-api is", "Lengths is", "-lengths is",
	"the warm-up phase's For", "-warmup", "the warm-up phase's Count", "-warmup", "the measured phase's For", "-duration",
	"the measured phase's Count", "-requests", "the cool-down phase's For", "-cooldown", "the cool-down phase's Count", "-cooldown",
	"MaxInFlight", "-max-in-flight", "Block", "-block", "needs Count", "needs -requests-per-user or -requests",
	"Input is", "the input's length is", "Users", "-users", "Each", "-requests-per-user", "Metric.SLO", "-slo",
)

// named makes a usage error of an option that a package refuses, with the
// flag's name; nil stays nil.
func named(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, load.ErrConfig), errors.Is(err, workload.ErrOption), errors.As(err, new(*arrival.OptionError)):
		text := flagOf.Replace(reason(err))
		if strings.HasPrefix(text, `"`) { // the address, which may hold a secret and is quoted in part
			text = "-host and -endpoint: " + text
		}
		return usagef("%s", text)
	}
	return err
}

// reason is an error without the names of packages before it.
func reason(err error) string {
	text := err.Error()
	for _, prefix := range []string{"load: ", load.ErrConfig.Error() + ": ", "workload: ", "arrival: ", "client: ", "metric: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// version is this program's, as the module's build says.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// settings are the CSV cells that are not measured.
func (f *loadFlags) settings(l *load.Load, s *loadStuff, salt uint64) map[string]string {
	text := func(v fmt.Stringer) string { return v.String() }
	m := map[string]string{
		"model": f.server.model, "dataset_path": cmp.Or(f.dataset, f.trace.path, "synthetic"), "sglang": strconv.FormatBool(l.Client.Lengths == client.SGLang),
		"request_timeout_secs": strconv.Itoa(f.server.timeout), "max_retries": strconv.Itoa(f.server.retries), "retry_delay_ms": strconv.Itoa(f.server.delay),
		"output_tokens": text(&f.output.fixed), "output_vary": text(&f.output.vary), "output_lognorm_mu": text(&f.output.mu),
		"output_lognorm_sigma": text(&f.output.sigma), "output_lognorm_max": text(&f.output.max), "output_lognorm_median": text(&f.output.median),
		"input_tokens": text(&f.input.fixed), "input_vary": text(&f.input.vary), "input_lognorm_mu": text(&f.input.mu),
		"input_lognorm_sigma": text(&f.input.sigma), "input_lognorm_max": text(&f.input.max), "input_lognorm_median": text(&f.input.median),
		"input_prefix_overlap": text(&f.overlap), "seed": strconv.FormatUint(l.Seed, 10),
		"tokenizer": "words", "evals_version": version(), "arrival": "closed",
	}
	if s.tokens != nil {
		m["tokenizer"] = s.tokens.Name()
	}
	if n := cmp.Or(s.length, l.Source.Len()); n > 0 {
		m["dataset_size"] = strconv.Itoa(n)
	}
	if f.salted(s) {
		m["salt"] = strconv.FormatUint(salt, 10)
	}
	if l.Users > 0 {
		m["users"] = strconv.Itoa(l.Users)
		if l.Each > 0 {
			m["requests_per_user"] = strconv.Itoa(l.Each)
		}
	} else {
		m["arrival"] = l.Schedule.String()
		m["rate"] = text(&f.when.rate)
	}
	if d := f.when.duration; d > 0 {
		m["duration_seconds"] = strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	}
	return m
}

// salted reports whether a salt changes the prompts.
func (f *loadFlags) salted(s *loadStuff) bool {
	return s.rows == nil && !f.noSalt || s.rows != nil && f.salt.p != nil
}

// warnings are what a person should know of the flags.
func (f *loadFlags) warnings(s *loadStuff) []string {
	list := slices.Clone(s.warn)
	if o := f.overlap.or(0); o < 0 || o > 1 {
		list = append(list, fmt.Sprintf("-input-prefix-overlap is %v: taken as %v, as batchbench does", o, min(1, max(0, o))))
	}
	return list
}
