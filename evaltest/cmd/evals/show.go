package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

var showCommand = command{
	name: "show",
	line: "show FILE|latest [-journal DIR] [-failures N]",
	what: "print what a run came to, from its journal",
	more: `FILE is a journal: the file that a run names at its end. "latest" is the newest
one under DIR. Text from models and servers is escaped.

Examples:

  evals show latest
  evals show -failures 5 latest
  evals show latest -journal ./journals
  evals show ./journals/20260102T150405.000000-0123456789ab.jsonl.gz`,
	setup: setupShow,
}

func setupShow(p *program, fs *flag.FlagSet) func([]string) error {
	dir := fs.String("journal", "", "look for the latest journal under `DIR` (default: EVALTEST_DIR, else the user's cache folder)")
	failures := fs.Int("failures", 0, "also list the first `N` answers that are not correct, each with its calls if there were several; -1 lists all")
	return func(args []string) error {
		switch {
		case len(args) == 0:
			return usagef("show: name a journal, or latest for the newest one")
		case len(args) > 1:
			return usagef("show: one journal at a time, not %d", len(args))
		case *failures < -1:
			return usagef("show: -failures %d: give how many to list, or -1 for all", *failures)
		case *dir != "" && args[0] != "latest":
			return usagef("show: -journal is for latest, and %q is a file", args[0])
		}
		path, err := p.journal(args[0], *dir)
		if err != nil {
			return err
		}
		return p.show(path, *failures)
	}
}

// journal returns the file that name stands for.
func (p *program) journal(name, dir string) (string, error) {
	if name != "latest" {
		return name, nil
	}
	if dir == "" {
		dir = p.env("EVALTEST_DIR")
	}
	if dir == "" {
		var err error
		if dir, err = result.DefaultDir(); err != nil {
			return "", err
		}
	}
	path, err := result.LatestUnder(dir)
	if errors.Is(err, result.ErrNoJournal) {
		return "", fmt.Errorf("no journal under %s; run an eval first, or name the folder with -journal", dir)
	}
	return path, err
}

func (p *program) show(path string, failures int) error {
	j, err := result.Read(path)
	if err != nil {
		return fmt.Errorf("show: %w", err)
	}
	sum := report.New(report.LabelsOf(j.Header))
	for i := range j.Records {
		sum.Add(&j.Records[i])
	}
	for i := range j.Replaced {
		sum.AddSpent(&j.Replaced[i])
	}
	o := report.Options{Journal: j.Path}
	for _, w := range j.Warnings {
		o.Warnings = append(o.Warnings, w.Error())
	}
	switch {
	case j.End == nil:
		o.Warnings = append(o.Warnings, "the run did not come to an end: it was killed, or still goes on")
		goOn(&o, j)
	case j.End.Reason != "":
		o.Warnings = append(o.Warnings, "the run ended early: "+j.End.Reason)
		goOn(&o, j)
	case !j.End.Complete:
		o.Warnings = append(o.Warnings, "the run did not ask for all of the dataset")
	}
	// The summary is written in one piece: what is cut by an error of the
	// terminal should not read as a whole.
	var text strings.Builder
	if err := report.Text(&text, sum.Stats(), o); err != nil {
		return err
	}
	if failures != 0 {
		text.WriteByte('\n')
		if _, err := report.Failures(&text, wrong(j), report.FailureOptions{Max: failures}); err != nil {
			return err
		}
	}
	_, err = io.WriteString(p.stdout, text.String())
	return err
}

func wrong(j *result.Journal) iter.Seq[*result.Record] {
	return func(yield func(*result.Record) bool) {
		for i := range j.Records {
			if !yield(&j.Records[i]) {
				return
			}
		}
	}
}

// isBenchmark reports whose run it was: go test calls nothing else by such a name.
func isBenchmark(j *result.Journal) bool { return strings.HasPrefix(j.Header.Test, "Benchmark") }

// goOn says how a run that did not end is finished.
func goOn(o *report.Options, j *result.Journal) {
	if isBenchmark(j) {
		o.Warnings = append(o.Warnings, "a benchmark is not resumed: run it anew")
	}
	o.Resume = resume(j)
}

// resume is the command that finishes a run; "" for a benchmark, and if the
// journal does not say whose it is, or says it with what no command line should
// hold.
func resume(j *result.Journal) string {
	pkg, test := j.Header.Package, j.Header.Test
	if isBenchmark(j) || pkg == "" || test == "" || report.Escape(pkg+test, 0) != pkg+test {
		return ""
	}
	names := strings.Split(test, "/")
	for i, n := range names {
		names[i] = "^" + regexp.QuoteMeta(n) + "$"
	}
	mode := ""
	switch m := j.Header.Options["cassette-mode"]; m {
	case "record", "auto", "off": // a variable may have said so; replay is the default
		mode = " -evaltest.cassette=" + m
	}
	return fmt.Sprintf("go test %s -run %s%s -evaltest.resume=%s", quoted(pkg), quoted(strings.Join(names, "/")), mode, quoted(j.Path))
}

// quoted is s as one word for a shell.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
