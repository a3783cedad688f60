package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade/stat"
)

// DefaultAlpha is how often a comparison of two equal models may say
// regressed, unless [CompareOptions.Alpha] says otherwise.
const DefaultAlpha = 0.05

// Power is the chance of being seen that the smallest detectable drop has.
const Power = 0.8

// A Policy says what becomes of a comparison of runs that were not made in the
// same way.
type Policy string

// The policies.
const (
	Refuse Policy = ""     // do not compare; the default
	Warn   Policy = "warn" // compare, and say so in every decision
)

// CompareOptions say how two runs are compared. The zero value is the default.
type CompareOptions struct {
	// Alpha is the chance of a false alarm, above 0 and below 0.5; 0 means
	// [DefaultAlpha].
	Alpha float64
	// Exact takes the exact p value, which keeps alpha whatever the numbers
	// are and pays for it in power. The default is the mid-p value.
	Exact bool
	// ByItem takes the items as independent of each other although they have
	// groups. It is for groups that are kinds of items; the default is for
	// groups that are sources of alike items, such as a document's questions.
	// With so few groups that not even all of them falling would be significant
	// (3 or fewer at the default Alpha) the items are compared one by one
	// anyway, and the decision says so: a gate that cannot fail is none.
	ByItem bool
	// EachGroup also tests every group by itself, item by item. All tests are
	// then corrected by Holm.
	EachGroup bool
	// Scores also tests the mean score, by the paired t test, clustered if the
	// items are: for graders that give part of the marks. Both tests are then
	// corrected by Holm.
	Scores bool
	// MaxDrop is the largest drop of accuracy in points, 0..1, that passes
	// whatever the test says; nil is no limit. It is compared exactly, as
	// [Config.MinAccuracy] is.
	MaxDrop *float64
	// Detect is the drop of accuracy, 0..1, that the dataset must be able to
	// show with 80 % power. A run that shows no drop on one that is not is "not
	// enough data". 0 asks only that some result could be significant.
	Detect float64
	// OnMismatch says what to do if the fingerprints differ.
	OnMismatch Policy
	// Curtailed says that the run was stopped because [Settled] said that its
	// remaining answers cannot change the decision: items that it has not run
	// count as unchanged.
	Curtailed bool
}

// Check reports a value with which nothing can be compared.
func (o CompareOptions) Check() error {
	switch {
	case math.IsNaN(o.Alpha) || o.Alpha < 0 || o.Alpha >= 0.5:
		return fmt.Errorf("%w: Alpha %v: want a chance of false alarms above 0 and below 0.5, such as 0.05", ErrConfig, o.Alpha)
	case math.IsNaN(o.Detect) || o.Detect < 0 || o.Detect >= 1:
		return fmt.Errorf("%w: Detect %v: want a drop of accuracy as a share, such as 0.05 for 5 points", ErrConfig, o.Detect)
	case o.OnMismatch != Refuse && o.OnMismatch != Warn:
		return fmt.Errorf("%w: OnMismatch %q: want Refuse or Warn", ErrConfig, o.OnMismatch)
	case o.MaxDrop != nil && (math.IsNaN(*o.MaxDrop) || *o.MaxDrop < 0 || *o.MaxDrop > 1):
		return fmt.Errorf("%w: MaxDrop %v: want a drop of accuracy as a share, such as 0.05 for 5 points", ErrConfig, *o.MaxDrop)
	}
	return nil
}

func (o CompareOptions) alpha() float64 { return cmp.Or(o.Alpha, DefaultAlpha) }

// A Change is what a comparison came to.
type Change string

// The changes.
const (
	Regressed  Change = "regressed"
	NoEvidence Change = "no evidence of a drop"
	Improved   Change = "improved"
	NotEnough  Change = "not enough data"
)

// An ItemChange is one item in both runs, or in one of them.
type ItemChange struct {
	ID    string
	Group string
	// Old and New are the outcomes of its samples; nil in the run that does
	// not have it.
	Old, New []result.Outcome
	// Unanswered is set if one of them errored or is ungraded.
	Unanswered bool
	// Asked is how often it was asked again by [Comparison.Confirm], and
	// Passed how many of those answers are correct. Flaky is set if more than
	// half of all its answers are.
	Asked, Passed int
	Flaky         bool
}

// A GroupChange is the test of one group by itself (see
// [CompareOptions.EachGroup]).
type GroupChange struct {
	Name         string
	Pairs        int
	Broke, Fixed int
	// P is the one-sided p value for a drop, Adjusted the same corrected.
	P, Adjusted float64
}

// A ScoreChange is the test of the mean score (see [CompareOptions.Scores]).
type ScoreChange struct {
	// Old and New are the means over the pairs, 0..1, each item's score being
	// the mean of its samples'.
	Old, New float64
	// Diff is New less Old; its P is 1 if there are too few pairs for a test.
	Diff stat.Difference
	// Adjusted is its one-sided p value for a drop, corrected.
	Adjusted float64
}

