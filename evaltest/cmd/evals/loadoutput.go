package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/metric"
	loadrecord "github.com/goevals/evals/evaltest/load/record"
)

// outputFlags say what a load run leaves behind, and when it ends with an error.
type outputFlags struct {
	csv, json, requests, bench, benchName string
	full, quiet                           bool
	require                               requireFlag
	slo                                   sloFlags

	stdout, stderr io.Writer
	lines          *os.File // of requests
	notes          []string // further lines of the summary
}

func (o *outputFlags) declare(fs *flag.FlagSet, p *program) {
	o.stdout, o.stderr = p.stdout, p.stderr
	fs.StringVar(&o.csv, "results-csv", "", "write a header and one row to `FILE`: batchbench's columns, then ours")
	fs.StringVar(&o.json, "json", "", "write everything to `FILE` as JSON, with the formula of each number")
	fs.StringVar(&o.requests, "requests-jsonl", "", "write a line to `FILE` for each request, as it ends")
	fs.StringVar(&o.bench, "bench", "", "write the numbers to `FILE` as a benchmark, for benchstat; they are added to what is there")
	fs.StringVar(&o.benchName, "bench-name", "Load", "the benchmark's `NAME`, such as Load/model=m/users=8")
	fs.BoolVar(&o.full, "full", false, "print all numbers, with the verdict, in place of batchbench's summary")
	fs.BoolVar(&o.quiet, "quiet", false, "show no progress, and not what will be done")
	fs.Var(&o.require, "require", "end with an error unless `\"UNIT<=VALUE\"` holds, such as \"ttft-p99-ns<=500ms\" or \"ok-%>=99\"; may be given several times. The units are those of -bench")
	o.slo.declare(fs)
}

// sloFlags are the limits of a good answer.
type sloFlags struct {
	name            string
	ttft, tpot, e2e time.Duration
	share           float64
	service         bool
}

func (s *sloFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&s.name, "slo", "", "the limits of a good answer by `NAME`, such as mlperf-llama2-70b")
	fs.DurationVar(&s.ttft, "slo-ttft", 0, "a good answer's first token comes in this `TIME`")
	fs.DurationVar(&s.tpot, "slo-tpot", 0, "a good answer takes no more than this `TIME` a token after the first")
	fs.DurationVar(&s.e2e, "slo-e2e", 0, "a good answer is complete in this `TIME`")
	fs.Float64Var(&s.share, "slo-share", 0, "end with an error unless this `SHARE` of the due requests keeps each limit, such as 0.99")
	fs.BoolVar(&s.service, "slo-service", false, "count the limits from when a request was sent, not from when it was due")
}

// slo returns the limits. Those given one by one go before a preset's.
func (s *sloFlags) slo() (metric.SLO, error) {
	var slo metric.SLO
	if s.name != "" {
		var err error
		if slo, err = metric.Preset(s.name); err != nil {
			return slo, usagef("-slo is %q: %s", s.name, strings.TrimPrefix(err.Error(), "metric: "))
		}
	}
	for _, l := range []struct{ from, to *time.Duration }{{&s.ttft, &slo.TTFT}, {&s.tpot, &slo.TPOT}, {&s.e2e, &slo.E2E}} {
		if *l.from != 0 {
			*l.to = *l.from
		}
	}
	if s.share != 0 {
		slo.Share = s.share
	}
	slo.Service = slo.Service || s.service
	return slo, nil
}

// open makes the files that are written while the run goes on, and finds out
// about the others before anything is paid for.
func (o *outputFlags) open() error {
	for _, path := range []string{o.csv, o.json, o.requests, o.bench} {
		if path == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		how := os.O_CREATE | os.O_WRONLY
		if path != o.bench {
			how |= os.O_TRUNC // what an earlier run wrote must not stand beside this one's requests
		}
		f, err := os.OpenFile(path, how, 0o666)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if o.requests == "" {
		return nil
	}
	var err error
	o.lines, err = os.Create(o.requests)
	return err
}

// sink writes a finished request, in one write, so that an interrupt loses none.
// It is nil if nobody asked for them.
func (o *outputFlags) sink() func(*loadrecord.Request) error {
	if o.lines == nil {
		return nil
	}
	return func(r *loadrecord.Request) error {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = o.lines.Write(append(line, '\n'))
		return err
	}
}

// interruptible returns a context that ends with the first interrupt. A second
// one ends the program: the first only asked it to.
func interruptible() (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	ctx, cancel := context.WithCancel(context.Background())
	// signal.NotifyContext would swallow a second one that comes before its stop.
	came := make(chan os.Signal, len(signals))
	signal.Notify(came, signals...)
	go func() {
		select {
		case <-came:
		case <-ctx.Done():
			signal.Stop(came)
			return
		}
		cancel()
		// A second one that is on its way is in came when Stop returns. Reset does
		// not wait for it, and then it is lost.
		signal.Stop(came)
		select {
		case s := <-came:
			raise(s)
		default: // from here on the system sees to it
		}
	}()
	return ctx, cancel
}

// raise ends this program by a signal that was not let through.
func raise(s os.Signal) {
	if p, err := os.FindProcess(os.Getpid()); err != nil || p.Signal(s) != nil {
		os.Exit(1) // Windows has no signals to send
	}
}

// progress shows how far a run is: one line that is written over on a terminal,
// a line every ten seconds elsewhere; nil if nobody wants it.
func (o *outputFlags) progress() (show func(load.Progress), every time.Duration) {
	if o.quiet {
		return nil, 0
	}
	every, before, after := 10*time.Second, "", "\n"
	if f, ok := o.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		every, before, after = 200*time.Millisecond, "\r\x1b[K", ""
	}
	return func(p load.Progress) {
		fmt.Fprint(o.stderr, before, progressLine(p), after) //nolint:errcheck // nowhere to tell it
	}, every
}

