package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/goevals/evals/grade/stat"
)

// groupMinimum is the accuracy that a group must reach.
func (c Config) groupMinimum(name string) (float64, bool) {
	if v, ok := c.MinGroup[name]; ok {
		return v, true
	}
	if c.MinGroups != nil && name != "" {
		return *c.MinGroups, true
	}
	return 0, false
}

// groupGate is one group held against its minimum.
type groupGate struct {
	name  string
	c     Counts
	min   float64
	p, of float64 // of no more than min being true, raw and corrected
	pass  bool
}

// minGroups holds the groups against their minima: those of MinGroup in a
// decision each, all others in one.
func minGroups(e Evidence, cfg Config) []Decision {
	if cfg.MinGroups == nil && len(cfg.MinGroup) == 0 {
		return nil
	}
	if e.Narrowed {
		return []Decision{{MinGroup, NotEvaluated, "minima of groups are required of the whole dataset, and only part of it was run"}}
	}
	var gates []groupGate
	groups := e.groups()
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		c := groups[name]
		c.check()
		if v, ok := cfg.groupMinimum(name); ok && c.Total > 0 {
			gates = append(gates, groupGate{name: name, c: c, min: v})
		}
	}
	judge(gates, cfg.LowerBound)
	var ds []Decision
	for _, name := range slices.Sorted(maps.Keys(cfg.MinGroup)) {
		i := slices.IndexFunc(gates, func(g groupGate) bool { return g.name == name })
		if i < 0 {
			ds = append(ds, Decision{MinGroup, Failed, fmt.Sprintf("%s: no item of this group was run; the groups are %s", quoted(name), groupList(groups))})
			continue
		}
		ds = append(ds, gates[i].decision(cfg.LowerBound, len(gates)))
	}
	if cfg.MinGroups != nil {
		rest := slices.DeleteFunc(gates, func(g groupGate) bool { _, own := cfg.MinGroup[g.name]; return own })
		ds = append(ds, everyGroup(rest, *cfg.MinGroups, groups[""].items(), cfg.LowerBound, len(gates)))
	}
	return ds
}

// groupAlpha is what the p value of a group's minimum must not exceed.
const groupAlpha = (1 - Level) / 2

// judge fills pass. By lower bound a group passes if the score test that
// Wilson's interval inverts says that its share is above the minimum, at half
// of 1-Level as the interval's lower end does, corrected over all groups by
// Holm: that any group passes that should not is then no likelier than for one.
func judge(gates []groupGate, lower bool) {
	ps := make([]float64, len(gates))
	for i := range gates {
		g := &gates[i]
		g.pass = g.c.Correct >= needed(g.min, g.c.Total)
		ps[i] = scoreP(g.c, g.min)
	}
	if !lower {
		return
	}
	for i, p := range stat.Holm(ps) {
		gates[i].p, gates[i].of = ps[i], p
		gates[i].pass = p <= groupAlpha*(1+1e-9) // the same rounding as the interval's
	}
}

// scoreP is the one-sided p value of a share of at most v.
func scoreP(c Counts, v float64) float64 {
	if v == 0 {
		return 0
	}
	if c.Total == 0 {
		return 1
	}
	n := float64(c.items())
	z := (float64(c.Correct)/float64(c.Total) - v) / math.Sqrt(v*(1-v)/n)
	return math.Erfc(z/math.Sqrt2) / 2
}

func (g groupGate) decision(lower bool, tests int) Decision {
	d := Decision{MinGroup, Passed, fmt.Sprintf("%s: %s", quoted(g.name), g.text(lower, tests))}
	if !g.pass {
		d.Status = Failed
	}
	return d
}

func (g groupGate) text(lower bool, tests int) string {
	got := fmt.Sprintf("accuracy %s (%d of %s correct; 95%% interval %s)", distinct(g.c.Correct, g.c.Total, g.min), g.c.Correct, g.c.answers(), g.c.Interval())
	want := percentOf(g.min)
	if lower {
		how := fmt.Sprintf("p %s, %.3f needed", pText(g.of, groupAlpha), groupAlpha)
		if tests > 1 {
			how += fmt.Sprintf(", corrected by Holm over %d groups", tests)
		}
		if g.pass {
			return fmt.Sprintf("%s is surely above the %s required (%s)", got, want, how)
		}
		return fmt.Sprintf("%s is not surely above the %s required (%s)", got, want, how)
	}
	need := needed(g.min, g.c.Total)
	if g.pass {
		return fmt.Sprintf("%s is at least the %s required; %s to spare", got, want, plural(g.c.Correct-need, "correct answer"))
	}
	return fmt.Sprintf("%s is below the %s required; %s would pass", got, want, more(need-g.c.Correct))
}

// fewGroups is how many groups a decision names.
const fewGroups = 3

func everyGroup(gates []groupGate, v float64, without int, lower bool, tests int) Decision {
	note := ""
	if without > 0 {
		note = fmt.Sprintf("; %s without a group not held against it", plural(without, "item"))
	}
	if len(gates) == 0 {
		return Decision{MinGroup, Failed, fmt.Sprintf("at least %s is required of every group, and no item has one%s", percentOf(v), note)}
	}
	var failed []groupGate
	for _, g := range gates {
		if !g.pass {
			failed = append(failed, g)
		}
	}
	// The worst first: what is named should be what to look at.
	slices.SortStableFunc(failed, func(a, b groupGate) int {
		left := float64(a.c.Correct)/float64(a.c.Total) - float64(b.c.Correct)/float64(b.c.Total)
		return int(math.Copysign(math.Ceil(math.Abs(left)), left))
	})
	if len(failed) == 0 {
		how := "reaches"
		if lower {
			how = "is surely above"
		}
		return Decision{MinGroup, Passed, fmt.Sprintf("each of %s %s the %s required%s", plural(len(gates), "group"), how, percentOf(v), note)}
	}
	var texts []string
	for i, g := range failed {
		if i == fewGroups {
			texts = append(texts, fmt.Sprintf("and %d more", len(failed)-fewGroups))
			break
		}
		texts = append(texts, quoted(g.name)+": "+g.text(lower, tests))
	}
	return Decision{MinGroup, Failed, fmt.Sprintf("%d of %s failed: %s%s", len(failed), plural(len(gates), "group"), strings.Join(texts, "; "), note)}
}

func groupList(groups map[string]Counts) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return firstOf(names, 2*fewGroups)
}
