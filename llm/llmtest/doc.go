// Package llmtest is for LLM providers what httptest is for HTTP: fakes to
// test clients, strategies and whole applications against, without a network.
//
// It is not a simulator of any model's quality: a fake answers what its script
// says. Nothing here calls a real provider.
//
// To use it, take the smallest that will do:
//
//  1. A scripted [Model], if the code under test takes an llm.Model.
//  2. A [Server] in memory (its Client), if it speaks HTTP. It works inside
//     testing/synctest, where a loopback server would hang, so latencies cost
//     no time.
//  3. A [Server] on a loopback port (its Start), if it needs a URL.
//
// Faults are replies: Reply.Raw takes any handler, and [Status], [Stream],
// [HTML], [Hang] and [Reset] are ready ones. [Run] is a conformance suite for a
// Model of your own.
package llmtest
