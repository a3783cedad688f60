// Package run is the way of one item: from the question through as many
// attempts as it takes to a graded answer, and always to exactly one
// [result.Record]. It knows nothing of tests and of other items.
//
// It does not run items in parallel (evaltest/batch), and it does not decide
// when a physical call is made (llm/call).
//
// Words: an attempt is a logical try at an item. It advances when the answer
// was unusable (the grader found nothing to compare, or the strategy said so
// with [llm.Unusable]) or a call failed in a way worth another attempt. It does
// not advance because a provider was busy: that is another try of the same
// attempt.
//
// To use it:
//
//  1. Have a [Strategy]: [Ask] a model, an [App], or a [StrategyFunc];
//     [Escalate] to think harder from some attempt on.
//  2. Fill a [Config] and Check it.
//  3. Call [Config.Item] for each item and sample, from any goroutines.
//  4. Show each record to a [FailFast] and stop when it says so.
package run
