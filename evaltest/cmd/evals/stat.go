package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

var statCommand = command{
	name: "stat",
	line: "stat OLD NEW",
	what: "compare two runs item by item: did it get worse?",
	more: `OLD and NEW are journals or baselines; "latest" is the newest journal under DIR.
Items are paired by id and tested one-sided for a drop: McNemar's test, or the
sign-flip test if an item has several samples or the items have groups. Runs
that were not made in the same way are compared, and every difference is named.
Text from models, servers and datasets is escaped.

Examples:

  evals stat old.jsonl.gz latest
  evals stat -fail testdata/support.baseline.jsonl.gz latest
  evals stat -by-item -each-group old.jsonl.gz new.jsonl.gz`,
	setup: setupStat,
}

func setupStat(p *program, fs *flag.FlagSet) func([]string) error {
	dir := fs.String("journal", "", "look for the latest journal under `DIR` (default: EVALTEST_DIR, else the user's cache folder)")
	items := fs.Int("items", 10, "list the first `N` items that broke, were fixed, are new or gone; -1 lists all")
	fail := fs.Bool("fail", false, "end with exit code 1 if NEW is regressed or there is not enough data")
	o := gate.CompareOptions{OnMismatch: gate.Warn}
	fs.Float64Var(&o.Alpha, "alpha", gate.DefaultAlpha, "the chance of a false alarm")
	fs.BoolVar(&o.Exact, "exact", false, "take the exact p value instead of mid-p")
	fs.BoolVar(&o.ByItem, "by-item", false, "take items as independent although they have groups")
	fs.BoolVar(&o.EachGroup, "each-group", false, "also test every group, corrected by Holm")
	fs.BoolVar(&o.Scores, "scores", false, "also test the mean score, corrected by Holm")
	fs.Float64Var(&o.Detect, "detect", 0, "the `drop` that the items must be able to show, such as 0.05 for 5 points")
	return func(args []string) error {
		switch {
		case len(args) != 2:
			return usagef("stat: name two runs, OLD and NEW, not %d", len(args))
		case *items < -1:
			return usagef("stat: -items %d: give how many to list, or -1 for all", *items)
		case o.Alpha == 0:
			return usagef("stat: -alpha 0: want a chance of false alarms above 0 and below 0.5, such as 0.05")
		}
		if err := o.Check(); err != nil {
			return usagef("stat: %v", err)
		}
		return p.stat(args[0], args[1], *dir, o, *items, *fail)
	}
}

func (p *program) stat(old, now, dir string, o gate.CompareOptions, items int, fail bool) error {
	var runs [2]*gate.Baseline
	var out strings.Builder
	for i, name := range []string{old, now} {
		path, err := p.journal(name, dir)
		if err != nil {
			return fmt.Errorf("stat: %w", err)
		}
		run, warnings, err := readRun(path)
		if err != nil {
			return fmt.Errorf("stat: %w", err)
		}
		runs[i] = run
		label := [2]string{"old", "new"}[i]
		fmt.Fprintf(&out, "%-8s %s: %s, %d correct of %d answers\n", label, report.Escape(path, 0),
			itemCount(len(run.Items)), run.Header.Counts[result.Correct], len(run.Items)*run.Header.Samples)
		for _, w := range warnings {
			fmt.Fprintf(&out, "warning  %s: %s\n", label, report.Escape(w, 0))
		}
	}
	c, err := gate.Compare(runs[0], runs[1], o)
	if err != nil {
		return fmt.Errorf("stat: %w", err)
	}
	for _, m := range c.Mismatches {
		fmt.Fprintf(&out, "differs  %s\n", m)
	}
	c.Mismatches = nil // said, one a line
	fmt.Fprintf(&out, "verdict  %s\n", c.Text())
	for _, g := range c.ByGroup {
		fmt.Fprintf(&out, "group    %q: %s, %d broke, %d fixed, p %s, corrected %s\n", g.Name, itemCount(g.Pairs), g.Broke, g.Fixed, pText(g.P), pText(g.Adjusted))
	}
	writeChanges(&out, "broke", c.Broke, items)
	writeChanges(&out, "fixed", c.Fixed, items)
	writeChanges(&out, "new", c.New, items)
	writeChanges(&out, "gone", c.Gone, items)
	if _, err := io.WriteString(p.stdout, out.String()); err != nil {
		return err
	}
	if fail && (c.Verdict == gate.Regressed || c.Verdict == gate.NotEnough) {
		return fmt.Errorf("stat: %s", c.Verdict)
	}
	return nil
}

func itemCount(n int) string {
	if n == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// pText is a p value to four decimals, none of which says that it is 0.
func pText(p float64) string {
	if p < 0.0001 {
		return "< 0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}

// writeChanges lists items with what became of them in both runs.
func writeChanges(w io.Writer, what string, list []gate.ItemChange, most int) {
	for i, ch := range list {
		if i == most {
			fmt.Fprintf(w, "%-8s and %d more; -items -1 lists all\n", what, len(list)-i)
			return
		}
		fmt.Fprintf(w, "%-8s %s: %s, %s\n", what, report.Escape(ch.ID, 0), outcomes(ch.Old), outcomes(ch.New))
	}
}

func outcomes(list []result.Outcome) string {
	if list == nil {
		return "not there"
	}
	var texts []string
	for _, o := range list {
		texts = append(texts, string(o))
	}
	return strings.Join(texts, "/")
}

// readRun reads a journal or a baseline.
func readRun(path string) (run *gate.Baseline, warnings []string, err error) {
	if isBaseline(path) {
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		defer f.Close()
		if run, err = gate.ReadBaseline(f); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		return run, nil, nil
	}
	j, err := result.Read(path)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range j.Warnings {
		warnings = append(warnings, w.Error())
	}
	switch {
	case j.End == nil:
		warnings = append(warnings, "the run did not come to an end: items without a record count as gone")
	case !j.End.Complete:
		warnings = append(warnings, "the run is not complete: items without a record count as gone")
	}
	var r gate.Recorder
	for i := range j.Records {
		r.Add(&j.Records[i])
	}
	h := j.Header
	h.Fingerprint = j.Fingerprint() // with the model, which the end tells
	run, err = r.Baseline(gate.BaselineHeader{Fingerprint: gate.FingerprintOf(h), Samples: max(1, j.Header.Samples)})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return run, warnings, nil
}

// isBaseline looks at the first bytes. What cannot be read is left to the
// reader of journals, whose errors say what to do.
func isBaseline(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	r := bufio.NewReader(f)
	if magic, _ := r.Peek(2); string(magic) == "\x1f\x8b" {
		zr, err := gzip.NewReader(r)
		if err != nil {
			return false
		}
		r = bufio.NewReader(zr)
	}
	start, _ := r.Peek(64)
	// What an editor put before it is for the reader of baselines to refuse.
	return strings.HasPrefix(strings.TrimLeft(string(start), "\ufeff \t\r\n"), `{"format":"evals.baseline/`)
}
