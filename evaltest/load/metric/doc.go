// Package metric makes numbers of a load run's requests: latencies with their
// definitions, throughput with its window, goodput with its denominator, and a
// verdict on whether the run can be believed at all.
//
// It sends nothing, schedules nothing and prints nothing. It does not say
// whether one server is better than another: write benchmark lines and let
// benchstat compare repeats.
//
// Words. A request is due when the schedule says so and sent when the client
// gets to it; the service clock starts at the last try's send, the response
// clock when it was due. A fragment is a piece of generated text on any
// channel; N is the number of output tokens, n_1 how many of them the first
// fragment held, t_1 and t_L the times of the first and the last fragment. A
// number that is not known is absent, never 0: see [Figure].
//
//  1. Make a [Meter] with [New].
//  2. [Meter.Add] every finished request, [Meter.Drop] every arrival that was
//     never sent, [Meter.AddJob] every finished session.
//  3. Take a [Result] with [Meter.Result], and look at its Validity first.
//  4. Write it: [Result.WriteJSON], [Result.WriteText], [Result.WriteBench],
//     [Result.WriteCSV], [Result.WriteSummary].
//
// # What is kept
//
// A Meter's memory does not grow with the run. Of each request it keeps a
// number a metric, and of each token none: up to [Config].Exact values of a
// metric percentiles are exact, beyond that they come from a histogram whose
// relative error is at most [HistogramError], and the result says which it
// was. With that many values the sampling error of any percentile is larger.
// Counts, sums, means, standard deviations, minima and maxima are always
// exact. Rates in a window are exact too: the window's edges are moved inwards
// to the next bin edge of a timeline (1 ms in runs of up to a minute, at most
// 1/32768 of a longer one), and the window that was used is reported.
//
// # Percentiles and n
//
// Percentiles interpolate linearly between order statistics (type 7, as
// numpy's default): rank p·(n-1). When n < 1/(1-p) the percentile is little
// more than the largest value, and it is marked. That is a floor, not enough:
// MLPerf's early stopping asks for at least 64 samples at p90, 130 at p95, 662
// at p99 and 6,636 at p99.9, none of them over the limit, to be sure at 99 %.
package metric
