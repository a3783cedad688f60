package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
)

// errStop ends a scan early without being an error.
var errStop = errors.New("stop")

// errEnough ends a scan that has seen mostBadRows.
var errEnough = errors.New("enough bad rows")

// A scan reads an input once, from the first row to the last. One goroutine
// uncompresses, others check and map the rows of whole blocks, and the caller's
// goroutine takes the results in file order. So user functions are never
// called concurrently, and the first error by position wins however the
// goroutines are scheduled.
type scan struct {
	cfg  *config
	in   *input
	path string
	// reuse says that each copies what it keeps: blocks are then used again,
	// and memory stays flat.
	reuse bool
	// each takes the items in file order. It returns what is wrong with the
	// row, or errStop.
	each func(it *Item, line int) error

	cols    *columns // nil if a function decodes
	met     [numFields]bool
	names   []string // the first row's columns, for an error
	rows    int      // rows seen, good or bad
	autoIDs int      // rows without an id of their own
	bad     []RowError
	badRows int
	good    int  // rows read well before the first bad one
	first   byte // what the first row begins with
	digest  digest
}

// A work is one block on its way through the decoders.
type work struct {
	block
	rows  []decodedRow
	met   [numFields]bool // as of this block's decoder
	ready chan struct{}
}

type decodedRow struct {
	item Item
	line int // from the block's first, 0
	err  error
}

// run reads everything. The error it returns is complete.
func (s *scan) run() *Error {
	s.digest = newDigest()
	stop := make(chan struct{})
	decoders := max(1, min(runtime.GOMAXPROCS(0), 4))
	// The channel lengths bound what is in flight, and so the memory.
	order := make(chan *work, decoders+1)
	jobs := make(chan *work, decoders+1)
	free := make(chan []byte, decoders+2)
	size := keptBlock
	if s.reuse {
		size = reusedBlock
	}
	var wg sync.WaitGroup
	defer wg.Wait()   // nothing may read the input once we have returned
	defer close(stop) // also when a user's function panics
	wg.Go(func() {
		defer close(order)
		defer close(jobs)
		s.cutBlocks(size, order, jobs, free, stop)
	})
	if s.cfg.decode == nil {
		s.cols = newColumns(s.cfg.mapping)
	}
	for range decoders {
		wg.Go(func() {
			r := &rowReader{cols: s.cols}
			for w := range jobs {
				w.decode(r, s.cfg.maxLine)
				w.met = r.met
				close(w.ready)
			}
		})
	}
	for w := range order {
		<-w.ready
		if err := s.take(w); err != nil {
			switch err {
			case errStop:
				return nil
			case errEnough:
				return s.rowsError()
			}
			return s.streamError(w, err)
		}
		if s.reuse && cap(w.data) == size {
			select {
			case free <- w.data:
			default:
			}
		}
	}
	return s.rowsError()
}

func (s *scan) cutBlocks(size int, order, jobs chan<- *work, free chan []byte, stop <-chan struct{}) {
	br := &blockReader{r: s.in, size: size, max: s.cfg.maxLine, free: free}
	for {
		b, ok := br.next()
		if !ok {
			return
		}
		w := &work{block: b, ready: make(chan struct{})}
		for _, ch := range []chan<- *work{order, jobs} {
			select {
			case ch <- w:
			case <-stop:
				return
			}
		}
	}
}

// decode checks and maps the block's rows.
func (w *work) decode(r *rowReader, maxLine int) {
	data := w.data
	if w.line == 1 {
		data = bytes.TrimPrefix(data, utf8BOM)
	}
	w.rows = make([]decodedRow, 0, min(1+bytes.Count(data, []byte{'\n'}), 1024)) // not one for each of many blank lines
	for n := 0; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		if ended {
			line = bytes.TrimSuffix(line, []byte{'\r'})
		}
		row := bytes.Trim(line, " \t\r")
		if len(row) == 0 {
			continue
		}
		d := decodedRow{line: n}
		if len(line) > maxLine {
			d.err = (&blockReader{max: maxLine}).tooLong()
		} else {
			d.item, d.err = r.read(row[:len(row):len(row)])
		}
		if d.err != nil && !ended && errors.Is(d.err, cutOff{}) {
			d.err = fmt.Errorf("%w, and so does the file, without a line end: it was %w", d.err, ErrTruncated)
		}
		w.rows = append(w.rows, d)
	}
}

// take hands a block's rows on. It returns the stream's error, or errStop.
func (s *scan) take(w *work) error {
	s.digest.add(w.data)
	if s.rows == 0 {
		if text := bytes.TrimSpace(bytes.TrimPrefix(w.data, utf8BOM)); len(text) > 0 {
			s.first = text[0]
		}
	}
	for f := range s.met {
		s.met[f] = s.met[f] || w.met[f]
	}
	for i := range w.rows {
		row := &w.rows[i]
		if s.rows++; s.rows == 1 && row.err == nil {
			s.names = columnNames(row.item.Raw)
		}
		line := w.line + row.line
		err := row.err
		if err == nil {
			err = s.finish(&row.item)
		}
		if err == nil {
			err = s.each(&row.item, line)
		}
		if err == errStop {
			return err
		}
		if err == nil {
			if s.badRows == 0 {
				s.good++
			}
			continue
		}
		if s.refuse(line, err); s.badRows == mostBadRows {
			return errEnough
		}
	}
	return w.err
}

