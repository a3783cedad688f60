// Package gate decides whether a run passes.
//
// It knows nothing of testing, of file paths and of how the items were
// answered: it takes counts, or a run by its items, and says what each gate
// decided, and on what. It does not end a test and prints nothing.
//
//  1. Fill a [Config] and call [Config.Check] where it is configured.
//  2. Count the run into [Counts]: every item that the run owed is in Total,
//     whatever became of it. With a baseline or groups, also give its records
//     to a [Recorder].
//  3. Call [Decide] with the [Evidence], print each [Decision], and fail the
//     run if [AnyFailed] says so.
//
// To compare with an accepted run:
//
//  1. Write the accepted one by [Baseline.WriteGzip]; [ReadBaseline] reads it.
//     Its fingerprint says how it was made.
//  2. [Compare] the new run with it. It pairs the items by id and tests whether
//     more broke than chance breaks.
//  3. If it is regressed, ask the broken items again and [Comparison.Confirm].
//  4. While a run goes on, [Settled] says whether it can stop.
//
// Words: an item broke if it was correct in the baseline and is not now, and is
// fixed if it is the other way round. Noise is how many items break and are
// fixed although nothing changed. Alpha is the chance that a test finds a drop
// where there is none.
//
// Limits on errored and ungraded items are counts, not shares: what errors is
// named, looked at and accepted one by one, and a share of a growing dataset
// would accept more of it every month.
package gate
