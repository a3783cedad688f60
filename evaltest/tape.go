package evaltest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/wire"
)

// A tape is the cassette of a run; a nil one is none.
type tape struct {
	c    *cassette.Cassette
	mode cassette.Mode
}

// recorders are the tests of this process that recorded a cassette anew, by its
// path.
var recorders sync.Map

// recordsAlone refuses a second test that records the same file anew: it would
// drop what the first has recorded.
func recordsAlone(path, test string) error {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if first, taken := recorders.LoadOrStore(path, test); taken && first != test {
		return fmt.Errorf("cassette %s was recorded by %s just now, and %s would drop that: give each test a cassette of its own, or record with mode auto", path, first, test)
	}
	return nil
}

func openTape(s *settings, test string) (*tape, error) {
	o := s.cassetteOptions
	o.Mode = s.cassetteMode
	if o.Mode == cassette.Record {
		if err := recordsAlone(s.cassette, test); err != nil {
			return nil, err
		}
	}
	if o.Rerecord == "" {
		o.Rerecord = "set EVALTEST_CASSETTE=auto"
	}
	c, err := cassette.Open(s.cassette, o)
	if errors.Is(err, cassette.ErrLocked) {
		return nil, fmt.Errorf("%w; if it is a test that runs in parallel, give each a cassette of its own", err)
	}
	if err != nil {
		return nil, err
	}
	return &tape{c, o.Mode}, nil
}

// context returns a context whose calls through llm/wire go through the
// cassette.
func (t *tape) context(ctx context.Context) context.Context {
	return wire.WithMiddleware(ctx, t.c)
}

// close writes what was recorded. A recording of everything that was stopped
// must not replace a whole one: it is left as its .part file, from which the
// next recording goes on, if there is anything in it.
func (t *tape) close(stopped bool) (warning string, err error) {
	if t == nil {
		return "", nil
	}
	// With no entries Close removes the .part file, and replaces nothing.
	if st := t.c.Stats(); stopped && t.mode == cassette.Record && st.Entries > 0 {
		if n := st.Recorded; n > 0 {
			return fmt.Sprintf("cassette %s is unchanged because the run did not end: its %d new recordings are kept beside it, and the next recording goes on from there", t.c.Path(), n), nil
		}
		return "", nil
	}
	return "", t.c.Close()
}

// unused says which recordings nobody asked for, "" if all were.
func (t *tape) unused() string {
	list := t.c.Unused()
	if len(list) == 0 {
		return ""
	}
	u := list[0]
	what, do := "1 recording of cassette %s was", "if no other test or benchmark needs it, record again to drop it"
	if n := len(list); n > 1 {
		what, do = strconv.Itoa(n)+" recordings of cassette %s were", "if no other test or benchmark needs them, record again to drop them"
	}
	text := fmt.Sprintf(what+" not asked for here, such as line %d", t.c.Path(), u.Line)
	if u.Item != "" {
		text += fmt.Sprintf(" (item %q)", u.Item)
	}
	return text + "; " + do + " (EVALTEST_CASSETTE=record)"
}
