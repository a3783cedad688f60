package run

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/wire"
)

// grade lets the deterministic grader decide on attempt n's response.
func (o *one) grade(ctx context.Context, n int, resp llm.Response) call.Next {
	ctx, log, ok := o.enter(ctx, grading, n)
	if !ok {
		return call.Stop
	}
	v, err := o.ask(ctx, grading, o.c.Grader, resp)
	modelled := o.bookJudging(log, v, nil) // a failed grader of this kind made no call of its own
	k := o.c.graded.Add(1) - 1
	if err == nil && !modelled && triangular(k) {
		err = o.audit(ctx, resp, v)
	}
	switch {
	case err != nil && o.parent.Err() != nil && llm.KindOf(err) != llm.KindPanic:
		o.interrupted("while grading")
	case err != nil:
		o.fail(llm.KindOf(err), err)
	default:
		o.graded(n, v)
		if v.Mark == grade.Unparsed {
			return call.Again
		}
	}
	return call.Stop
}

// enter notes whose code runs next, and returns its context and log, unless the
// item was abandoned.
func (o *one) enter(ctx context.Context, s stage, n int) (context.Context, *llm.CallLog, bool) {
	log := o.newLog(n, s)
	var tries *call.Tries
	if s == judging {
		tries = new(call.Tries)
		ctx = call.WithTries(ctx, tries)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.left {
		return ctx, log, false
	}
	o.doing, o.log, o.tries, o.isGrading, o.paid = s, log, tries, true, 0
	return llm.WithCallLog(ctx, log), log, true
}

// ask calls a grader or judge and holds it to its contract. Its error names
// the grader.
func (o *one) ask(ctx context.Context, who stage, g grade.Grader, resp llm.Response) (v grade.Verdict, err error) {
	err = guard(who, g, func() (err error) {
		v, err = g.Grade(ctx, o.item, resp)
		return err
	})
	switch {
	case err != nil && llm.KindOf(err) == llm.KindPanic:
		return v, err // says who
	case err != nil:
		return v, fmt.Errorf("%s %s: %w", who, NameOf(g), err)
	}
	if err := v.Check(); err != nil {
		return v, fmt.Errorf("%s %s: %w", who, NameOf(g), err)
	}
	return v, nil
}

// verdict makes the outcome rest on v. The caller holds mu.
func verdict(rec *result.Record, v *grade.Verdict) {
	rec.Verdict, rec.Score, rec.Outcome, rec.Error = v, v.Score, outcomeOf(v.Mark), nil
}

// graded makes the outcome rest on v, which is attempt n's.
func (o *one) graded(n int, v grade.Verdict) {
	o.set(func(rec *result.Record) {
		kept := &o.parts.verdict
		if n > 1 { // the earlier attempts keep theirs
			kept = new(grade.Verdict)
		}
		*kept = v
		verdict(rec, kept)
		rec.Attempts[n-1].Verdict = kept
	})
}

func outcomeOf(m grade.Mark) result.Outcome {
	switch m {
	case grade.Correct:
		return result.Correct
	case grade.Incorrect:
		return result.Incorrect
	case grade.Unparsed:
		return result.Unparsed
	}
	return result.Ungraded
}

// triangular reports whether k is 0, 1, 3, 6, 10, …: the audit's cost falls as
// 1/√k, 447 of 100,000 answers.
func triangular(k int64) bool {
	n := int64(math.Sqrt(float64(2 * k)))
	return n*(n+1)/2 == k || n*(n-1)/2 == k
}

// audit grades the same answer again. Why and How are words and may differ.
func (o *one) audit(ctx context.Context, resp llm.Response, first grade.Verdict) error {
	second, err := o.ask(ctx, grading, o.c.Grader, resp)
	if err == nil && first.Mark == second.Mark && first.Score == second.Score && first.Answer == second.Answer {
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	said := fmt.Sprintf("%s (score %v, answer %.100q)", second.Mark, second.Score, second.Answer)
	if err != nil {
		said = "error: " + wire.Mask(err.Error())
	}
	return fmt.Errorf("grader %s is not deterministic: it graded one answer twice and said first %s (score %v, answer %.100q), then %s: "+
		"a grader may depend on its arguments only; one that asks a model is a judge and reports its calls",
		NameOf(o.c.Grader), first.Mark, first.Score, first.Answer, said)
}

// wantsJudge reports whether the judge decides: on a text, complete, in which
// the grader found nothing to compare, or which it found wrong if asked to.
func (o *one) wantsJudge() bool {
	rec := o.rec
	if o.c.Judge == nil || rec.Response == nil || rec.Verdict == nil {
		return false
	}
	if strings.TrimSpace(rec.Response.Text) == "" && len(rec.Response.ToolCalls) == 0 {
		return false // no answer: nothing to pay a judge for
	}
	return rec.Outcome == result.Unparsed || o.c.JudgeIncorrect && rec.Outcome == result.Incorrect
}

// judge replaces the grader's verdict by the judge's. A judge that fails, or
// says Ungraded, leaves the item ungraded: never correct or incorrect. A
// failure worth another attempt gets as many as the strategy.
func (o *one) judge(ctx context.Context) {
	if err := o.c.afford(); err != nil {
		o.unaffordable("before the judge was asked", err)
		return
	}
	resp := *o.rec.Response
	var v grade.Verdict
	var err error
	end := o.c.loop().Do(ctx, func(n int) (call.Next, error) {
		ctx, log, ok := o.enter(ctx, judging, n)
		if !ok {
			return call.Stop, errAbandoned
		}
		_, err = o.c.policy(o.c.judgeScope()).Do(ctx, func(ctx context.Context) (llm.Response, error) {
			v, err = o.ask(ctx, judging, o.c.Judge, resp)
			return llm.Response{}, err
		})
		o.bookJudging(log, v, err)
		switch kind := llm.KindOf(err); {
		case kind == llm.KindUnusable:
			return call.Again, err
		case kind.Retryable() && kind != llm.KindRateLimit:
			return call.Later, err
		}
		return call.Stop, err
	})
	if end.Why == call.TooLong {
		err = end.Err // says what the server asked for
	}
	switch {
	case err != nil && o.parent.Err() != nil && llm.KindOf(err) != llm.KindPanic:
		o.interrupted("while judging")
	case err != nil:
		e := o.failure(err)
		o.set(func(rec *result.Record) {
			o.ungraded(rec, e.Message)
			rec.Error = e
		})
	default:
		o.set(func(rec *result.Record) {
			rec.Graded = rec.Verdict
			verdict(rec, &v)
		})
	}
}

// bookJudging books what a verdict cost and reports whether a model was asked.
func (o *one) bookJudging(log *llm.CallLog, v grade.Verdict, err error) (asked bool) {
	calls := log.Calls()
	if len(calls) == 0 {
		for _, resp := range v.Calls {
			calls = append(calls, llm.Call{Response: resp})
		}
	}
	if len(calls) == 0 && err != nil && llm.KindOf(err) != llm.KindPanic {
		calls = []llm.Call{{Err: err}}
	}
	var spent ledger
	if len(calls) > 0 {
		spent = o.book(calls...)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.left { // else it was booked then
		o.endGrading(spent)
	}
	return len(calls) > 0
}

// endGrading ends the grader's or judge's part under way. The caller holds mu.
func (o *one) endGrading(spent ledger) {
	o.judged.add(spent)
	if o.tries != nil {
		o.rec.JudgeTryLog = append(o.rec.JudgeTryLog, tryLog(o.tries.All())...)
	}
	o.log, o.tries, o.isGrading = nil, nil, false
}
