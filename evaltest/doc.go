// Package evaltest runs LLM evaluations as ordinary Go tests: every row of a
// dataset becomes a subtest, answered by a [Strategy], graded, recorded and
// judged by gates.
//
// It is not for serving or for jobs that outlive a test binary: the rooms below
// it work without package testing (evaltest/run answers one item, evaltest/batch
// many at once, evaltest/result keeps the run's file), and it speaks to no model
// itself (llm/… does).
//
// Words: an item is a row; a strategy is how one item is answered; an attempt
// is one logical try of it; a sample is the k-th independent answer to the same
// item; an outcome is what became of an item, and only correct counts as
// correct; a journal is the file of a run, a gate a condition that fails the
// test. An item that could not be answered stays in the denominator.
//
// To evaluate an application:
//
//  1. Put rows into testdata/support.jsonl.gz (package dataset says how) and
//     [Load] them in a test.
//  2. Say how a row is answered: [App] for a function of your own, [Ask] for a
//     model and a prompt, [StrategyFunc] for anything else. A strategy reports
//     failure as an error; it must not use the test's T.
//  3. Call [Run] with a [Grader]. Without [MinAccuracy] or [Baseline] each
//     item is an assertion; with one, the gates decide over all. Where a provider answers,
//     [Scope] says what your account allows and [MaxCost] what may be spent.
//  4. Run it: go test -v -run TestSupport. A failing item prints the -run that
//     runs it alone. The journal's path stands in the summary.
//  5. Go on with a run that was cut short: -evaltest.resume. Run what failed
//     again: -evaltest.failed.
//  6. Record the model's answers once ([Cassette], EVALTEST_CASSETTE=record) and
//     commit them, so that CI needs neither key nor money. EVALTEST_CASSETTE=off
//     asks the model without recording.
//  7. Accept a run as the [Baseline] with -evaltest.update and commit it: from then
//     on the test fails when more items broke than chance breaks. Before a paid
//     run, -evaltest.plan says what it costs and what it can show.
//  8. Measure: [Benchmark], with -bench . -benchtime=1x -count=10. [Race]
//     compares a run with plain ways to do the same, [Leg] by leg.
//
// Settings have twins in the environment and among the flags; see the options.
// Flags win over the environment and the environment over code. With ./... use
// the environment: go test fails every package that does not know a flag.
//
// A run that may ask a live model is never served from go test's cache; a
// replayed one may be. A run takes up to the time that go test gives it
// (-timeout, 10 minutes by default), stops in order before that is up, and says
// how to go on. An interrupt does the same; a second one ends the process.
package evaltest
