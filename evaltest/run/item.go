package run

import (
	"cmp"
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
// For many items a [Crew] is cheaper.
//
// When ctx ends, the item's outcome is [result.NotRun], even if calls were made
// and paid for (Usage has them), so that a resumed run asks again; unless the
// answer was already graded.
func (c *Config) Item(ctx context.Context, item dataset.Item, sample int) result.Record {
	crew := c.Crew(ctx, nil)
	defer crew.Close()
	rec, _ := crew.Item(item, sample)
	return *rec
}

// one is one sample of an item under way. Its goroutine owns the fields below
// mu, but holds mu while it writes them: the caller may abandon it at any time
// and then copies what there is.
type one struct {
	c      *Config
	hand   *hand
	then   func(*result.Record) error
	item   dataset.Item
	sample int
	parent context.Context // the run's; its end is not the item's fault
	ctx    context.Context // the item's

	done atomic.Bool // the caller may have rec and err
	err  error       // what then returned

	mu     sync.Mutex
	rec    *result.Record // in parts
	parts  *parts
	doing  stage
	number int       // of the attempt under way
	began  time.Time // of the attempt under way
	// log and tries are of the attempt under way or, if isGrading, of the
	// grader or the judge; nil between these.
	log       *llm.CallLog
	tries     *call.Tries
	isGrading bool
	stray     *llm.CallLog // the log, once it was abandoned
	cost      ledger       // of the attempts
	judged    ledger       // of grader and judge
	left      bool         // abandoned: the record is gone
	paid      int          // how many calls of the log the budget knows of
	ended     bool         // the record is whole

	executed atomic.Int32 // how often the strategy was called for the attempt

	// What a strategy is told of the attempts before.
	state   State
	last    *Last
	useless int

	// The logs of the first attempt and its grading. Not among the parts: what an
	// attempt leaves running may log long after the record is written.
	logs  [2]llm.CallLog
	tried call.Tries // of the first attempt
}

// parts are the record and, for an item with one attempt, as most are, what it
// points to, in one piece of memory.
type parts struct {
	rec      result.Record
	attempts [1]result.Attempt
	response llm.Response
	verdict  grade.Verdict
}

func newOne(cr *Crew, h *hand, item dataset.Item, sample int, now time.Time) *one {
	p := &parts{rec: result.Record{Item: result.ItemOf(item), Sample: sample, Start: now.UTC()}}
	return &one{c: cr.c, hand: h, then: cr.then, item: item, sample: sample, parent: h.ctx, rec: &p.rec, parts: p}
}

// A stage is whose code is running.
type stage string

const (
	answering stage = "strategy"
	grading   stage = "grader"
	judging   stage = "judge"
	pricing   stage = "price function"
)

// main runs the item in the hand's goroutine. It reports whether that is good
// for another.
func (o *one) main() (again bool) {
	defer func() { again = o.deliver() && again }()
	defer func() { // where the price function ends the goroutine once more, too
		if !again {
			o.hand.spent = true
			o.crashed(recover())
		}
	}()
	ctx := llm.WithItem(o.ctx, o.item.ID)
	if llm.SampleIndex(o.parent) != o.sample { // not ctx's, which would set its timer
		ctx = llm.WithSample(ctx, o.sample)
	}
	o.run(ctx)
	return true
}

// deliver hands the record to the caller. It reports false if the item was
// abandoned: nobody waits.
func (o *one) deliver() bool {
	o.mu.Lock()
	o.finish(o.rec)
	o.ended = true
	left := o.left
	o.mu.Unlock()
	if left {
		abandoned.Add(-1)
		return false
	}
	o.err = o.then(o.rec)
	o.done.Store(true)
	o.hand.poke()
	return true
}

// finish fills in what is known at the end only.
func (o *one) finish(rec *result.Record) {
	rec.Duration = time.Since(rec.Start)
	rec.Usage, rec.CostUSD, rec.Replayed = o.cost.usage, o.cost.usd(), o.cost.recorded()
	rec.JudgeUsage, rec.JudgeCostUSD, rec.JudgeReplayed = o.judged.usage, o.judged.usd(), o.judged.recorded()
	rec.AtLeastUSD, rec.JudgeAtLeastUSD = o.cost.atLeast(), o.judged.atLeast()
	if trouble := cmp.Or(o.cost.trouble, o.judged.trouble); trouble != "" {
		rec.Warnings = append(rec.Warnings, trouble)
	}
}

// set changes the record under the lock, unless the item was abandoned: what
// the record points to is the caller's then.
func (o *one) set(f func(rec *result.Record)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.left {
		f(o.rec)
	}
}

// abandon takes the record as it stands and leaves the goroutine behind. It
// returns nil if the record is whole by now.
func (o *one) abandon() *result.Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return nil
	}
	o.left = true
	abandoned.Add(1)
	e := &llm.Error{Kind: llm.KindTimeout, Err: errAbandoned}
	if o.tries != nil {
		o.tries.Abandon(e) // others need the slots
	}
	if calls := o.breakOff(e, o.failure(e)); len(calls) > 0 && o.c.Budget != nil {
		if o.doing == pricing { // the price function does not return
			calls, o.paid = []llm.Call{{Err: e}}, 0
		}
		go func() { _ = o.c.Budget.Spend(calls...) }() // it may hang in there
	}
	rec := *o.rec
	rec.Attempts = append([]result.Attempt(nil), o.rec.Attempts...)
	rec.Abandoned = true
	why := fmt.Sprintf("abandoned: the %s did not return within %v after ", o.doing, o.c.grace())
	if o.parent.Err() != nil {
		o.interrupt(&rec, why+"the run was interrupted: it must return when its context is done")
	} else {
		why += fmt.Sprintf("the item's time of %v was up: it must return when its context is done; its goroutine goes on and may still spend", o.c.itemTimeout())
		rec.Outcome = result.Errored
		if o.doing == judging { // the answer is there; only its verdict is not
			o.ungraded(&rec, why)
		}
		rec.Error = &result.Error{Kind: llm.KindTimeout, Message: why}
	}
	o.finish(&rec)
	return &rec
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
