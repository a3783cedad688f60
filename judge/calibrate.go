package judge

import (
	"context"
	"errors"
	"fmt"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/grade/stat"
	"github.com/goevals/evals/llm"
)

// A Labelled is an answer that people have judged.
type Labelled struct {
	Item     dataset.Item
	Response llm.Response
	// Label is what people say: grade.Correct or grade.Incorrect.
	Label grade.Mark
}

// ErrLabel is wrapped by the error about an answer whose label is none, or that
// has two.
var ErrLabel = errors.New("judge: unusable label")

func (l Labelled) check(i int) error {
	if l.Label != grade.Correct && l.Label != grade.Incorrect {
		return fmt.Errorf("%w: answer %d (item %q): the label is %q; give grade.Correct or grade.Incorrect", ErrLabel, i+1, cut(l.Item.ID, quoteLimit), l.Label)
	}
	return nil
}

// A CalibrateConfig says how [Calibrate] goes about it. The zero value works.
type CalibrateConfig struct {
	// Parallel is how many answers are judged at once; default 8.
	Parallel int
	// Level is the confidence of the intervals, between 0 and 1; default 0.95.
	Level float64
}

// DefaultParallel is how many answers [Calibrate] judges at once.
const DefaultParallel = 8

// A Calibration is how a judge's verdicts compare with the labels of people.
type Calibration struct {
	// Judge is the judge's name: a calibration is of one judge, with one prompt
	// and model.
	Judge string
	// Labelled is how many answers were given to it. Judged of them got a legal
	// verdict; Ungraded and Errored list the others, which are in none of the
	// numbers below.
	Labelled, Judged int
	// Repeated is how many of the labelled answers are the same answer to the same
	// item as an earlier one. They count, and the intervals take them for answers
	// of their own: they are narrower than they should be.
	Repeated int
	// Matrix counts the judged answers.
	Matrix Confusion
	// Kappa is Cohen's, with its interval. KappaErr is set if it does not exist,
	// or there are too few answers: see [stat.Kappa].
	Kappa    stat.Estimate
	KappaErr error
	// Sensitivity is the share of the answers labelled correct that the judge
	// passed, Specificity the share of those labelled incorrect that it failed,
	// each with its Clopper-Pearson interval: 0..1 where there were none.
	Sensitivity, Specificity                 stat.Proportion
	SensitivityInterval, SpecificityInterval stat.Interval
	// Mistakes are the judged answers on which judge and label differ, Ungraded
	// those without a legal verdict, Errored those whose call failed; all in the
	// order of the labelled answers.
	Mistakes, Ungraded, Errored []Disputed
	// Usage is what the calls spent, failed ones included, and Calls are their
	// responses, for pricing.
	Usage llm.UsageTotal
	Calls []llm.Response
}

// A Confusion counts answers by label and verdict.
type Confusion struct {
	// TruePass and FalseFail are labelled correct; the judge passed the first.
	// FalsePass and TrueFail are labelled incorrect; it failed the second.
	TruePass, FalseFail, FalsePass, TrueFail int
}

// A Disputed is a labelled answer on which the judge did not say what people do.
type Disputed struct {
	// Index is its place among the labelled answers, from 0.
	Index   int
	Item    string // the item's id
	Label   grade.Mark
	Verdict grade.Verdict // zero if Err is set
	Err     error
}