// A Comparison is a run held against its baseline, item by item.
//
// An item is a pair if both runs have it and ran all its samples, of which the
// first ones are compared if one run has more. Its value is the share of its
// samples that is correct; an answer that errored or is ungraded is not
// correct, as everywhere. But an outage is no regression: the verdict is
// regressed only if the test fires as well when every pair with such an answer
// counts as unchanged. If it fires only with them, the verdict is not enough
// data, and it is for MaxErrored and MaxUngraded to fail the run. An item that
// errored or is ungraded in the baseline is no pair: the answer that it has now
// would count as fixed, and make up for one that broke.
type Comparison struct {
	// Mismatches are the differences of the fingerprints; if there are any, it
	// is not like with like.
	Mismatches []Mismatch
	// Samples is how many samples an item were compared: the fewer of both runs.
	Samples int
	// Pairs is how many items were compared; Groups how many groups they fall
	// into if they are clustered, else 0.
	Pairs, Groups int
	// FewGroups is how many groups there are where they are too few to test by,
	// so that the items were taken as independent; else 0.
	FewGroups int
	// OldAccuracy and NewAccuracy are the means over the pairs, 0..1.
	OldAccuracy, NewAccuracy float64
	// Diff is NewAccuracy less OldAccuracy, -1..1, with its interval at [Level]
	// and the p values and method of this comparison. The interval is -1..1 if
	// there are too few pairs or groups for a narrower one.
	Diff stat.Difference
	// Broke are the pairs of which more than half of the samples were correct
	// and no longer are, Fixed the opposite, both by id. Both and Neither count
	// the pairs that stayed correct and that stayed not correct.
	Broke, Fixed  []ItemChange
	Both, Neither int
	// New and Gone are items that only this run or only the baseline has.
	New, Gone []ItemChange
	// NotRun is how many items are no pair because a sample of them never ran,
	// Unknown how many because a sample errored or is ungraded in the baseline.
	// Unanswered is how many pairs have such a sample in this run.
	NotRun, Unknown, Unanswered int
	// Regrouped is how many pairs were in another group in the baseline. The
	// test goes by the group of this run.
	Regrouped int
	// P is the one-sided p value for a drop and PRise that for a rise, PAnswered
	// and PRiseAnswered the same with unanswered pairs unchanged. Adjusted is P
	// corrected for Tests tests; it is P if Tests is 1.
	P, PRise                 float64
	PAnswered, PRiseAnswered float64
	Adjusted                 float64
	Tests                    int
	ByGroup                  []GroupChange // with EachGroup, by name
	Scores                   *ScoreChange  // with CompareOptions.Scores
	// Method names the test.
	Method string
	// Alpha is the chance of a false alarm that Verdict keeps.
	Alpha   float64
	Verdict Change
	// Why says why the verdict is not enough data, else it is empty.
	Why string
	// ItemsNeeded is how many items would do where the verdict is not enough
	// data; 0 if more items would not help or nobody knows.
	ItemsNeeded int
	// First is the comparison before Confirm asked again; nil without.
	First *Comparison

	options                CompareOptions
	samplesOld, samplesNew int
	oldCorrect, newCorrect int  // of Pairs·Samples
	unmarked               bool // no run has a fingerprint
	set                    pairSet
}

// Compare holds the run now against base. It returns a *MismatchError if their
// fingerprints differ and o refuses that, and an error if a run has no samples.
// It panics on options that
// [CompareOptions.Check] refuses.
func Compare(base, now *Baseline, o CompareOptions) (*Comparison, error) {
	if err := o.Check(); err != nil {
		panic(err)
	}
	if base == nil || now == nil {
		panic("gate.Compare: a run is nil")
	}
	c := &Comparison{Mismatches: CompareFingerprints(base.Header.Fingerprint, now.Header.Fingerprint), Alpha: o.alpha(), options: o}
	c.unmarked = len(base.Header.Fingerprint)+len(now.Header.Fingerprint) == 0
	if len(c.Mismatches) > 0 && o.OnMismatch == Refuse {
		return nil, &MismatchError{c.Mismatches}
	}
	if err := c.pair(base, now); err != nil {
		return nil, err
	}
	c.decide()
	return c, nil
}

// pair matches the items by id. Of different numbers of samples an item the
// first ones are compared, as many of both: were shares of one and of five
// samples compared, an item that is wrong once in twenty would mostly fall a
// little and seldom rise by all of it. No signs are to be flipped there, and the
// test called 12 % to 16 % of equal models regressed at an alpha of 5 %.
func (c *Comparison) pair(base, now *Baseline) error {
	c.samplesOld, c.samplesNew = base.Header.Samples, now.Header.Samples
	c.Samples = min(c.samplesOld, c.samplesNew)
	if c.Samples < 1 {
		return fmt.Errorf("gate: %d and %d samples an item: want at least 1", c.samplesOld, c.samplesNew)
	}
	c.set.samples = c.Samples
	i, j := 0, 0
	for i < len(base.Items) || j < len(now.Items) {
		switch {
		case j == len(now.Items) || i < len(base.Items) && base.Items[i].ID < now.Items[j].ID:
			it := &base.Items[i]
			c.Gone = append(c.Gone, ItemChange{ID: it.ID, Group: it.Group, Old: it.Outcomes, Unanswered: it.unanswered()})
			i++
		case i == len(base.Items) || now.Items[j].ID < base.Items[i].ID:
			it := &now.Items[j]
			c.New = append(c.New, ItemChange{ID: it.ID, Group: it.Group, New: it.Outcomes, Unanswered: it.unanswered()})
			j++
		default:
			c.match(&base.Items[i], &now.Items[j])
			i, j = i+1, j+1
		}
	}
	return nil
}

