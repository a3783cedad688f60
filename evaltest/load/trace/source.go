package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/goevals/evals/dataset"
)

// A raw row is what one kind's reader makes of its file: a Row before the
// options, the order and the sessions have been applied.
type raw struct {
	Row
	abs int64 // when it was sent, in nanoseconds
	// key is what rows are sorted by: abs, but never before an earlier turn of
	// its session whose own time is only a guess.
	key int64
	// stated says that Delay is the trace's.
	stated bool
	// uncounted says that the lengths of texts are unknown.
	uncounted bool
	// mute says that the trace knows of no output.
	mute bool
	// skip is why the row is none; "" if it is one.
	skip Reason
}

// A source reads one file. Rows come in file order.
type source struct {
	in     *bufio.Reader
	name   string
	o      Options
	rep    *Report
	unread unread
	close  func()
	// dates counts timestamps with and without a zone.
	zoned, local int
}

// newSource finds out what the file is. The close function is never nil.
func newSource(r io.Reader, name string, o Options, rep *Report) (*source, error) {
	o, err := o.withDefaults()
	s := &source{name: name, o: o, rep: rep, close: func() {}}
	if err != nil {
		return s, err
	}
	plain, err := dataset.Decompress(r)
	if err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	s.close = func() { plain.Close() }
	s.in = bufio.NewReaderSize(plain, looked)
	if s.o.Kind, err = detect(s.in, o.Kind); err != nil {
		plain.Close()
		return s, fmt.Errorf("%s: %w", name, err)
	}
	f := s.o.Kind.format()
	if s.o.BlockTokens == 0 {
		s.o.BlockTokens = f.block
	}
	*rep = Report{File: name, Kind: s.o.Kind, Unit: f.unit, BlockTokens: s.o.BlockTokens, Dropped: map[Reason]int{}}
	return s, nil
}

// rows reads all rows. The last pair may be an error.
func (s *source) rows() iter.Seq2[raw, error] {
	read := map[Kind]func(*source, func(raw) bool) error{
		Mooncake: readMooncake, Bailian: readBailian, Azure: readAzure, BurstGPT: readBurst, ShareGPT: readShareGPT, OTel: readOTel,
	}[s.o.Kind]
	return func(yield func(raw, error) bool) {
		stopped := false
		err := read(s, func(r raw) bool {
			stopped = !yield(r, nil)
			return !stopped
		})
		s.rep.Unread = s.unread.names
		if err != nil && !stopped {
			yield(raw{}, err)
		}
	}
}

// kept reads the rows that the options keep, with abs set in all of them.
func (s *source) kept() iter.Seq2[raw, error] {
	return func(yield func(raw, error) bool) {
		f := filter{o: s.o, rep: s.rep, last: map[string]place{}}
		for r, err := range s.rows() {
			if err != nil {
				yield(raw{}, err)
				return
			}
			if !f.keep(&r) {
				continue
			}
			if !yield(r, nil) {
				return
			}
			if s.rep.Rows == s.o.Limit {
				s.rep.Limited = true
				break
			}
		}
		if s.zoned > 0 && s.local > 0 {
			s.rep.Warnings = append(s.rep.Warnings, fmt.Sprintf("%d timestamps have no time zone and were read as UTC; %d have one", s.local, s.zoned))
		}
	}
}

// lines returns the file by lines.
func (s *source) lines() *lineReader { return &lineReader{r: s.in, max: s.o.MaxLine} }

func (s *source) fail(line int, err error) error {
	return &LineError{File: s.name, Line: line, Err: err}
}

// A filter applies the options row by row, in file order.
type filter struct {
	o     Options
	rep   *Report
	begun bool
	first int64            // of the file's first row
	prev  int64            // of the row before
	last  map[string]place // of a session's row before
}

// A place is where a row came to stand in time.
type place struct {
	key   int64
	guess bool // it had no timestamp
}

// keep reports whether the row stays, and sets its abs if it has no time of
// its own.
func (f *filter) keep(r *raw) bool {
	f.rep.Read++
	if r.skip != "" {
		f.rep.Dropped[r.skip]++
		return false
	}
	f.settle(r)
	at := time.Duration(r.abs - f.first)
	if (f.o.From > 0 || f.o.To > 0) && (at < f.o.From || f.o.To > 0 && at >= f.o.To) {
		f.rep.Dropped[OutsideWindow]++
		return false
	}
	if r.Input == 0 && !r.uncounted {
		f.rep.Dropped[NoInput]++
		return false
	}
	if r.Failed || r.mute || r.Output == 0 && !r.uncounted {
		if f.o.NoOutput == Drop {
			reason := NoTokens
			if r.Failed {
				reason = RequestFailed
			}
			f.rep.Dropped[reason]++
			return false
		}
		if f.rep.KeptAsOne++; r.Output == 0 {
			r.Output = 1
		}
	}
	f.rep.Rows++
	if r.Timed {
		f.rep.Timed++
	}
	return true
}

// settle gives the row its place in time. A row without a timestamp follows
// the turn before it at once, after its delay.
func (f *filter) settle(r *raw) {
	before, known := f.last[r.Session]
	switch {
	case r.Timed:
		if !f.begun {
			f.begun, f.first, f.prev = true, r.abs, r.abs
		}
		if r.abs < f.prev {
			f.rep.OutOfOrder++
		}
		f.prev, r.key = r.abs, r.abs
		if before.guess {
			r.key = max(r.abs, before.key)
		}
	case known:
		r.abs = min(before.key+int64(r.Delay), maxAbsolute)
		r.key = r.abs
	default:
		r.abs, r.key = f.first, f.first
	}
	if r.Session != "" {
		f.last[r.Session] = place{r.key, !r.Timed}
	}
}

// jsonLines calls f with each line of JSONL.
func (s *source) jsonLines(f func(line int, text []byte) (more bool, err error)) error {
	lines := s.lines()
	for {
		text, err := lines.next()
		if err == io.EOF {
			return nil
		}
		more := true
		if err == nil {
			more, err = f(lines.n, text)
			if errors.Is(err, ErrTruncated) && lines.ended {
				// The line has its end: it is broken, not cut off.
				err = fmt.Errorf("%w: the line is not a whole JSON object: %s", ErrSyntax, quote(string(text)))
			}
		}
		if err != nil {
			return s.fail(lines.n, err)
		}
		if !more {
			return nil
		}
	}
}
