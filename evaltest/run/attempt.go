package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/wire"
)

// run makes attempts until one settles the outcome or none is left, then asks
// the judge if the outcome calls for it.
func (o *one) run(ctx context.Context) {
	end := o.c.loop().Do(ctx, func(n int) (call.Next, error) {
		if n > 1 {
			o.again()
		}
		resp, err := o.attempt(ctx, n)
		next := o.settle(ctx, n, resp, err)
		if next == call.Again {
			o.useless++
		}
		if next != call.Stop { // else nobody asks
			o.set(func(rec *result.Record) { o.last = &Last{Response: resp, Verdict: rec.Verdict, Err: err} })
		}
		return next, err
	})
	if o.concluded(ctx, end) && o.wantsJudge() {
		o.judge(ctx)
	}
}

// again clears the record for another attempt. What was answered stays in the
// attempts.
func (o *one) again() {
	o.set(func(rec *result.Record) {
		if rec.Response != nil {
			rec.Attempts[len(rec.Attempts)-1].Text = rec.Response.Text
		}
		rec.Response, rec.Verdict, rec.Error = nil, nil, nil
		rec.Outcome, rec.Score = "", 0
	})
}

// concluded tells why there was no other attempt where one was owed. It reports
// whether the outcome may go to the judge.
func (o *one) concluded(ctx context.Context, end call.End) bool {
	before := func() string { return fmt.Sprintf("before attempt %d", end.Attempts+1) }
	switch end.Why {
	case call.Settled, call.UsedUp:
		return true
	case call.Interrupted:
		o.interrupted(before())
	case call.TooLong:
		o.fail(llm.KindOf(end.Err), end.Err)
	case call.NoTime:
		switch {
		case o.parent.Err() != nil || o.runEndsFirst(ctx):
			o.interrupted(before())
		case o.rec.Error == nil: // an answer came, and the time for a better one is up
			o.fail(llm.KindTimeout, fmt.Errorf("the item's time of %v was up %s", o.c.itemTimeout(), before()))
		default: // why the call failed says more than that no time is left
			o.set(func(rec *result.Record) {
				rec.Error.Message += fmt.Sprintf(" (no attempt %d: it would come in %v, and %v of the item's %v are left)",
					end.Attempts+1, end.Wait.Round(time.Millisecond), max(end.Left, 0).Round(time.Millisecond), o.c.itemTimeout())
			})
		}
	}
	return false
}

// runEndsFirst reports whether the run's deadline comes before the item's own.
func (o *one) runEndsFirst(ctx context.Context) bool {
	run, ok := o.parent.Deadline()
	if !ok {
		return false
	}
	item, _ := ctx.Deadline()
	return !run.After(item)
}

// newLog returns an empty call log for a stage of attempt n.
func (o *one) newLog(n int, s stage) *llm.CallLog {
	switch {
	case n > 1 || s == judging:
		return new(llm.CallLog)
	case s == grading:
		return &o.logs[1]
	}
	return &o.logs[0]
}

// attempt lets the strategy answer once and books what that cost.
func (o *one) attempt(ctx context.Context, n int) (llm.Response, error) {
	if err := o.c.afford(); err != nil {
		return llm.Response{}, err
	}
	log, tries := o.newLog(n, answering), &o.tried
	if n > 1 {
		tries = new(call.Tries)
	}
	o.mu.Lock()
	if o.left {
		o.mu.Unlock()
		return llm.Response{}, errAbandoned
	}
	o.doing, o.number, o.log, o.tries, o.began, o.paid = answering, n, log, tries, time.Now(), 0
	o.mu.Unlock()
	o.executed.Store(0)
	a := Attempt{Number: n, Of: o.c.attempts(), Sample: o.sample, Unusable: o.useless, Last: o.last, State: &o.state}
	resp, err := o.c.policy(o.c.scope()).Do(call.WithTries(llm.WithCallLog(ctx, log), tries), func(ctx context.Context) (resp llm.Response, err error) {
		before := 0
		if o.executed.Add(1) > 1 {
			before = len(log.Calls())
		}
		err = guard(answering, o.c.Strategy, func() (err error) {
			resp, err = o.c.Strategy.Execute(ctx, o.item, a)
			return err
		})
		if err != nil {
			err = attribute(err, log.Calls()[before:])
		}
		return resp, err
	})
	failure := o.failure(err)
	var room [1]call.Try
	calls, all := log.Calls(), tries.Append(room[:0])
	if len(calls) == 0 && sent(all) {
		calls = []llm.Call{{Response: resp, Err: err}}
	}
	spent := o.book(calls...)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.left { // booked when it was abandoned
		return resp, errAbandoned
	}
	o.endAttempt(resp, err, failure, calls, all, spent)
	return resp, err
}

