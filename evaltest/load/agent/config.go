package agent

import (
	"context"
	"runtime"
	"time"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/record"
)

// Admission is when trajectories begin.
type Admission int

// Admissions.
const (
	// ClosedLoop keeps MaxActive trajectories active: a slot that one leaves
	// goes to the next in the order of the plans. It is the zero value.
	ClosedLoop Admission = iota
	// OpenLoop begins each at its StartAfter, whatever is active.
	OpenLoop
)

// Replies is what stands in a prompt for the model's reply before it.
type Replies int

// Replies.
const (
	// Live puts in what the server said: it has that in its cache, but prompts
	// differ between runs. It is the zero value, and what BatchBench does.
	Live Replies = iota
	// Recorded puts in a text of the planned length that follows from the
	// seed: runs can be compared byte by byte, but each reply misses the cache.
	Recorded
)

// Config says how plans are run. Text and Body.Model are needed; the zero
// values of all others work.
type Config struct {
	// Text makes the texts.
	Text Text
	// Seed is the root of all texts and tags.
	Seed uint64
	// Body is what requests hold besides messages.
	Body Body
	// Replies is what stands in prompts for replies; default [Live].
	Replies Replies
	// Admission is when trajectories begin; default [ClosedLoop].
	Admission Admission
	// MaxActive is how many trajectories are active at most. 0: in a closed
	// loop all of them; in an open loop there is no limit. In an open loop a
	// trajectory that is due when all are taken waits, and counts as late.
	MaxActive int
	// MaxInFlight is how many requests are at the server at most; 0: no limit.
	// Waiting for a tool does not count. A request that waits for its turn is
	// sent later than it was due.
	MaxInFlight int
	// Tags name trajectories to the server.
	Tags Tags
	// Ranks spreads slots over so many workers with [HeaderTargetWorker]; 0:
	// no such header.
	Ranks int
	// Lookahead is how many trajectories beyond the active ones have their
	// first prompt made before they are due; default [DefaultLookahead].
	Lookahead int
	// Workers is how many texts are made at once; default GOMAXPROCS, at most 32.
	Workers int
	// Phase says which part of the run a request that is due then belongs to;
	// nil: all are record.Measured. It is called from many goroutines.
	Phase func(due time.Duration) record.Phase
	// Discard keeps no Event in Result.Trajectories, of which a long run has
	// many: they then go to the Sink alone.
	Discard bool
	// Sink gets every finished request and trajectory; nil: nobody does.
	Sink Sink
	// Wait returns at a time, or earlier with the context's error; nil: with a
	// timer. It is called from many goroutines.
	Wait func(ctx context.Context, until time.Time) error
}

// DefaultLookahead is the default of Config.Lookahead.
const DefaultLookahead = 256

// A Caller sends requests. It must be safe for concurrent use.
type Caller interface {
	// Call sends one request and returns the assistant's message as a JSON
	// object; nil if there is none.
	//
	// In rec the place, the due time, the asked lengths and Streamed are set;
	// Call sets the rest, above all FirstSent, Sent, Done and Usage, as offsets
	// from c.Start. A failure goes into rec.Failure; one because ctx ended is
	// record.Canceled.
	Call(ctx context.Context, c *Call, rec *record.Request) (message []byte)
}

// CallerFunc is a function as a Caller.
type CallerFunc func(ctx context.Context, c *Call, rec *record.Request) []byte

// Call calls f.
func (f CallerFunc) Call(ctx context.Context, c *Call, rec *record.Request) []byte {
	return f(ctx, c, rec)
}

var _ Caller = CallerFunc(nil)

// A Call is a request that is ready to be sent.
type Call struct {
	// Start is when the run began: the zero of all offsets.
	Start time.Time
	// Agent, Slot and Turn say whose request it is, all from 0.
	Agent, Slot, Turn int
	// Body is the JSON to send; it is not reused.
	Body []byte
	// Headers are those of the session's routing. They must not be changed.
	Headers []Header
	// Stream says that the reply is asked for in pieces.
	Stream bool
	// Min and Max are the limits of the reply in Body, in tokens.
	Min, Max int
}

func (c *Config) check() error {
	if c.Text == nil {
		return problemf(ErrConfig, "Config.Text is missing")
	}
	for _, x := range []struct {
		name string
		v    int
	}{{"MaxActive", c.MaxActive}, {"MaxInFlight", c.MaxInFlight}, {"Ranks", c.Ranks}, {"Lookahead", c.Lookahead}, {"Workers", c.Workers}} {
		if x.v < 0 {
			return problemf(ErrConfig, "Config.%s is %d; it must not be negative", x.name, x.v)
		}
	}
	if c.Admission != ClosedLoop && c.Admission != OpenLoop {
		return problemf(ErrConfig, "Config.Admission is %d; use ClosedLoop or OpenLoop", c.Admission)
	}
	if c.Replies != Live && c.Replies != Recorded {
		return problemf(ErrConfig, "Config.Replies is %d; use Live or Recorded", c.Replies)
	}
	return c.Tags.check()
}

// filled returns a copy with the defaults in place.
func (c Config) filled(plans int) Config {
	if c.Admission == ClosedLoop && (c.MaxActive == 0 || c.MaxActive > plans) {
		c.MaxActive = plans
	}
	if c.Lookahead == 0 {
		c.Lookahead = DefaultLookahead
	}
	if c.Workers == 0 {
		c.Workers = min(runtime.GOMAXPROCS(0), 32)
	}
	if c.Phase == nil {
		c.Phase = func(time.Duration) record.Phase { return record.Measured }
	}
	if c.Wait == nil {
		c.Wait = arrival.Sleep{}.Wait
	}
	return c
}
