package gate

import (
	"fmt"
	"math"
	"strconv"

	"github.com/goevals/evals/grade/stat"
)

// noise is the share of pairs that flip in each direction though nothing
// changed, as far as this comparison shows it: the mean of both directions, and
// what went against the change where there is one. What did not answer is no
// noise.
func (c *Comparison) noise() float64 {
	if c.answered() == 0 {
		return 0
	}
	broke, fixed := 0.0, 0.0
	for _, p := range c.set.pairs {
		if !p.unanswered {
			broke, fixed = broke+float64(one(p.broke)), fixed+float64(one(p.fixed))
		}
	}
	flips := (broke + fixed) / 2
	if c.Verdict == Regressed || c.Verdict == Improved {
		flips = min(broke, fixed)
	}
	return flips / float64(c.answered())
}

// answered is how many pairs can show a drop.
func (c *Comparison) answered() int { return c.Pairs - c.Unanswered }

// paired is the test whose power is asked for. With several tests the first of
// Holm's steps is at alpha/tests.
func (c *Comparison) paired() stat.PairedTest {
	return stat.PairedTest{Alpha: c.Alpha / float64(max(1, c.Tests)), Discordant: c.noise(), Exact: c.options.Exact}
}

// MinDrop is the smallest drop of accuracy, 0..1, that these pairs show with a
// chance of [Power]; 0 if they show none. The noise is taken from the items
// that broke and were fixed: both where there is no change, and what went
// against the change where there is one. For one sample an item without groups
// it is exact; else it is the larger of what the standard error of the
// difference gives and of what as many items or groups without any noise show.
// After [Comparison.Confirm] it is that of the first test. It takes some
// milliseconds.
func (c *Comparison) MinDrop() float64 {
	if c.First != nil {
		return c.First.MinDrop()
	}
	if c.answered() == 0 {
		return 0
	}
	t := c.paired()
	if c.set.samples == 1 && !c.set.cluster {
		drop, err := t.MinDrop(c.answered(), Power)
		if err != nil { // there is none: the pairs are too few
			return 0
		}
		return drop
	}
	units := c.Pairs
	if c.set.cluster {
		units = c.Groups
	}
	t.Discordant = 0
	silent, err := t.MinDrop(units, Power)
	if err != nil {
		return 0
	}
	least := silent * float64(units) / float64(c.Pairs*c.set.samples)
	if drop := max(least, c.Diff.MinDrop(t.Alpha, Power)); drop <= 1 {
		return drop
	}
	return 0
}

// lookForEnough turns no evidence of a drop into not enough data if there
// could hardly have been any: if not even the loss of every answer would be
// significant, or if the drop to be detected is smaller than what shows.
func (c *Comparison) lookForEnough() {
	if p, units := c.leastP(); p > c.Alpha {
		c.Verdict = NotEnough
		need := leastUnits(c.Alpha, c.options.Exact, c.Tests)
		what := "item"
		if c.set.cluster {
			what = "group"
		} else {
			c.ItemsNeeded = need
		}
		c.Why = fmt.Sprintf("not even the loss of every correct answer would show: %s had one, and it takes %d", plural(units, what), need)
		if c.set.cluster {
			c.Why += "; if groups are kinds of items and not sources of alike ones, compare by item"
		}
		return
	}
	d := c.options.Detect
	if d == 0 {
		return
	}
	if shows := c.MinDrop(); shows == 0 || shows > d {
		c.Verdict = NotEnough
		c.Why = fmt.Sprintf("the drop to be detected is %s points", points(d))
		if need, ok := c.itemsFor(d, shows); ok {
			c.ItemsNeeded = need
			c.Why += fmt.Sprintf(", which takes about %d items", need)
		}
	}
}

// leastP is the overall test's p value if every pair that was correct broke,
// corrected for the number of tests, and how many units that changes. Pairs
// that were not run are counted as if they had been: they are missing answers,
// not a small dataset, and another gate fails the run for them.
func (c *Comparison) leastP() (p float64, units int) {
	worst := pairSet{samples: c.set.samples}
	for _, list := range [][]pair{c.set.pairs, c.set.unrun} {
		for _, q := range list {
			q.now, q.unanswered = 0, false
			worst.pairs = append(worst.pairs, q)
		}
	}
	sums := worst.sums(c.set.cluster, nil)
	p = significance(sums, c.options.Exact).drop * float64(max(1, c.Tests))
	return min(1, p), len(sums)
}

