package evaltest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
)

// A journal is where a run's records go, and what an earlier run left there.
type journal struct {
	w *result.Writer // nil for a benchmark that asks nobody
	// carried are the answers of the run that this one goes on with. Answers
	// that ended in an error are not among them: they run again.
	carried map[result.Key]*result.Record
	// spent are that run's other records: what they spent counts.
	spent []result.Record
	// repaired are the warnings about its damaged tail.
	repaired []error
}

// journalDir returns the folder of a test's journals.
func journalDir(s *settings, p place, test string) (string, error) {
	root := s.dir
	if root == "" {
		var err error
		if root, err = result.DefaultDir(); err != nil {
			return "", err
		}
	}
	return result.Dir(root, p.module, p.pkg, test), nil
}

// openJournal begins a new journal, or reopens the one to go on with.
func openJournal(s *settings, dir string, h result.Header, remember bool) (*journal, error) {
	if s.resume != "" {
		return resumeJournal(s.resume, dir, h)
	}
	path := result.NewPath(dir, time.Now())
	w, err := result.Create(path, h)
	if err != nil {
		if errors.As(err, new(*result.WriteError)) {
			return nil, fmt.Errorf("%w; -evaltest.dir or EVALTEST_DIR name the folder", err)
		}
		return nil, err
	}
	if remember {
		if err := result.SetLatest(dir, path); err != nil {
			w.Abort()
			os.Remove(path) // it holds nothing, and would be the newest
			return nil, fmt.Errorf("%w; free some space there, or choose another folder with -evaltest.dir or EVALTEST_DIR", err)
		}
	}
	return &journal{w: w}, nil
}

func resumeJournal(path, dir string, h result.Header) (*journal, error) {
	var err error
	if path == latest {
		path, err = latestUnfinished(dir)
	}
	if err == nil {
		err = ofThisRun(path, h) // before Append, which unpacks the file
	}
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	w, j, err := result.Append(path)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return &journal{w: w, carried: carry(j), spent: again(j), repaired: j.Warnings}, nil
}

// latestUnfinished returns the latest journal of dir. One that is complete is
// refused: a Resume that was left in place would show old answers for ever. A
// plain one is not, although it may be complete: its run was killed while it
// closed it, and nobody has seen what it came to.
func latestUnfinished(dir string) (string, error) {
	path, err := result.Latest(dir)
	if err != nil {
		return "", err
	}
	j, err := result.Read(path)
	if err != nil {
		return "", err
	}
	closed := strings.HasSuffix(path, ".gz")
	if closed && j.End != nil && j.End.Complete && len(carry(j)) == len(j.Records) {
		return "", fmt.Errorf("the latest journal, %s, is complete: nothing is left to run; run without resume, or name another journal", path)
	}
	return path, nil
}

// ofThisRun reports why the journal's answers must not be mixed with those of a
// run that h describes.
func ofThisRun(path string, h result.Header) error {
	r, err := result.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := sameRun(r.Header(), h); err != nil {
		return fmt.Errorf("journal %s is of another run: %w; run without resume, or put back what it had", path, err)
	}
	return nil
}

// carry returns the records that need not run again.
func carry(j *result.Journal) map[result.Key]*result.Record {
	m := make(map[result.Key]*result.Record, len(j.Records))
	for i := range j.Records {
		if r := &j.Records[i]; r.Outcome.Final() {
			m[r.Key()] = r
		}
	}
	return m
}

// again returns the records whose items were or will be asked again.
func again(j *result.Journal) []result.Record {
	list := j.Replaced
	for _, r := range j.Records {
		if !r.Outcome.Final() {
			list = append(list, r)
		}
	}
	return list
}

