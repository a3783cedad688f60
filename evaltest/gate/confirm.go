package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goevals/evals/evaltest/result"
)

// Confirm decides a regression again after the broken items were asked k more
// times. answers are the new answers by id, true for correct; a broken item
// without any stays broken. It returns a new Comparison, whose First is c; c is
// not changed.
//
// A broken item of which more than half of all its answers in this run are
// correct, the first ones included, is flaky: it counts as unchanged. The fixed
// items were not asked again. They are taken to be flaky at the same rate, so
// the same share of them, rounded down and spread evenly over the ids, counts
// as unchanged too: else the second test would hold broken items without their
// noise against fixed ones with all of it, and miss true drops.
//
// The verdict is regressed only if the test fires before and after, so a false
// alarm is at most as likely as in the first test: at most alpha, whatever the
// second one does. Simulated for 1,319 items of which a fifth are answered by
// the toss of a coin (5 % flip in each direction), k = 2 and alpha 0.05: of
// equal models 2.5 % were called regressed, 5 % without Confirm; a drop of the
// size of MinDrop was found in 74 % of runs, 80 % without; one half as large
// again in 97 %. Where the noise is items that one answer in ten gets wrong, it
// is 1.2 %, 70 % and 95 %. Without evening out the fixed items the second
// figure would be 37 %.
//
// MaxDrop likewise fails only if the drop is too large before and after. It
// panics if an id is none of the broken items.
func (c *Comparison) Confirm(answers map[string][]bool) *Comparison {
	flaky := map[string]bool{}
	again := *c
	again.First = c
	again.Broke = slices.Clone(c.Broke)
	for i := range again.Broke {
		ch := &again.Broke[i]
		ch.Asked, ch.Passed = len(answers[ch.ID]), 0
		for _, ok := range answers[ch.ID] {
			ch.Passed += one(ok)
		}
		correct := ch.Passed + count(ch.New, result.Correct)
		ch.Flaky = ch.Asked > 0 && 2*correct > ch.Asked+len(ch.New)
		flaky[ch.ID] = ch.Flaky
	}
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		if _, broke := flaky[id]; !broke {
			panic(fmt.Sprintf("gate.Comparison.Confirm: %s is none of the broken items", quoted(id)))
		}
	}
	again.set.pairs = confirmed(c.set.pairs, flaky)
	again.decide()
	again.ItemsNeeded, again.Why = c.ItemsNeeded, c.Why
	switch {
	case c.Verdict != Regressed:
		again.Verdict = c.Verdict // there was nothing to confirm
	case again.Verdict != Regressed:
		again.Verdict = NoEvidence
	}
	return &again
}

// confirmed returns the pairs with flaky ones unchanged, and as large a share
// of the fixed ones.
func confirmed(pairs []pair, flaky map[string]bool) []pair {
	list := slices.Clone(pairs)
	broke, gone := 0, 0
	for i := range list {
		p := &list[i]
		if !p.broke {
			continue
		}
		broke++
		if flaky[p.id] {
			gone++
			p.now, p.newScore, p.broke = p.old, p.oldScore, false
		}
	}
	if broke == 0 {
		return list
	}
	// After i fixed items, floor(i·gone/broke) of them are unchanged.
	seen := 0
	for i := range list {
		p := &list[i]
		if !p.fixed {
			continue
		}
		seen++
		if seen*gone/broke > (seen-1)*gone/broke {
			p.now, p.newScore, p.fixed = p.old, p.oldScore, false
		}
	}
	return list
}
