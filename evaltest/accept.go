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
	"sync"
	"time"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
)

// updatable refuses a run that could not become the baseline, before it is paid.
// was and err are what reading the old one came to.
func (r *runner) updatable(was *gate.Baseline, err error) error {
	uncache(flag.CommandLine)
	switch {
	case r.narrowed():
		return fmt.Errorf("nothing was asked, because %s leaves out items: a baseline is of the whole dataset; run without it", r.h.narrowing())
	case r.set.reselected && r.plan.ds.Selection() != "":
		return fmt.Errorf("nothing was asked, because the limit, sample or part of the command line or environment leaves out items (%s): a baseline is of what the code asks for; run without it", r.plan.ds.Selection())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.warn("the old baseline could not be read, so what changed is not known: %v", err)
		r.unread = true
	}
	r.replaced = was
	if r.set.planning {
		return nil
	}
	path, err := acceptable(r.set.baseline)
	if err != nil {
		return fmt.Errorf("nothing was asked, because the baseline %s could not be written: %w", r.set.baseline, err)
	}
	if first, taken := acceptors.LoadOrStore(path, r.test); taken && first != r.test {
		return fmt.Errorf("nothing was asked, because %s writes the baseline %s too, and one would replace what the other accepted; give each test a baseline of its own", first, r.set.baseline)
	}
	return nil
}

// acceptors are the tests of this process that wrote a baseline, by its path.
// The same test may again, with -count.
var acceptors sync.Map

// accept writes the run as the baseline, or fails the test and says why not.
func (r *runner) accept(rep *Report, now *gate.Baseline) {
	if why := r.unacceptable(rep); why != "" {
		r.fail("baseline %s not written: %s", r.set.baseline, why)
		return
	}
	path, err := acceptable(r.set.baseline)
	if err == nil {
		err = writeBaseline(path, now)
	}
	if err != nil {
		text := fmt.Sprintf("baseline %s not written: %v", r.set.baseline, err)
		if r.resumable && rep.Journal != "" { // all of it is paid
			text += fmt.Sprintf("; when it can be, write it without asking again: %s", r.acceptCommand(rep))
		}
		r.fail("%s", text)
		return
	}
	rep.accepted = fmt.Sprintf("%s written: %s", r.set.baseline, report.Headline(rep.Stats)) + r.changes(now)
}

// acceptCommand is the command that makes a whole run that is over the baseline,
// from its journal.
func (r *runner) acceptCommand(rep *Report) string {
	return r.command() + " -evaltest.update " + shellQuoteIfNeeded("-evaltest.resume="+rep.Journal)
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
	switch {
	case r.unread:
		return "; what changed is not known"
	case was == nil:
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

// acceptable returns where the baseline of this path is to be written, or why it
// cannot be. What a link names is replaced, and not the link.
func acceptable(path string) (string, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", fmt.Errorf("it is a symbolic link that leads nowhere: %w", err)
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	tmp, err := createPart(path)
	if err != nil {
		return "", err
	}
	tmp.Close()
	return path, os.Remove(tmp.Name())
}

// writeBaseline writes the baseline, compressed if its name says so.
func writeBaseline(path string, b *gate.Baseline) error {
	var text bytes.Buffer
	write := b.Write
	if strings.HasSuffix(path, ".gz") {
		write = b.WriteGzip
	}
	if err := write(&text); err != nil {
		return err
	}
	return replaceFile(path, text.Bytes(), 0o644)
}

// partNames are how the names begin and end of files in which a file is written
// before they take its place.
func partNames(path string) (begin, end string) { return "." + filepath.Base(path), ".part" }

func createPart(path string) (*os.File, error) {
	begin, end := partNames(path)
	return os.CreateTemp(filepath.Dir(path), begin+".*"+end)
}

// staleAfter is the age at which nobody writes such a file any more.
const staleAfter = time.Hour

// replaceFile writes a file whole or not at all: half a baseline would accept
// half of the answers. It removes what earlier processes left that were killed
// while they did.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	dir := filepath.Dir(path)
	begin, end := partNames(path)
	entries, _ := os.ReadDir(dir) // if it cannot be read, writing says so
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), begin+".") || !strings.HasSuffix(e.Name(), end) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	tmp, err := createPart(path)
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	for _, then := range []func() error{
		func() error { return tmp.Chmod(mode) }, tmp.Sync,
	} {
		if err == nil {
			err = then()
		}
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
