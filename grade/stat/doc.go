// Package stat says how sure a number about scores is: the interval around an
// accuracy, and how to print a share without rounding it into a lie.
//
// It does not know what an item, a run or a gate is: it takes counts and gives
// numbers, does no input or output and keeps no state.
//
// To report an accuracy:
//
//  1. Count the correct answers and all answers. What errored or never ran
//     stays in the second number.
//  2. Call [Wilson], or [WilsonItems] if an item was answered several times.
//  3. Print the share with [Percent] and the interval beside it.
package stat
