package gate

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/goevals/evals/grade/stat"
)

// sinceBaseline is what the comparison with the baseline decides.
func sinceBaseline(e Evidence, cfg Config) []Decision {
	if cfg.Baseline == nil {
		return nil
	}
	var ds []Decision
	if e.Narrowed {
		ds = append(ds, Decision{NoDrop, NotEvaluated, "the baseline is of the whole dataset, and only part of it was run"})
		if cfg.Compare.MaxDrop != nil {
			ds = append(ds, Decision{MaxDrop, NotEvaluated, "the baseline is of the whole dataset, and only part of it was run"})
		}
		return ds
	}
	c := e.Comparison
	if c == nil {
		if e.Run == nil {
			panic("gate.Decide: Config.Baseline is set, and Evidence has neither Run nor Comparison")
		}
		o := cfg.Compare
		o.Curtailed = e.Curtailed
		var err error
		if c, err = Compare(cfg.Baseline, e.Run, o); err != nil {
			return []Decision{{NoDrop, Failed, notCompared(err)}}
		}
	}
	ds = append(ds, c.Decision())
	if cfg.Compare.MaxDrop != nil {
		ds = append(ds, c.maxDrop(*cfg.Compare.MaxDrop))
	}
	return ds
}

func notCompared(err error) string {
	var mismatch *MismatchError
	if errors.As(err, &mismatch) {
		return fmt.Sprintf("not compared, the runs were not made in the same way: %s; accept this run as the new baseline, or compare with a note", mismatchText(mismatch.Mismatches))
	}
	return "not compared: " + strings.TrimPrefix(err.Error(), "gate: ")
}

// Decision is the verdict as the gate's decision: regressed fails, no evidence
// of a drop and improved pass, not enough data is its own status.
func (c *Comparison) Decision() Decision {
	d := Decision{Gate: NoDrop, Status: Passed, Text: c.Text()}
	switch c.Verdict {
	case Regressed:
		d.Status = Failed
	case NotEnough:
		d.Status = NotEnoughData
		d.Text = strings.Replace(d.Text, string(NotEnough)+": ", "", 1) // the status says it
	}
	return d
}

// Text is the comparison in one line: the verdict, by how much, how sure, what
// broke, what could have been seen, and what was left out.
func (c *Comparison) Text() string {
	var b strings.Builder
	if len(c.Mismatches) > 0 {
		fmt.Fprintf(&b, "NOT LIKE WITH LIKE (%s): ", mismatchText(c.Mismatches))
	}
	b.WriteString(string(c.Verdict))
	if c.First != nil && c.First.Verdict == Regressed && c.Verdict != Regressed {
		fmt.Fprintf(&b, ": it was not confirmed, %d of %s flaky", c.flaky(), plural(len(c.Broke), "broken item"))
	}
	if c.Why != "" {
		b.WriteString(": " + c.Why)
	}
	if c.Pairs > 0 {
		b.WriteString(": " + c.numbers())
	}
	for _, part := range c.footnotes() {
		b.WriteString("; " + part)
	}
	return b.String()
}

// few is how many broken items a decision names.
const few = 3

func (c *Comparison) numbers() string {
	first := c
	if c.First != nil {
		first = c.First
	}
	text := fmt.Sprintf("accuracy %s before, %s now (%s points, 95%% interval %s to %s) over %s in both runs",
		first.percent(first.oldCorrect), first.percent(first.newCorrect), signed(first.Diff.Value),
		signed(first.Diff.Interval.Lo), signed(first.Diff.Interval.Hi), plural(c.Pairs, "item"))
	if c.Groups > 0 {
		text += fmt.Sprintf(" of %s", plural(c.Groups, "group"))
	}
	p, of := first.P, "for a drop"
	if c.Verdict == Improved {
		p, of = first.PRise, "for a rise"
	}
	text += fmt.Sprintf("; %d broke%s and %d fixed, p %s %s (%s, one-sided; alpha %v)",
		len(c.Broke), c.broken(), len(c.Fixed), pText(p, c.Alpha), of, c.Method, c.Alpha)
	if first.Tests > 1 {
		text += fmt.Sprintf(", %s corrected by Holm for %d tests", pText(first.Adjusted, c.Alpha), first.Tests)
	}
	if c.First != nil {
		text += c.again()
	}
	return text
}

