package trace

import (
	"time"

	"github.com/goevals/evals/evaltest/load/agent"
)

// A Row is one request of a trace.
type Row struct {
	// Line is where it begins in the uncompressed file, from 1.
	Line int
	// At is when it was sent, from the trace's start. Timed says that the trace
	// states it; else it is when the turn before was sent, plus Delay: as if the
	// server had answered at once.
	At    time.Duration
	Timed bool
	// Session names what the row belongs to; "": it stands alone. Turn is its
	// place there, from 0.
	Session string
	Turn    int
	// Delay is the wait between the end of the turn before and this one: what
	// the trace states; or the time between them; or, if the trace does not
	// say how long the turn before took, the time between their starts (see
	// Report.GapDelays). 0 in a first turn.
	Delay time.Duration
	// Elapsed is how long the request took then; 0 if the trace does not say.
	Elapsed time.Duration
	// Input and Output are lengths in tokens, Output at least 1. Both are 0 if
	// the row has Messages and Options.Count is nil.
	Input, Output int
	// Failed says that the request had failed; Output is then 1 or more
	// because of [KeepAsOne].
	Failed bool
	// Model is the model's name in the trace; "" if it does not say.
	Model string
	// Hashes stand for the prompt's blocks of BlockTokens tokens, in order. The
	// last block may be shorter; if there is none for it, the rest of the
	// prompt is the row's own.
	Hashes      []uint64
	BlockTokens int
	// Messages are the whole prompt, if the trace holds texts. Rows of one
	// session share memory: do not change them.
	Messages []Message
}

// A Message is a part of a prompt that has a text.
type Message struct {
	Role agent.Role
	Text string
	// Tokens is its length; 0 if Options.Count is nil.
	Tokens int
	// Live says that it is the model's reply to the turn before. Its Text may
	// be empty: the trace wants what the server really says.
	Live bool
}
