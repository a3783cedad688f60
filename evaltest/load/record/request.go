package record

import (
	"time"

	"github.com/goevals/evals/llm"
)

// A Request is one logical request to a server, whatever tries it took.
type Request struct {
	// Seq numbers the requests of a run in the order in which they were
	// admitted, from 0.
	Seq int `json:"seq"`
	// User is the closed-loop user or the slot that sent it, from 0; 0 in an open
	// loop, which has none.
	User int `json:"user"`
	// Trajectory is the session that it belongs to, and Turn its place there,
	// from 0; "" and 0 for a request on its own.
	Trajectory string `json:"trajectory,omitempty"`
	Turn       int    `json:"turn"`
	// Reset says that the session's conversation began anew before this turn:
	// nothing that was sent before is part of this input.
	Reset bool `json:"reset,omitempty"`
	// Phase says whether the request counts in the measured window.
	Phase Phase `json:"phase"`

	// Due is when it should have been sent: the schedule's time in an open
	// loop, the end of the turn before it plus its delay in a session, and the
	// end of the user's request before it plus the think time in a closed loop.
	Due time.Duration `json:"due_ns"`
	// Sent is when the last try was begun, just before it was handed to the
	// HTTP client; FirstSent that of the first try.
	FirstSent time.Duration `json:"first_sent_ns"`
	Sent      time.Duration `json:"sent_ns"`
	// Connected is when the last try had its connection, Reused whether that
	// was an idle one, Headers when the response's header had come; 0 if it
	// did not get so far.
	Connected time.Duration `json:"connected_ns,omitempty"`
	Reused    bool          `json:"reused,omitempty"`
	Headers   time.Duration `json:"headers_ns,omitempty"`
	// Done is when the answer was complete ([DONE], or the end of the body),
	// or when the request failed.
	Done time.Duration `json:"done_ns"`

	// Fragments are the pieces of the answer that hold generated text, in
	// order. A whole answer that was not streamed is one.
	Fragments []Fragment `json:"fragments,omitempty"`
	// Streamed says that the answer was asked for in pieces.
	Streamed bool `json:"streamed"`

	// AskedInput and AskedOutput are the lengths that the workload wanted, in
	// tokens; 0 if it did not say.
	AskedInput  int `json:"asked_input_tokens,omitempty"`
	AskedOutput int `json:"asked_output_tokens,omitempty"`
	// PossibleCached is how many of the input's tokens a perfect prefix cache
	// could have held from this session or group.
	PossibleCached int `json:"possible_cached_tokens,omitempty"`
	// Usage is what the server said.
	Usage llm.Usage `json:"usage"`
	// Finish is the server's word for why it stopped, such as "stop" or
	// "length"; "" if it gave none.
	Finish string `json:"finish,omitempty"`
	// Model is the name that the server gave.
	Model string `json:"model,omitempty"`

	// Tries are the tries before the last one, all of which failed.
	Tries []Try `json:"tries,omitempty"`
	// Status is the HTTP status of the last try; 0 without a response.
	Status int `json:"status,omitempty"`
	// Failure is why the request failed in the end; nil if it did not.
	Failure *Failure `json:"failure,omitempty"`
}

// OK reports whether the request was answered.
func (r *Request) OK() bool { return r.Failure == nil }

// Phase is the part of a run in which a request was due.
type Phase string

// Phases.
const (
	Warmup   Phase = "warm-up"  // excluded: caches, connections and queues fill
	Measured Phase = "measured" // counts
	Cooldown Phase = "cool-down"
)

// A Fragment is one piece of an answer.
type Fragment struct {
	// At is when the read that completed the piece returned, before anything
	// was parsed.
	At time.Duration `json:"at_ns"`
	// Kind is the channel.
	Kind Kind `json:"kind,omitempty"`
	// Bytes is the length of its text in UTF-8.
	Bytes int `json:"bytes"`
	// Tokens is how many tokens it holds; 0 if that is not known.
	Tokens int `json:"tokens,omitempty"`
}

// Kind is the channel of a fragment.
type Kind string

// Kinds. The zero value is visible text.
const (
	Text      Kind = ""
	Reasoning Kind = "reasoning"
	ToolCall  Kind = "tool_call"
)

// A Try is a physical call that failed and was followed by another.
type Try struct {
	Sent    time.Duration `json:"sent_ns"`
	Done    time.Duration `json:"done_ns"`
	Status  int           `json:"status,omitempty"`
	Failure Failure       `json:"failure"`
}

// A Failure is why a try failed.
type Failure struct {
	Class   Class  `json:"class"`
	Message string `json:"message"` // keys are masked; not escaped
}

// Error returns the class and the message.
func (f *Failure) Error() string { return string(f.Class) + ": " + f.Message }

// Class sorts failures by what a person would do about them.
type Class string

// Classes.
const (
	Build        Class = "build"         // the workload could not make the request; nothing was sent
	Connect      Class = "connect"       // no connection: refused, no route, DNS, no free port or file descriptor
	TLS          Class = "tls"           // the handshake failed
	Stale        Class = "stale"         // a kept connection had been closed before anything was read
	TimeoutFirst Class = "timeout-first" // no fragment came in time
	TimeoutIdle  Class = "timeout-idle"  // a fragment came, and then none for too long
	TimeoutTotal Class = "timeout"       // the whole took too long
	RateLimited  Class = "rate-limited"  // 429
	Rejected     Class = "rejected"      // another 4xx
	Context      Class = "context"       // the prompt is longer than the model takes
	Server       Class = "server"        // 5xx
	InStream     Class = "in-stream"     // an error object inside a stream that began well
	Truncated    Class = "truncated"     // the stream ended without a reason to stop, usage or [DONE]
	Malformed    Class = "malformed"     // not what the API promises
	NoUsage      Class = "no-usage"      // answered, but usage was wanted and did not come
	Canceled     Class = "canceled"      // still in flight when the run ended; neither good nor bad
)
