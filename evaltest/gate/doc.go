// Package gate decides whether a run passes.
//
// It knows nothing of testing, of files and of how the items were answered: it
// takes counts and says what each gate decided, and on what. It does not end a
// test and prints nothing.
//
//  1. Fill a [Config] and call [Config.Check] where it is configured.
//  2. Count the run into [Counts]: every item that the run owed is in Total,
//     whatever became of it.
//  3. Call [Evaluate], print each [Decision], and fail the run if [AnyFailed] says so.
//
// Limits on errored and ungraded items are counts, not shares: what errors is
// named, looked at and accepted one by one, and a share of a growing dataset
// would accept more of it every month.
package gate
