package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

var mergeCommand = command{
	name: "merge",
	line: "merge -o OUT PART...",
	what: "make one run's journal of those of its parts",
	more: `Each PART is the journal of a run that took a part of the dataset, with
EVALTEST_PART=1/4 to 4/4 or evaltest.Part. OUT is a new journal, which show and
stat read: it holds all that the parts' journals hold, in the order of the parts.

The parts must be of one test, dataset, strategy, grader and judge, made in the
same way, and no item may be in two of them. What of a run's description is about
its own items (the first one's request) is left out of OUT. If a part is missing
or did not come to its end, OUT is written without that, says so when it is
shown, and the program ends with exit code 1.

Examples:

  evals merge -o run.jsonl.gz part-*/*.jsonl.gz
  evals show run.jsonl.gz`,
	setup: setupMerge,
}

func setupMerge(p *program, fs *flag.FlagSet) func([]string) error {
	out := fs.String("o", "", "write the whole run to `OUT`, which must not exist")
	return func(args []string) error {
		switch {
		case *out == "":
			return usagef("merge: name the file to write with -o")
		case len(args) == 0:
			return usagef("merge: name the journals of the parts")
		}
		return p.merge(*out, args)
	}
}

// ofItems are the fields of a fingerprint that are about a run's own items, and
// so differ between parts.
var ofItems = []string{gate.FieldItems, gate.FieldRequests, gate.FieldRequest}

// A merger makes one journal of several.
type merger struct {
	out    *result.Writer
	header result.Header // of the whole
	parts  map[int]string
	n      int                   // parts there should be
	owner  map[result.Key]string // whose record it is
	models map[string]bool       // as they reported themselves
	end    result.End
	lost   []string // why OUT is not whole
}

func (p *program) merge(out string, paths []string) error {
	m := &merger{parts: map[int]string{}, owner: map[result.Key]string{}, models: map[string]bool{}, end: result.End{Complete: true, Counts: result.Counts{}}}
	for _, path := range paths {
		if err := m.describe(path); err != nil {
			return fmt.Errorf("merge: %w", err)
		}
	}
	var err error
	if m.out, err = result.Create(out, m.header); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	if err := m.fill(); err != nil {
		plain := m.out.Path()
		return fmt.Errorf("merge: %w", errors.Join(err, m.out.Abort(), os.Remove(plain)))
	}
	for _, w := range m.out.Warnings() {
		fmt.Fprintf(p.stderr, "evals: %s\n", report.Escape(w.Error(), 0)) //nolint:errcheck // nowhere to tell it
	}
	if len(m.lost) > 0 {
		return fmt.Errorf("merge: %s is not the whole run: %s", m.out.Path(), strings.Join(m.lost, "; "))
	}
	return nil
}

// partWords are what a part's selection begins with.
var partWords = regexp.MustCompile(`^shard (\d+) of (\d+) \(\d+ of \d+\)(, )?`)

// describe reads a part's header and adds it to the whole's.
func (m *merger) describe(path string) error {
	r, err := result.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	h := r.Header()
	words := partWords.FindStringSubmatch(h.Dataset.Selection)
	if words == nil {
		return fmt.Errorf("%s is of no part of a dataset (selection %q): run the parts with EVALTEST_PART=1/4 and so on", path, h.Dataset.Selection)
	}
	i, errI := strconv.Atoi(words[1])
	n, errN := strconv.Atoi(words[2])
	if errI != nil || errN != nil || i < 1 || i > n {
		return fmt.Errorf("%s: selection %q: parts count from 1 to n", path, h.Dataset.Selection)
	}
	if was := m.parts[i]; was != "" {
		return fmt.Errorf("%s and %s are both part %d of %d: name each part once", was, path, i, n)
	}
	// Of the rest only that there was more is kept: how many items a limit left
	// is each part's own.
	h.Dataset.Selection = regexp.MustCompile(` \(\d+ of \d+\)`).ReplaceAllString(strings.TrimPrefix(h.Dataset.Selection, words[0]), "")
	if h.Dataset.Selection != "" {
		h.Dataset.Selection += " of each part"
	}
	h.Fingerprint = maps.Clone(h.Fingerprint)
	for _, field := range ofItems {
		delete(h.Fingerprint, field)
	}
	if len(m.parts) == 0 {
		m.header, m.n = h, n
	} else if err := m.join(path, h, n); err != nil {
		return err
	}
	m.parts[i] = path
	return nil
}