// match makes a pair of an item, unless one of the runs says nothing of it.
func (c *Comparison) match(wholeOld, wholeNow *BaselineItem) {
	old, now := wholeOld.first(c.Samples), wholeNow.first(c.Samples)
	switch {
	case !old.ran(): // the baseline says nothing of it, now and ever
		c.NotRun++
		return
	case old.unanswered():
		c.Unknown++
		return
	}
	p := pair{id: now.ID, group: now.Group, old: old.Correct(), now: now.Correct(), oldScore: old.score(), newScore: now.score()}
	p.unanswered = now.unanswered()
	ch := ItemChange{ID: now.ID, Group: now.Group, Old: wholeOld.Outcomes, New: wholeNow.Outcomes, Unanswered: p.unanswered}
	before, after := old.majority(), now.majority()
	if !now.ran() {
		c.NotRun++
		p.missing = count(now.Outcomes, result.NotRun)
		if !c.options.Curtailed {
			c.set.unrun = append(c.set.unrun, p)
			return
		}
		p.now, p.newScore, p.missing, p.unanswered, after = p.old, p.oldScore, 0, false, before
	}
	if p.unanswered {
		c.Unanswered++
	}
	c.Regrouped += one(old.Group != now.Group)
	switch {
	case before && after:
		c.Both++
	case before:
		p.broke = true
		c.Broke = append(c.Broke, ch)
	case after:
		p.fixed = true
		c.Fixed = append(c.Fixed, ch)
	default:
		c.Neither++
	}
	c.set.pairs = append(c.set.pairs, p)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// decide fills what follows from the pairs.
func (c *Comparison) decide() {
	s := &c.set
	c.setCluster()
	c.Pairs = len(s.pairs)
	c.Method = s.method(c.options.Exact)
	if s.cluster {
		c.Groups = s.clusters()
	}
	c.means()
	t := c.test()
	c.P, c.PRise, c.PAnswered, c.PRiseAnswered = t.all.drop, t.all.rise, t.answered.drop, t.answered.rise
	c.Adjusted, c.Tests, c.ByGroup, c.Scores = t.adjusted, t.tests, t.groups, t.scores
	c.Diff = s.difference()
	c.Diff.P, c.Diff.TwoSided, c.Diff.Method = c.P, min(1, 2*min(c.P, c.PRise)), c.Method
	alpha := c.Alpha
	switch {
	case c.Pairs == 0:
		c.Verdict, c.Why = NotEnough, c.whyNoPair()
	case t.dropped && t.droppedAnswered:
		c.Verdict = Regressed
	case t.dropped:
		c.Verdict, c.Why = NotEnough, fmt.Sprintf("the drop is due to %s without an answer (errored or ungraded): an outage is no regression, and without them there is no evidence of one", plural(c.Unanswered, "item"))
	case c.PRise <= alpha && c.PRiseAnswered <= alpha:
		c.Verdict = Improved
	default:
		c.Verdict = NoEvidence
		c.lookForEnough()
	}
}

// whyNoPair says why nothing was compared, and what to do about it.
func (c *Comparison) whyNoPair() string {
	switch {
	case c.NotRun > 0:
		return "no item of the baseline ran: run the items, or resume the run"
	case c.Unknown > 0:
		return "the baseline has no graded answer to any item: accept a run without an outage as the new baseline"
	}
	return "no item is in both runs: if only the ids changed, put them back, else accept a run as the new baseline"
}

// setCluster says whether the pairs are clustered. Pairs not run count too: a
// test must not depend on which answers came first.
func (c *Comparison) setCluster() {
	grouped := func(p pair) bool { return p.group != "" }
	c.set.cluster = !c.options.ByItem && (slices.ContainsFunc(c.set.pairs, grouped) || slices.ContainsFunc(c.set.unrun, grouped))
	c.FewGroups = 0
	if !c.set.cluster {
		return
	}
	every := pairSet{pairs: slices.Concat(c.set.pairs, c.set.unrun)}
	if n := every.clusters(); n < leastUnits(c.Alpha, c.options.Exact, 1) {
		c.set.cluster, c.FewGroups = false, n
	}
}

// means fills the accuracies.
func (c *Comparison) means() {
	s := &c.set
	n := float64(len(s.pairs) * s.samples)
	if n == 0 {
		return
	}
	old, now := 0, 0
	for _, p := range s.pairs {
		old, now = old+p.old, now+p.now
	}
	c.OldAccuracy, c.NewAccuracy = float64(old)/n, float64(now)/n
	c.oldCorrect, c.newCorrect = old, now
}