// breakOff ends the attempt or the grading under way for want of an end, and
// returns those calls of it that the budget does not know of yet. What they have spent counts, but
// only costs that providers report: the user's price function may hang or panic,
// and here that could not be contained. The caller holds mu.
func (o *one) breakOff(err *llm.Error, failure *result.Error) (calls []llm.Call) {
	if o.log == nil {
		return nil
	}
	o.stray = o.log
	calls = o.log.Calls()
	known := len(calls)
	switch {
	case !o.isGrading:
		all := o.tries.All()
		if len(calls) == 0 && sent(all) {
			calls = []llm.Call{{Err: err}}
		}
		o.endAttempt(llm.Response{}, err, failure, calls, all, book(nil, calls...))
	default:
		if len(calls) == 0 && o.doing == judging && err.Kind != llm.KindPanic {
			calls = []llm.Call{{Err: err}}
		}
		o.endGrading(book(nil, calls...))
	}
	paid := min(o.paid, len(calls))
	o.paid = known // what is known of a call later is told later
	return calls[paid:]
}

// endAttempt ends the attempt under way. The caller holds mu.
func (o *one) endAttempt(resp llm.Response, err error, failure *result.Error, calls []llm.Call, tries []call.Try, spent ledger) {
	took := time.Since(o.began)
	model := resp.Model
	for i := range calls {
		if m := calls[i].Response.Model; m != "" && resp.Model == "" { // an application seldom says
			model = m
		}
	}
	if o.rec.Attempts == nil {
		o.rec.Attempts = o.parts.attempts[:0]
	}
	o.rec.Attempts = append(o.rec.Attempts, result.Attempt{})
	a := &o.rec.Attempts[len(o.rec.Attempts)-1] // in place: it is large
	a.Number, a.Start, a.Duration = o.number, o.began.UTC(), took
	a.Finish, a.Model, a.Usage, a.Error = resp.Finish, model, spent.usage, failure
	a.Tries, a.TryLog = max(made(tries), int(o.executed.Load())), tryLog(tries)
	o.log, o.tries = nil, nil
	o.cost.add(spent)
	o.rec.Latency = spent.model
	if spent.model == 0 {
		o.rec.Latency = took
	}
	if err == nil || resp.Text != "" || resp.Reasoning != "" || len(resp.ToolCalls) > 0 {
		o.parts.response = resp // an earlier attempt's is not kept
		o.rec.Response = &o.parts.response
	}
}