func progressLine(p load.Progress) string {
	c := p.Counts
	line := fmt.Sprintf("%s: %d answered, %d failed, %d in flight", p.Elapsed.Round(time.Second), c.OK, c.Failed, p.InFlight)
	if s := p.Elapsed.Seconds(); s > 0 {
		line += fmt.Sprintf(", %.1f output tok/s", float64(p.Output)/s)
	}
	if c.Warmup > 0 {
		line += fmt.Sprintf(" (after %d of warm-up)", c.Warmup)
	}
	if c.Dropped > 0 {
		line += fmt.Sprintf(", %d dropped", c.Dropped)
	}
	return line
}

// finish writes what was asked for of a run that has ended, or was interrupted,
// and returns why the program ends with an error: what ended it, or that it is
// not valid, or that a threshold was missed. All of them are said.
func (o *outputFlags) finish(rep *load.Report, runErr error, sheet metric.Sheet, settings map[string]string) error {
	errs := []error{runErr}
	if o.lines != nil {
		errs = append(errs, o.lines.Close())
	}
	if rep == nil {
		return errors.Join(errs...)
	}
	if f, ok := o.stderr.(*os.File); ok && !o.quiet && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(o.stderr, "\r\x1b[K") //nolint:errcheck // nowhere to tell it
	}
	errs = append(errs, o.summary(rep, sheet))
	errs = append(errs, toFile(o.json, os.O_TRUNC, rep.WriteJSON))
	errs = append(errs, toFile(o.csv, os.O_TRUNC, func(w io.Writer) error { return rep.Result.WriteCSV(w, sheet, settings) }))
	problem := rep.Problem()
	switch {
	case problem != nil:
		errs = append(errs, problem) // and no benchmark line: it would be compared
		if o.bench != "" {
			errs = append(errs, fmt.Errorf("nothing was added to %s: the run is not one to compare", o.bench))
		}
	case runErr != nil && o.bench != "":
		errs = append(errs, fmt.Errorf("nothing was added to %s: the run was interrupted", o.bench))
	case runErr == nil:
		errs = append(errs, toFile(o.bench, os.O_APPEND, func(w io.Writer) error { return rep.Result.WriteBench(w, o.benchName, nil) }))
	}
	if problem == nil {
		errs = append(errs, o.require.check(rep.Result))
	}
	if g := rep.Result.Goodput; g != nil && g.Met != nil && !*g.Met {
		errs = append(errs, fmt.Errorf("the limits were not kept by %v of the requests that were due: see goodput", g.SLO.Share))
	}
	return errors.Join(errs...)
}

// note adds a line to the summary, behind the seed.
func (o *outputFlags) note(format string, args ...any) {
	o.notes = append(o.notes, visible(fmt.Sprintf(format, args...)))
}

// summary prints the result. What it holds of a server's text is escaped.
func (o *outputFlags) summary(rep *load.Report, sheet metric.Sheet) error {
	w := bufio.NewWriter(o.stdout)
	write := func(w io.Writer) error { return rep.Result.WriteSummary(w, sheet) }
	if o.full {
		write = rep.Result.WriteText
	}
	if err := write(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "Seed: %d\n", rep.Seed)
	for _, line := range o.notes {
		fmt.Fprintln(w, line)
	}
	warnings := rep.Warnings
	if !o.full { // WriteText has these two
		fmt.Fprintln(w, validity(rep))
		warnings = slices.Concat(warnings, rep.Result.Warnings)
	}
	for _, warning := range warnings {
		fmt.Fprintf(w, "Warning: %s\n", strings.ReplaceAll(visible(warning), "\n", " "))
	}
	return w.Flush()
}

// validity is whether a run can be believed, and the times that batchbench has
// not.
func validity(rep *load.Report) string {
	line := "Valid: yes"
	if rep.Problem() != nil {
		line = "Valid: NO"
	}
	for _, d := range []struct {
		name metric.Name
		what string
	}{{metric.TTFT, "first token"}, {metric.TPOT, "per token"}} {
		if dist := rep.Result.Dists[d.name]; dist.N > 0 {
			p50, _ := dist.At(0.5).Value.Get()
			p99, _ := dist.At(0.99).Value.Get()
			line += fmt.Sprintf("; %s (ms): p50=%.2f p99=%.2f", d.what, p50/1e6, p99/1e6)
		}
	}
	return line + " (-full has all)"
}

// toFile writes a file; "" is none. A regular one is written beside itself first,
// so that it is never half there, unless it is added to.
func toFile(path string, how int, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	to := path
	info, err := os.Stat(path)
	beside := how == os.O_TRUNC && (err != nil || info.Mode().IsRegular())
	if beside {
		to += ".part"
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_RDWR|how, 0o666)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if how == os.O_APPEND && !endsLine(f) {
		w.WriteByte('\n') //nolint:errcheck // Flush tells
	}
	err = errors.Join(write(w), w.Flush(), f.Close())
	switch {
	case !beside:
		return err
	case err != nil:
		return errors.Join(err, os.Remove(to))
	}
	return os.Rename(to, path)
}

// endsLine reports whether what is added to a file begins a line.
func endsLine(f *os.File) bool {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return true
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, size-1)
	return err != nil || last[0] == '\n'
}
