package result

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// A Reader reads a journal record by record, so that memory stays flat. Not
// safe for concurrent use.
type Reader struct {
	path   string
	src    io.Reader
	file   *os.File
	in     *bufio.Reader
	packed bool

	header Header
	end    *End
	warn   []error

	line         int   // the last line read, from 1
	off          int64 // after the last line read
	good         int64 // after the last whole line
	records      int
	unterminated bool // the last good line lacks its newline
	err          error
}

// Open opens a journal and reads its header. Plain and compressed are told
// apart by content. If path is not there but its other form is ("x.jsonl" for
// "x.jsonl.gz" or the reverse), that is opened: a journal changes its form when
// it is closed and when it is resumed. Errors: fs.ErrNotExist, [ErrFormat] with
// what to do, a *[LineError].
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		other, cut := strings.CutSuffix(path, ".gz")
		if !cut {
			other = path + ".gz"
		}
		if g, e := os.Open(other); e == nil {
			f, err, path = g, nil, other
		}
	}
	if err != nil {
		return nil, fmt.Errorf("result: open journal: %w", err)
	}
	r := &Reader{path: path, src: f, file: f}
	if err := r.start(); err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// NewReader reads a journal from src, plain or compressed; name is what errors
// call it.
func NewReader(name string, src io.Reader) (*Reader, error) {
	r := &Reader{path: name, src: src}
	if err := r.start(); err != nil {
		return nil, err
	}
	return r, nil
}

// start looks at the first bytes and reads the header.
func (r *Reader) start() error {
	r.in = bufio.NewReaderSize(r.src, 64<<10)
	if magic, _ := r.in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r.in)
		if err != nil {
			return fmt.Errorf("result: %s: %w: restore the journal from a copy", r.path, err)
		}
		r.packed = true
		r.in = bufio.NewReaderSize(z, 64<<10)
	}
	if mark, _ := r.in.Peek(len(bom)); string(mark) == bom { // of an editor
		n, _ := r.in.Discard(len(bom))
		r.off = int64(n)
	}
	data, whole, err := r.next()
	if err != nil && err != io.EOF {
		return fmt.Errorf("result: %s: %w", r.path, err)
	}
	if err := r.checkFormat(data, whole); err != nil {
		return err
	}
	if r.header, err = decodeHeader(data); err != nil {
		return r.lineError(1, 0, err)
	}
	r.good, r.unterminated = r.off, !whole
	return nil
}

const bom = "\uFEFF"

// checkFormat says what a file with this first line is, if it is no journal.
// It asks for a file to be deleted only if it can be nothing but the beginning
// of a journal.
func (r *Reader) checkFormat(data []byte, whole bool) error {
	var line struct {
		Format string `json:"format"`
	}
	err := unmarshal(data, &line)
	switch version, ours := strings.CutPrefix(line.Format, kind); {
	case len(data) == 0 && !whole:
		return fmt.Errorf("%w: %s is empty: the run was cut off before it began; delete the file", ErrFormat, r.path)
	case err != nil && !whole && beginsHeader(data):
		return fmt.Errorf("%w: %s holds only the beginning of a header: the run was cut off before it began; delete the file", ErrFormat, r.path)
	case err != nil || line.Format == "":
		return fmt.Errorf("%w: %s: the first line is no journal header ({\"format\":%q, …})", ErrFormat, r.path, Format)
	case !ours || version == "":
		return fmt.Errorf("%w: %s is a file of format %q, not a journal", ErrFormat, r.path, line.Format)
	case line.Format != Format:
		return fmt.Errorf("%w: %s has format %q; this program reads %q: use the version of evals that wrote it, or a newer one", ErrFormat, r.path, line.Format, Format)
	}
	return nil
}

// beginsHeader reports whether an interrupted write of a header may have left
// data: a part of one, or, after a power cut, zeros in place of the rest.
func beginsHeader(data []byte) bool {
	const begin = `{"format":"` + kind
	text := string(bytes.TrimRight(data, "\x00"))
	return strings.HasPrefix(text, begin) || strings.HasPrefix(begin, text)
}

