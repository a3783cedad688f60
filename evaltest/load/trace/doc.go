// Package trace reads recorded traffic of model servers and agents, and makes
// of it what a load generator replays: trajectories for evaltest/load/agent,
// offsets for evaltest/load/arrival, or requests with their texts.
//
// It is not a store of traces and downloads none; it sends nothing and
// measures nothing. It makes no texts either: where a trace holds only lengths
// and hashes, the plan names texts by seed and agent makes them.
//
// Words: a row is one request of the trace. A session is what the trace says
// belongs together; its rows are turns, one after the other. A hash id stands
// for a block of tokens: equal ids are equal texts, and prompts that begin with
// equal ids share a prefix.
//
// To use it:
//
//  1. [Open] the file: plain, gzip or zstd. Its [Kind] is told by what it holds,
//     or named in [Options]. Columns are found by name. The whole file is
//     checked; a bad row is a *[LineError], and no row is left out unless the
//     options say so.
//  2. Look at the [Report]: rows, what was dropped and why, the span, units,
//     and how much of the input a perfect prefix cache would have held.
//  3. [Trace.Plan] makes trajectories, which agent.Write writes as a manifest;
//     [Trace.Offsets] makes a schedule; [Trace.WriteRequests] writes texts.
//
// [Stream] hands out rows in file order without holding them.
//
// Times are kept to the nanosecond, and are offsets from the first row kept.
package trace
