package judge

import (
	"fmt"
	"strings"

	"github.com/goevals/evals/grade/stat"
)

// A PairwiseSummary counts what a [Pairwise] judge said. The zero value has
// counted nothing; [PairwiseSummary.Add] counts preferences that were kept.
type PairwiseSummary struct {
	// Pairs is how many pairs were given to it. A, B, Ties, Ungraded and Errored
	// add up to it.
	Pairs, A, B, Ties, Ungraded, Errored int
	// Same is how many of the ties were of two answers that are the same.
	Same int
	// Disagreed is how many of the ties were made of two orders that disagree.
	// FirstPosition of them chose whichever answer came first, both times,
	// SecondPosition whichever came second; in the rest one order was a tie.
	Disagreed, FirstPosition, SecondPosition int
}

// Add counts one preference that was asked for.
func (s *PairwiseSummary) Add(p Preference) { s.add(p, len(p.Calls) == 0 && p.Winner == SideTie, nil) }

func (s *PairwiseSummary) add(p Preference, same bool, err error) {
	s.Pairs++
	switch {
	case err != nil:
		s.Errored++
		return
	case p.Winner == SideA:
		s.A++
	case p.Winner == SideB:
		s.B++
	case p.Winner == SideTie:
		s.Ties++
	default:
		s.Ungraded++
	}
	if same {
		s.Same++
	}
	if !p.Disagreed {
		return
	}
	s.Disagreed++
	switch {
	case p.AB == SideA && p.BA == SideB:
		s.FirstPosition++
	case p.AB == SideB && p.BA == SideA:
		s.SecondPosition++
	}
}

// Asked is how many pairs got a legal verdict in both orders.
func (s PairwiseSummary) Asked() int { return s.A + s.B + s.Ties - s.Same }

// Disagreement is the share of pairs in which the order decided, of those that
// got a legal verdict in both, with its Clopper-Pearson interval. It panics if
// level is not between 0 and 1.
func (s PairwiseSummary) Disagreement(level float64) (stat.Proportion, stat.Interval) {
	p := stat.Proportion{Successes: s.Disagreed, N: s.Asked()}
	return p, stat.ClopperPearson(p.Successes, p.N, level)
}

// PositionBias is the share of the first position among the pairs in which a
// position won both times, with its Clopper-Pearson interval. A judge that
// wavers without a bias gives one half: if the interval holds it, no bias was
// shown. It panics if level is not between 0 and 1.
func (s PairwiseSummary) PositionBias(level float64) (stat.Proportion, stat.Interval) {
	p := stat.Proportion{Successes: s.FirstPosition, N: s.FirstPosition + s.SecondPosition}
	return p, stat.ClopperPearson(p.Successes, p.N, level)
}

// String is a few lines for people, at 95%.
func (s PairwiseSummary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pairs: a better in %d, b in %d, tied %d (%d the same), ungraded %d, errors %d\n",
		s.Pairs, s.A, s.B, s.Ties, s.Same, s.Ungraded, s.Errored)
	share, in := s.Disagreement(0.95)
	if share.N == 0 {
		b.WriteString("the orders disagree: not known, no pair got a legal verdict in both\n")
	} else {
		fmt.Fprintf(&b, "the orders disagree in %s of pairs (%d of %d; 95%% interval %s)\n", stat.Percent(share.Successes, share.N), share.Successes, share.N, in)
	}
	bias, in := s.PositionBias(0.95)
	fmt.Fprintf(&b, "position: the first won both times in %d, the second in %d", s.FirstPosition, s.SecondPosition)
	switch {
	case bias.N == 0:
		b.WriteString(": nothing is known of a bias")
	case in.Lo > 0.5:
		fmt.Fprintf(&b, ": biased towards the first (95%% interval of its share %s)", in)
	case in.Hi < 0.5:
		fmt.Fprintf(&b, ": biased towards the second (95%% interval of the first's share %s)", in)
	default:
		fmt.Fprintf(&b, ": no bias shown (95%% interval of the first's share %s)", in)
	}
	return b.String()
}