// next reads one line without its newline. whole says that it had one; at the
// end of the file err is io.EOF, and data may hold an unfinished line.
func (r *Reader) next() (data []byte, whole bool, err error) {
	for {
		part, e := r.in.ReadSlice('\n')
		r.off += int64(len(part))
		if e == nil && data == nil {
			r.line++
			return part[:len(part)-1], true, nil
		}
		data = append(data, part...)
		switch {
		case e == nil:
			r.line++
			return data[:len(data)-1], true, nil
		case len(data) > MaxLine:
			return nil, false, fmt.Errorf("line %d is longer than %d bytes", r.line+1, MaxLine)
		case e != bufio.ErrBufferFull:
			if len(data) > 0 {
				r.line++
			}
			return data, false, e
		}
	}
}

// Header returns the journal's first line.
func (r *Reader) Header() Header { return r.header }

// All yields every record in the order in which they were written. A resumed
// run may hold a key more than once: the later record counts, and All yields
// both ([Read] keeps only the later). What a kill or a power cut leaves at the
// end is a warning: an unfinished last line, or zeros. Anything else that
// cannot be read is yielded once as the error, a *[LineError] where a line is
// at fault, and ends the sequence. A Reader reads its file once: a second range
// yields nothing.
func (r *Reader) All() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for r.err == nil {
			var rec Record
			isRecord := r.step(&rec)
			switch {
			case r.err == io.EOF:
				return
			case r.err != nil:
				yield(Record{}, r.err)
				return
			case isRecord && !yield(rec, nil):
				return
			}
		}
	}
}

// step reads one line into rec and reports whether it was a record. It sets
// r.err at the end (io.EOF) and where it cannot go on.
func (r *Reader) step(rec *Record) bool {
	at := r.off
	data, whole, err := r.next()
	if err != nil && err != io.EOF {
		if r.packed && errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("the compressed file ends early: %w", err)
		}
		r.err = r.lineError(r.line+1, at, err)
		return false
	}
	if len(data) == 0 && !whole {
		r.err = io.EOF
		return false
	}
	end, bad := decodeLine(data, rec)
	if bad != nil {
		r.damaged(at, data, whole, bad)
		return false
	}
	r.good, r.unterminated = r.off, !whole
	r.end = end
	if end != nil {
		return false
	}
	r.records++
	return true
}

// damaged decides what a line that cannot be read means, data being the line.
// An interrupted write leaves a damaged end with nothing readable after it:
// part of a line, or, after a power cut, whole blocks of zeros. A file damaged
// otherwise is an error: dropping the rest, which Append cuts off, could lose
// all that a later version of this program has written.
func (r *Reader) damaged(at int64, data []byte, whole bool, cause error) {
	line := r.line
	fatal := r.packed || !interrupted(data, whole) // packed files are written whole
	for whole && !fatal {
		var err error
		data, whole, err = r.next()
		if err != nil && err != io.EOF {
			r.err = r.lineError(r.line+1, at, err)
			return
		}
		fatal = !interrupted(data, whole)
	}
	if fatal {
		r.err = r.lineError(line, at, cause)
		return
	}
	r.warn = append(r.warn, &LineError{Path: r.path, Line: line, Offset: at, Dropped: r.off - at, Err: cause})
	r.err = io.EOF
}

// interrupted reports whether an interrupted write may have left a line that
// cannot be read. A blank one is an editor's, and nothing is lost with it.
func interrupted(data []byte, whole bool) bool {
	if whole {
		return bytes.IndexByte(data, 0) >= 0 || len(bytes.TrimSpace(data)) == 0
	}
	var rec Record
	_, bad := decodeLine(data, &rec)
	return bad != nil
}

func (r *Reader) lineError(line int, at int64, err error) *LineError {
	return &LineError{Path: r.path, Line: line, Offset: at, Err: err, packed: r.packed}
}

// End returns the journal's last line, nil if it has none: the run was cut off
// or goes on. Call it after All has ended.
func (r *Reader) End() *End { return r.end }

// Warnings returns what All found wrong but could go on from. Call it after
// All has ended.
func (r *Reader) Warnings() []error { return append([]error(nil), r.warn...) }

// Close closes the file.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
