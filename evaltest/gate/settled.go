package gate

import "slices"

// Settled reports whether no gate's decision can change any more, whatever the
// answers are that have not run yet: a run may stop then, and stop paying. It
// is arithmetic and not a forecast. true means that every completion of the run
// leaves every status of [Decide] as it is; false is no promise that one would
// change it.
//
// Evidence is that of the run so far, in which answers still to come are
// not_run: in Counts, in Groups, and in Run, which has every item of the run if
// there is a baseline (see [Recorder.Owe]). Comparison is not looked at. A
// remaining answer may become correct, incorrect, errored or ungraded, with any
// latency or none.
//
// Stop the run if it is true, leave the rest not_run, and call Decide with
// [Evidence.Curtailed]. If the broken items are asked again by
// [Comparison.Confirm], it is the first test that is settled.
//
// Bounds do it, because every gate is monotone in the remaining answers. One
// correct answer more never fails an accuracy, a group or MaxDrop; a test for a
// drop never fires because of it (proved at signFlip; Holm's adjusted values
// grow with each p value). So each gate is decided as if all remaining answers
// were correct, and as if none were, and must come out equal. A pair that would
// be left out of the test of answered pairs, because an answer errors, counts
// as unchanged there, which lies between both. A gate that is held against the
// noise of the answers ([CompareOptions.Detect]) is not settled unless it
// fails, and one with a t test ([CompareOptions.Scores]) not at all: the p value
// of that may rise as scores fall.
//
// It takes as long as Decide: call it every few answers, not after each.
func Settled(e Evidence, cfg Config) bool {
	if err := cfg.Check(); err != nil {
		panic(err)
	}
	c := e.Counts
	c.check()
	if c.NotRun == 0 {
		return true
	}
	if c.Errored+c.NotRun == c.Total { // Answered: no answer so far
		return false
	}
	best := c
	best.Correct, best.NotRun = c.Correct+c.NotRun, 0
	if cfg.MinAccuracy != nil && minAccuracy(c, cfg, e.Narrowed).Status != minAccuracy(best, cfg, e.Narrowed).Status {
		return false
	}
	return within(c.Errored, c.NotRun, cfg.MaxErrored) && within(c.Ungraded, c.NotRun, cfg.MaxUngraded) &&
		groupsSettled(e, cfg) && latenciesSettled(e, cfg) && baselineSettled(e, cfg)
}

// within reports whether a count that grows by at most left stays on its side
// of the limit.
func within(count, left, limit int) bool { return count > limit || count+left <= limit }

func groupsSettled(e Evidence, cfg Config) bool {
	worst, best := e, e
	worst.Groups = e.groups()
	best.Groups = map[string]Counts{}
	for name, c := range worst.Groups {
		c.Correct, c.NotRun = c.Correct+c.NotRun, 0
		best.Groups[name] = c
	}
	return slices.EqualFunc(minGroups(worst, cfg), minGroups(best, cfg), func(a, b Decision) bool { return a.Status == b.Status })
}

func latenciesSettled(e Evidence, cfg Config) bool {
	for _, l := range cfg.MaxLatency {
		over, _ := e.at(l)
		if !l.settled(over, len(e.Latencies), e.Counts.NotRun) {
			return false
		}
	}
	return true
}

// settled reports whether up to left more latencies leave the status. How many
// of n may be over the limit, n - rank(n), never falls and grows by at most 1 as
// n does. So if over is too many even for n+left it is for all n between, and
// if over+left is few enough for n+left, over+r is for n+r.
func (l Percentile) settled(over, n, left int) bool {
	all := n + left
	allowed := all - l.rank(all)
	switch {
	case all < l.least():
		return over > 0 && tooMany(over, all, l.P) || !tooMany(over+left, all, l.P)
	case n < l.least():
		return false
	}
	return over > allowed || over+left <= allowed
}

// baselineSettled is about the test for a drop and about MaxDrop.
func baselineSettled(e Evidence, cfg Config) bool {
	if cfg.Baseline == nil || e.Narrowed {
		return true
	}
	if e.Run == nil {
		panic("gate.Settled: Config.Baseline is set, and Evidence has no Run")
	}
	o := cfg.Compare
	o.Curtailed = false
	c := &Comparison{Alpha: o.alpha(), options: o}
	if len(CompareFingerprints(cfg.Baseline.Header.Fingerprint, e.Run.Header.Fingerprint)) > 0 && o.OnMismatch == Refuse {
		return true
	}
	if c.pair(cfg.Baseline, e.Run) != nil || len(c.set.pairs)+len(c.set.unrun) == 0 {
		return true
	}
	worst, best := c.bound(false), c.bound(true)
	if o.MaxDrop != nil && worst.maxDrop(*o.MaxDrop).Status != best.maxDrop(*o.MaxDrop).Status {
		return false
	}
	return !o.Scores && testSettled(worst, best)
}

// bound is the comparison with the remaining answers all correct, or all not.
// An item whose answers so far are already better than before (or worse) can
// still count as unchanged where an answer errors, so its bound is no nearer.
func (c *Comparison) bound(correct bool) *Comparison {
	b := &Comparison{Alpha: c.Alpha, options: c.options}
	b.set = c.set
	b.set.unrun = nil
	b.set.pairs = slices.Clone(c.set.pairs)
	for _, p := range c.set.unrun {
		if correct {
			p.now = max(p.old, p.now+p.missing)
		} else {
			p.now = min(p.old, p.now)
		}
		p.missing = 0
		b.set.pairs = append(b.set.pairs, p)
	}
	b.Pairs = len(b.set.pairs)
	b.setCluster()
	return b
}

// testSettled reports whether the verdict's status is the same in both.
func testSettled(worst, best *Comparison) bool {
	w, b := worst.test(), best.test()
	worst.Tests = w.tests
	small, _ := worst.leastP()
	improved := func(t tested, alpha float64) bool { return t.all.rise <= alpha && t.answered.rise <= alpha }
	alpha := worst.Alpha
	switch {
	case b.dropped && b.droppedAnswered: // regressed, whatever comes
		return true
	case b.dropped && !w.droppedAnswered: // an outage, whatever comes
		return true
	case w.dropped: // it may still fire, or not
		return false
	case improved(w, alpha): // and it cannot fire
		return true
	case worst.options.Detect > 0:
		return false
	}
	// No evidence of a drop. On a dataset that is too small for any, that is
	// not enough data, unless the run improves.
	return small <= alpha || !improved(b, alpha)
}
