package dataset

import (
	"errors"
	"fmt"
	"strings"
)

// What can be wrong with a dataset, for errors.Is. Everything that Load, Open,
// New and Select return wraps one of them or an error of the file system.
var (
	// ErrEmpty: there is no item, or the selection leaves none.
	ErrEmpty = errors.New("no items")
	// ErrTruncated: the file ends too early.
	ErrTruncated = errors.New("truncated")
	// ErrCorrupt: compressed data fails its checks, or other data follows it.
	ErrCorrupt = errors.New("corrupt")
	// ErrFormat: the file is something other than JSONL: a zip archive, a
	// Parquet file, UTF-16 text, one JSON array.
	ErrFormat = errors.New("not JSONL")
	// ErrLFSPointer: the file is the pointer that Git LFS leaves in place of
	// the real one.
	ErrLFSPointer = errors.New("a Git LFS pointer")
	// ErrLineTooLong: a line is longer than MaxLine allows.
	ErrLineTooLong = errors.New("line too long")
	// ErrSyntax: a row is not JSON, or not UTF-8.
	ErrSyntax = errors.New("invalid JSON")
	// ErrRow: a row is JSON but no item: not an object, or a column of the
	// wrong kind, or the decode function refused it.
	ErrRow = errors.New("bad row")
	// ErrField: a row has no column for a field, or two.
	ErrField = errors.New("unclear columns")
	// ErrDuplicateKey: an object holds the same key twice.
	ErrDuplicateKey = errors.New("duplicate key")
	// ErrDuplicateID: two rows have the same id.
	ErrDuplicateID = errors.New("duplicate id")
	// ErrTarget: the target of a multiple-choice row is none of its choices.
	ErrTarget = errors.New("target is not among the choices")
	// ErrUnknownID: an id that was asked for is not in the dataset.
	ErrUnknownID = errors.New("unknown id")
	// ErrOverride: an override is not well formed.
	ErrOverride = errors.New("bad override")
	// ErrOption: options contradict each other or do not fit the call.
	ErrOption = errors.New("bad options")
	// ErrChanged: the file changed between the two passes of Open.
	ErrChanged = errors.New("file changed while it was read")
	// ErrNoRow: the item has no row to decode.
	ErrNoRow = errors.New("item has no row")
)

const (
	// maxBadRows is how many bad rows an Error lists; the rest is counted.
	maxBadRows = 10
	// mostBadRows is where reading stops: nobody mends so many rows one by
	// one, and a file of gigabytes that is something else, or a stream without
	// end, is not read in vain.
	mostBadRows = 10_000
)

// A RowError is what is wrong with one row.
type RowError struct {
	// Line is the row's line in the uncompressed file, from 1, blank lines
	// counted.
	Line int
	// Err says what is wrong; it wraps one of the package's errors.
	Err error
}

// Error gives the line and what is wrong with it.
func (e RowError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns e.Err.
func (e RowError) Unwrap() error { return e.Err }

// An Error is why a dataset could not be read. Its text names the file, the
// line, what is wrong and what to do; errors.Is finds the package's errors in
// it, those of every listed bad row included.
type Error struct {
	// Path is the file as it was given, or the name of what was read.
	Path string
	// Line is where it went wrong, from 1, blank lines counted; 0 if that is
	// no single line.
	Line int
	// Rows is how many rows were read well before.
	Rows int
	// Err is what is wrong: for bad rows, what is wrong with the first.
	Err error
	// Hint says what to do about it; empty if Err says it.
	Hint string
	// Bad are the first bad rows, at most 10, in file order.
	Bad []RowError
	// BadRows counts the bad rows, up to where the file could be read; at
	// 10,000 of them reading stops.
	BadRows int
}

// Error writes one line for the error, one for each further bad row, and one
// for the hint.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	listed := e.Bad
	if len(listed) > 0 && listed[0].Err == e.Err {
		listed = listed[1:]
	}
	for _, r := range listed {
		fmt.Fprintf(&b, "\n%s:%d: %v", e.Path, r.Line, r.Err)
	}
	if more := e.BadRows - len(e.Bad); more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	switch {
	case e.BadRows >= mostBadRows:
		fmt.Fprintf(&b, "\n(%s, where reading stopped; %s well before the first trouble)", count(e.BadRows, "bad row"), rowsRead(e.Rows))
	case e.BadRows > 1:
		fmt.Fprintf(&b, "\n(%s; %s well before the first trouble)", count(e.BadRows, "bad row"), rowsRead(e.Rows))
	case e.Line > 0 || e.Rows > 0 || errors.Is(e.Err, ErrTruncated) || errors.Is(e.Err, ErrCorrupt):
		fmt.Fprintf(&b, " (%s well before it)", rowsRead(e.Rows))
	}
	if e.Hint != "" {
		b.WriteString("\n" + e.Hint)
	}
	return b.String()
}

// Unwrap returns Err and the listed bad rows.
func (e *Error) Unwrap() []error {
	all := []error{e.Err}
	for _, r := range e.Bad {
		if r.Err != e.Err {
			all = append(all, r.Err)
		}
	}
	return all
}

func rowsRead(n int) string {
	if n == 1 {
		return "1 row was read"
	}
	return fmt.Sprintf("%d rows were read", n)
}

// count writes "1 row", "2 rows".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// quote shows text from a file in an error: escaped and cut to a sane length.
func quote(s string) string {
	const most = 80
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 { // not inside a UTF-8 sequence
		cut--
	}
	return fmt.Sprintf("%q…", s[:cut])
}

func quoteAll(ss []string) string {
	q := make([]string, len(ss))
	for i, s := range ss {
		q[i] = quote(s)
	}
	return strings.Join(q, ", ")
}
