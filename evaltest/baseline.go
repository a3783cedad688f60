package evaltest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

// readBaseline reads the file of an accepted run.
func readBaseline(path string) (*gate.Baseline, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := gate.ReadBaseline(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// base reads the baseline, and refuses before anything is asked what could not
// be compared afterwards. h describes the run.
func (r *runner) base(h result.Header) error {
	if r.set.baseline == "" || r.narrowed() && !r.set.update {
		return nil
	}
	b, err := readBaseline(r.set.baseline)
	switch {
	case r.set.update:
		return r.updatable(b, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no baseline %s yet: look at a run, and accept it with %s -evaltest.update", r.set.baseline, r.command())
	case err != nil:
		return fmt.Errorf("baseline: %w; if it cannot be put back, accept a run with %s -evaltest.update", err, r.command())
	}
	diffs := gate.CompareFingerprints(early(b.Header.Fingerprint), early(wholeFingerprint(h, nil)))
	for _, m := range diffs {
		if m.Field == "selection" && r.set.reselected {
			r.elsewhere = true // a look at a few items
			return nil
		}
	}
	if len(diffs) > 0 && r.set.gate.Compare.OnMismatch == Refuse {
		return fmt.Errorf("nothing was asked, because this run would not be comparable with the baseline %s:\n%s\nput back what differs; or compare all the same, with a loud note, by evaltest.OnMismatch(evaltest.Warn) or -evaltest.on-mismatch=warn; or accept a run that was made like this one with %s -evaltest.update",
			r.set.baseline, listed(diffs), r.command())
	}
	r.baseline = b
	return nil
}

// updatable refuses a run that could not become the baseline. was and err are
// what reading the old one came to.
func (r *runner) updatable(was *gate.Baseline, err error) error {
	uncache(flag.CommandLine)
	switch {
	case r.narrowed():
		return fmt.Errorf("nothing was asked, because %s leaves out items: a baseline is of the whole dataset; run without it", r.h.narrowing())
	case r.set.reselected && r.plan.ds.Selection() != "":
		return fmt.Errorf("nothing was asked, because the limit or sample of the command line or environment leaves out items (%s): a baseline is of what the code asks for; run without it", r.plan.ds.Selection())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.warn("the old baseline could not be read, so what changed is not known: %v", err)
	}
	r.replaced = was
	return nil
}

// early is a fingerprint without what only the answers tell.
func early(f map[string]string) map[string]string {
	m := map[string]string{}
	for k, v := range f {
		if k != fieldModel {
			m[k] = v
		}
	}
	return m
}

// listed is a line a mismatch.
func listed(list []gate.Mismatch) string {
	var b strings.Builder
	for i, m := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("  " + m.String())
	}
	return b.String()
}

// command runs the test, as it was run.
func (r *runner) command() string {
	return "go test " + r.place.pkg + " -run " + testPattern(r.test) + r.h.givenFlags()
}

// accept writes the run as the baseline, or fails the test and says why not.
func (r *runner) accept(rep *Report, now *gate.Baseline) {
	if why := r.unacceptable(rep); why != "" {
		r.fail("baseline %s not written: %s", r.set.baseline, why)
		return
	}
	var text bytes.Buffer
	err := now.WriteGzip(&text)
	if err == nil {
		err = replaceFile(r.set.baseline, text.Bytes())
	}
	if err != nil {
		r.fail("baseline %s not written: %v", r.set.baseline, err)
		return
	}
	rep.accepted = fmt.Sprintf("%s written: %s", r.set.baseline, report.Headline(rep.Stats)) + r.changes(now)
}

// unacceptable says why the run must not become the baseline.
func (r *runner) unacceptable(rep *Report) string {
	s := rep.Stats
	switch n := s.Outcomes[result.NotRun]; {
	case rep.Narrowed:
		return "only part of the dataset was run"
	case n > 0:
		return fmt.Sprintf("%d of %d answers are missing; resume the run with -evaltest.update to finish it", n, s.Total)
	case s.Outcomes[result.Errored] > 0:
		return fmt.Sprintf("%d of %d answers ended in an error and say nothing of the model; resume the run with -evaltest.update to ask for them again", s.Outcomes[result.Errored], s.Total)
	}
	for _, d := range rep.Decisions {
		if d.Status == gate.Failed {
			return "the run does not pass: " + d.String()
		}
	}
	if len(r.trouble) > 0 {
		return "the run failed: " + r.trouble[0]
	}
	return ""
}

// changes says what an accepted run changes.
func (r *runner) changes(now *gate.Baseline) string {
	was := r.replaced
	if was == nil {
		return "; there was none before"
	}
	o := r.set.gate.Compare
	o.OnMismatch, o.MaxDrop = Warn, nil
	c, err := gate.Compare(was, now, o)
	if err != nil {
		return fmt.Sprintf("; not compared with the one before: %v", err)
	}
	if same(was, now) {
		return "; nothing changed"
	}
	text := fmt.Sprintf("; before: %d of %d correct; %d broke, %d fixed, %d new, %d gone",
		was.Header.Counts[result.Correct], was.Header.Items*was.Header.Samples, len(c.Broke), len(c.Fixed), len(c.New), len(c.Gone))
	for _, m := range c.Mismatches {
		text += "; " + m.String()
	}
	return text
}

// same reports whether two baselines have the same content.
func same(a, b *gate.Baseline) bool {
	var x, y bytes.Buffer
	return a.Write(&x) == nil && b.Write(&y) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// replaceFile writes a file whole or not at all: half a baseline would accept
// half of the answers.
func replaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".baseline-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if e := tmp.Chmod(0o644); err == nil {
		err = e
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
