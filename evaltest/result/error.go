package result

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
)

// Sentinels, for errors.Is.
var (
	// ErrClosed is what Write and Close return after Close or Abort.
	ErrClosed = errors.New("result: the journal is closed")
	// ErrFormat is wrapped where a file is no journal, or one of a version
	// that this program does not read.
	ErrFormat = errors.New("result: not a journal of a version that this program reads")
	// ErrInUse is wrapped where another process writes to the journal.
	ErrInUse = errors.New("result: another process writes to this journal")
)

// A WriteError is a journal that could not be written on. It is sticky: the
// first one is what every later Write returns, so nothing follows a gap.
type WriteError struct {
	Path string
	Op   string // "write", "sync", "create", …
	// Records is how many records are safely in the file.
	Records int
	Err     error
}

// Error says what failed, what is safe, and what to do.
func (e *WriteError) Error() string {
	do := "resume the run once the cause is gone; recorded answers are not asked for again"
	switch {
	case slices.ContainsFunc(fullErrors, func(full error) bool { return errors.Is(e.Err, full) }):
		do = "free some space there, or choose another folder; then resume the run, recorded answers are not asked for again"
	case errors.Is(e.Err, syscall.EFBIG):
		do = "raise the file size limit (ulimit -f); then resume the run, recorded answers are not asked for again"
	case errors.Is(e.Err, fs.ErrPermission) || errors.Is(e.Err, syscall.EROFS):
		do = "the folder cannot be written to: make it writable or choose another one"
	case errors.Is(e.Err, fs.ErrExist):
		do = "a journal is never overwritten: choose another path, or append to this one"
	case e.Op == "create":
		do = "put that right, or choose another folder"
	}
	if e.Op == "create" {
		return fmt.Sprintf("result: create journal %s: %v: %s", e.Path, e.Err, do)
	}
	return fmt.Sprintf("result: %s journal %s: %v: %d records are safely in it: %s", e.Op, e.Path, e.Err, e.Records, do)
}

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// A LineError is a line that cannot be read. As the end of a journal that was
// being written it is a warning, and the item runs again; else it is the error.
type LineError struct {
	Path   string
	Line   int   // from 1; the header is line 1
	Offset int64 // of the line's first byte in the uncompressed file
	// Dropped is how many bytes of a damaged tail are left out.
	Dropped int64
	Err     error

	packed bool
}

// Error names file, line and offset, and says what follows.
func (e *LineError) Error() string {
	if e.Dropped > 0 {
		return fmt.Sprintf("result: %s:%d: the last %d bytes (from byte %d) are no whole record: dropped; the items in flight when the writer was killed are not recorded and will run again: %v",
			e.Path, e.Line, e.Dropped, e.Offset, e.Err)
	}
	what, do := "no interrupted write leaves this", "restore the file from a copy, or delete the line and resume to run its item again"
	switch {
	case e.packed:
		what, do = "the compressed file is damaged", "restore it from a copy, or resume from what gzip -dc still gets out of it"
	case e.Line == 1:
		what, do = "the header cannot be read", "restore the file from a copy"
	}
	return fmt.Sprintf("result: %s:%d (byte %d): %s: %v: %s", e.Path, e.Line, e.Offset, what, e.Err, do)
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }
