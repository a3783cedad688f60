package judge

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

// The reasons of a jury that comes to no verdict.
const (
	ReasonTie      grade.Reason = "jury_tie"       // as many votes for as against
	ReasonNoQuorum grade.Reason = "jury_no_quorum" // too few members gave a legal verdict
)

// ErrQuorum is wrapped by the error of a jury that has no quorum because calls
// failed.
var ErrQuorum = errors.New("judge: jury: no quorum")

// A JuryConfig says how a [Jury] decides. The zero value works.
type JuryConfig struct {
	// Quorum is how many members must have given a legal verdict; default more
	// than half of all. 1 to the number of members.
	Quorum int
	// Mean decides by the mean of the voters' scores; default by the majority of
	// their marks.
	Mean bool
	// Threshold is the mean score from which the verdict is correct, above 0 and
	// at most 1; default 0.5. It is for Mean alone.
	Threshold float64
}

// A Jury is a [grade.Grader] that asks several and decides by what most of them
// say, or by the mean of their scores. Make one with [NewJury] and use it from
// any number of goroutines.
type Jury struct {
	members   []grade.Grader
	name      string
	quorum    int
	mean      bool
	threshold *big.Rat

	mu    sync.Mutex
	total JurySummary
}

var (
	_ grade.Grader        = (*Jury)(nil)
	_ grade.Named         = (*Jury)(nil)
	_ grade.TargetChecker = (*Jury)(nil)
)

// Repeat is g n times, for a [Jury] of one model that is asked several times. A
// judge with a Seed, or with a temperature of 0, mostly says the same each time.
// It panics if n is below 1.
func Repeat(g grade.Grader, n int) []grade.Grader {
	if n < 1 {
		panic(fmt.Sprintf("judge.Repeat(…, %d): give at least 1", n))
	}
	all := make([]grade.Grader, n)
	for i := range all {
		all[i] = g
	}
	return all
}

// NewJury makes a jury of at least two members. It panics on fewer, on one that
// is nil, a Jury itself or a [Canaries], and on a config that cannot be meant.
func NewJury(c JuryConfig, members ...grade.Grader) *Jury {
	n := len(members)
	if n < 2 {
		panic(fmt.Sprintf("judge.NewJury: %d members; give at least two", n))
	}
	names := make([]string, n)
	for i, m := range members {
		if m == nil {
			panic(fmt.Sprintf("judge.NewJury: member %d is nil", i+1))
		}
		switch m.(type) {
		case *Jury:
			panic(fmt.Sprintf("judge.NewJury: member %d is a Jury: give its members instead", i+1))
		case *Canaries: // a run would not see what becomes of them
			panic(fmt.Sprintf("judge.NewJury: member %d has canaries of its own: put WithCanaries around the jury", i+1))
		}
		names[i] = grade.NameOf(m)
	}
	switch {
	case c.Quorum < 0 || c.Quorum > n:
		panic(fmt.Sprintf("judge.NewJury: Quorum is %d of %d members; give 1 to %d, or 0 for more than half", c.Quorum, n, n))
	case !c.Mean && c.Threshold != 0:
		panic(fmt.Sprintf("judge.NewJury: Threshold is %v and Mean is not set: a majority has no threshold", c.Threshold))
	case c.Mean && c.Threshold != 0 && !(c.Threshold > 0 && c.Threshold <= 1):
		panic(fmt.Sprintf("judge.NewJury: Threshold is %v; give a score above 0 and at most 1, or 0 for 0.5", c.Threshold))
	}
	j := &Jury{members: append([]grade.Grader(nil), members...), quorum: c.Quorum, mean: c.Mean}
	if j.quorum == 0 {
		j.quorum = n/2 + 1
	}
	if c.Threshold == 0 {
		c.Threshold = half
	}
	j.threshold = ratOf(c.Threshold)
	how := "majority"
	if c.Mean {
		how = "mean from " + strconv.FormatFloat(c.Threshold, 'g', -1, 64)
	}
	j.name = fmt.Sprintf("jury(%s, quorum %d: %s)", how, j.quorum, strings.Join(names, ", "))
	j.total = newJurySummary(names)
	return j
}

// Name is "jury" with how it decides and the names of its members.
func (j *Jury) Name() string { return j.name }

// CheckTarget implements [grade.TargetChecker] as far as the members do.
func (j *Jury) CheckTarget(item dataset.Item) error {
	for _, m := range j.members {
		if err := grade.CheckTarget(m, item); err != nil {
			return err
		}
	}
	return nil
}

// memberStride keeps the sample indices of members apart. Member 0 keeps the
// context's, so that what was recorded with it alone is found again.
const memberStride = 1 << 20

