package llm

import "time"

// A FinishReason says why an answer ended, in the same words for every
// provider.
type FinishReason string

// The reasons. An unknown reason of a provider is kept as it came; the empty
// one means that the provider gave none, as applications without a model do.
const (
	FinishStop          FinishReason = "stop"           // a natural end or a stop text
	FinishLength        FinishReason = "length"         // cut at the token limit: not a whole answer
	FinishToolCalls     FinishReason = "tool_calls"     // tools are to be called
	FinishContentFilter FinishReason = "content_filter" // the provider blocked the prompt or the answer
	FinishRefusal       FinishReason = "refusal"        // the model refused, in the provider's refusal field
)

// A Response is what one or, for an application, several calls came to.
type Response struct {
	// Text is the answer, without reasoning. It is what graders read.
	Text string `json:"text"`
	// Reasoning is what the provider returned apart as thoughts. Never graded.
	Reasoning string `json:"reasoning,omitempty"`
	// Refusal is the provider's refusal text, if it has such a field.
	Refusal   string       `json:"refusal,omitempty"`
	ToolCalls []ToolCall   `json:"tool_calls,omitempty"`
	Finish    FinishReason `json:"finish,omitempty"`
	Usage     Usage        `json:"usage,omitzero"`
	// Model is the model's id as the provider reported it.
	Model string `json:"model,omitempty"`
	// ID is the provider's id of the call.
	ID     string `json:"id,omitempty"`
	Timing Timing `json:"timing,omitzero"`
	// CostUSD is what the provider itself says the call cost, as an exact
	// decimal ("0.000123"); empty if it says nothing.
	CostUSD string `json:"cost_usd,omitempty"`
	// Replayed is set when the answer came from a recording: its timing is
	// the recorded one, and nothing was billed.
	Replayed bool `json:"replayed,omitempty"`
	// Chunks are the times, from Timing.Start, at which the pieces of a streamed
	// answer came that held generated tokens, reasoning included, ascending:
	// Chunks[0] is Timing.FirstToken. Not kept in a run's file: it may be longer than
	// the answer. nil if the answer was not streamed.
	Chunks []time.Duration `json:"-"`
	// RateLimit is what the answer's headers said of the caller's limits; nil
	// if they said nothing. Of use while the run goes on, so not kept.
	RateLimit *RateLimit `json:"-"`
	// Warnings are non-fatal oddities, such as a usage that could not be read.
	Warnings []string `json:"warnings,omitempty"`
}

// Timing is when one call happened. Waiting before the call (queues, rate
// limits, retries) is not in it.
type Timing struct {
	// Start is when the request was handed to the transport.
	Start time.Time `json:"start,omitzero"`
	// FirstToken is the time from Start to the first generated token,
	// reasoning included; 0 if the answer was not streamed.
	FirstToken time.Duration `json:"first_token_ns,omitempty"`
	// Total is the time from Start to the end of the body.
	Total time.Duration `json:"total_ns,omitempty"`
}
