// Package llmtest is what httptest is for HTTP, for LLM providers: servers that
// answer, dawdle and fail as providers do, a scripted [llm.Model] without HTTP,
// and the tests that every Model must pass.
//
// It is not a simulation of a model: what is answered is what the test says.
// It is for tests and may import testing; production code must not import it.
//
// To test what calls a provider:
//
//  1. Make a [Server]; its zero value answers "ok". Reply says what is answered
//     to what. The same Reply answers OpenAI's chat completions and Gemini's
//     generateContent, each in its own words; Chat.API says which was spoken.
//  2. Point the client at it. [Server.Client] needs no socket and works inside
//     testing/synctest, where a loopback server would hang; the base URL may
//     then be any. [Server.Start] listens on a loopback port, for OpenAI's
//     clients; [Server.StartRoot] returns the root URL that Gemini's want;
//     [Server.StartTLS] speaks HTTP/2.
//  3. Give it the times of a real server with Latency ([LogNormal] and others),
//     its accounting with Tokens and Cache, and its limits with [Limits]. All
//     of it is drawn from Seed and from what is asked, so that a run can be
//     repeated whatever order calls come in.
//  4. Let it fail: a [Rule] says which calls meet which of [Faults], by number,
//     text, try, time or probability; [Storm] refuses everything for a while.
//     Reply.Fault names one for a single answer, Reply.Damage breaks an answer
//     on its way, and Reply.Raw answers whatever you like ([Status], [HTML],
//     [Stream], [Reset], [Hang]).
//  5. See what happened with [Server.Counts]: what was received, answered,
//     refused, given up and billed, and how much of it in the busiest minute.
//     [Server.Quiet] fails if a call or a body was left open.
//
// Files, batch jobs and the list of models are served too: see [Batches].
//
// To test what calls a Model, without HTTP, use a [Model]: [Answers], [Table],
// or Reply of your own.
//
// To test a Model of your own, call [Run] with a function that makes one; with
// [RunFaults] it is also made to meet a provider that fails.
package llmtest
