package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/client"
	"github.com/goevals/evals/evaltest/load/metric"
	loadrecord "github.com/goevals/evals/evaltest/load/record"
)

var loadCommand = command{
	name: "load",
	line: "load -host URL -model MODEL [FLAGS]",
	what: "puts a model server under load and measures what it does; takes all flags of batchbench",
	more: loadHelp, groups: loadGroups,
	setup: func(p *program, fs *flag.FlagSet) func([]string) error {
		f := &loadFlags{}
		f.declare(fs, p)
		return func(args []string) error {
			if len(args) > 0 {
				return usagef("load takes no arguments, and %q is one: all is said with flags", args[0])
			}
			ctx, stop := interruptible()
			defer stop()
			return p.load(ctx, f)
		}
	},
}

// load does what the flags ask for.
func (p *program) load(ctx context.Context, f *loadFlags) error {
	if f.calibrate.on || f.calibrate.serve {
		given := f.given()
		if err := errors.Join(f.calibrate.check(given), f.checkValues(given), f.out.check(nil)); err != nil {
			return err
		}
		if f.calibrate.serve {
			return p.serveCalibration(ctx)
		}
		return p.calibrate(ctx, f)
	}
	s, err := f.read(ctx, p.env)
	if err != nil {
		return err
	}
	seed, salt := rooted(f.seed), rooted(f.salt)
	if f.search.on {
		return p.searchLoad(ctx, f, s, seed, salt)
	}
	l, err := f.plan(s, p.env, seed, salt, 0)
	if err != nil {
		return err
	}
	p.tell(f, &l, s, salt)
	if f.dry {
		return p.dryLoad(ctx, &l)
	}
	return p.runLoad(ctx, f, s, l, salt)
}

// tell prints what will be done, and warnings, to standard error.
func (p *program) tell(f *loadFlags, l *load.Load, s *loadStuff, salt uint64) {
	var b strings.Builder
	if !f.out.quiet {
		if s.trace != nil {
			fmt.Fprintf(&b, "%s\n", strings.TrimSuffix(s.trace.Report().String(), "\n"))
		}
		b.WriteString(f.described(l, s, salt))
	}
	for _, w := range f.warnings(s) {
		fmt.Fprintf(&b, "Warning: %s\n", strings.ReplaceAll(w, "\n", " "))
	}
	io.WriteString(p.stderr, visible(b.String())) //nolint:errcheck // nowhere to tell it
}

func (p *program) runLoad(ctx context.Context, f *loadFlags, s *loadStuff, l load.Load, salt uint64) error {
	if err := f.out.open(); err != nil {
		return err
	}
	l.Sink = f.out.sink()
	l.Progress, l.Tick = f.out.progress()
	if f.verbose {
		l.Verbose = p.watch
	}
	if f.salted(s) {
		f.out.note("Salt: %d", salt)
	}
	rep, err := load.Run(ctx, l)
	settings := f.settings(&l, s, salt)
	if rep != nil {
		settings["timestamp"] = rep.Started.Format(time.RFC3339)
		settings["host"], settings["endpoint"] = whereTo(rep.URL)
		if rep.Rate > 0 {
			settings["rate"] = strconv.FormatFloat(rep.Rate, 'g', -1, 64)
		}
	}
	return f.out.finish(rep, err, metric.BaseSheet, settings)
}

// whereTo divides a URL into host and path, as batchbench's two flags do.
func whereTo(text string) (host, endpoint string) {
	u, err := url.Parse(text)
	if err != nil {
		return text, ""
	}
	return u.Scheme + "://" + u.Host, u.RequestURI()
}

