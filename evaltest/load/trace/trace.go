package trace

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"time"
)

// A Trace is a file of requests, read and checked whole. It does not change,
// and is safe for concurrent use.
type Trace struct {
	rep  Report
	rows []raw
	tree *prefixTree // nil without hash ids
}

// Open reads the trace in a file: plain, gzip or zstd, told apart by their
// first bytes. See [Read].
func Open(path string, o Options) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the trace: %w", err)
	}
	defer f.Close()
	return Read(f, path, o)
}

// Read reads a trace whole, and stops at the first bad row with a *[LineError].
// Rows are put in order of time; those of the same time stay in the order of
// the file. The name is for errors and the report. A row takes about 200 bytes
// and its hash ids or texts; of a file of millions, take a part by the options.
func Read(r io.Reader, name string, o Options) (*Trace, error) {
	t := &Trace{}
	s, err := newSource(r, name, o, &t.rep)
	if err != nil {
		return nil, err
	}
	defer s.close()
	for r, err := range s.kept() {
		if err != nil {
			return nil, err
		}
		t.rows = append(t.rows, r)
	}
	if (o.From > 0 || o.To > 0) && t.rep.Timed == 0 && t.rep.Dropped[OutsideWindow] == 0 {
		return nil, fmt.Errorf("%s: %w: Options.From and To need them", name, ErrNoTimes)
	}
	if len(t.rows) == 0 {
		return nil, fmt.Errorf("%s: %w: %d rows were read, none was kept%s", name, ErrEmpty, t.rep.Read, t.rep.dropped())
	}
	byTime := func(a, b raw) int { return cmp.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(t.rows, byTime) {
		slices.SortStableFunc(t.rows, byTime)
	}
	if err := t.connect(); err != nil {
		return nil, err
	}
	return t, nil
}

// connect gives the sorted rows their offsets, turns and delays.
func (t *Trace) connect() error {
	clock := newClock(&t.rep, t.rows)
	link := newLinker(&t.rep)
	for i := range t.rows {
		r := &t.rows[i]
		if err := clock.set(r); err != nil {
			return &LineError{t.rep.File, r.Line, err}
		}
		link.link(r)
		if len(r.Hashes) > 0 {
			if t.tree == nil {
				t.tree = newPrefixTree()
			}
			t.rep.Cacheable += t.tree.add(&r.Row)
		}
	}
	return nil
}

// A clock makes offsets of times.
type clock struct {
	rep     *Report
	zero    int64
	running bool
}

// newClock has the earliest timed row as its zero; without rows, the first that
// is set.
func newClock(rep *Report, all []raw) *clock {
	c := &clock{rep: rep}
	first := int64(math.MaxInt64)
	for i := range all {
		if all[i].Timed {
			first = min(first, all[i].abs)
		}
	}
	if first != math.MaxInt64 {
		c.start(first)
	}
	return c
}

func (c *clock) start(abs int64) {
	c.zero, c.running = abs, true
	if c.rep.Kind == Azure || c.rep.Kind == OTel {
		c.rep.Start = time.Unix(0, abs).UTC()
	}
}

func (c *clock) set(r *raw) error {
	if !c.running && r.Timed {
		c.start(r.abs)
	}
	r.At = time.Duration(r.abs - c.zero)
	if !r.Timed {
		r.At = max(0, r.At) // it stood before the first timestamp
	}
	if r.At > maxSpan || r.At < -maxSpan {
		return fmt.Errorf("%w: %v after the first row, more than 31 years; are the timestamps in %s?", ErrValue, r.At, c.rep.Unit)
	}
	c.rep.Span = max(c.rep.Span, r.At)
	return nil
}

// Stream reads a trace row by row, in the order of the file, and holds only
// what it must: the names of sessions, and of OTel all model calls. The error
// beside a row is nil but for the last pair, whose row is then zero. The report
// is complete when the sequence has ended; it may be nil. The sequence can be
// ranged over once.
//
// Rows that are out of order stay so: their At may be less than that of the row
// before, and negative if they are earlier than the first, and their turns and
// delays are those of the file's order.
func Stream(r io.Reader, name string, o Options, rep *Report) iter.Seq2[Row, error] {
	if rep == nil {
		rep = &Report{}
	}
	return func(yield func(Row, error) bool) {
		s, err := newSource(r, name, o, rep)
		if err != nil {
			yield(Row{}, err)
			return
		}
		defer s.close()
		clock, link := newClock(rep, nil), newLinker(rep)
		for r, err := range s.kept() {
			if err == nil {
				if err = clock.set(&r); err != nil {
					err = &LineError{name, r.Line, err}
				}
			}
			if err != nil {
				yield(Row{}, err)
				return
			}
			link.link(&r)
			if !yield(r.Row, nil) {
				return
			}
		}
		if rep.Rows == 0 {
			yield(Row{}, fmt.Errorf("%s: %w: %d rows were read, none was kept%s", name, ErrEmpty, rep.Read, rep.dropped()))
		}
	}
}

// Report says what the trace held.
func (t *Trace) Report() *Report {
	rep := t.rep
	return &rep
}

// Len is the number of rows, at least 1.
func (t *Trace) Len() int { return len(t.rows) }

// Rows yields the rows in order of time. They share memory with the trace: do
// not change what their slices hold.
func (t *Trace) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range t.rows {
			if !yield(t.rows[i].Row) {
				return
			}
		}
	}
}

// Offsets returns when the requests were sent, from the first, in order,
// divided by the time scale: 2 is twice as fast, 1 is exact. It must be finite
// and positive. A trace that says of no row when it was sent is [ErrNoTimes].
//
// The schedule is that of the trace, whatever the server: a later turn of a
// session is due when it was sent then, even if its reply would come later now.
// [Trace.Plan] waits for replies.
func (t *Trace) Offsets(timeScale float64) ([]time.Duration, error) {
	if !(timeScale > 0) || math.IsInf(timeScale, 0) {
		return nil, fmt.Errorf("%w: the time scale is %v; it must be finite and positive", ErrOption, timeScale)
	}
	if t.rep.Timed == 0 {
		return nil, fmt.Errorf("%s: %w: %s does not say when requests were sent; give the load a rate", t.rep.File, ErrNoTimes, t.rep.Kind)
	}
	offsets := make([]time.Duration, len(t.rows))
	for i := range t.rows {
		at := t.rows[i].At
		if timeScale != 1 {
			x := math.Round(float64(at) / timeScale)
			if x > float64(maxSpan) {
				return nil, fmt.Errorf("%w: at a time scale of %v the trace lasts longer than 31 years", ErrOption, timeScale)
			}
			at = time.Duration(x)
		}
		offsets[i] = at
	}
	slices.Sort(offsets) // a turn behind a guessed one may stand before it in time
	return offsets, nil
}