// join adds a further part's header, if it is of the same run.
func (m *merger) join(path string, h result.Header, n int) error {
	was := m.header
	var diffs []string
	differ := func(what, old, now string) {
		if old != now {
			diffs = append(diffs, fmt.Sprintf("%s %q and %q", what, old, now))
		}
	}
	differ("number of parts", strconv.Itoa(m.n), strconv.Itoa(n))
	differ("package", was.Package, h.Package)
	differ("test", was.Test, h.Test)
	differ("dataset", was.Dataset.SHA256, h.Dataset.SHA256)
	differ("selection", was.Dataset.Selection, h.Dataset.Selection)
	differ("strategy", was.Strategy, h.Strategy)
	differ("grader", was.Grader, h.Grader)
	differ("judge", was.Judge, h.Judge)
	differ("samples", strconv.Itoa(was.Samples), strconv.Itoa(h.Samples))
	differ("attempts", strconv.Itoa(was.Attempts), strconv.Itoa(h.Attempts))
	fields := maps.Clone(was.Fingerprint)
	if fields == nil {
		fields = map[string]string{}
	}
	maps.Copy(fields, h.Fingerprint)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		differ(field, was.Fingerprint[field], h.Fingerprint[field])
	}
	if len(diffs) > 0 {
		return fmt.Errorf("%s is of another run than the first part: %s", path, strings.Join(diffs, "; "))
	}
	m.header.Dataset.Items += h.Dataset.Items
	if h.Created.Before(m.header.Created) {
		m.header.Created = h.Created
	}
	return nil
}

// fill copies the parts' records and closes the journal.
func (m *merger) fill() error {
	for i := 1; i <= m.n; i++ {
		path := m.parts[i]
		if path == "" {
			m.lose("part %d of %d is missing", i, m.n)
			continue
		}
		if err := m.copy(i, path); err != nil {
			return err
		}
	}
	if len(m.models) > 0 {
		m.end.Fingerprint = map[string]string{"model": strings.Join(slices.Sorted(maps.Keys(m.models)), ", ")}
	}
	m.end.Complete, m.end.Reason = m.end.Complete && len(m.lost) == 0, strings.Join(m.lost, "; ")
	return m.out.Close(m.end)
}

func (m *merger) lose(format string, args ...any) {
	m.lost = append(m.lost, fmt.Sprintf(format, args...))
}

// copy copies one part's records, those that were replaced too: they cost
// something.
func (m *merger) copy(i int, path string) error {
	r, err := result.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	for rec, err := range r.All() {
		if err != nil {
			return err
		}
		if was, taken := m.owner[rec.Key()]; taken && was != path {
			return fmt.Errorf("item %q is in %s and in %s: parts have no item in common", rec.Item.ID, was, path)
		}
		m.owner[rec.Key()] = path
		if err := m.out.Write(&rec); err != nil {
			return err
		}
	}
	for _, w := range r.Warnings() {
		m.lose("part %d: %v", i, w)
	}
	end := r.End()
	switch {
	case end == nil:
		m.lose("part %d did not come to its end", i)
		return nil
	case end.Reason != "":
		m.lose("part %d ended early: %s", i, end.Reason)
	case !end.Complete:
		m.lose("part %d is not complete", i)
	}
	if models := end.Fingerprint["model"]; models != "" {
		for _, model := range strings.Split(models, ", ") {
			m.models[model] = true
		}
	}
	for outcome, n := range end.Counts {
		m.end.Counts[outcome] += n
	}
	if end.Finished.After(m.end.Finished) {
		m.end.Finished = end.Finished
	}
	return nil
}
