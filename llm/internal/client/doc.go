// Package client is what the clients of providers have in common: how a call
// is made below an SDK, and how much of what a server sends is believed,
// followed and shown. What a server says is untrusted: it may be long, may be
// no text, and may hold the key that it was sent.
//
// It knows no provider's format. That is the business of llm/openai and
// llm/gemini.
//
// To use it:
//
//  1. Make an http.Client with [HTTP].
//  2. For each call, have an [Answer] make it ([Answer.Do]), below the SDK.
//  3. Read a whole answer from [Answer.Value]; what is none is a [NoAnswer].
//  4. [Answer.Complete] the response; make texts for errors with its other
//     methods, which leave the request's keys out.
package client
