// Package call decides when a physical call is made: when it may start, how
// long it may take, whether it is tried again, and whether it can be paid for.
//
// It is not where an item gets another attempt or a verdict; evaltest/run
// decides that, with the loop of this package. A try is one physical call, an
// attempt a logical one: an attempt that meets a rate limit is tried again and
// stays the same attempt, so that a strategy which thinks harder from attempt 3
// on never does so because a provider was busy.
//
// What a call goes through, from the outside in:
//
//  1. [Attempts] makes attempts: after an unusable answer at once, after a
//     failure that may pass later, and never before the server wants it.
//  2. A [Budget] is asked whether there is money for a call.
//  3. The [Scope], which is who shares a quota, admits each try: it waits out
//     the pause that a rate limit began for all, keeps to the requests and
//     tokens a minute, and takes a slot last. The time of a try that this one is
//     part of stands still meanwhile.
//  4. The try has its time (Timeout) and is made. What it failed with is
//     classified ([Classify]) and says whose time was up, if one was
//     ([ErrAttemptTimeout], [ErrItemTimeout], [ErrRunTimeout]).
//  5. What it used is settled with the scope, and kept ([Tries]).
//  6. After a rate limit the same attempt is tried again. So it is at once, twice
//     at most, where the server had closed the kept connection that the call was
//     written to ([wire.ErrStale]): that says nothing of the model. Everything
//     else goes back to the loop of attempts.
//
// To use it:
//
//  1. Make one [Scope] for each account and key: [NewScope] with its [Limits].
//  2. Wrap each model of it with [New], and turn off the retries of its SDK: the
//     engine alone tries again.
//  3. Where an application calls a provider with an SDK of its own, put a
//     [Policy] with the Scope around it instead, and [Announce] each request in
//     it if tokens are limited.
//  4. For further attempts after failures, put [Attempts] around either. In a
//     strategy or a judge leave them out: a run makes its attempts itself, and
//     puts a Policy around each.
//  5. To see what happened, give the context a log with [WithTries].
package call
