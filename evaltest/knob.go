package evaltest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/internal/nearest"
	"github.com/goevals/evals/llm/cassette"
)

// A knob is a setting that has twins in the environment and among the flags.
type knob struct {
	name  string // -evaltest.name and EVALTEST_NAME
	usage string // for go test -args -h
	// want is what is allowed, for the message about what is not.
	want string
	// bare is set for flags that may stand without a value.
	bare bool
	set  func(s *settings, value string) error
}

// errKnob is what a knob's set returns for a value that it does not allow.
var errKnob = errors.New("not allowed")

var knobs = append([]knob{
	number("parallel", "items worked on at once", 1, func(s *settings, n int) { s.parallel = n }),
	number("attempts", "most attempts an item", 1, func(s *settings, n int) { s.attempts = n }),
	number("samples", "independent answers an item", 1, func(s *settings, n int) { s.samples = n }),
	{name: "limit", usage: "take the first `n` items, or all", want: "a whole number of at least 1, or all", set: setLimit},
	{name: "sample", usage: "take `n[/seed]` items at random", want: "n or n/seed, whole numbers, n at least 1", set: setSample},
	{name: "part", usage: "take the part `i/n` of the dataset, or none", want: "i/n, whole numbers, i from 1 to n, or none", set: setPart},
	{name: "ids", usage: "take the items with these `ids`, commas between", want: `ids with commas between, or a JSON list of strings`, set: setIDs},
	{name: "resume", usage: "go on with the latest unfinished run, or with a `journal`", want: "1 for the latest unfinished journal, its path, or 0", bare: true, set: setResume},
	{name: "failed", usage: "take only what was not correct in the latest run", want: "1 or 0", bare: true, set: setFailed},
	{name: "dir", usage: "keep journals under this `folder`", want: "a folder", set: func(s *settings, v string) error { s.dir = v; return nil }},
	duration("timeout", "time for one item", func(s *settings, d time.Duration) { s.itemTimeout = d }),
	duration("attempt-timeout", "time for one attempt", func(s *settings, d time.Duration) { s.attemptTimeout = d }),
	duration("run-timeout", "time for the run", func(s *settings, d time.Duration) { s.runTimeout = d }),
	{name: "max-cost", usage: "most `dollars` to spend, or none", want: "US dollars as a decimal, such as 2.50, or none", set: setMaxCost},
	{name: "max-tokens", usage: "most `tokens` to take, or none", want: "a whole number of at least 1, or none", set: setMaxTokens},
	number("max-errored", "answers that may end in an error", 0, func(s *settings, n int) { s.gate.MaxErrored = n }),
	number("max-ungraded", "answers that may end ungraded", 0, func(s *settings, n int) { s.gate.MaxUngraded = n }),
	{name: "cassette", usage: "`mode` of cassettes: replay, record, auto or off", want: "replay, record, auto or off", set: setCassette},
}, gateKnobs...)

// variable is the environment's name of a knob.
func (k *knob) variable() string {
	return "EVALTEST_" + strings.ToUpper(strings.ReplaceAll(k.name, "-", "_"))
}

// flagName is the flag's name of a knob.
func (k *knob) flagName() string { return "evaltest." + k.name }

func number(name, usage string, least int, set func(*settings, int)) knob {
	return knob{
		name: name, usage: usage + " (a `number`)", want: fmt.Sprintf("a whole number of at least %d", least),
		set: func(s *settings, v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < least {
				return errKnob
			}
			set(s, n)
			return nil
		},
	}
}

func duration(name, usage string, set func(*settings, time.Duration)) knob {
	return knob{
		name: name, usage: usage + " (a `duration`)", want: "a duration above 0 with its unit, such as 90s or 5m",
		set: func(s *settings, v string) error {
			d, err := time.ParseDuration(v)
			if err != nil || d <= 0 {
				return errKnob
			}
			set(s, d)
			return nil
		},
	}
}

func setLimit(s *settings, v string) error {
	s.reselected = true
	if v == "all" {
		s.limit, s.sample = 0, sampling{}
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return errKnob
	}
	s.limit, s.sample = n, sampling{}
	return nil
}

func setSample(s *settings, v string) error {
	count, seed, _ := strings.Cut(v, "/")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return errKnob
	}
	var k uint64
	if strings.Contains(v, "/") {
		if k, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return errKnob
		}
	}
	s.limit, s.sample, s.reselected = 0, sampling{n, k}, true
	return nil
}

func setPart(s *settings, v string) error {
	s.reselected = true
	if v == "none" {
		s.part = parting{}
		return nil
	}
	part, parts, _ := strings.Cut(v, "/")
	i, err := strconv.Atoi(part)
	n, errN := strconv.Atoi(parts)
	if err != nil || errN != nil || i < 1 || i > n {
		return errKnob
	}
	s.part = parting{i, n}
	return nil
}

func setIDs(s *settings, v string) error {
	ids := strings.Split(v, ",")
	if strings.HasPrefix(v, "[") {
		ids = nil
		if err := json.Unmarshal([]byte(v), &ids); err != nil {
			return errKnob
		}
	}
	if len(ids) == 0 {
		return errKnob
	}
	for _, id := range ids {
		if id == "" {
			return errKnob
		}
	}
	s.ids = ids
	return nil
}

