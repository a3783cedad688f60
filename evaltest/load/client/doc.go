// Package client makes one call to a model server and writes down when each
// piece of the answer came, into a [record.Request].
//
// It is not a client for applications: it knows nothing of prompts but bytes,
// decodes no more of an answer than a measurement needs, follows no redirect
// and never hides a try. Package llm/openai and its neighbours are for
// applications. It computes no metric either: package evaltest/load/metric does.
//
// What it takes for a fragment: an event of the stream that holds text which the
// model generated, in whatever channel (content, refusal, reasoning, tool call,
// a completion's text). A role alone, an empty text, a comment, a keep-alive and
// usage are none. One event is one fragment, however many channels it fills; its
// kind is that of the most visible one: text, then tool call, then reasoning.
// Its time is that of the moment after the read returned that brought the end of
// the event, before anything of it was looked at.
//
//  1. Make a [Client] with [New] for as many calls as will be in flight, and
//     show what [Client.Limits] says of this process.
//  2. Build the bodies before the clock runs, with [Client.Body].
//  3. Call [Client.Do] for each request, from any number of goroutines.
//  4. Ask [Client.Warnings] for what was odd and did not matter, then
//     [Client.Close] it.
package client
