package workload

import (
	"errors"
	"fmt"
)

var (
	// ErrOption: an option is missing, out of range, or contradicts another.
	// The error is an [*OptionError].
	ErrOption = errors.New("bad option")
	// ErrEnd: a request was asked for beyond the last one that there is.
	ErrEnd = errors.New("no more requests")
	// ErrLength: a length that was drawn is longer than [MaxLength].
	ErrLength = errors.New("too long")
	// ErrRow: a line of a file of requests or lengths is not what it should be.
	ErrRow = errors.New("bad row")
)

// An OptionError says which option cannot be used.
type OptionError struct {
	Option string // as the person wrote it: a flag, or the name of a field
	Value  string // as given; "" if it is missing
	Reason string // what is wrong and what is wanted
}

// Error names the option and its value.
func (e *OptionError) Error() string {
	if e.Value == "" {
		return "workload: " + e.Option + " " + e.Reason
	}
	return fmt.Sprintf("workload: %s is %s: %s", e.Option, e.Value, e.Reason)
}

// Unwrap returns [ErrOption].
func (e *OptionError) Unwrap() error { return ErrOption }

func badOption(option string, value any, reason string) error {
	return &OptionError{Option: option, Value: fmt.Sprint(value), Reason: reason}
}

// A BuildError is why one request could not be made. Nothing of it was sent,
// and other requests are not concerned.
type BuildError struct {
	Seq    int // the request's number
	Tokens int // the length that was wanted; 0 if that is not known
	Err    error
}

// Error names the request.
func (e *BuildError) Error() string {
	if e.Tokens == 0 {
		return fmt.Sprintf("workload: request %d: %v", e.Seq, e.Err)
	}
	return fmt.Sprintf("workload: request %d of %d tokens: %v", e.Seq, e.Tokens, e.Err)
}

// Unwrap returns e.Err.
func (e *BuildError) Unwrap() error { return e.Err }
