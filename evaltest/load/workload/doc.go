// Package workload makes the requests of a load run: prompts of an exact number
// of tokens, or the rows of a file, the same bytes for the same seed.
//
// It sends nothing, keeps no time and knows no tokenizer: a [Text], such as
// evaltest/load/token has, makes the text. Agents that hold a conversation are
// evaltest/load/agent's; they draw from the streams of this package.
//
// Words used here: a request's length is in tokens of its text, without what a
// chat template adds. A stream is one sequence of random numbers. A salt is a
// number that changes the first tokens of each prompt, so that a prefix cache
// that is still warm from an earlier run has none of them.
//
//  1. Say how long inputs and outputs are: [Fixed], [LogNormal], [Uniform],
//     [Empirical], or the flags of a command line as [Settings].
//  2. Make a [Workload] of them with [New]; or read a file with [Load], or take a
//     dataset with [FromDataset], which give [Rows]. Both are a [Source].
//  3. Ask for requests by number, from any goroutine, in any order:
//     [Source].Request. Nothing is kept but what requests share.
//  4. A request that cannot be made is a [*BuildError]; the others are not
//     touched by it.
//  5. Print what reproduces the run: [Workload.Options] with the seed and the
//     salt that were drawn.
package workload
