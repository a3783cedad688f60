package trace

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/goevals/evals/dataset"
)

// What can be wrong with a trace, for errors.Is.
var (
	// ErrKind: the file is of no known kind, or the named kind is unknown.
	ErrKind = errors.New("unknown kind of trace")
	// ErrSyntax: a line is not JSON or CSV, or not an object.
	ErrSyntax = errors.New("bad syntax")
	// ErrColumn: a column is missing, occurs twice, or a row has more or fewer
	// than the header.
	ErrColumn = errors.New("bad columns")
	// ErrValue: a value is not of its type, or out of its range.
	ErrValue = errors.New("bad value")
	// ErrLineTooLong: a line, or a JSON value, is longer than Options.MaxLine.
	ErrLineTooLong = errors.New("line too long")
	// ErrTruncated: the file ends too early.
	ErrTruncated = dataset.ErrTruncated
	// ErrCorrupt: compressed data fails its checks.
	ErrCorrupt = dataset.ErrCorrupt
	// ErrEmpty: no row is left.
	ErrEmpty = errors.New("no rows")
	// ErrOption: an option is out of its range.
	ErrOption = errors.New("bad option")
	// ErrNoTimes: the trace does not say when its requests were sent.
	ErrNoTimes = errors.New("no timestamps")
	// ErrNoLengths: the trace holds texts, and nobody counted their tokens.
	ErrNoLengths = errors.New("no lengths")
	// ErrNoText: the trace holds lengths and no texts.
	ErrNoText = errors.New("no texts")
)

// A LineError is what is wrong with one line of a trace.
type LineError struct {
	File string // as given to Read
	// Line is where the row begins, from 1.
	Line int
	Err  error
}

// Error names the file, the line and the reason.
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.Err }

// quote makes a text from a file safe and short enough for an error.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
