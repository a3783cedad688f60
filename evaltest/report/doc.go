// Package report makes what people look at: a run's summary, its failures and
// its progress, as text.
//
// It decides nothing (evaltest/gate does), reads no files and prints nothing:
// it writes to the [io.Writer] it is given. All text that came from models,
// judges, servers and datasets passes through [Escape] on its way.
//
//  1. Make a [Summary] with [New] and Add every record, in any order, from any
//     number of goroutines.
//  2. Take [Summary.Stats]: plain numbers, for gates and machines.
//  3. Write them with [Text], and what was not correct with [Failures].
//
// A headline accuracy is never printed without the counts of every other
// outcome, and every answer that the run owed is in its denominator.
package report
