package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/token"
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
	bad    error // said later: package flag would quote the text, which may hold a key
}

func (e *extraFlag) String() string { return e.text }

func (e *extraFlag) Set(s string) error {
	e.text, e.bad = s, e.read(s)
	return nil
}

func (e *extraFlag) read(s string) error {
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
	l.ModifyPrompt = func(p *client.Prompt) {
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
		l.RequestsPerUser = *w.each.p
	case !limited && s.trace == nil:
		l.RequestsPerUser = 1
	}
	l.Users = w.users.or(1)
	if s.rows != nil && w.users.p == nil && l.RequestsPerUser > 0 {
		if l.Users = s.length / l.RequestsPerUser; l.Users == 0 {
			return usagef("-requests-per-user is %d: %s has only %d requests", l.RequestsPerUser, f.dataset, s.length)
		}
	}
	if l.RequestsPerUser > math.MaxInt32/max(1, l.Users) {
		return usagef("-requests-per-user is %d: with -users %d these are more requests than can be counted", l.RequestsPerUser, l.Users)
	}
	if s.rows != nil && !f.repeat && l.RequestsPerUser*l.Users > s.length {
		return usagef("-users is %d: with -requests-per-user %d these are %d requests, and %s has %d; -repeat begins anew after the last", l.Users, l.RequestsPerUser, l.Users*l.RequestsPerUser, f.dataset, s.length)
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
		o := workload.RowsOptions{Repeat: f.repeat, Output: s.output, Seed: seed, CacheBlock: f.block}
		if s.tokens != nil {
			o.Tokens = func(text string) int { return token.Count(s.tokens, text) }
		}
		if f.salt.p != nil {
			o.Text, o.Salt = s.text(), workload.Salt{Value: salt}
		}
		return s.rows(o)
	}
	o := workload.Options{
		Text: s.text(), Seed: seed, Input: s.input, Output: s.output, Pairs: s.pairs, CacheBlock: f.block,
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
	p, total := l.Phases, l.RequestsPerUser*l.Users
	if p.Warmup.For > 0 || p.Cooldown.For > 0 || p.Measured.Count == 0 {
		return total
	}
	sum := p.Warmup.Count + p.Measured.Count + p.Cooldown.Count
	if total == 0 || sum < total && l.RequestsPerUser == 0 {
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
	"MaxInFlight", "-max-in-flight", "CacheBlock", "-block", "needs Count", "needs -requests-per-user or -requests",
	"Input is", "the input's length is", "Users", "-users", "RequestsPerUser", "-requests-per-user", "Metric.SLO", "-slo",
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
