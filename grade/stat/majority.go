package stat

// Majority returns the most frequent of the answers and how often it was
// given. If several are most frequent, tie is true and winner is the one that
// came first; whether a tie counts is the caller's choice. Of no answers the
// winner is the zero T with 0 votes.
//
// The most frequent answer may have less than half of the votes. An answer that
// does not equal itself, a NaN, has no vote.
func Majority[T comparable](answers []T) (winner T, votes int, tie bool) {
	count := make(map[T]int, len(answers))
	for _, a := range answers {
		count[a]++
	}
	for _, a := range answers {
		n := count[a]
		switch {
		case n > votes:
			winner, votes, tie = a, n, false
		case n == votes && n > 0 && a != winner:
			tie = true
		}
	}
	return winner, votes, tie
}