// described is what will be done, in a few lines.
func (f *loadFlags) described(l *load.Load, s *loadStuff, salt uint64) string {
	var b strings.Builder
	if l.Users > 0 {
		fmt.Fprintf(&b, "Load: closed loop, %s", counted(l.Users, "user"))
		if l.RequestsPerUser > 0 {
			fmt.Fprintf(&b, " with %s each", counted(l.RequestsPerUser, "request"))
		}
	} else {
		fmt.Fprintf(&b, "Load: open loop, %v", l.Schedule)
	}
	for _, part := range []struct{ name, text string }{{"warm-up", f.when.warmup}, {"cool-down", f.when.cooldown}} {
		if part.text != "" {
			fmt.Fprintf(&b, ", %s %s", part.name, part.text)
		}
	}
	if d := f.when.duration; d > 0 {
		fmt.Fprintf(&b, ", %v measured", d)
	}
	if n := f.when.requests.or(0); n > 0 {
		fmt.Fprintf(&b, ", %s measured", counted(n, "request"))
	}
	fmt.Fprintf(&b, "\nServer: %s, model %s, %s\n", serverURL(l.Client), l.Client.Model, map[bool]string{true: "whole answers", false: "streamed"}[f.whole])
	switch {
	case s.rows != nil:
		fmt.Fprintf(&b, "Requests: %d of %s\n", s.length, f.dataset)
	case s.trace != nil:
		fmt.Fprintf(&b, "Lengths: %s of %s\n", counted(s.length, "row"), f.trace.path)
	default:
		fmt.Fprintf(&b, "Input tokens: %v%s\n", s.input, f.shared())
	}
	if s.trace == nil {
		output := "as the server likes"
		if !s.output.IsZero() {
			output = s.output.String()
		}
		fmt.Fprintf(&b, "Output tokens: %s\n", output)
	}
	if s.rows == nil || f.salt.p != nil {
		text := "words that are one token each in all common tokenizers"
		if s.tokens != nil {
			text = "random, by " + s.tokens.Name()
		}
		fmt.Fprintf(&b, "Text: %s; ", text)
		if f.salted(s) {
			fmt.Fprintf(&b, "salt %d\n", salt)
		} else {
			b.WriteString("no salt\n")
		}
	}
	fmt.Fprintf(&b, "Seed: %d\n", l.Seed)
	return b.String()
}

// shared says how prompts begin alike.
func (f *loadFlags) shared() string {
	switch share := min(1, max(0, f.overlap.or(0))); {
	case f.groups > 0:
		return fmt.Sprintf(", after one of %s of %d tokens", counted(f.groups, "text"), f.groupTokens)
	case share > 0 && f.overlapOf == "shortest":
		return fmt.Sprintf(", of which %v of the shortest are the same in all", share)
	case share > 0:
		return fmt.Sprintf(", of which a share of %v is the same in all", share)
	}
	return ""
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// serverURL is where requests go, without secrets.
func serverURL(cfg client.Config) string {
	cfg.Concurrency = 1
	c, err := client.New(cfg)
	if err != nil {
		return cfg.Host // Check has said it
	}
	defer c.Close()
	return c.URL()
}

// verboseLength is how much of a text -verbose shows, in characters.
const verboseLength = 50

// watch prints a request and its answer, in one write, so that those of several
// users do not mix.
func (p *program) watch(rec *loadrecord.Request, body []byte, reply *client.Reply) {
	answer := ""
	switch m, err := reply.Message(); {
	case rec.Failure != nil:
		answer = "failed: " + shorten(rec.Failure.Error())
	case err != nil:
		answer = "no message: " + shorten(err.Error())
	default:
		answer = "answer " + shorten(spoken(m))
	}
	fmt.Fprintf(p.stderr, "[%d] user %d: request %s; %s\n", rec.Seq, rec.User, shorten(asked(body)), answer) //nolint:errcheck // nowhere to tell it
}

// shorten quotes the first characters of a text: nothing in it can be obeyed by
// a terminal.
func shorten(s string) string {
	if r := []rune(s); len(r) > verboseLength {
		return strconv.QuoteToASCII(string(r[:verboseLength])) + "…"
	}
	return strconv.QuoteToASCII(s)
}

// spoken is the text of an answer, or what there is in its place.
func spoken(m *client.Message) string {
	for _, t := range []*string{m.Content, m.Refusal, m.ReasoningContent, m.Reasoning} {
		if t != nil && *t != "" {
			return *t
		}
	}
	return string(m.Raw)
}

// asked is the last text of a request's body, or the body itself.
func asked(body []byte) string {
	var b struct {
		Prompt   string
		Messages []struct{ Content string }
	}
	if err := json.Unmarshal(body, &b); err == nil {
		if n := len(b.Messages); n > 0 && b.Messages[n-1].Content != "" {
			return b.Messages[n-1].Content
		}
		if b.Prompt != "" {
			return b.Prompt
		}
	}
	return string(body)
}

var errNotMade = errors.New("cannot be made")
