// Package agent drives a model server as stateful agents do: each trajectory
// is a conversation that grows by the model's reply and a synthetic tool's
// answer, waits as long as its tools take, and starts over when its history
// is compacted.
//
// It makes no HTTP call, computes no metric and prints nothing: a [Caller]
// sends, evaltest/load/metric counts, and what happens goes to a [Sink].
// It is not for requests that stand alone; those are evaltest/load/workload's.
//
// Words: a trajectory is one session from its first request to its last. A
// turn is one request of it and the wait after it. A slot is the right of one
// trajectory to be active; it is held through tool calls and handed on when the
// trajectory ends. A concurrency slot ([Config.MaxInFlight]) is the right to
// have one request at the server; it is not held through tool calls.
//
// To use it:
//
//  1. Get plans: [Open] a manifest and [Compile] it, or [Synthesize] them from
//     length distributions. Plans hold numbers, never texts.
//  2. Give a [Text], which makes texts of an exact number of tokens, and a
//     [Caller], which sends one request.
//  3. [DryRun] prints what would be sent.
//  4. [Run] it. Every finished request and trajectory goes to the [Sink] when it
//     happens, so that nothing is lost by an interrupt; the [Result] has the sums.
//
// The bytes of a request depend on the seed, the plan, and, in the reply mode
// [Live], on the replies of the server; never on scheduling.
package agent
