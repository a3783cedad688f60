package gate

import (
	"cmp"
	"slices"

	"github.com/goevals/evals/grade/stat"
)

// A pair is an item in both runs.
type pair struct {
	id, group string
	// old and now are how many of the set's samples are correct.
	old, now int
	missing  int // of those of now, how many have not run
	// oldScore and newScore are the means of the samples' scores.
	oldScore, newScore float64

	unanswered   bool
	broke, fixed bool // by the majority of the samples
}

// A pairSet is what a comparison is computed from.
type pairSet struct {
	pairs   []pair
	unrun   []pair // in both runs, and not run in this one
	samples int    // an item
	cluster bool   // by group
}

// sums are the changes by unit of independence, an item or a group, without
// those that are 0. keep may leave pairs out, as if they were unchanged.
func (s *pairSet) sums(cluster bool, keep func(*pair) bool) []int {
	var units []int
	index := map[string]int{}
	for i := range s.pairs {
		p := &s.pairs[i]
		d := p.now - p.old
		if d == 0 || keep != nil && !keep(p) {
			continue
		}
		if !cluster || p.group == "" {
			units = append(units, d)
			continue
		}
		at, ok := index[p.group]
		if !ok {
			at = len(units)
			index[p.group] = at
			units = append(units, 0)
		}
		units[at] += d
	}
	return slices.DeleteFunc(units, func(d int) bool { return d == 0 })
}

// clusters is how many units of independence there are.
func (s *pairSet) clusters() int {
	seen, alone := map[string]bool{}, 0
	for _, p := range s.pairs {
		if p.group == "" {
			alone++
		}
		seen[p.group] = true
	}
	delete(seen, "")
	return len(seen) + alone
}

func (s *pairSet) method(exact bool) string {
	p := "mid-p"
	if exact {
		p = "exact"
	}
	switch {
	case s.cluster:
		return "sign-flip test over groups, " + p
	case s.samples > 1:
		return "sign-flip test over items, " + p
	}
	return "McNemar's test, " + p
}

// difference is the change of accuracy with its interval.
func (s *pairSet) difference() stat.Difference {
	if s.samples == 1 && !s.cluster {
		var n [4]int
		for _, p := range s.pairs {
			n[2*p.old+p.now]++
		}
		return stat.PairedProportions(n[3], n[2], n[1], n[0], Level)
	}
	pairs, sum := make([]stat.Pair, len(s.pairs)), 0.0
	for i, p := range s.pairs {
		pairs[i] = stat.Pair{Old: float64(p.old) / float64(s.samples), New: float64(p.now) / float64(s.samples)}
		if s.cluster {
			pairs[i].Group = p.group
		}
		sum += pairs[i].New - pairs[i].Old
	}
	d, err := stat.PairedDiff(pairs, Level)
	if err != nil { // too few: nothing is known of the error
		d = stat.Difference{Value: sum / float64(max(1, len(pairs))), N: len(pairs), Interval: stat.Interval{Lo: -1, Hi: 1, Level: Level}}
	}
	if d.SE == 0 && d.Value == 0 && err == nil {
		// t has no scale where nothing changed, and 0 to 0 would claim to know:
		// the interval is that of as many items as there are units.
		d.Interval = stat.PairedProportions(cmp.Or(d.Clusters, d.N), 0, 0, 0, Level).Interval
	}
	d.Interval.Lo, d.Interval.Hi = max(-1, d.Interval.Lo), min(1, d.Interval.Hi)
	return d
}

// A pvalues holds the one-sided p values of one test.
type pvalues struct{ drop, rise float64 }

// A tested is every test of a comparison.
type tested struct {
	all, answered            pvalues
	adjusted                 float64
	tests                    int
	groups                   []GroupChange
	scores                   *ScoreChange
	dropped, droppedAnswered bool // a test fires, corrected
}

// test runs the tests of a comparison. If there are several it fires if one of
// them does after Holm's correction.
func (c *Comparison) test() tested {
	s, exact := &c.set, c.options.Exact
	answered := func(p *pair) bool { return !p.unanswered }
	t := tested{all: significance(s.sums(s.cluster, nil), exact), answered: significance(s.sums(s.cluster, answered), exact)}
	all, ans := []float64{t.all.drop}, []float64{t.answered.drop}
	if c.options.EachGroup {
		for _, name := range s.groupNames() {
			in := func(p *pair) bool { return p.group == name }
			g := s.groupChange(name)
			g.P = significance(s.sums(false, in), exact).drop
			t.groups = append(t.groups, g)
			all = append(all, g.P)
			ans = append(ans, significance(s.sums(false, func(p *pair) bool { return in(p) && answered(p) }), exact).drop)
		}
	}
	if c.options.Scores {
		t.scores = s.scoreChange(nil)
		all = append(all, t.scores.Diff.P)
		ans = append(ans, s.scoreChange(answered).Diff.P)
	}
	adjusted, adjustedAnswered := stat.Holm(all), stat.Holm(ans)
	t.adjusted, t.tests = adjusted[0], len(all)
	for i := range t.groups {
		t.groups[i].Adjusted = adjusted[1+i]
	}
	if t.scores != nil {
		t.scores.Adjusted = adjusted[len(all)-1]
	}
	for i := range all {
		t.dropped = t.dropped || adjusted[i] <= c.Alpha
		t.droppedAnswered = t.droppedAnswered || adjusted[i] <= c.Alpha && adjustedAnswered[i] <= c.Alpha
	}
	return t
}

// groupChange counts one group's pairs.
func (s *pairSet) groupChange(name string) GroupChange {
	g := GroupChange{Name: name}
	for i := range s.pairs {
		if p := &s.pairs[i]; p.group == name {
			g.Pairs++
			g.Broke += one(p.broke)
			g.Fixed += one(p.fixed)
		}
	}
	return g
}

// scoreChange tests the mean score. Pairs that keep refuses are unchanged.
func (s *pairSet) scoreChange(keep func(*pair) bool) *ScoreChange {
	c := &ScoreChange{}
	pairs := make([]stat.Pair, len(s.pairs))
	n := float64(max(1, len(s.pairs)))
	for i := range s.pairs {
		p := &s.pairs[i]
		c.Old, c.New = c.Old+p.oldScore/n, c.New+p.newScore/n
		pairs[i] = stat.Pair{Old: p.oldScore, New: p.newScore}
		if keep != nil && !keep(p) {
			pairs[i].New = p.oldScore
		}
		if s.cluster {
			pairs[i].Group = p.group
		}
	}
	d, err := stat.PairedDiff(pairs, Level)
	if err != nil { // too few
		d = stat.Difference{Value: c.New - c.Old, N: len(pairs), P: 1, TwoSided: 1, Interval: stat.Interval{Lo: -1, Hi: 1, Level: Level}}
	}
	c.Diff = d
	return c
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// groupNames are the groups of the pairs, sorted.
func (s *pairSet) groupNames() []string {
	var names []string
	for _, p := range s.pairs {
		if p.group != "" {
			names = append(names, p.group)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
