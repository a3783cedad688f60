// Package fake is a model server that costs so little, and knows so exactly what
// it did, that a load generator can be measured against it: it answers
// OpenAI's chat completions and completions, streamed and whole, with the asked
// number of tokens at the asked times, and notes what it saw and when it wrote.
//
// It is not for testing clients: it says the same words always and speaks one
// dialect well, and llm/llmtest has answers, faults and limits of providers. It
// is no model of a server's speed either: a longer prompt takes no longer.
//
// To use it:
//
//  1. Set the fields of a [Server]: how long answers are and when they come, how
//     tokens are counted, how many are served at once. The zero value answers
//     16 tokens at once, and counts words.
//  2. [Server.Start] it, and point a client at the URL. In a bubble of
//     testing/synctest, where a loopback server hangs, give [Server.Serve] a
//     listener in memory.
//  3. Look at [Server.Counts], and with Saw at each request: what was in it, when
//     it was due and when it was written.
//  4. Call stop. Everything has been counted then, and nothing runs any more.
//
// # What counts
//
// A prompt's tokens are those of its texts, each counted alone: the content of
// each message (or its parts of type text and refusal), refusal,
// reasoning_content and reasoning; the arguments of tool calls, as the text that
// they are; each of tools as its JSON without space between its parts. Roles, ids,
// names of messages and names in tool calls are the template's, which is
// PerMessage and PerRequest, as evaltest/load/agent plans them; Names makes names
// count. A completion's prompt is one
// text, or the numbers of tokens, one each. What else a body holds counts
// nothing; a part that is no text is refused.
//
// An answer has exactly as many tokens as the request's limit, and finishes with
// "length"; without a limit it has Output and finishes with "stop". Each of its
// words is one token by words and in all common tokenizers.
//
// # What is refused
//
// 400 are: what is no JSON, an object with a name twice, a type that is not the
// field's, n above 1 and more than one prompt, a limit of 0 or above
// [MaxOutput], min_tokens above max_tokens, two limits that differ. The fields
// that change no length or form of the answer (temperature, ignore_eos, seed, …)
// are ignored, whatever their value. Any key, or none, will do.
//
// # The cache
//
// With CacheBlock the server remembers the prompts in blocks of so many tokens, and
// with them the answers: from when a prompt had come, and from when the last
// token of an answer was due. The prompt is PerRequest, the tools, then each
// message with PerMessage before its texts, which stand in the order of the
// message's fields. Two prompts have a block in common if all tokens to its end
// are equal and in the same fields. A prompt may be held to its last token.
//
// # Time
//
// Where TTFT, ITL, Slots and Stalls are not set nothing waits: a connection is
// read and answered by one goroutine, events that are due together are written
// together, and a client that goes away is noticed when a write fails. Elsewhere a
// client that goes away is noticed at once.
//
// On Linux one timer of the kernel wakes all streams; elsewhere, and in bubbles,
// the runtime's timers do, which are up to a millisecond later where a processor
// idles. BenchmarkPaced says how late events are written. A server that shares a
// processor with its client is late because of it, so a measurement compares with
// Written rather than with the schedule.
package fake
