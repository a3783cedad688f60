// Package arrival says when the requests of a load run are due, waits until
// they are, and looks for the highest rate that a server sustains.
//
// It makes no request and measures no server: evaltest/load/client sends, and
// evaltest/load/metric makes the run's numbers. It draws nothing but times;
// prompts are evaltest/load/workload's.
//
// Words: a request is due at an offset from the run's start. It is handed over
// when the pacer calls the function that sends it; the lag is the time between
// the two. In an open loop the times come from a [Schedule] alone, so a slow
// server gets the same load as a fast one. In a closed loop each user sends
// when its last answer has come, so a slow server gets less, and queueing that
// many independent clients would cause is not seen.
//
// To run an open loop:
//
//  1. Make a schedule: [Constant], [Poisson], [Gamma], [Trace], or [Stages] for
//     a rate that changes. Those who take rates from outside use [Stages] and
//     look at its error.
//  2. Say with [Phases] how much of it is warm-up, measured and cool-down, and
//     ask [Phases.Fits].
//  3. Call [Pacer.Run] with a function that starts a goroutine a request.
//  4. Look at the [Report]: a run whose achieved rate is below the asked one,
//     or whose lag is large beside the latencies, measured the client.
//
// For a closed loop fill in a [Closed]; for the highest sustained rate a
// [Search] around either.
package arrival
