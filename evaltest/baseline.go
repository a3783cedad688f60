package evaltest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/goevals/evals/evaltest/gate"
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
	part := r.narrowed() && !r.set.update
	if r.set.baseline == "" || part && !r.set.planning {
		return nil
	}
	b, err := readBaseline(r.set.baseline)
	if r.priced = b; part {
		return nil
	}
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
		r.priced = nil // another model or prompt costs something else
		return fmt.Errorf("nothing was asked, because this run would not be comparable with the baseline %s:\n%s\nput back what differs; or compare all the same, with a loud note, by evaltest.OnMismatch(evaltest.Warn) or -evaltest.on-mismatch=warn; or accept a run that was made like this one with %s -evaltest.update",
			r.set.baseline, listed(diffs), r.command())
	}
	r.baseline = b
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

// goOn is the command that goes on with the run. The cassette's mode is in it
// if a variable gave it, which may have been set for one command alone: the rest
// of a recording must not be looked for in what is not recorded yet.
func (r *runner) goOn() string {
	mode := ""
	given := r.h.flags["cassette"] != nil && r.h.flags["cassette"].given
	if r.set.cassette != "" && !given && r.h.getenv("EVALTEST_CASSETTE") != "" {
		mode = fmt.Sprintf(" -evaltest.cassette=%v", r.set.cassetteMode)
	}
	return r.command() + mode
}
