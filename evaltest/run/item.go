package run

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

var abandoned atomic.Int64

// Abandoned returns how many items' goroutines were abandoned in this process
// and have not ended since: they ignore their context and may still spend.
func Abandoned() int { return int(abandoned.Load()) }

// NotRun returns the record of an item that was never started, and why.
func NotRun(item dataset.Item, sample int, why string) result.Record {
	return result.Record{
		Item: result.ItemOf(item), Sample: sample, Outcome: result.NotRun,
		Error: &result.Error{Kind: llm.KindCanceled, Message: why},
	}
}

// Item runs one sample of an item to its end and returns its record: always
// exactly one, whatever strategy, grader and judge do. It never panics. Safe
// for concurrent use. c must have passed Check.
//
// Strategy, grader and judge run in one goroutine, not the caller's. A panic,
// a runtime.Goexit (what t.FailNow of a foreign *testing.T is) or a hang past
// ItemTimeout and Grace makes the item errored. After a hang that goroutine is
// left behind: see Abandoned, here and on the record.
//
// When ctx ends, the item's outcome is [result.NotRun], even if calls were made
// and paid for (Usage has them), so that a resumed run asks again; unless the
// answer was already graded.
func (c *Config) Item(ctx context.Context, item dataset.Item, sample int) result.Record {
	if ctx.Err() != nil {
		return NotRun(item, sample, "not started: "+context.Cause(ctx).Error())
	}
	now := time.Now()
	o := &one{
		c: c, item: item, sample: sample, parent: ctx, wake: make(chan struct{}, 2), parts: new(parts),
		rec: result.Record{Item: result.ItemOf(item), Sample: sample, Start: now.UTC()},
	}
	own := ctx
	if d := c.itemTimeout(); d > 0 {
		bound := call.Until(ctx, now.Add(d))
		defer bound.Cancel()
		own = bound
		// Not a channel of the bound's or a timer's: to wait in select for a
		// channel with a timer behind it costs as much as the goroutine.
		timer := time.AfterFunc(d, func() { o.wake <- struct{}{} })
		defer timer.Stop()
	}
	go o.main(own)
	select {
	case <-o.wake:
	case <-ctx.Done():
	}
	if o.over() {
		return o.rec
	}
	if grace := c.grace(); grace > 0 {
		last := time.NewTimer(grace)
		defer last.Stop()
		for waiting := true; waiting; {
			select {
			case <-o.wake:
				if o.over() {
					return o.rec
				}
			case <-last.C:
				waiting = false
			}
		}
	}
	return o.abandon()
}

// one is one sample of an item under way. Its goroutine owns the fields below
// mu, but holds mu while it writes them: the caller may abandon it at any time
// and then copies what there is.
type one struct {
	c      *Config
	item   dataset.Item
	sample int
	parent context.Context // the run's; its end is not the item's fault
	// wake is sent to twice, and holds both: when the goroutine has ended, and
	// when the item's time is up.
	wake chan struct{}

	mu     sync.Mutex
	rec    result.Record
	parts  *parts
	doing  stage
	number int          // of the attempt under way
	began  time.Time    // of the attempt under way
	log    *llm.CallLog // of the attempt under way; nil between attempts
	cost   ledger       // of the attempts
	judged ledger       // of grader and judge
	left   bool         // abandoned: the record is gone
	ended  bool         // the goroutine has ended

	// The logs of the first attempt and its grading. Not among parts: what an
	// attempt leaves running may log long after the record is written.
	logs [2]llm.CallLog
}

// parts is what an item with one attempt, as most are, has its record point
// to, in one piece of memory.
type parts struct {
	attempts [1]result.Attempt
	response llm.Response
	verdict  grade.Verdict
}

// A stage is whose code is running.
type stage string

const (
	answering stage = "strategy"
	grading   stage = "grader"
	judging   stage = "judge"
)

// main is the item's goroutine.
func (o *one) main(ctx context.Context) {
	returned := false
	defer func() {
		if !returned {
			o.crashed(recover())
		}
		o.mu.Lock()
		o.finish(&o.rec)
		o.ended = true
		if o.left {
			abandoned.Add(-1)
		}
		o.mu.Unlock()
		o.wake <- struct{}{}
	}()
	ctx = llm.WithSample(llm.WithItem(ctx, o.item.ID), o.sample)
	o.run(ctx)
	returned = true
}

// finish fills in what is known at the end only.
func (o *one) finish(rec *result.Record) {
	rec.Duration = time.Since(rec.Start)
	rec.Usage, rec.CostUSD, rec.Replayed = o.cost.usage, o.cost.usd(), o.cost.recorded()
	rec.JudgeUsage, rec.JudgeCostUSD, rec.JudgeReplayed = o.judged.usage, o.judged.usd(), o.judged.recorded()
}

// over reports whether the goroutine has ended. Then the record is the
// caller's.
func (o *one) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// set changes the record under the lock, unless the item was abandoned: what
// the record points to is the caller's then.
func (o *one) set(f func(rec *result.Record)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.left {
		f(&o.rec)
	}
}

// abandon takes the record as it stands and leaves the goroutine behind.
func (o *one) abandon() result.Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended { // between the last look and now
		return o.rec
	}
	o.left = true
	abandoned.Add(1)
	if o.log != nil { // in an attempt: what its calls have spent counts
		e := &llm.Error{Kind: llm.KindTimeout, Err: errAbandoned}
		o.endAttempt(llm.Response{}, e, o.failure(e), 0)
	}
	rec := o.rec
	rec.Attempts = append([]result.Attempt(nil), o.rec.Attempts...)
	rec.Abandoned = true
	why := fmt.Sprintf("abandoned: the %s did not return within %v after ", o.doing, o.c.grace())
	if o.parent.Err() != nil {
		o.interrupt(&rec, why+"the run was interrupted: it must return when its context is done")
	} else {
		rec.Outcome = result.Errored
		rec.Error = &result.Error{Kind: llm.KindTimeout, Message: why + fmt.Sprintf(
			"the item's time of %v was up: it must return when its context is done; its goroutine goes on and may still spend", o.c.itemTimeout())}
	}
	o.finish(&rec)
	return rec
}

// interrupt makes rec that of an item to be run again. What was answered stays
// in the attempts.
func (o *one) interrupt(rec *result.Record, why string) {
	rec.Outcome, rec.Score = result.NotRun, 0
	if n := len(rec.Attempts); n > 0 && rec.Response != nil {
		rec.Attempts[n-1].Text = rec.Response.Text
	}
	rec.Response, rec.Verdict, rec.Graded = nil, nil, nil
	rec.Error = &result.Error{Kind: llm.KindCanceled, Message: why}
}