// Grade asks all members at once. Each of them is asked under a sample index of
// its own ([llm.WithSample]), so that equal requests of members of one model
// have recordings and cached verdicts of their own.
//
// A member whose verdict is neither correct nor incorrect, or whose call failed,
// does not vote. If too few vote, the verdict is [grade.Ungraded], or an error
// that wraps [ErrQuorum] if the failed calls would have made a quorum. It is
// Ungraded too if as many say correct as incorrect, and Unparsed if all members
// found nothing to judge. How says who said what. By majority the score is that
// of the mark, 1 or 0; by mean it is the mean, and a mean of exactly the
// threshold while the marks are split evenly is a tie.
//
// The verdict's Calls are those of all members, in their order, also beside an
// error.
func (j *Jury) Grade(ctx context.Context, item dataset.Item, resp llm.Response) (grade.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return grade.Verdict{}, fmt.Errorf("judge: jury: not asked: %w", err)
	}
	n := len(j.members)
	votes := make([]grade.Verdict, n)
	errs := gather(n, n, func(i int) (err error) {
		mine := llm.WithSample(ctx, llm.SampleIndex(ctx)+i*memberStride)
		votes[i], err = j.members[i].Grade(mine, item, resp)
		if err == nil {
			err = votes[i].Check()
		}
		return err
	})
	var calls []llm.Response
	for _, v := range votes {
		calls = append(calls, v.Calls...)
	}
	c := newCount(votes, errs)
	v, err := j.decide(c)
	if i, failed := firstOf(errs); failed != nil && ctx.Err() != nil { // who gave up did not abstain
		v, err = grade.Verdict{}, fmt.Errorf("judge: jury: member %d (%s): %w", i+1, grade.NameOf(j.members[i]), failed)
	}
	if err == nil {
		v.How += ": " + cut(j.said(c), whyLimit)
	}
	v.Calls = calls
	j.mu.Lock()
	defer j.mu.Unlock()
	j.total.add(c, v.Mark, v.Reason, err)
	return v, err
}

// A count is what members said.
type count struct {
	votes            []grade.Verdict
	errs             []error
	right, wrong     int
	unparsed, failed int
	first            int // the first that found nothing to judge
}

func newCount(votes []grade.Verdict, errs []error) count {
	c := count{votes: votes, errs: errs, first: -1}
	for i, v := range votes {
		switch {
		case errs[i] != nil:
			c.failed++
		case v.Mark == grade.Correct:
			c.right++
		case v.Mark == grade.Incorrect:
			c.wrong++
		case v.Mark == grade.Unparsed:
			if c.unparsed++; c.first < 0 {
				c.first = i
			}
		}
	}
	return c
}

// decide makes the count a verdict.
func (j *Jury) decide(c count) (grade.Verdict, error) {
	n, voted := len(c.votes), c.right+c.wrong
	switch {
	case c.unparsed == n:
		v := c.votes[c.first]
		return grade.Verdict{Mark: grade.Unparsed, How: "jury: nothing to judge", Reason: v.Reason, Why: v.Why}, nil
	case voted < j.quorum && voted+c.failed >= j.quorum:
		errs := []error{fmt.Errorf("%w: %d of %d members voted, %d failed, and %d must vote", ErrQuorum, voted, n, c.failed, j.quorum)}
		for i, err := range c.errs {
			if err != nil {
				errs = append(errs, fmt.Errorf("member %d (%s): %w", i+1, grade.NameOf(j.members[i]), err))
			}
		}
		return grade.Verdict{}, errors.Join(errs...)
	case voted < j.quorum:
		return grade.Verdict{Mark: grade.Ungraded, How: "jury: no quorum", Reason: ReasonNoQuorum,
			Why: fmt.Sprintf("%d of %d members gave a legal verdict, and %d must; ", voted, n, j.quorum) + j.whys(c)}, nil
	}
	agree := fmt.Sprintf("jury: %d of %d correct", c.right, voted)
	tied := c.right == c.wrong
	pass := c.right > c.wrong
	v := grade.Verdict{Mark: grade.Incorrect, How: agree}
	if pass {
		v.Score = 1
	}
	if j.mean {
		mean := c.mean()
		v.Score, _ = mean.Float64()
		cmp := mean.Cmp(j.threshold)
		tied, pass = tied && cmp == 0, cmp >= 0
		from, _ := j.threshold.Float64()
		v.How += ", mean score " + scoreText(mean, from)
	}
	switch {
	case tied:
		return grade.Verdict{Mark: grade.Ungraded, How: agree + ", a tie", Reason: ReasonTie,
			Why: fmt.Sprintf("%d members say correct and %d incorrect; ", c.right, c.wrong) + j.whys(c)}, nil
	case pass:
		v.Mark = grade.Correct
	default:
		v.Reason, v.Why = grade.ReasonWrong, j.whys(c)
	}
	return v, nil
}

// mean is the exact mean of the voters' scores.
func (c count) mean() *big.Rat {
	sum := new(big.Rat)
	for i, v := range c.votes {
		if c.errs[i] == nil && (v.Mark == grade.Correct || v.Mark == grade.Incorrect) {
			sum.Add(sum, ratOf(v.Score))
		}
	}
	return sum.Quo(sum, big.NewRat(int64(c.right+c.wrong), 1))
}

// said lists what each member said.
func (j *Jury) said(c count) string {
	var all []string
	for i, m := range j.members {
		word := string(c.votes[i].Mark)
		if err := c.errs[i]; err != nil {
			word = "no vote, " + quote(err.Error())
		}
		all = append(all, grade.NameOf(m)+" "+word)
	}
	return strings.Join(all, ", ")
}

// whys joins why members did not say correct.
func (j *Jury) whys(c count) string {
	var all []string
	for i, m := range j.members {
		why := c.votes[i].Why
		if err := c.errs[i]; err != nil {
			why = "it failed: " + quote(err.Error())
		}
		if why != "" {
			all = append(all, fmt.Sprintf("member %d (%s): %s", i+1, grade.NameOf(m), cut(why, quoteLimit)))
		}
	}
	return cut(strings.Join(all, "; "), whyLimit)
}

// Summary is what was counted so far.
func (j *Jury) Summary() JurySummary {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.total.clone()
}
