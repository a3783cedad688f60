package trace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Reason is why a row was dropped.
type Reason string

// Reasons.
const (
	NoTokens      Reason = "no output"                // it produced no token
	RequestFailed Reason = "failed"                   // the trace says that it failed
	NoInput       Reason = "no input"                 // its prompt has no token
	OutsideWindow Reason = "outside the window"       // Options.From and To
	NoTurns       Reason = "no turns"                 // a conversation without a reply
	NotModelCall  Reason = "not a model call"         // a span of something else, such as a tool
	NoUsage       Reason = "no usage"                 // a model call's span without token counts
	Wrapper       Reason = "wraps another model call" // a span whose tokens its inner spans have as well
	DuplicateSpan Reason = "span seen before"         // the same trace and span id again
)

// A Report says what a trace held and what was made of it.
type Report struct {
	// File is the name given to Read; Kind is its format, and Unit that of its
	// timestamps.
	File string `json:"file"`
	Kind Kind   `json:"kind"`
	Unit string `json:"unit"`
	// BlockTokens is how many tokens a hash id stands for; 0: there are none.
	BlockTokens int `json:"block_tokens,omitempty"`
	// Read counts the rows that were read, Rows those kept, Dropped the others.
	// Limited says that Options.Limit ended it: there may be more.
	Read    int            `json:"read"`
	Rows    int            `json:"rows"`
	Dropped map[Reason]int `json:"dropped,omitempty"`
	Limited bool           `json:"limited,omitempty"`
	// KeptAsOne counts rows kept by [KeepAsOne].
	KeptAsOne int `json:"kept_as_one,omitempty"`
	// Timed counts rows kept that have a timestamp of their own.
	Timed int `json:"timed"`
	// Start is the wall clock of the first row kept; zero if the trace has
	// only relative times. Span is the time from it to the last.
	Start time.Time     `json:"start,omitzero"`
	Span  time.Duration `json:"span_ns"`
	// OutOfOrder counts rows that stood behind a later one. Read sorts them.
	OutOfOrder int `json:"out_of_order,omitempty"`
	// Sessions counts sessions, Alone the rows in none, and Turns is the
	// length of the longest session.
	Sessions int `json:"sessions"`
	Alone    int `json:"alone"`
	Turns    int `json:"longest_session"`
	// Lanes counts sessions added because model calls of one session ran at
	// the same time (OTel): a session does one after the other.
	Lanes int `json:"lanes,omitempty"`
	// GapDelays counts delays that also hold the time that the turn before
	// took, which the trace does not say. They are too long by that.
	GapDelays int `json:"gap_delays,omitempty"`
	// Orphans counts rows whose parent was not in the file before them: they
	// begin sessions (Bailian).
	Orphans int `json:"orphans,omitempty"`
	// Tails counts rows whose last, shorter block has no hash id.
	Tails int `json:"tails,omitempty"`
	// Replaced counts conversations in which invalid Unicode became U+FFFD.
	Replaced int `json:"replaced,omitempty"`
	// Input and Output are tokens of the rows kept; 0 if they are unknown.
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	// Cacheable is how much of Input stood, by its hash ids, at the beginning
	// of an earlier prompt: what a perfect prefix cache would have held. Only
	// Read knows it.
	Cacheable int64 `json:"cacheable_tokens,omitempty"`
	// Unread are columns that nothing was made of, at most 100.
	Unread []string `json:"unread,omitempty"`
	// Warnings are further oddities.
	Warnings []string `json:"warnings,omitempty"`
}

// String returns the report as lines of text. Names from the file are quoted.
func (r *Report) String() string {
	var b strings.Builder
	line := func(on bool, format string, args ...any) {
		if on {
			fmt.Fprintf(&b, format+"\n", args...)
		}
	}
	line(true, "trace: %s (%s, timestamps: %s)", quote(r.File), r.Kind, r.Unit)
	line(true, "rows: %d of %d, %d sessions and %d alone, longest session %d", r.Rows, r.Read, r.Sessions, r.Alone, r.Turns)
	line(r.Limited, "stopped at the limit of %d rows", r.Rows)
	for _, reason := range slices.Sorted(maps.Keys(r.Dropped)) {
		line(true, "dropped: %d %s", r.Dropped[reason], reason)
	}
	line(r.KeptAsOne > 0, "kept with an output of at least 1 token: %d", r.KeptAsOne)
	line(r.Timed > 0, "span: %v", r.Span)
	line(!r.Start.IsZero(), "start: %s", r.Start.Format(time.RFC3339Nano))
	line(r.Timed < r.Rows, "without a timestamp of their own: %d", r.Rows-r.Timed)
	line(r.Input > 0, "tokens: %d input, %d output", r.Input, r.Output)
	if r.Cacheable > 0 {
		line(true, "cacheable at best: %d input tokens (%.1f%%)", r.Cacheable, 100*float64(r.Cacheable)/float64(r.Input))
	}
	line(r.OutOfOrder > 0, "out of order: %d", r.OutOfOrder)
	line(r.Lanes > 0, "sessions added for overlapping calls: %d", r.Lanes)
	line(r.GapDelays > 0, "delays that include the time the turn before took: %d", r.GapDelays)
	line(r.Orphans > 0, "parents not found: %d", r.Orphans)
	line(r.Tails > 0, "prompts whose end has no hash id: %d", r.Tails)
	line(r.Replaced > 0, "conversations with invalid Unicode, replaced: %d", r.Replaced)
	if len(r.Unread) > 0 {
		names := make([]string, len(r.Unread))
		for i, name := range r.Unread {
			names[i] = quote(name)
		}
		line(true, "columns not used: %s", strings.Join(names, ", "))
	}
	for _, w := range r.Warnings {
		line(true, "warning: %s", w)
	}
	return b.String()
}

// dropped says in words what was dropped, for an error.
func (r *Report) dropped() string {
	if len(r.Dropped) == 0 {
		return ""
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(r.Dropped)) {
		parts = append(parts, fmt.Sprintf("%d %s", r.Dropped[reason], reason))
	}
	return ": " + strings.Join(parts, ", ")
}
