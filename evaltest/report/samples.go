package report

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade/stat"
)

// Consistency is how the samples of an item agree.
type Consistency struct {
	// Items is how many items have an answer; of them all, some or none of the
	// answers are correct.
	Items           int
	All, Some, None int
	// K is how many answers an item has; 0 if they do not all have as many, or
	// only one. The numbers below are about K answers, and zero without.
	K int
	// PassAt is the mean chance, 0..1, that one of K answers is correct, and
	// PassAll that all of them are: [stat.PassAt] and [stat.PassAll].
	PassAt, PassAll float64
	// Majority is how many items have a correct answer as the most frequent one,
	// each correct answer being the same; answers in which none was found have
	// no vote. Ties are those where several are most frequent: not in Majority.
	Majority, Ties int
	// Split is how much of the scores' variance lies between items and how much
	// within one; nil if there are too few items.
	Split *stat.Components
}

// tally is what is known of one item's samples.
type tally struct{ answers []sample }

type sample struct {
	answer  uint64 // hash of the answer that was found; 0 for none, 1 for a correct one
	score   float64
	correct bool
}

func (s *Summary) sampleOf(r *result.Record, correct bool) sample {
	a := sample{score: r.Score, correct: correct}
	switch {
	case correct:
		a.answer = 1
	case r.Verdict != nil && r.Verdict.Answer != "":
		a.answer = maphash.String(s.seed, r.Verdict.Answer) | 2
	}
	if !(a.score >= 0 && a.score <= 1) { // of a damaged journal
		a.score = 0
	}
	return a
}

// consistency counts what the samples of each item come to.
func (s *Summary) consistency() (c Consistency) {
	same := true
	for _, t := range s.items {
		c.Items++
		if c.K == 0 {
			c.K = len(t.answers)
		}
		same = same && len(t.answers) == c.K
		n := 0
		for _, a := range t.answers {
			if a.correct {
				n++
			}
		}
		switch n {
		case len(t.answers):
			c.All++
		case 0:
			c.None++
		default:
			c.Some++
		}
	}
	if !same || c.K < 2 {
		c.K = 0
		return c
	}
	var scores [][]float64
	for _, t := range s.items {
		scores = append(scores, s.vote(&c, t))
	}
	slices.SortFunc(scores, slices.Compare) // sums of them depend on the order
	c.PassAt, c.PassAll = c.PassAt/float64(c.Items), c.PassAll/float64(c.Items)
	if split, err := stat.Split(scores); err == nil {
		c.Split = &split
	}
	return c
}

// vote adds an item's majority and chances to c, and returns its scores.
func (s *Summary) vote(c *Consistency, t tally) (scores []float64) {
	correct := 0
	var votes []uint64
	for _, a := range t.answers {
		scores = append(scores, a.score)
		if a.correct {
			correct++
		}
		if a.answer != 0 {
			votes = append(votes, a.answer)
		}
	}
	slices.Sort(scores)
	at, _ := stat.PassAt(c.K, correct, c.K)
	all, _ := stat.PassAll(c.K, correct, c.K)
	c.PassAt, c.PassAll = c.PassAt+at, c.PassAll+all
	switch winner, _, tie := stat.Majority(votes); {
	case tie:
		c.Ties++
	case winner == 1:
		c.Majority++
	}
	return scores
}

func writeSamples(p *page, c Consistency) {
	if c.Items == 0 {
		return
	}
	p.para("", "samples", fmt.Sprintf("%s: every answer correct in %d, some in %d, none in %d", plural(c.Items, "item"), c.All, c.Some, c.None))
	if c.K == 0 {
		return
	}
	text := fmt.Sprintf("pass@%d %.1f%% (one of %d correct), pass^%d %.1f%% (all of them); the most frequent answer is correct in %s",
		c.K, 100*c.PassAt, c.K, c.K, 100*c.PassAll, stat.Percent(c.Majority, c.Items))
	if c.Ties > 0 {
		text += fmt.Sprintf(", undecided in %s", stat.Percent(c.Ties, c.Items))
	}
	p.para("", "", text)
	if v := c.Split; v != nil {
		p.para("", "", fmt.Sprintf("variance of the score %.3f between items, %.3f within one (consistency %.2f); standard error of the mean %.3f",
			v.Between, v.Within, v.Consistency(), v.SE))
	}
}
