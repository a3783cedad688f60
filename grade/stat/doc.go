// Package stat says how sure a number about scores is: the interval around an
// accuracy, whether two runs differ, how small a drop a dataset can show, how
// far a judge agrees with people.
//
// It does not know what an item, a run or a gate is: it takes counts and scores
// and gives numbers, does no input or output and keeps no state. All functions
// may be called from several goroutines at once.
//
// To report an accuracy:
//
//  1. Count the correct answers and all answers. What errored or never ran
//     stays in the second number.
//  2. Call [Wilson], or [WilsonItems] if an item was answered several times.
//     For scores between 0 and 1 call [Mean], and where items come in groups
//     [MeanClustered].
//  3. Print the share with [Percent] and the interval beside it.
//
// To compare a run with an earlier one of the same items:
//
//  1. Ask [MinDrop] what the dataset can show, before paying for it.
//  2. With one answer an item and no groups, count the items that broke and
//     that were fixed: [McNemar] and [PairedProportions]. Otherwise pair the
//     items' mean scores: [PairedDiff].
//  3. If several groups or metrics are tested, correct the p values with
//     [Holm].
//
// # Errors
//
// A value that no data have, such as a negative count, a NaN or a level of 95
// for 95%, is a mistake of the program: a panic that names the argument and the
// value. Too few data are a [*NotEnough] with the number that would do, data
// for which the result does not exist an [*Undefined].
//
// # Coverage
//
// How often an interval of level 0.95 holds the truth, in percent, found with n
// items of which a share p is correct. The first three rows are exact sums, the
// others simulations of 20,000 runs, 4,000 at n = 1319. The tests pin them.
//
//	                               n = 10              n = 50            n = 1319
//	p                   0.5  0.95  0.99     0.5  0.95  0.99     0.5  0.95  0.99
//	Wilson             97.9  91.4  90.4    93.5  96.2  91.1    95.3  95.0  94.9
//	ClopperPearson     97.9  98.8  99.6    96.7  98.8  98.6    95.3  95.7  96.2
//	Mean               97.9  40.1   9.6    93.5  92.0  39.5    95.3  94.3  94.3
//	MeanClustered      79.9  24.5   5.6    94.3  77.3  26.4    95.3  93.3  82.8
//	  by Mean          78.0  20.6   4.6    69.7  72.4  21.5    75.6  73.1  72.3
//	PairedProportions  99.9  99.9 100.0    95.8  95.9  98.9    95.7  94.4  94.8
//	PairedDiff         99.9  99.9  40.4    95.8  95.9  86.6    95.7  94.4  94.7
//	PairedBootstrap    99.5  99.5  33.9    95.4  95.2  85.4    95.3  94.7  94.8
//	RoganGladen        96.1  96.4  97.0    95.0  96.3  96.4    95.2  95.6  95.4
//	Kappa              97.2  98.3  95.2    93.8  92.0  98.3    94.8  94.8  94.7
//
// Mean and MeanClustered are given only zeros and ones there. Where nearly all
// items are correct a small sample often has no wrong one, and then no width:
// use Wilson. The clusters are five items each, half of the clusters all right
// or all wrong; that Mean takes them as independent costs it a quarter of its
// coverage at any n. The pairs flip in at most 4% of the items each way. The
// judge has a sensitivity of 90% and a specificity of 85%, known from 50 labels
// each. The raters of kappa agree on 90%.
package stat
