package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load/token"
	"github.com/goevals/evals/evaltest/load/trace"
	"github.com/goevals/evals/evaltest/load/workload"
)

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
	if err := errors.Join(checkRules(f.fs, given, excluded, needed), f.checkValues(given), f.out.check(f.inputs())); err != nil {
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

// inputs are the files that the flags name to be read.
func (f *loadFlags) inputs() []namedFile {
	in, _ := lengthsFile(f.input.file)
	out, _ := lengthsFile(f.output.file)
	return append(tokenizerFiles("tokenizer", f.tokenizer),
		namedFile{"dataset-jsonl", strings.TrimSpace(f.dataset)}, namedFile{"trace", f.trace.path},
		namedFile{"input-lengths", in}, namedFile{"output-lengths", out})
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
	if f.extra.bad != nil {
		return usagef("-extra: %v", f.extra.bad)
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
