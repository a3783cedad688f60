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
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/fake"
	"github.com/goevals/evals/evaltest/load/metric"
)

// calibrationGap is the time between tokens of the paced server: 50 tokens a
// second, as people read.
const calibrationGap = 20 * time.Millisecond

// calibrateFlags measure this machine in place of a server.
type calibrateFlags struct {
	on, serve bool
}

func (c *calibrateFlags) declare(fs *flag.FlagSet) {
	fs.BoolVar(&c.on, "calibrate", false, "measure this machine in place of a server, against a fake in another process: its highest rates and its noise; five measurements of -duration each, or 5s; -users and -rate are those of the loops (64, 1000); -json keeps the answer")
	fs.BoolVar(&c.serve, "calibrate-server", false, "be the servers of a calibration until standard input ends")
}

// calibrateKnows are the flags that mean something with -calibrate.
var calibrateKnows = []string{"calibrate", "calibrate-server", "users", "rate", "duration", "json", "quiet"}

// check refuses all other flags: they would be ignored.
func (c *calibrateFlags) check(given map[string]bool) error {
	for name := range given {
		if !slices.Contains(calibrateKnows, name) {
			return usagef("-calibrate measures this machine and not a server: -%s means nothing with it", name)
		}
	}
	return nil
}

// self returns a command that runs this program again. Tests replace it.
var self = func(args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.Command(path, args...), nil
}

// serveCalibration is the process of the fake servers. It ends with its standard
// input, so that it does not outlive the one that measures, whatever ends that.
func (p *program) serveCalibration(ctx context.Context) error {
	for _, s := range []*fake.Server{{}, {TTFT: calibrationGap, ITL: calibrationGap}} {
		url, stop, err := s.Start()
		if err != nil {
			return err
		}
		defer stop()
		if _, err := fmt.Fprintln(p.stdout, url); err != nil {
			return err
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, p.stdin)
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// calibrate measures this machine.
func (p *program) calibrate(ctx context.Context, f *loadFlags) (err error) {
	c := load.Calibration{Users: f.when.users.or(0), Rate: f.when.rate.or(0), For: f.when.duration, ITL: calibrationGap}
	if f.when.rate.p != nil && !(c.Rate > 0) {
		return usagef("-rate is %v: want requests a second, above 0", c.Rate)
	}
	if err := f.out.open(); err != nil {
		return err
	}
	cmd, err := self("load", "-calibrate-server")
	if err != nil {
		return fmt.Errorf("-calibrate: this program cannot run itself: %w", err)
	}
	cmd.Stderr = p.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("-calibrate: this program cannot run itself: %w", err)
	}
	defer func() {
		gone := errors.Join(in.Close(), cmd.Wait())
		if err == nil && gone != nil {
			err = fmt.Errorf("-calibrate: the server's process: %w", gone)
		}
	}()
	lines := bufio.NewScanner(out)
	for _, url := range []*string{&c.Fast, &c.Paced} {
		if !lines.Scan() {
			return fmt.Errorf("-calibrate: the server's process said no address")
		}
		*url = strings.TrimSpace(lines.Text())
	}
	if !f.out.quiet {
		fmt.Fprintln(p.stderr, "Calibrating: keep this machine idle meanwhile.") //nolint:errcheck // nowhere to tell it
	}
	ceiling, err := load.Calibrate(ctx, c)
	if err != nil {
		return named(err)
	}
	if _, err := io.WriteString(p.stdout, ceilingText(ceiling)); err != nil {
		return err
	}
	return toFile(f.out.json, os.O_TRUNC, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(ceiling)
	})
}

// ceilingText says what a calibration found.
func ceilingText(c *load.Ceiling) string {
	num := func(f metric.Figure) string {
		if v, ok := f.Get(); ok {
			return fmt.Sprintf("%.0f", v)
		}
		return "-"
	}
	cpu := func(f metric.Figure) string {
		if v, ok := f.Get(); ok {
			return fmt.Sprintf(" (%.0f %% of this process's processors)", 100*v)
		}
		return ""
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d)/1e6) }
	var b strings.Builder
	fmt.Fprintf(&b, "Whole answers: %s requests/s at most%s\n", num(c.Requests), cpu(c.RequestCPU))
	fmt.Fprintf(&b, "Streams: %s tokens/s at most%s\n", num(c.Tokens), cpu(c.TokenCPU))
	fmt.Fprintf(&b, "First token of a server that answers at once: p50 %s, p99 %s\n", ms(c.TTFTP50), ms(c.TTFTP99))
	fmt.Fprintf(&b, "%d streams of a token every %v: gaps off by p50 %s, p99 %s%s\n", c.Streams, c.ITL, ms(c.ITLOffP50), ms(c.ITLOffP99), cpu(c.PacedCPU))
	fmt.Fprintf(&b, "Arrivals: %s/s asked, %s/s achieved, lag p99 %s\n", num(c.Asked), num(c.Achieved), ms(c.LagP99))
	return b.String()
}