// sameRun says in what two runs differ so that their answers must not be
// mixed.
func sameRun(was, is result.Header) error {
	var diffs []string
	differ := func(what, was, is string) {
		if was != is {
			diffs = append(diffs, fmt.Sprintf("%s was %s and is %s", what, orNone(was), orNone(is)))
		}
	}
	differ("the dataset's SHA-256", was.Dataset.SHA256, is.Dataset.SHA256)
	differ("the selection", was.Dataset.Selection, is.Dataset.Selection)
	differ("the number of items", strconv.Itoa(was.Dataset.Items), strconv.Itoa(is.Dataset.Items))
	differ("the strategy", was.Strategy, is.Strategy)
	differ("the grader", was.Grader, is.Grader)
	differ("the judge", was.Judge, is.Judge)
	differ("the number of samples", strconv.Itoa(was.Samples), strconv.Itoa(is.Samples))
	differ("the number of attempts", strconv.Itoa(was.Attempts), strconv.Itoa(is.Attempts))
	for _, m := range gate.CompareFingerprints(gate.FingerprintOf(was), gate.FingerprintOf(is)) {
		_, had := was.Fingerprint[m.Field]
		_, has := is.Fingerprint[m.Field]
		if had || has { // else it is one of those above
			differ("the "+m.Field, m.Old, m.New)
		}
	}
	if len(diffs) == 0 {
		return nil
	}
	return errors.New(strings.Join(diffs, "; "))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return strconv.Quote(s)
}

// header describes the run.
func header(s *settings, p place, test string, ds *dataset.Dataset, strategy run.Strategy) result.Header {
	path := ds.Path()
	h := result.Header{
		Module: p.module, Package: p.pkg, Test: test,
		Dataset: result.Dataset{
			Name: ds.Name(), Path: path, SHA256: ds.SHA256(), Items: ds.Len(), Selection: ds.Selection(),
		},
		Strategy: run.NameOf(strategy), Grader: run.NameOf(s.grader), Judge: run.NameOf(s.judge),
		Samples: s.samples, Attempts: s.attempts,
		Options: map[string]string{
			"parallel": strconv.Itoa(s.parallel),
			"timeout":  cmp.Or(s.itemTimeout, run.DefaultItemTimeout).String(), "attempt-timeout": cmp.Or(s.attemptTimeout, run.DefaultAttemptTimeout).String(),
		},
	}
	s.gateOptions(h.Options)
	if s.cassette != "" {
		h.Options["cassette"] = s.cassette
		h.Options["cassette-mode"] = fmt.Sprint(s.cassetteMode)
	}
	h.Fingerprint = fingerprintOf(s, ds, strategy)
	return h
}

// failedIDs returns the items that were not correct in the latest journal of
// dir and are still in the dataset, and which of them are to be run first:
// those that the baseline had as correct.
func failedIDs(dir string, ds *dataset.Dataset) (ids, first []string, err error) {
	fail := func(err error) ([]string, []string, error) { return nil, nil, fmt.Errorf("failed: %w", err) }
	path, err := result.Latest(dir)
	if err != nil {
		return fail(err)
	}
	j, err := result.Read(path)
	if err != nil {
		return fail(err)
	}
	if first, err = readBroken(path); err != nil {
		return fail(err)
	}
	bad := map[string]bool{}
	for i := range j.Records {
		if r := &j.Records[i]; r.Outcome != result.Correct && !r.Confirms {
			bad[r.Item.ID] = true
		}
	}
	if len(bad) == 0 {
		return fail(fmt.Errorf("all %d answers in the latest journal, %s, are correct: nothing to run again; run without failed", len(j.Records), path))
	}
	for it := range ds.All() {
		if bad[it.ID] {
			ids = append(ids, it.ID)
		}
	}
	if len(ids) == 0 {
		return fail(fmt.Errorf("none of the %d items that were not correct in the latest journal, %s, is in the dataset any more", len(bad), path))
	}
	return ids, first, nil
}

// cause is the innermost error: all that the log of an item needs to say of a
// journal that could not be written, for the run's end says the rest.
func cause(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

// beside returns the path of a file that belongs to a journal.
func beside(journal, suffix string) string {
	return strings.TrimSuffix(strings.TrimSuffix(journal, ".gz"), ".jsonl") + suffix
}

// copyTo copies a file into a folder.
func copyTo(dir, path string) error {
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(filepath.Join(dir, filepath.Base(path)))
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		dst.Close()
		return err
	}
	return dst.Close()
}
