package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxLine is the longest row that is read, in bytes.
const maxLine = 256 << 20

// A rowError is a row, or a place in the input, that cannot be graded.
type rowError struct {
	file string
	line int // from 1
	err  error
}

func (e *rowError) Error() string { return fmt.Sprintf("%s:%d: %v", e.file, e.line, e.err) }
func (e *rowError) Unwrap() error { return e.err }

// A source is the rows of a file or of standard input, one a line.
type source struct {
	name  string // for errors
	line  int    // of the row that next returned last
	live  bool   // somebody may be waiting for each answer: a pipe or a terminal
	r     *bufio.Reader
	close func()
}

// open opens a file, or standard input for "" and "-".
func (p *program) open(path string) (*source, error) {
	s := &source{name: path, close: func() {}}
	in := p.stdin
	if path == "" || path == "-" {
		s.name = "standard input"
		f, isFile := in.(*os.File)
		s.live = !isFile || !isRegular(f)
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%w; FILE is a file of rows, or - for standard input", err)
		}
		if info, err := f.Stat(); err == nil && info.IsDir() {
			f.Close() //nolint:errcheck // nothing was written
			return nil, fmt.Errorf("%s is a folder; name a file of rows in it", path)
		}
		in, s.close = f, func() { f.Close() } //nolint:errcheck // read only
	}
	if err := s.uncompress(in); err != nil {
		s.close()
		return nil, &rowError{s.name, 1, err}
	}
	return s, nil
}

func isRegular(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// uncompress tells plain, gzip and zstd apart by their first bytes; names lie.
func (s *source) uncompress(in io.Reader) error {
	br := bufio.NewReaderSize(in, 64<<10)
	head, err := br.Peek(4)
	if err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		s.r = bufio.NewReaderSize(&gzipRows{in: br}, 64<<10)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		// A larger window is what a hostile file could make us allocate.
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return err
		}
		closeFile := s.close
		s.close = func() { z.Close(); closeFile() }
		s.r = bufio.NewReaderSize(z, 64<<10)
	default:
		s.r = br
	}
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return errors.New("it is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)")
	}
	if head, _ := s.r.Peek(3); bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		s.r.Discard(3) //nolint:errcheck // peeked
	}
	return nil
}

// next returns the next line that is not blank, without its line end; io.EOF
// after the last. The bytes are good until the next call.
func (s *source) next() ([]byte, error) {
	for {
		s.line++
		line, err := s.read()
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil // an error of the source comes again
		}
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, &rowError{s.name, s.line, err}
		}
	}
}

// read returns one line. A line that an error cuts off is not returned: what
// arrived of it may be whole JSON by accident ({…} of {…}{…}).
func (s *source) read() ([]byte, error) {
	var long []byte
	for {
		part, err := s.r.ReadSlice('\n')
		if err == nil || err == io.EOF {
			if long == nil {
				return part, err
			}
			return append(long, part...), err
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, unreadable(err)
		}
		if long = append(long, part...); len(long) > maxLine {
			return nil, fmt.Errorf("the line is longer than %d MiB; a file holds one JSON row a line", maxLine>>20)
		}
	}
}

func unreadable(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the compressed data ends too early; copy or make the file again")
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// gzipRows reads a gzip file of any number of members, as `cat a.gz b.gz`
// makes it. Zero bytes after the last, as tapes and block devices add them,
// are no member.
type gzipRows struct {
	in *bufio.Reader
	z  *gzip.Reader
}

func (g *gzipRows) Read(p []byte) (int, error) {
	for {
		if g.z == nil {
			z, err := gzip.NewReader(g.in)
			if err != nil {
				return 0, noEOF(err)
			}
			z.Multistream(false)
			g.z = z
		}
		n, err := g.z.Read(p)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
		if err := g.member(); err != nil {
			return 0, err
		}
	}
}

// member goes to the next member; io.EOF if there is none.
func (g *gzipRows) member() error {
	for {
		b, err := g.in.ReadByte()
		if err != nil {
			return err
		}
		if b == 0 {
			continue
		}
		g.in.UnreadByte() //nolint:errcheck // one was read
		return noEOF(g.z.Reset(g.in), func() { g.z.Multistream(false) })
	}
}

// noEOF makes an end inside of a member an error, or runs then.
func noEOF(err error, then ...func()) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	if err == nil {
		for _, f := range then {
			f()
		}
	}
	return err
}
