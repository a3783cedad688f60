// Package batch runs a function over many items at once and yields the results
// as they complete. It knows nothing of tests or models.
//
// It is not a queue and keeps nothing: at most Parallel items and one more
// are in memory, however long the input is. It does not retry, and it
// does not abandon a function that ignores its context; evaltest/run does both.
//
// Words: an item is taken when the input has yielded it. A taken item gets
// exactly one [Result], even if the context ends first.
//
// To use it:
//
//  1. Have the items as an iter.Seq: slices.Values, maps.Keys, or your own.
//  2. Write fn: it gets a context that ends with the run's, and one item.
//  3. Range over [Run]. Leaving the loop cancels what is in flight and waits
//     for it.
//  4. Look at each Result's Err: fn's own, a *[PanicError], [ErrGoexit], or the
//     context's for an item that was taken too late.
package batch
