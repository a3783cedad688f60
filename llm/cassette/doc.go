// Package cassette records what model servers answer and replays it strictly:
// a test that replays needs no key, no network and no money, and a request
// that was not recorded fails instead of going out.
//
// It is not a cache between runs and not a mock: it neither expires nor
// invents anything. It works below the SDK, as a [wire.Middleware], so a
// whole application can be recorded as it is.
//
// To use it:
//
//  1. c, err := cassette.Open("testdata/support.jsonl.gz", cassette.Options{Mode: cassette.Record})
//  2. Make calls with wire.WithMiddleware(ctx, c) through a client that sits on
//     [wire.Transport], or give any SDK &http.Client{Transport: c.Transport(nil)}.
//  3. c.Close() writes the file. Until then answers are appended to the file's
//     name with ".part" as they come; a process that was killed loses only the
//     calls in flight, and the next recording continues from there.
//  4. Commit the file, and open it with the zero Options to replay. Mode Auto
//     asks only what is missing, Off asks everything and leaves the file alone.
//
// What makes two requests equal is their method, path, query, body and sample
// index ([llm.WithSample]). The host is left out: a replay asks nobody, so a
// base URL may differ from the recording's in host and port (but not in path).
// So are the project and the location in a path of Vertex AI, which are not
// stored either: a colleague replays what another's project answered.
// A JSON body is compared by value: the order of its keys, white space, the
// spelling of numbers (1, 1.0, 1e0) and of strings do not matter. Headers do
// not count, and neither do key parameters. max_tokens and
// max_completion_tokens are one setting, and the roles system and developer one
// role: which of them a client sends may depend on its base URL. A request that
// has no recording of its own is answered by one in the other spelling, unless
// that was a refusal.
//
// Keys are not stored: what stands in key headers and parameters is left out,
// and a call whose body or answer holds one of them, a configured secret or an
// access token fails with [ErrSecret] instead of being recorded.
//
// Equal requests get stable answers. The n-th equal request of one item gets
// the n-th recording, whatever other items do at the same time: occurrences
// are counted under [llm.WithItem]. The same occurrence of an equal request of
// another item gets the same answer, and is not asked twice while recording:
// it waits for the first and replays it. Without an item in the context every
// equal request is the first one and gets the same answer; use WithSample to
// ask for independent ones. (While recording, such a request waits until the
// equal one in flight has been read to its end and closed.)
package cassette