// broken names the first broken items.
func (c *Comparison) broken() string {
	if len(c.Broke) == 0 {
		return ""
	}
	var names []string
	for _, ch := range c.Broke {
		if !ch.Flaky {
			names = append(names, ch.ID)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + firstOf(names, few) + ")"
}

// flaky is how many of the broken items are.
func (c *Comparison) flaky() int {
	n := 0
	for _, ch := range c.Broke {
		n += one(ch.Flaky)
	}
	return n
}

// again says what asking the broken items again came to.
func (c *Comparison) again() string {
	asked := 0
	for _, ch := range c.Broke {
		asked += ch.Asked
	}
	return fmt.Sprintf(", asked again with %s: %d broken, %d flaky, p %s", plural(asked, "answer"), len(c.Broke)-c.flaky(), c.flaky(), pText(c.P, c.Alpha))
}

// footnotes are what else must be known.
func (c *Comparison) footnotes() []string {
	var list []string
	for _, g := range c.ByGroup {
		if g.Adjusted <= c.Alpha {
			list = append(list, fmt.Sprintf("group %s fell: %d broke and %d fixed of %d, p %s corrected", quoted(g.Name), g.Broke, g.Fixed, g.Pairs, pText(g.Adjusted, c.Alpha)))
		}
	}
	if s := c.Scores; s != nil {
		list = append(list, fmt.Sprintf("mean score %.3f before, %.3f now, p %s corrected", s.Old, s.New, pText(s.Adjusted, c.Alpha)))
	}
	if c.Pairs > 0 && (c.Verdict == NoEvidence || c.Verdict == NotEnough) {
		if drop := c.MinDrop(); drop > 0 {
			text := fmt.Sprintf("these items show a drop of %s points or more in 80%% of runs", points(drop))
			if fell := -c.Diff.Value; fell > 0 && fell < drop && c.First == nil {
				if n, ok := c.itemsFor(fell, drop); ok {
					text += fmt.Sprintf(", and one of %s takes about %d items", points(fell), n)
				}
			}
			list = append(list, text)
		} else {
			list = append(list, "these items show no drop in 80% of runs, however large")
		}
	}
	if c.FewGroups > 0 {
		list = append(list, fmt.Sprintf("%s: too few to test by (it takes %d), so the items are taken as independent",
			plural(c.FewGroups, "group"), leastUnits(c.Alpha, c.options.Exact, 1)))
	}
	if c.unmarked {
		list = append(list, "neither run says how it was made, so that it is like with like is not known")
	}
	if c.samplesOld != c.samplesNew {
		what := "the first sample"
		if c.Samples > 1 {
			what = fmt.Sprintf("the first %d samples", c.Samples)
		}
		list = append(list, fmt.Sprintf("%s of each item compared: the baseline has %d, this run %d", what, c.samplesOld, c.samplesNew))
	}
	if c.Regrouped > 0 {
		list = append(list, fmt.Sprintf("%s in another group than in the baseline", plural(c.Regrouped, "item")))
	}
	if c.Unanswered > 0 {
		list = append(list, fmt.Sprintf("%s errored or ungraded in this run", plural(c.Unanswered, "item")))
	}
	if c.Unknown > 0 {
		list = append(list, fmt.Sprintf("%s not compared: errored or ungraded in the baseline", plural(c.Unknown, "item")))
	}
	if c.NotRun > 0 {
		text := fmt.Sprintf("%s not run", plural(c.NotRun, "item"))
		if c.options.Curtailed {
			text += " and counted as unchanged: their answers cannot change the decision"
		}
		list = append(list, text)
	}
	for _, l := range []struct {
		what string
		list []ItemChange
	}{{"new and not compared", c.New}, {"gone", c.Gone}} {
		if len(l.list) > 0 {
			var names []string
			for _, ch := range l.list {
				names = append(names, ch.ID)
			}
			list = append(list, fmt.Sprintf("%s %s (%s)", plural(len(l.list), "item"), l.what, firstOf(names, few)))
		}
	}
	return list
}

// maxDrop holds the drop itself against a limit. As with the test, an outage is
// no drop: it must be too large too if unanswered pairs count as unchanged, and
// after Confirm.
func (c *Comparison) maxDrop(limit float64) Decision {
	if c.Pairs == 0 {
		return Decision{MaxDrop, NotEnoughData, c.whyNoPair()}
	}
	drop := c.drop()
	if c.First != nil {
		drop = minRat(drop, c.First.drop())
	}
	max := dropLimit(limit)
	text := fmt.Sprintf("the accuracy of %s in both runs fell by %s points", plural(c.Pairs, "item"), pointsBeside(drop, max))
	if drop.Sign() <= 0 {
		value, _ := drop.Float64()
		text = fmt.Sprintf("the accuracy of %s in both runs did not fall (%s points)", plural(c.Pairs, "item"), signed(0-value))
	}
	allowed, _ := exact(limit)
	most := digits(allowed.Mul(allowed, big.NewRat(100, 1)))
	if drop.Cmp(max) <= 0 {
		return Decision{MaxDrop, Passed, fmt.Sprintf("%s, at most %s allowed", text, most)}
	}
	return Decision{MaxDrop, Failed, fmt.Sprintf("%s, at most %s allowed; %d broke%s and %d fixed", text, most, len(c.Broke), c.broken(), len(c.Fixed))}
}

// dropLimit is the largest drop within v. Where v comes from arithmetic, its
// rounding must not fail a run.
func dropLimit(v float64) *big.Rat {
	r, _ := exact(v)
	if low := threshold(v); low.Cmp(r) < 0 {
		return r.Add(r, new(big.Rat).Sub(r, low))
	}
	return r
}

// pointsBeside is a drop in points with as many decimals, at least one, as show
// on which side of the limit it lies: never "5.0 points, at most 5 allowed" of
// one that fails.
func pointsBeside(drop, limit *big.Rat) string {
	value, _ := drop.Float64()
	for decimals := 1; ; decimals++ {
		text := strconv.FormatFloat(100*value, 'f', decimals, 64)
		shown, _ := new(big.Rat).SetString(text)
		within := shown.Quo(shown, big.NewRat(100, 1)).Cmp(limit) <= 0
		if decimals == 20 || shown.Sign() > 0 && within == (drop.Cmp(limit) <= 0) {
			return text
		}
	}
}

// drop is how much the accuracy fell, exactly: the smaller of all pairs and of
// those with answers.
func (c *Comparison) drop() *big.Rat {
	all, answered := 0, 0
	for _, p := range c.set.pairs {
		all += p.old - p.now
		if !p.unanswered {
			answered += p.old - p.now
		}
	}
	return big.NewRat(int64(min(all, answered)), int64(len(c.set.pairs)*c.set.samples))
}

func minRat(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// percent is so many of all compared answers.
func (c *Comparison) percent(correct int) string { return stat.Percent(correct, c.Pairs*c.Samples) }

// signed is a difference in points with its sign.
func signed(d float64) string {
	text := points(d)
	if d > 0 {
		return "+" + text
	}
	return text
}
