// Package wire is the transport under every client: one [http.RoundTripper]
// that sees what an SDK hides (status, headers, limits, times, the raw body,
// usage) and that a recording or a further field of the request can be slipped
// into through the request's context.
//
// It is not a client and it retries nothing; what met a connection that the
// server had closed says so ([ErrStale]), for package call to try again. It never changes what an SDK
// reads, with one exception: a streamed answer that ends without [DONE] and
// without a finish reason ends with [io.ErrUnexpectedEOF], where most SDKs
// would take the clean end of the connection for the end of the answer.
//
// To use it under any SDK that takes an http.Client:
//
//  1. client := &http.Client{Transport: wire.Transport{}}
//  2. Give the SDK that client, once, where it is made: with go-openai it is
//     ClientConfig.HTTPClient, with genai ClientConfig.HTTPClient as well.
//  3. Make calls with the context that the framework gave you. Each call is
//     then logged to the context's [llm.CallLog] with its usage, cost and timing,
//     once, and is recorded and replayed if the run has a cassette. With any
//     other context nothing changes.
//  4. Where needed, derive a context: [WithCapture] to see one call,
//     [WithExtra] to send fields that the SDK does not know,
//     [WithMiddleware] to record or replay.
//  5. A pool of connections of your own goes into Transport.Base: [NewPool]
//     makes one for as many calls as are in flight, and [CheckPool] and
//     [CheckDescriptors] say what would slow a run down or break it.
//
// A client of a provider finds here how to read what servers say in their own
// ways: [ReadUsage], [ReadCost], [RateLimits], [Wait], [ReadError], [ErrorKind]
// and [BeginsEvents], and [EventReader] for their streams.
//
// Keys are masked: no error text and no [Captured] value shows what stood in
// an authorization header or a key parameter.
package wire