// Calibrate has a judge, or any grader, judge answers that people have labelled,
// several at once, and counts how far it agrees with them. Answers without a
// legal verdict are counted apart, never as wrong. The intervals take answers to
// be independent of each other: label answers to different items.
//
// Each answer is judged under its item's id ([llm.WithItem]); further answers to
// the same item get sample indices of their own. So a cassette replays a
// calibration, whatever the order in which the calls end.
//
// It panics if g is nil, or if c cannot be meant. An error is a label that is
// none, or two labels of one answer ([ErrLabel]), no labels at all (a [*stat.NotEnough]), or the end of ctx: then the
// calibration beside it holds what was judged until then, and was paid for.
func Calibrate(ctx context.Context, g grade.Grader, labelled []Labelled, c CalibrateConfig) (*Calibration, error) {
	switch {
	case g == nil:
		panic("judge.Calibrate: the grader is nil")
	case c.Parallel < 0:
		panic(fmt.Sprintf("judge.Calibrate: Parallel is %d; give at least 1, or 0 for %d", c.Parallel, DefaultParallel))
	case c.Level != 0 && !(c.Level > 0 && c.Level < 1):
		panic(fmt.Sprintf("judge.Calibrate: Level is %v; give a share between 0 and 1, or 0 for 0.95", c.Level))
	}
	if c.Parallel == 0 {
		c.Parallel = DefaultParallel
	}
	if c.Level == 0 {
		c.Level = 0.95
	}
	if len(labelled) == 0 {
		return nil, &stat.NotEnough{Method: "calibration", Have: 0, Need: 2, What: "labelled answers"}
	}
	repeated, err := checkLabels(labelled)
	if err != nil {
		return nil, err
	}
	judged := judgeAll(ctx, g, labelled, c.Parallel)
	cal := &Calibration{Judge: grade.NameOf(g), Labelled: len(labelled), Repeated: repeated}
	for i, j := range judged {
		cal.count(i, labelled[i], j)
	}
	cal.measure(c.Level)
	if err := ctx.Err(); err != nil {
		return cal, fmt.Errorf("judge: calibration: %d of %d answers judged: %w", cal.Judged, cal.Labelled, err)
	}
	return cal, nil
}

// checkLabels returns how many answers repeat an earlier one. Two labels of one
// answer are an error: a judge would be wrong whatever it said.
func checkLabels(labelled []Labelled) (repeated int, err error) {
	seen := map[[4]string]int{}
	for i, l := range labelled {
		if err := l.check(i); err != nil {
			return 0, err
		}
		key := [4]string{l.Item.ID, l.Item.Input, l.Response.Text, callsText(l.Response.ToolCalls)}
		first, again := seen[key]
		if !again {
			seen[key] = i
			continue
		}
		if repeated++; labelled[first].Label != l.Label {
			return 0, fmt.Errorf("%w: answers %d and %d (item %q) are the same, and one is labelled %s, the other %s: decide which it is", ErrLabel,
				first+1, i+1, cut(l.Item.ID, quoteLimit), labelled[first].Label, l.Label)
		}
	}
	return repeated, nil
}

// A judgement is what came of one answer.
type judgement struct {
	verdict grade.Verdict
	err     error
	calls   []llm.Call
}

func judgeAll(ctx context.Context, g grade.Grader, labelled []Labelled, parallel int) []judgement {
	samples := make([]int, len(labelled))
	seen := map[string]int{}
	for i, l := range labelled {
		samples[i] = seen[l.Item.ID]
		seen[l.Item.ID]++
	}
	all := make([]judgement, len(labelled))
	errs := gather(len(labelled), parallel, func(i int) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("not asked: %w", err)
		}
		l := labelled[i]
		return all[i].judge(llm.WithSample(llm.WithItem(ctx, l.Item.ID), samples[i]), g, l)
	})
	for i, err := range errs {
		all[i].err = err
	}
	return all
}

// judge grades one labelled answer and keeps the calls that it took: as the
// transports logged them, else as the verdict has them. They are logged to the
// context's own log too.
func (j *judgement) judge(ctx context.Context, g grade.Grader, l Labelled) (err error) {
	var log llm.CallLog
	defer func() { // also if g ends the goroutine
		j.calls = log.Calls()
		for _, c := range j.calls {
			llm.LogCall(ctx, c)
		}
		if len(j.calls) > 0 {
			return
		}
		for _, r := range j.verdict.Calls {
			j.calls = append(j.calls, llm.Call{Response: r})
		}
		if failed := (llm.Call{Err: err}); err != nil && failed.Usage().Known {
			j.calls = append(j.calls, failed)
		}
	}()
	return caught(func() (err error) {
		j.verdict, err = g.Grade(llm.WithCallLog(ctx, &log), l.Item, l.Response)
		if err == nil {
			err = j.verdict.Check()
		}
		return err
	})
}

