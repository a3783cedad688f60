// Package load measures a model server under load: in go test -bench, with
// numbers that benchstat compares, or from a program.
//
// It is not for finding out whether answers are right (package evaltest is), and
// not for running a batch cheaply: it sends as many requests as it was told to,
// when it was told to, and never slows down for a server that is late.
//
//	func BenchmarkServer(b *testing.B) {
//		source, err := workload.New(workload.Options{
//			Text:   token.Words{},
//			Input:  workload.Must(workload.LogNormal(500, 0.9, 8000)),
//			Output: workload.Must(workload.Fixed(200, 0)),
//		})
//		if err != nil {
//			b.Fatal(err)
//		}
//		load.Benchmark(b, load.Load{
//			Client: client.Config{Host: "http://localhost:8000", Model: "my-model"},
//			Source: source,
//			Users:  32,
//			Phases: arrival.Phases{Warmup: arrival.Limit{Count: 64}},
//		})
//	}
//
//	go test -run '^$' -bench Server -benchtime 2000x -count 10 . | tee new.txt
//	go tool benchstat old.txt new.txt
//
// Its packages: evaltest/load/workload makes the requests, evaltest/load/token
// texts of an exact number of tokens, evaltest/load/arrival says when a request is
// due, evaltest/load/client sends it, evaltest/load/record is what became of it,
// evaltest/load/agent plays sessions, evaltest/load/trace reads recorded loads,
// evaltest/load/metric makes the numbers, and evaltest/load/fake is a server to
// measure this client against.
//
// Use:
//
//  1. Say what is asked: a workload.Source. Say when: Users, each of whom has one
//     request in flight (a closed loop), or a Schedule, whatever is in flight (an
//     open loop). A closed loop slows down with the server, so it cannot show the
//     queue that independent clients would make; an open one does, in the times
//     from when a request was due.
//  2. Run [Benchmark], or [Run] outside of tests. [RunAgents] and
//     [BenchmarkAgents] play sessions whose prompts grow by the server's replies;
//     [Search] looks for the highest rate that keeps to an SLO.
//  3. Look at [Report.Problem] first: a run whose schedule slipped, whose client
//     had no processor left, or whose prompts were in the server's cache from the
//     run before measured something else than the server.
//  4. [Calibrate] says what this machine can do at most, and how much of a time is
//     its own.
//
// # What makes two runs the same
//
// Seed and Source fix every byte and every due time, however things are scheduled.
// The salt of a workload is drawn anew for each run unless it is given, so that
// repeats do not read each other's prefix cache; the report's Workload has it.
//
// # Memory
//
// A run keeps its totals and what is in flight: not the requests, and of synthetic
// ones not the texts. [Load.Lookahead] requests are made ahead. Numbers are kept as
// package metric says.
package load
