// Package grade decides whether an answer is right, without a model.
//
// It does not ask models (a judge does), does not average scores
// (package grade/stat does), and does not decide whether a run passes (package
// evaltest/gate does). To compare a number with a published one, grade as its
// authors did: package grade/peer.
//
// A [Grader] looks at an item and a response and returns a [Verdict]: a mark,
// a score from 0 to 1, the answer that it found, and how. The mark is one of
//
//   - [Correct];
//   - [Incorrect]: an answer was found, and it is another one;
//   - [Unparsed]: no one answer was found to compare, and [Verdict.Reason]
//     says why: no response, a refusal, reasoning that never ended, several
//     answers, malformed JSON;
//   - [Ungraded]: a judge was needed and gave no legal verdict.
//
// The rule behind every doubtful case: nobody looks at what passed, so an
// answer that may be wrong does not pass.
//
// # Use
//
//  1. Choose the grader for what the target is: [Numeric] for a number,
//     [Choice] for options, [Exact] for a short text, [JSON] and [ToolCalls]
//     for structure, [Includes], [Regexp] or [F1] for a text that need not be
//     the same, [FuncOf] for anything else.
//  2. Combine graders: [All], [Any], [Not], [Weighted], and [Fallback] to ask
//     a second one where the first found nothing.
//  3. Give it to a run, or call Grade yourself. A malformed target is an error
//     that wraps [ErrTarget]; a bad answer never is.
//
// Graders are values: make one once and use it from any number of goroutines.
// Constructors panic if they are misused. Nothing here reads a clock, a file
// or the network, and the time taken grows with the length of the text only,
// whatever the text is.
package grade
