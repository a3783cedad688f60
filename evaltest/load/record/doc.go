// Package record holds what a load generator knows of each request it made:
// when it was due, when it was sent, when every piece of the answer arrived,
// and how it ended.
//
// It measures nothing and computes nothing: evaltest/load/client fills a
// [Request], evaltest/load/metric makes numbers of many.
//
// All times are offsets from one start of the run, taken from the monotonic
// clock, so that they can be subtracted whatever the wall clock does.
//
//  1. A scheduler says when a request is due ([Request.Due]) and calls a client.
//  2. The client fills in times, fragments, usage and, if it failed, the [Failure].
//  3. Each finished request is written as one line of JSON.
package record
