package agent

import (
	"errors"
	"fmt"
)

// What can be wrong with a manifest, a plan or a configuration, for errors.Is.
var (
	// ErrSyntax: a line is not one JSON object of the schema: bad JSON, an
	// unknown or a missing field, a value of the wrong kind.
	ErrSyntax = errors.New("not a trajectory plan")
	// ErrVersion: the schema version is unknown, or too low for a field.
	ErrVersion = errors.New("schema version")
	// ErrValue: a value is out of its range.
	ErrValue = errors.New("value out of range")
	// ErrDuplicate: two trajectories have one id.
	ErrDuplicate = errors.New("duplicate trajectory_id")
	// ErrGrowth: a prompt is too short to hold the prompt and the output
	// before it.
	ErrGrowth = errors.New("prompt cannot follow")
	// ErrBlocks: the blocks of a request are not well formed.
	ErrBlocks = errors.New("bad blocks")
	// ErrEmpty: the file holds no trajectory.
	ErrEmpty = errors.New("no trajectory plans")
	// ErrLineTooLong: a line is longer than 64 MiB.
	ErrLineTooLong = errors.New("line too long")
	// ErrOverhead: a prompt has no room for its overhead.
	ErrOverhead = errors.New("replay overhead")
	// ErrConfig: an option is out of its range, or contradicts another.
	ErrConfig = errors.New("bad option")
	// ErrText: a text could not be made.
	ErrText = errors.New("text cannot be built")
	// ErrReply: the server's assistant message cannot stand in a prompt.
	ErrReply = errors.New("unusable reply")
)

// A LineError is what is wrong with one line of a manifest.
type LineError struct {
	File string // as given to Read
	Line int    // from 1
	Err  error
}

// Error names the file, the line and the reason.
func (e *LineError) Error() string {
	return fmt.Sprintf("invalid trajectory plan at %s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.Err }

// A PlanError is what makes a trajectory impossible to compile.
type PlanError struct {
	Trajectory string
	Request    int // from 1
	Err        error
}

// Error names the trajectory, the request and the reason.
func (e *PlanError) Error() string {
	return fmt.Sprintf("trajectory %q request %d %v", e.Trajectory, e.Request, e.Err)
}

// Unwrap returns the reason.
func (e *PlanError) Unwrap() error { return e.Err }

// A SizeError is a block whose JSON cannot be given the asked size. It is
// [ErrText].
type SizeError struct {
	Seed      string
	Role      Role
	Want      int // tokens
	Last      int // tokens of the last try; 0 if nothing was tried
	Least     int // tokens of the empty frame; 0 if that was not the reason
	NoCounter bool
}

// Error says what was asked and what came out.
func (e *SizeError) Error() string {
	head := fmt.Sprintf("%s block with seed %q cannot have exactly %d tokens: ", e.Role, e.Seed, e.Want)
	switch {
	case e.NoCounter:
		return head + "its size is that of its JSON, which this Text cannot count; use a tokenizer"
	case e.Least > 0:
		return head + fmt.Sprintf("its JSON has %d without any text", e.Least)
	}
	return head + fmt.Sprintf("the last of %d tries had %d", sizeTries, e.Last)
}

// Is reports whether target is [ErrText].
func (e *SizeError) Is(target error) bool { return target == ErrText }

// A problem is a sentence of its own that errors.Is takes for its kind.
type problem struct {
	kind error
	text string
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.kind }

func problemf(kind error, format string, args ...any) error {
	return &problem{kind, fmt.Sprintf(format, args...)}
}