// leastUnits is how many units that all break give a p value of at most alpha,
// corrected for the number of tests: ½^m, or half of that as mid-p.
func leastUnits(alpha float64, exact bool, tests int) int {
	for m := 1; ; m++ {
		p := math.Pow(0.5, float64(m))
		if !exact {
			p /= 2
		}
		if p*float64(max(1, tests)) <= alpha {
			return m
		}
	}
}

// itemsFor is how many items show a drop of d as noisy as these.
func (c *Comparison) itemsFor(d, shows float64) (int, bool) {
	if c.set.samples == 1 && !c.set.cluster {
		t := c.paired()
		if d > 1-2*t.Discordant {
			return 0, false
		}
		n, err := t.ItemsFor(d, Power)
		return n, err == nil
	}
	if shows == 0 {
		return 0, false
	}
	// The standard error falls with the root of the number of items.
	n := math.Ceil(float64(c.Pairs) * (shows / d) * (shows / d))
	return int(n), n < 1e9
}

// Detectable is the smallest drop of accuracy, 0..1, that a run compared with
// this baseline will show with a chance of [Power], and thus what can be said
// before anything is paid for. Noise is the share of items, 0..0.5, expected to
// flip in each direction though nothing changed; if it is negative, it is
// estimated from the samples of the baseline's items, which takes at least two
// an item. Groups are not considered: with them it is more.
//
// The error is a *[stat.NotEnough] with the number of items that would do if no
// drop is, or if there is nothing to estimate the noise from. It panics on a
// noise above 0.5, and on options that [CompareOptions.Check] refuses.
func (b *Baseline) Detectable(noise float64, o CompareOptions) (float64, error) {
	if err := o.Check(); err != nil {
		panic(err)
	}
	if noise < 0 {
		var err error
		if noise, err = b.Noise(); err != nil {
			return 0, err
		}
	}
	// With k samples an item the noise of its mean is that of one, over √k; in
	// terms of flips, over k.
	k := max(1, b.Header.Samples)
	return stat.PairedTest{Alpha: o.alpha(), Discordant: noise / float64(k), Exact: o.Exact}.MinDrop(len(b.Items), Power)
}

// Noise is the share of items, 0..0.5, that flip in each direction between two
// runs of the same model: the mean over the items of the chance that the first
// of two of its samples is correct and the second is not. The error is a
// *[stat.NotEnough] if there are not two samples an item.
func (b *Baseline) Noise() (float64, error) {
	k := b.Header.Samples
	if k < 2 || len(b.Items) == 0 {
		return 0, &stat.NotEnough{Method: "noise of a baseline", Have: k, Need: 2, What: "samples an item"}
	}
	sum := 0.0
	for i := range b.Items {
		c := b.Items[i].Correct()
		sum += float64(c*(k-c)) / float64(k*(k-1))
	}
	return sum / float64(len(b.Items)), nil
}

// points is a difference of shares in points with one decimal, or as many as
// it takes not to be 0.
func points(d float64) string {
	if d == 0 {
		return "0.0" // and not -0.0
	}
	for decimals := 1; decimals < 12; decimals++ {
		text := fmt.Sprintf("%.*f", decimals, 100*d)
		if math.Abs(100*d) >= 0.5*math.Pow(10, -float64(decimals)) {
			return text
		}
	}
	return "0.0"
}

// pText is a p value to four decimals (three would show 0.0504 as 0.050), and
// to as many more as show on which side of the limit it lies.
func pText(p, limit float64) string {
	switch {
	case p == 1:
		return "1"
	case p < 0.0001 && limit >= 0.0001:
		return "< 0.0001"
	case p > 0.9999:
		return "> 0.9999"
	}
	text := ""
	for decimals := 4; decimals <= 20; decimals++ {
		text = strconv.FormatFloat(p, 'f', decimals, 64)
		if shown, _ := strconv.ParseFloat(text, 64); shown > 0 && (shown <= limit) == (p <= limit) {
			return text
		}
	}
	return strconv.FormatFloat(p, 'g', 3, 64)
}
