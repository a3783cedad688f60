package cassette

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goevals/evals/llm/internal/filelock"
)

// partSuffix names the file that a recording is appended to until Close.
const partSuffix = ".part"

// part is a recording in progress: a locked, plain JSONL file. A killed
// process leaves it behind without the lock.
type part struct {
	path   string
	f      *os.File
	size   int64 // of the good lines
	torn   error
	broken error // a failed write that could not be undone
}

// openPart locks the file and reads what a dead recorder left in it. Without
// create it returns nil if there is none.
func openPart(path string, create bool) (*part, []*entry, error) {
	f, err := lockPart(path, create)
	if err != nil || f == nil {
		return nil, nil, err
	}
	p := &part{path: path, f: f}
	entries, err := p.restore()
	if err != nil {
		p.close()
		return nil, nil, err
	}
	return p, entries, nil
}

// lockPart opens and locks path. Another process may remove the file between
// the two, so it looks again whether the name still means the same file.
func lockPart(path string, create bool) (*os.File, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, fmt.Errorf("cassette: %w", err)
		}
	}
	for range 100 {
		f, err := os.OpenFile(path, flags, 0o644)
		if !create && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cassette: cannot record: %w", err)
		}
		// Where there are no such locks, two recordings of one file at once are
		// not noticed.
		if err := filelock.Try(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			f.Close()
			if errors.Is(err, filelock.ErrHeld) {
				return nil, fmt.Errorf("%w: %s is locked; wait for it to end", ErrLocked, path)
			}
			return nil, fmt.Errorf("cassette: locking %s: %w", path, err)
		}
		here, err1 := f.Stat()
		there, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(here, there) {
			return f, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("%w: %s comes and goes", ErrLocked, path)
}

// restore reads the entries and cuts off what follows the last good one.
func (p *part) restore() ([]*entry, error) {
	info, err := p.f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	var entries []*entry
	if info.Size() > 0 {
		entries, err = read(io.NewSectionReader(p.f, 0, info.Size()), p.path)
		var torn *tornError
		switch {
		case errors.As(err, &torn):
			p.torn = err
		case err != nil:
			return nil, fmt.Errorf("%w; remove it to start over", err)
		}
	}
	// Rewriting the good lines is simpler than finding their end, and these
	// files are small.
	if err := p.f.Truncate(0); err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	if err := p.write(headerLine()); err != nil {
		return nil, err
	}
	for _, e := range entries {
		e.line = 0
		line, err := e.encode()
		if err == nil {
			err = p.write(line)
		}
		if err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// write appends one line in one system call: whoever kills the process later
// cannot take it back. A failed write is undone.
func (p *part) write(line []byte) error {
	if p.broken != nil {
		return p.broken
	}
	n, err := p.f.WriteAt(line, p.size)
	if err == nil {
		p.size += int64(n)
		return nil
	}
	err = fmt.Errorf("cassette: recording to %s: %w", p.path, err)
	if cut := p.f.Truncate(p.size); cut != nil {
		p.broken = err
	}
	return err
}

// close releases the lock and leaves the file.
func (p *part) close() {
	if p != nil {
		p.f.Close()
	}
}

// remove removes the file while it is still locked.
func (p *part) remove() error {
	if p == nil {
		return nil
	}
	return filelock.Remove(p.f, p.path)
}
