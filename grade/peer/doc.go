// Package peer grades as other projects grade, so that a number measured here
// can be compared with a number published there.
//
// Each rule is a reproduction, flaws included: what it extracts, what it
// normalises, what it compares. It is not for judging your own model fairly;
// [grade.Numeric] and its neighbours are for that. A published number also
// depends on prompt, shots and stop strings, which no grader can reproduce.
//
//  1. Find the rule under which the number was published: [Rules] lists them
//     with project, commit and one line on what they do.
//  2. Take its grader by name with [Lookup], or by constructor: [GSM8K],
//     [LMEvalStrict], [InspectMatch], [SimpleEvalsMGSM], [HELMFinalNumber],
//     [OpenAIMatch] and so on.
//  3. Give it to a run like any other grader. Verdict.Answer is what the rule
//     extracted, Verdict.How names rule, project and commit.
//
// Verdicts are Correct with score 1, or Incorrect or Unparsed with score 0.
// Unparsed is given only where the project itself tells "nothing extracted"
// from "wrong"; all these projects count both as wrong. A rule that always
// compares something, if only an empty string, never says Unparsed.
//
// The projects are written in Python, whose strings are sequences of code
// points. Python's notions of white space, digit, case folding, float and
// end of line are reproduced (python.go). Where Unicode versions differ, this
// package follows the Go release it is built with.
package peer
