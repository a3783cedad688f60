package cassette

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/klauspost/compress/gzip"
)

var errVersion = fmt.Errorf("%w: record it again", ErrFormat)

// tornError says that a file ends in the middle: the entries before it are
// good.
type tornError struct {
	path string
	line int
	err  error
}

func (e *tornError) Error() string {
	return fmt.Sprintf("cassette: %s is damaged at its end, in line %d: %v", e.path, e.line, e.err)
}

func (e *tornError) Unwrap() error        { return e.err }
func (e *tornError) Is(target error) bool { return target == ErrFormat }

// readFile reads a cassette. It is opened with os.Open, so that go test's
// cache knows that the test depends on it.
func readFile(path string) ([]*entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, path)
}

// read reads entries. With a *tornError it returns those before the damage;
// with any other error none.
func read(r io.Reader, path string) ([]*entry, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := br.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, unzipError(path, 1, err)
		}
		br = bufio.NewReaderSize(z, 64<<10)
	}
	var entries []*entry
	var torn *tornError
	var line []byte
	for n := 1; ; n++ {
		var err error
		line, err = readLine(br, line)
		text := bytes.TrimSpace(line)
		if torn != nil && len(text) > 0 {
			// A bad line with good ones after it is no torn end.
			return nil, fmt.Errorf("%w: %s, line %d: %v", ErrFormat, path, torn.line, torn.err)
		}
		if len(text) > 0 && torn == nil {
			e, bad := parseLine(text, n, len(entries) == 0 && n == 1)
			switch {
			case bad != nil && errors.Is(bad, ErrFormat):
				return nil, fmt.Errorf("%s, line %d: %w", path, n, bad)
			case bad != nil:
				torn = &tornError{path, n, bad}
			case e != nil:
				entries = append(entries, e)
			}
		} else if n == 1 && torn == nil {
			return nil, &tornError{path, 1, errors.New("the first line is empty: it must say which version of the format this is")}
		}
		switch {
		case err == io.EOF && torn != nil:
			return entries, torn
		case err == io.EOF:
			return entries, nil
		case err != nil:
			bad := unzipError(path, n, err)
			if errors.As(bad, &torn) {
				return entries, bad
			}
			return nil, bad
		}
	}
}

// readLine is br.ReadBytes('\n') into buf: entries keep nothing of their line.
func readLine(br *bufio.Reader, buf []byte) ([]byte, error) {
	buf = buf[:0]
	for {
		piece, err := br.ReadSlice('\n')
		buf = append(buf, piece...)
		if err != bufio.ErrBufferFull {
			return buf, err
		}
	}
}

// unzipError is the error for a stream that cannot be unpacked. One that was
// cut is good up to there, and so is one with junk behind a whole member.
// Where bytes are wrong, those before may be as well: the checksum comes last.
func unzipError(path string, line int, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, gzip.ErrHeader) && line > 1 {
		return &tornError{path, line, err}
	}
	return fmt.Errorf("%w: %s is damaged, noticed in line %d (%v): nothing in it can be trusted; restore it or remove it", ErrFormat, path, line, err)
}

// parseLine reads one line; the first one is the header and gives no entry.
func parseLine(text []byte, n int, first bool) (*entry, error) {
	if first {
		var h header
		if err := json.Unmarshal(text, &h); err != nil || h.Version == 0 {
			return nil, fmt.Errorf("%w: want a first line such as {\"evals_cassette\":%d}, got %.60q", ErrFormat, version, text)
		}
		if h.Version != version {
			return nil, fmt.Errorf("%w: the file has version %d, this program reads version %d", errVersion, h.Version, version)
		}
		return nil, nil
	}
	e := &entry{}
	// The v2 decoder reads a line once, where encoding/json reads it three
	// times, and refuses a name that stands twice.
	if err := jsonv2.Unmarshal(text, e); err != nil {
		return nil, err
	}
	e.line = n
	return e, e.finish()
}

func headerLine() []byte {
	b, err := json.Marshal(header{version})
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

// writeFile writes a cassette through a temporary file beside it.
func writeFile(path string, entries []*entry) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err := tmp.Chmod(0o644); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := encodeAll(tmp, entries, strings.HasSuffix(strings.ToLower(path), ".gz")); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func encodeAll(w io.Writer, entries []*entry, zip bool) error {
	bw := bufio.NewWriterSize(w, 64<<10)
	out := io.Writer(bw)
	var z *gzip.Writer
	if zip {
		z = gzip.NewWriter(bw) // no name and no time: equal entries give equal bytes
		out = z
	}
	if _, err := out.Write(headerLine()); err != nil {
		return err
	}
	for _, e := range entries {
		line, err := e.encode()
		if err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	if z != nil {
		if err := z.Close(); err != nil {
			return err
		}
	}
	return bw.Flush()
}