// setResume: no journal is called 0 or 1, and boolean flags write true.
func setResume(s *settings, v string) error {
	switch on, err := strconv.ParseBool(v); {
	case err != nil:
		s.resume = v
	case on:
		s.resume = latest
	default:
		s.resume = ""
	}
	return nil
}

func setFailed(s *settings, v string) error {
	on, err := strconv.ParseBool(v)
	if err != nil {
		return errKnob
	}
	s.failed = on
	return nil
}

func setMaxCost(s *settings, v string) error {
	if v == "none" {
		v = ""
	} else if checkCost(v) != nil {
		return errKnob
	}
	s.maxCost = v
	return nil
}

func setMaxTokens(s *settings, v string) error {
	n, err := strconv.Atoi(v)
	switch {
	case v == "none":
		n = 0
	case err != nil || n < 1:
		return errKnob
	}
	s.maxTokens = n
	return nil
}

func setCassette(s *settings, v string) error {
	mode, err := cassette.ParseMode(v)
	if err != nil {
		return errKnob
	}
	s.cassetteMode = mode
	return nil
}

// A knobFlag is a knob's value on the command line. Any value is taken, and
// judged when a run begins: the flag package would end the process without
// saying which test it was.
type knobFlag struct {
	bare  bool
	given bool
	value string
}

func (f *knobFlag) String() string     { return f.value }
func (f *knobFlag) IsBoolFlag() bool   { return f.bare }
func (f *knobFlag) Set(v string) error { f.given, f.value = true, v; return nil }

// knobFlags defines the flags in a set.
func knobFlags(set *flag.FlagSet) map[string]*knobFlag {
	flags := make(map[string]*knobFlag, len(knobs))
	for i := range knobs {
		k := &knobs[i]
		f := &knobFlag{bare: k.bare}
		flags[k.name] = f
		set.Var(f, k.flagName(), "evaltest: "+k.usage+" (or "+k.variable()+")")
	}
	return flags
}

// commandLine holds the process's -evaltest.* flags. They are defined when the
// package is loaded, because go test parses flags before any test runs.
var commandLine = knobFlags(flag.CommandLine)

// resolve puts options, environment and flags together. It reads every
// variable whatever the flags say: go test's cache remembers which variables a
// test has read, and a run must not be served from it after one of them
// changed.
func resolve(opts []Option, getenv func(string) string, flags map[string]*knobFlag) (settings, error) {
	s := defaults()
	optionList(opts).apply(&s)
	var errs []error
	for _, text := range s.refused {
		errs = append(errs, errors.New(text))
	}
	for i := range knobs {
		k := &knobs[i]
		name, value := k.variable(), getenv(k.variable())
		if f := flags[k.name]; f != nil && f.given {
			name, value = "-"+k.flagName(), f.value
			if value == "" {
				errs = append(errs, fmt.Errorf("%s is empty: want %s", name, k.want))
				continue
			}
		}
		if value == "" {
			continue
		}
		if err := k.set(&s, value); err == errKnob {
			errs = append(errs, fmt.Errorf("%s=%q: want %s", name, value, k.want))
		} else if err != nil {
			errs = append(errs, fmt.Errorf("%s=%q: want %s: %w", name, value, k.want, err))
		}
	}
	return s, errors.Join(append(errs, s.check()...)...)
}

// latest stands for the latest unfinished journal in Resume.
const latest = "latest"

// check reports combinations that contradict each other.
func (s *settings) check() (errs []error) {
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf("evaltest: "+format, args...)) }
	s.checkGates(refuse)
	if s.judgeIncorrect && s.judge == nil {
		refuse("JudgeIncorrect without a Judge: nobody can be asked; add evaltest.Judge")
	}
	if s.resume != "" && s.failed {
		refuse("Resume (%s) and Failed together: Resume goes on with a run, Failed begins a new one; give one of them", s.resume)
	}
	if s.failed && len(s.ids) > 0 {
		refuse("Failed and IDs %q together: both say which items to take; give one of them", s.ids)
	}
	if s.offline && s.cassette != "" && s.cassetteMode != cassette.Replay {
		refuse("Offline with a Cassette in mode %v: it may call a model; leave Offline away", s.cassetteMode)
	}
	return errs
}

// givenFlags are the -evaltest.* flags of this run as a shell takes them, each
// with a space before it: a command that goes on with the run needs the same.
func (h *hooks) givenFlags() string {
	text := ""
	for i := range knobs {
		k := &knobs[i]
		if f := h.flags[k.name]; f != nil && f.given && k.name != "resume" && k.name != "update" && k.name != "plan" {
			text += " " + shellQuoteIfNeeded("-"+k.flagName()+"="+f.value)
		}
	}
	return text
}

// misspelt returns an error for each variable that is nearly one of ours. Others
// that begin alike may be a project's own.
func misspelt(environ []string) error {
	known := map[string]bool{}
	for i := range knobs {
		known[knobs[i].variable()] = true
	}
	var errs []error
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "EVALTEST_") || known[name] {
			continue
		}
		best, least := "", 2 // one letter; two in a long name, since short ones are soon alike
		if len(name) >= len("EVALTEST_")+6 {
			least = 3
		}
		for i := range knobs {
			if d := nearest.Distance(name, knobs[i].variable()); d < least {
				best, least = knobs[i].variable(), d
			}
		}
		if best != "" {
			errs = append(errs, fmt.Errorf("%s is set, and is no setting: did you mean %s?", name, best))
		}
	}
	return errors.Join(errs...)
}
