// Package judge asks a model whether an answer is right.
//
// It does not compare answers itself (package grade does, for nothing, and
// never changes its mind), and it does not decide when a judge is needed (a run
// does, see evaltest.Judge: for answers in which the grader found nothing to
// compare).
//
// A judge's reply is data like any other. It is read whole against the words
// that were offered, and the verdict is [grade.Correct] or [grade.Incorrect]
// only where one of them stands in the place for it. A reply that is missing,
// off the menu, cut, blocked, refused or still thinking is asked for again a
// bounded number of times, and then the verdict is [grade.Ungraded]: never
// correct, never incorrect. A reply that contradicts itself never passes.
//
// The answer that is judged is hostile data. It stands between delimiters that
// it cannot know, is no template, hides nothing (characters that cannot be seen
// are spelled out), and is cut in its middle when it is too long.
//
// # Use
//
//  1. Make a judge of a model: New(openai.New("gpt-5-nano")). Nothing is sent
//     that was not asked for: no temperature, no cap on the answer.
//  2. Say what is right where it is not "the same as the reference": [Criteria].
//     Offer other words than C and I with [Choices]. A [Cache] spares paying
//     for the same verdict twice.
//  3. Give it to a run as evaltest.Judge, or call Grade. The calls that it made
//     are in [grade.Verdict].Calls, the raw replies in them.
//  4. To see what a reply amounts to without asking anybody: [ParseReply], or
//     evals grade -grader judge-reply.
//
// For more than right and wrong there are a [Rubric] of weighted criteria, a
// [Pairwise] comparison in both orders, and a [Jury] of several judges.
//
// # Trust
//
// A judge is measured as any model is. [Calibrate] compares it with the labels
// of people, and [Calibration.Correct] corrects a run's accuracy for its
// mistakes. [WithCanaries] slips known answers among what it judges and says
// when it misses them.
package judge