// finish makes an item of a checked row by the user's function, if there is
// one, and numbers it if it has no id.
func (s *scan) finish(it *Item) error {
	if s.cfg.decode != nil {
		row := it.Raw
		made, err := s.cfg.decode(json.RawMessage(row))
		if err != nil && !errors.Is(err, ErrOverride) {
			err = fmt.Errorf("%w: %w", ErrRow, err)
		}
		if err != nil {
			return err
		}
		*it = made
		it.Raw = row
	}
	if it.ID == "" {
		s.autoIDs++
	}
	return s.cfg.number(it, s.rows)
}

// number gives an item without id the n-th automatic one.
func (c *config) number(it *Item, n int) error {
	if it.ID != "" {
		return nil
	}
	if c.autoID == nil {
		it.ID = strconv.Itoa(n)
		return nil
	}
	if it.ID = c.autoID(n); it.ID == "" {
		return fmt.Errorf("%w: the AutoID function returned no id for row %d", ErrRow, n)
	}
	if !validTexts(it.ID) {
		return fmt.Errorf("%w: the AutoID function returned an id that is not UTF-8 for row %d: %s", ErrRow, n, quote(it.ID))
	}
	return nil
}

func (s *scan) refuse(line int, err error) {
	if s.badRows++; len(s.bad) < maxBadRows {
		s.bad = append(s.bad, RowError{Line: line, Err: err})
	}
}

// streamError is about an input that could not be read to its end.
func (s *scan) streamError(w *work, err error) *Error {
	e := &Error{Path: s.path, Rows: s.rows - s.badRows, Err: err, Bad: s.bad, BadRows: s.badRows}
	if errors.Is(err, ErrLineTooLong) {
		e.Line = w.line
	}
	e.Hint = hint(err)
	return e
}

// rowsError is about rows that were refused, or the lack of any.
func (s *scan) rowsError() *Error {
	if s.badRows == 0 {
		if s.rows == 0 {
			return &Error{Path: s.path, Err: fmt.Errorf("%w: 0 items loaded: the file holds nothing but blank lines", ErrEmpty)}
		}
		return s.columnsError()
	}
	first := s.bad[0]
	e := &Error{Path: s.path, Line: first.Line, Rows: s.good, Err: first.Err, Bad: s.bad, BadRows: s.badRows}
	e.Hint = hint(first.Err)
	if s.good > 0 {
		return e
	}
	switch {
	case s.first == '[' && (s.rows == 1 || errors.Is(first.Err, ErrSyntax)):
		return &Error{Path: s.path, Err: fmt.Errorf("%w: it is one JSON list, where each line should hold one object; convert it with: jq -c '.[]'", ErrFormat)}
	case s.first != '{' && s.badRows == s.rows && errors.Is(first.Err, ErrSyntax):
		e.Hint = "No line of it is JSON; is it a CSV or text file? " + e.Hint
	}
	return e
}

// columnsError is about a column that was named but that no row has.
func (s *scan) columnsError() *Error {
	if s.cols == nil {
		return nil
	}
	f, unmet := s.cols.unmet(s.met)
	if !unmet {
		return nil
	}
	return &Error{Path: s.path, Rows: s.good, Err: fmt.Errorf("%w: no row has the column %s that Mapping.%s names; %s",
		ErrField, s.cols.want(f), fieldNames[f], hasColumns("the first row", s.names))}
}

// columnsHint stands beside errors about missing columns.
const columnsHint = "Name the columns: dataset.Fields(dataset.Mapping{Input: \"…\", Target: \"…\"}); \"-\" says that there is none. " +
	"For rows that an application decodes itself (evaltest.App): dataset.Fields(dataset.Mapping{Input: \".\", Target: \"-\"})."

// hint says what to do about an error that does not say so itself.
func hint(err error) string {
	switch {
	case errors.Is(err, ErrLFSPointer):
		return "Fetch the real file with: git lfs pull"
	case errors.Is(err, ErrTruncated):
		return "The file is not whole: download or write it again."
	case errors.Is(err, ErrCorrupt):
		return "No row of it can be trusted: download or write the file again."
	case errors.Is(err, ErrDuplicateID):
		return "Ids name subtests and records, so each may stand once. Rename one, or map another column: dataset.Fields(dataset.Mapping{ID: \"…\"})."
	case errors.Is(err, errNoColumn):
		return columnsHint
	case errors.Is(err, ErrSyntax), errors.Is(err, errNotObject):
		return "A file holds one JSON object a line, in UTF-8; no row is skipped. A JSON document that spans lines becomes one with: jq -c . (a list: jq -c '.[]')."
	}
	return ""
}
