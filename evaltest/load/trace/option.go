package trace

import (
	"fmt"
	"slices"
	"time"
)

// Options say how a trace is read. The zero value works.
type Options struct {
	// Kind is the format; "": told by what the file holds.
	Kind Kind
	// NoOutput is what becomes of a row that failed or produced no token.
	// Default: [Drop].
	NoOutput Handling
	// From and To keep the rows of a part of the trace, To excluded; offsets
	// from the first row of the file, at least 0. To 0: to the end. A session
	// that is cut begins with its first row inside.
	From, To time.Duration
	// Limit keeps that many rows, the first in the file; 0: all. Of OTel, which
	// has no order of its own, the earliest. What follows is not read.
	Limit int
	// BlockTokens is how many tokens a hash id stands for; 0: 512 for Mooncake,
	// 16 for Bailian.
	BlockTokens int
	// Count counts the tokens of a text, for traces that hold texts; nil: their
	// lengths are unknown. It is called from one goroutine.
	Count func(text string) int
	// MaxLine is the longest line, or JSON value of an array, in bytes; 0: 64
	// MiB.
	MaxLine int
}

// Handling is what becomes of rows without output.
type Handling int

// Handlings.
const (
	// Drop leaves the row out and counts it.
	Drop Handling = iota
	// KeepAsOne keeps the row with an output of at least one token, and counts
	// it: the server had the load of its prompt.
	KeepAsOne
)

const defaultMaxLine = 64 << 20

// withDefaults checks the options and fills in defaults; the kind may still
// be unknown.
func (o Options) withDefaults() (Options, error) {
	bad := func(format string, args ...any) (Options, error) {
		return o, fmt.Errorf("%w: "+format, append([]any{ErrOption}, args...)...)
	}
	switch {
	case o.Kind != "" && !slices.Contains(Kinds(), o.Kind):
		return o, fmt.Errorf("%w: Options.Kind is %s; known are %s", ErrKind, quote(string(o.Kind)), kindNames())
	case o.NoOutput != Drop && o.NoOutput != KeepAsOne:
		return bad("Options.NoOutput is %d; it is Drop or KeepAsOne", o.NoOutput)
	case o.From < 0 || o.To < 0:
		return bad("Options.From (%v) and Options.To (%v) must not be negative", o.From, o.To)
	case o.To != 0 && o.To <= o.From:
		return bad("Options.To (%v) must be later than Options.From (%v)", o.To, o.From)
	case o.Limit < 0:
		return bad("Options.Limit is %d; it must not be negative", o.Limit)
	case o.BlockTokens < 0 || o.BlockTokens > maxTokens:
		return bad("Options.BlockTokens is %d; it must be from 0 to %d", o.BlockTokens, maxTokens)
	case o.MaxLine < 0:
		return bad("Options.MaxLine is %d; it must not be negative", o.MaxLine)
	}
	if o.MaxLine == 0 {
		o.MaxLine = defaultMaxLine
	}
	return o, nil
}
