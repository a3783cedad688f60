// Package call decides when a physical call is made: how long to wait before
// the next one, and how often a busy provider is tried again.
//
// It is not where an item gets another attempt; evaltest/run decides that. A
// try is one physical call, an attempt a logical one: an attempt that meets a
// rate limit is tried again and stays the same attempt.
//
// To use it:
//
//  1. Make a [Policy]; its zero value has the defaults.
//  2. Give [Policy.Do] the function that makes one try.
//  3. Where something else is to be spaced out, ask [Backoff.Wait].
package call
