package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/grade/stat"
)

// A JurySummary counts what a [Jury] decided and how far its members agreed.
type JurySummary struct {
	// Answers is how many answers the jury was asked about, Decided how many got
	// a verdict. Unparsed, Ties, NoQuorum and Errors are the rest.
	Answers, Decided, Unparsed, Ties, NoQuorum, Errors int
	// Unanimous is how many of the decided ones all voters agreed on.
	Unanimous int
	// Members are the jury's members, in order.
	Members []MemberSummary

	agreeing, pairs int
	// full[k] is on how many answers all members voted and k said correct.
	full []int
}

// A MemberSummary counts what one member of a [Jury] said.
type MemberSummary struct {
	Name string
	// Correct and Incorrect are its votes, Abstained is how often it gave no
	// legal verdict, Failed how often its call failed.
	Correct, Incorrect, Abstained, Failed int
	// WithVerdict is how many of its votes were the jury's verdict, where there
	// was one.
	WithVerdict int
}

func newJurySummary(names []string) JurySummary {
	s := JurySummary{full: make([]int, len(names)+1)}
	for _, n := range names {
		s.Members = append(s.Members, MemberSummary{Name: n})
	}
	return s
}

func (s JurySummary) clone() JurySummary {
	s.Members, s.full = slices.Clone(s.Members), slices.Clone(s.full)
	return s
}

func (s *JurySummary) add(c count, mark grade.Mark, reason grade.Reason, err error) {
	s.Answers++
	voted := c.right + c.wrong
	switch {
	case err != nil:
		s.Errors++
	case mark == grade.Unparsed:
		s.Unparsed++
		return
	case reason == ReasonTie:
		s.Ties++
	case reason == ReasonNoQuorum:
		s.NoQuorum++
	default:
		s.Decided++
		if c.right == 0 || c.wrong == 0 {
			s.Unanimous++
		}
	}
	s.agreeing += c.right*(c.right-1)/2 + c.wrong*(c.wrong-1)/2
	s.pairs += voted * (voted - 1) / 2
	if voted == len(c.votes) {
		s.full[c.right]++
	}
	for i, v := range c.votes {
		m := &s.Members[i]
		switch {
		case c.errs[i] != nil:
			m.Failed++
			continue
		case v.Mark == grade.Correct:
			m.Correct++
		case v.Mark == grade.Incorrect:
			m.Incorrect++
		default:
			m.Abstained++
			continue
		}
		if err == nil && v.Mark == mark {
			m.WithVerdict++
		}
	}
}

// Agreement is how many of the pairs of votes on one answer were the same.
func (s JurySummary) Agreement() stat.Proportion {
	return stat.Proportion{Successes: s.agreeing, N: s.pairs}
}

// Kappa is Fleiss' kappa of the members, over the n answers on which all of them
// voted: 1 is agreement, 0 no more than chance gives raters who say correct as
// often as these do. Members that always agree are not thereby right: see
// [Calibrate]. It has no interval; agreement of few answers says little.
//
// Fewer than 2 such answers are a [*stat.NotEnough]; where all votes are the same
// word it does not exist, a [*stat.Undefined].
func (s JurySummary) Kappa() (kappa float64, n int, err error) {
	var table [][]int
	members := len(s.Members)
	for right, times := range s.full {
		for range times {
			table = append(table, []int{right, members - right})
		}
	}
	kappa, err = fleiss(table)
	return kappa, len(table), err
}

// fleiss is Fleiss' kappa of table[i][j], how many raters put item i into
// category j, the same number for each item:
//
//	κ = (P̄ - P̄e)/(1 - P̄e),  P̄ = mean of (Σj nij² - n)/(n(n-1)),  P̄e = Σj pj²
//
// Source: J. L. Fleiss, "Measuring nominal scale agreement among many raters",
// Psychological Bulletin 76 (1971), 378-382.
func fleiss(table [][]int) (float64, error) {
	if len(table) < 2 {
		return 0, &stat.NotEnough{Method: "Fleiss' kappa", Have: len(table), Need: 2, What: "answers on which all members voted"}
	}
	raters := 0
	for _, n := range table[0] {
		raters += n
	}
	all := len(table) * raters
	columns := make([]int, len(table[0]))
	pairs := 0
	for _, row := range table {
		for j, n := range row {
			columns[j] += n
			pairs += n * (n - 1)
		}
	}
	agreed := float64(pairs) / float64(all*(raters-1))
	chance := 0.0
	for _, n := range columns {
		if n == all {
			return 0, &stat.Undefined{Method: "Fleiss' kappa", Why: "all members gave all answers the same mark; judge answers of the other kind too"}
		}
		p := float64(n) / float64(all)
		chance += p * p
	}
	return (agreed - chance) / (1 - chance), nil
}

// String is a few lines for people.
func (s JurySummary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d answers: decided %d (%d unanimously), ties %d, no quorum %d, errors %d, nothing to judge %d\n",
		s.Answers, s.Decided, s.Unanimous, s.Ties, s.NoQuorum, s.Errors, s.Unparsed)
	a := s.Agreement()
	fmt.Fprintf(&b, "members agree in %s of pairs (%d of %d)", stat.Percent(a.Successes, a.N), a.Successes, a.N)
	if kappa, n, err := s.Kappa(); err == nil {
		fmt.Fprintf(&b, ", Fleiss' kappa %.3f over %d answers", kappa, n)
	} else {
		fmt.Fprintf(&b, "; %v", err)
	}
	for i, m := range s.Members {
		fmt.Fprintf(&b, "\nmember %d %s: correct %d, incorrect %d, no legal verdict %d, failed %d; with the jury in %d",
			i+1, m.Name, m.Correct, m.Incorrect, m.Abstained, m.Failed, m.WithVerdict)
	}
	return b.String()
}