func (c *Calibration) count(i int, l Labelled, j judgement) {
	for _, k := range j.calls {
		resp := k.Response
		resp.Usage = k.Usage()
		c.Usage.Count(resp.Usage)
		c.Calls = append(c.Calls, resp)
	}
	d := Disputed{Index: i, Item: l.Item.ID, Label: l.Label, Verdict: j.verdict, Err: j.err}
	switch v := j.verdict; {
	case j.err != nil:
		d.Verdict = grade.Verdict{}
		c.Errored = append(c.Errored, d)
		return
	case v.Mark == grade.Correct && l.Label == grade.Correct:
		c.Matrix.TruePass++
	case v.Mark == grade.Incorrect && l.Label == grade.Correct:
		c.Matrix.FalseFail++
	case v.Mark == grade.Correct:
		c.Matrix.FalsePass++
	case v.Mark == grade.Incorrect:
		c.Matrix.TrueFail++
	default:
		c.Ungraded = append(c.Ungraded, d)
		return
	}
	c.Judged++
	if j.verdict.Mark != l.Label {
		c.Mistakes = append(c.Mistakes, d)
	}
}

func (c *Calibration) measure(level float64) {
	m := c.Matrix
	c.Kappa, c.KappaErr = stat.Kappa([][]int{{m.TruePass, m.FalseFail}, {m.FalsePass, m.TrueFail}}, level)
	c.Sensitivity = stat.Proportion{Successes: m.TruePass, N: m.TruePass + m.FalseFail}
	c.Specificity = stat.Proportion{Successes: m.TrueFail, N: m.TrueFail + m.FalsePass}
	c.SensitivityInterval = stat.ClopperPearson(c.Sensitivity.Successes, c.Sensitivity.N, level)
	c.SpecificityInterval = stat.ClopperPearson(c.Specificity.Successes, c.Specificity.N, level)
}

// Agreement is the share of the judged answers on which judge and labels agree.
func (c *Calibration) Agreement() stat.Proportion {
	return stat.Proportion{Successes: c.Matrix.TruePass + c.Matrix.TrueFail, N: c.Judged}
}

// Correct estimates how many of a run's answers are truly correct, from how many
// of judged answers this judge passed: the Rogan-Gladen correction, whose
// interval counts that the judge's sensitivity and specificity are estimates
// too (see [stat.RoganGladen]). Answers without a legal verdict are in neither
// number.
//
// Of 20,000 simulated calibrations on 100 labels of each kind, each with a run of
// 300 answers, the 95% interval held the truth in 95.0% to 96.9%, at 10%, 50%, 80%
// and 95% truly correct and for judges of sensitivity and specificity 97% and 90%,
// 90% and 80%, 75% and 70%; on 20 labels of each kind in 96.2% to 98.8%. The
// uncorrected interval of the same runs held it in 0% to 95%.
//
// The run's answers must be like the labelled ones. If the judge passed so few or
// so many of them that no share of correct ones is compatible with how it judged
// those, the result is a [*stat.Undefined]: 0 or 1 would look sure. It panics if passed is
// negative or more than judged, or if level is not between 0 and 1. A judge that
// is no better than a coin is a [*stat.Undefined], one with no labels of a kind
// a [*stat.NotEnough].
func (c *Calibration) Correct(judged, passed int, level float64) (stat.Estimate, error) {
	e, err := stat.RoganGladen(stat.Proportion{Successes: passed, N: judged}, c.Sensitivity, c.Specificity, level)
	if err == nil && e.Interval.Lo == e.Interval.Hi { // all of it was outside of 0..1
		return stat.Estimate{}, &stat.Undefined{Method: "Rogan-Gladen correction", Why: fmt.Sprintf(
			"the judge passed %s of these answers, and in its calibration %s of the correct and %s of the incorrect ones: the answers are not like the labelled ones; label some of these",
			stat.Percent(passed, judged), stat.Percent(c.Sensitivity.Successes, c.Sensitivity.N), stat.Percent(c.Specificity.N-c.Specificity.Successes, c.Specificity.N))}
	}
	return e, err
}
