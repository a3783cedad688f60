package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A source is where files are opened by path: an fs.FS, or the operating
// system if that is nil.
type source struct{ fsys fs.FS }

// sourceFS refuses a missing fs.FS, which would open the system's files.
func sourceFS(call string, fsys fs.FS) source {
	if fsys == nil {
		panic("dataset: " + call + ": the fs.FS is nil")
	}
	return source{fsys}
}

// open opens a file that may be read; a folder is refused here, where the
// error can say so on every system. Its errors are of type *Error.
func (s source) open(path string) (fs.File, error) {
	var f fs.File
	var err error
	if s.fsys == nil {
		f, err = os.Open(path)
	} else {
		f, err = s.fsys.Open(path)
	}
	if err != nil {
		e := fileError(path, err)
		e.Hint = s.hint(err)
		return nil, e
	}
	if st, err := f.Stat(); err == nil && st.IsDir() {
		f.Close()
		return nil, fileError(path, fmt.Errorf("%w: it is a folder", ErrFormat))
	}
	return f, nil
}

func (s source) hint(err error) string {
	switch {
	case s.fsys != nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid)):
		return "A path in an fs.FS has slashes, and neither / nor ./ before it: testdata/rows.jsonl."
	case errors.Is(err, fs.ErrNotExist):
		return "A relative path starts at the working folder; under go test that is the folder of the test's package."
	}
	return ""
}

// fileError is about a file that cannot be opened or written.
func fileError(path string, err error) *Error {
	e := &Error{Path: path, Err: err}
	var pe *fs.PathError
	if errors.As(err, &pe) { // the path stands before it already
		e.Err = fmt.Errorf("cannot %s it: %w", pe.Op, pe.Err)
	}
	return e
}

// unchanged reports whether a file is still what it was, as far as its size,
// time and identity tell. Of pipes and devices they tell nothing.
func unchanged(before, now fs.FileInfo) bool {
	if !before.Mode().IsRegular() {
		return true
	}
	if before.Size() != now.Size() || !before.ModTime().Equal(now.ModTime()) {
		return false
	}
	// Only files of the operating system have an identity: of those of a zip
	// archive, say, SameFile is never true.
	return !os.SameFile(before, before) || os.SameFile(before, now)
}

func changed(path string) *Error {
	return &Error{Path: path, Err: ErrChanged, Hint: "What was read is neither the old file nor the new one: read it again when nobody writes it any more."}
}
