package evaltest

import (
	"fmt"

	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// A judge that misses canaries, answers whose mark is known, cannot be relied on:
// all that it decided is ungraded then. What it cost stays.

// reasonCanary is the reason of a verdict that is not relied on.
const reasonCanary grade.Reason = "judge_canary"

// unreliable asks the run's judges whether they can be relied on; nil if so. all
// is whether it is the grader that cannot: what it decided may have cost no call.
func (s *settings) unreliable() (name string, all bool, err error) {
	for i, g := range []grade.Grader{s.grader, s.judge} {
		if c, ok := g.(judge.CanaryReport); ok {
			if err := c.Verdict(); err != nil {
				return run.NameOf(g), i == 0, err
			}
		}
	}
	return "", false, nil
}

// distrust makes ungraded what a judge has decided that cannot be relied on,
// in the numbers and in the journal. It reports whether it did. In a benchmark,
// whose passes are not kept apart, the judge fails the run instead.
func (r *runner) distrust() bool {
	if r.distrusted {
		return false
	}
	name, all, why := r.set.unreliable()
	if why == nil {
		return false
	}
	r.distrusted = true
	text := fmt.Sprintf("the judge %s cannot be relied on: %s", name, report.Escape(wire.Mask(why.Error()), 0))
	if r.bench || r.journal.w == nil {
		r.fail("%s", text)
		return false
	}
	j, err := result.Read(r.journal.w.Path())
	if err != nil {
		r.fail("%s; what it decided could not be made ungraded: %v", text, err)
		return false
	}
	n := r.recount(j, text, all)
	r.settled.Store(false) // by answers that no longer count
	r.warn("%s: the %d answers that it decided are ungraded", text, n)
	return true
}

// recount counts the journal's records anew, without what the judge decided, and
// returns how many that are.
func (r *runner) recount(j *result.Journal, why string, all bool) (n int) {
	r.sum, r.evidence = report.New(r.labels), newEvidence(&r.set)
	r.evidence.owe(&r.plan)
	for i := range j.Replaced {
		r.sum.AddSpent(&j.Replaced[i])
	}
	for i := range j.Records {
		rec := &j.Records[i]
		if r.plan.filters(r.test + "/" + subtestName(rec.Item.ID, rec.Sample)) {
			continue
		}
		if ungrade(rec, why, all) {
			n++
			r.rewrite(rec)
		}
		_, carried := r.journal.carried[rec.Key()]
		if carried && rec.Confirms && !r.reconfirmed {
			continue // confirm counts it
		}
		if carried {
			r.sum.AddResumed(rec)
		} else {
			r.sum.Add(rec)
		}
		r.evidence.add(rec)
	}
	return n
}

// rewrite records an answer again. What it spent stands in the record that this
// one replaces.
func (r *runner) rewrite(rec *result.Record) {
	again := *rec
	again.Usage, again.JudgeUsage = llm.UsageTotal{}, llm.UsageTotal{}
	again.CostUSD, again.JudgeCostUSD, again.AtLeastUSD, again.JudgeAtLeastUSD = "", "", "", ""
	if err := r.journal.w.Write(&again); err != nil {
		r.fail("journal: %v", err)
	}
}

// ungrade takes back what a judge decided, and reports whether one did; all is
// whether the grader is one.
func ungrade(rec *result.Record, why string, all bool) bool {
	judged := all || rec.Graded != nil || rec.JudgeUsage.Calls > 0
	if !judged || rec.Verdict == nil || rec.Outcome != result.Correct && rec.Outcome != result.Incorrect {
		return false
	}
	v := *rec.Verdict
	v.Mark, v.Score, v.Reason, v.Why = grade.Ungraded, 0, reasonCanary, why
	rec.Verdict, rec.Outcome, rec.Score = &v, result.Ungraded, 0
	return true
}