// settle decides what the attempt came to. How an answer ended is looked at
// before it is graded: a text that was cut or blocked is kept but never
// graded, for it would be correct by luck.
func (o *one) settle(ctx context.Context, n int, resp llm.Response, err error) call.Next {
	kind := llm.KindOf(err)
	switch {
	case errors.Is(err, call.ErrBudget):
		o.unaffordable(fmt.Sprintf("before attempt %d", n), err)
	case err != nil && o.parent.Err() != nil && kind != llm.KindPanic,
		errors.Is(err, call.ErrNoTime) && o.runEndsFirst(ctx):
		o.interrupted(fmt.Sprintf("in attempt %d", n))
	case kind == llm.KindBlocked:
		o.end(result.Blocked, o.failure(err))
	case err != nil && ctx.Err() != nil && kind != llm.KindPanic:
		o.fail(llm.KindTimeout, fmt.Errorf("the item's time of %v was up in attempt %d: %w", o.c.itemTimeout(), n, err))
	case kind == llm.KindUnusable:
		return o.unusable(n, err)
	case errors.Is(err, call.ErrStopped):
		o.stopped(fmt.Sprintf("in attempt %d", n), err)
	case err != nil:
		o.fail(kind, err)
		// A rate limit here has used up its own tries; it never advances the
		// attempt.
		if kind.Retryable() && kind != llm.KindRateLimit {
			return call.Later
		}
	case resp.Finish == llm.FinishContentFilter:
		o.end(result.Blocked, nil)
	case resp.Finish == llm.FinishRefusal || resp.Refusal != "":
		o.end(result.Refused, nil)
	case resp.Finish == llm.FinishLength:
		return o.truncated(n)
	default:
		return o.grade(ctx, n, resp)
	}
	return call.Stop
}

// An Escalator is a [Strategy] that asks differently in later attempts.
type Escalator interface {
	// Escalates reports whether some attempt after this one is asked in
	// another way than this one.
	Escalates(attempt int) bool
}

// truncated ends the item, unless a later attempt asks in another way. Asking
// the same again mostly ends at the same limit, and answers that reach it are
// the dearest there are; a strategy that knows better returns [llm.Unusable].
func (o *one) truncated(n int) call.Next {
	o.end(result.Truncated, nil)
	if e, ok := o.c.Strategy.(Escalator); ok && e.Escalates(n) {
		return call.Again
	}
	return call.Stop
}

// unusable is the strategy's own word for Unparsed: an answer came, and there
// is nothing in it to compare.
func (o *one) unusable(n int, err error) call.Next {
	o.graded(n, grade.Verdict{
		Mark: grade.Unparsed, Reason: grade.ReasonInvalid,
		How: "strategy: " + NameOf(o.c.Strategy), Why: wire.Mask(err.Error()),
	})
	return call.Again
}

// end sets an outcome that rests on no verdict.
func (o *one) end(outcome result.Outcome, e *result.Error) {
	o.set(func(rec *result.Record) { rec.Outcome, rec.Score, rec.Error = outcome, 0, e })
}

// fail makes the item errored.
func (o *one) fail(kind llm.ErrorKind, err error) {
	e := o.failure(err)
	e.Kind = kind
	o.end(result.Errored, e)
}

// interrupted makes the item one to be run again.
func (o *one) interrupted(where string) {
	cause := context.Cause(o.parent)
	if cause == nil {
		cause = errors.New("the run would end before the next call")
	}
	why := fmt.Sprintf("interrupted %s: %v: a resumed run asks again", where, cause)
	o.set(func(rec *result.Record) { o.interrupt(rec, why) })
}

// maxMessage is how much of an error's text is kept, in bytes. An application
// may put a whole page into one.
const maxMessage = 16 << 10

// failure returns err as a journal keeps it; nil for nil.
func (o *one) failure(err error) *result.Error {
	if err == nil {
		return nil
	}
	e := &result.Error{Kind: llm.KindOf(err), Message: err.Error()}
	if known, ok := err.(*llm.Error); ok {
		e.Message = known.Detail() // readers print the kind beside it
	}
	// An SDK of the user's own may put the URL with its key into an error
	// (net/http's *url.Error does), above the transport that masks keys.
	e.Message = wire.Mask(e.Message)
	if n := len(e.Message); n > maxMessage {
		e.Message = strings.ToValidUTF8(e.Message[:maxMessage], "") + fmt.Sprintf(" … (%d bytes more)", n-maxMessage)
	}
	var failed *llm.Error
	if errors.As(err, &failed) {
		e.Status = failed.Status
	}
	var p *panicError
	if errors.As(err, &p) {
		e.Stack = wire.Mask(string(p.stack))
	}
	return e
}
