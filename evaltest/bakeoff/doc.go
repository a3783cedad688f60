// Package bakeoff makes the files that a comparison of several models leaves:
// who was how right, how dear and how fast, and every answer that says so.
//
// It measures nothing and calls nobody: evaltest.Race and evaltest.Benchmark
// do, and this package makes rows of what they return. It prints nothing.
//
// Words: a contestant is a model with its settings; a leg is one way to work
// through the items; a lap is one leg in one pass; a pass is all legs, once.
//
//  1. Make a [Board] for all benchmarks of the process, with [NewBoard], and say
//     with [Board.SetDataset] what they ask.
//  2. Add what each comes to: a [Race] with [Board.AddRace] or
//     [Board.AddThroughput], a whole run with [Board.AddRun]. The files are
//     written each time; a benchmark without a journal has [ErrNoJournal].
//  3. Read them in [Board.Dir]: a [Summary], a [Throughput], and a file of
//     [Item] lines a pass of each contestant.
//
// The files' fields are explained at the types: a [Summary] has [RaceRow] and
// [Row], a [Throughput] has [LegRow].
//
// "evals grade" reads a results file once its fields have the names that it
// knows. It grades an answer that was cut too, which a run does not.
//
//	gunzip -c NAME_results.jsonl.gz |
//	  jq -c '{id: .item_id, input, response: (if .success then .raw else null end), target: .gold}' |
//	  go tool evals grade -grader numeric
//
// For files of one's own, [Race.Row], [Race.Throughput] and [NewRow] make the
// rows, [WriteJSON] and [WriteItems] write.
package bakeoff
