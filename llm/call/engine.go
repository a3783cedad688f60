package call

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/wire"
)

// An engine makes the tries of one attempt: what [Policy.Do] and
// [Model.Generate] have in common.
type engine struct {
	scope   *Scope
	tokens  int64 // what a try is thought to take
	tries   int
	timeout time.Duration // of a try; 0 for none
	maxWait time.Duration // the longest wait that a provider may ask for
	backoff Backoff       // between tries without a scope
	budget  *Budget       // nil for none
}

type callFunc = func(context.Context) (llm.Response, error)

// maxStale is how many tries of an attempt may follow at once on ones that met
// a connection which the server had closed (wire.ErrStale). One is not enough
// where a server closes many: the next idle one may have gone the same way.
const maxStale = 2

// do makes tries until one returns something else than a rate limit or the
// error of a stale connection.
func (e *engine) do(ctx context.Context, call callFunc) (resp llm.Response, err error) {
	outer := tryOf(ctx)
	var waited time.Duration // before the try, beside what its admission takes
	stale := 0
	for n := 1; ; n++ {
		if err := e.budget.allows(err); err != nil {
			return resp, err
		}
		g, waits, refused := e.admit(ctx, outer)
		waits.Pause += waited
		if refused != nil {
			err = e.refusal(ctx, refused, err)
			logTry(outer, triesOf(ctx), Try{Start: time.Now(), Waits: waits, Unsent: true}, &llm.Response{}, err)
			return resp, err
		}
		var own time.Duration
		var nested bool
		resp, own, nested, err = e.once(ctx, outer, g, waits, call)
		if err == nil || ctx.Err() != nil || final(err) {
			return resp, err
		}
		// Of a call that has tries of its own, those that were due are made.
		if !nested && n < e.tries && stale < maxStale && errors.Is(err, wire.ErrStale) {
			stale, waited = stale+1, 0
			continue
		}
		if llm.KindOf(err) != llm.KindRateLimit {
			return resp, err
		}
		if n >= e.tries {
			return resp, fmt.Errorf("%w through %d tries: %w", ErrBusy, n, err)
		}
		if waited, err = e.pause(ctx, n, own, err); waited < 0 {
			return resp, err
		}
	}
}

// final reports an error of an engine further in, or of the scope: it has
// been decided there that there is no other try.
func final(err error) bool {
	return errors.Is(err, ErrBusy) || errors.Is(err, ErrNoTime) || errors.Is(err, ErrTooLong) ||
		errors.Is(err, ErrTooLarge) || errors.Is(err, ErrStopped)
}

// admit waits for the scope's leave. Meanwhile the time of attempts that the
// call is part of stands still.
func (e *engine) admit(ctx context.Context, outer *try) (*grant, Waits, error) {
	if e.scope == nil {
		return nil, Waits{}, nil
	}
	// A try of the same scope further out has leave for one call already:
	// this one. To ask again would count it twice, and wait for ever where
	// one call at a time is allowed. It may be too late for that leave, though,
	// or it was given for less.
	for ; outer != nil; outer = outer.outer {
		if outer.engine.scope == e.scope {
			if g := outer.grant.Swap(nil); g != nil {
				if hold(ctx) {
					defer unhold(ctx)
				}
				g, waits, err := g.again(ctx, e.tokens)
				return g, waits.plus(outer.waits), err // they were for this call, as it turns out
			}
		}
	}
	if hold(ctx) {
		defer unhold(ctx)
	}
	return e.scope.admit(ctx, e.tokens)
}

// refusal is the error of a try that was not admitted. busy is the rate limit
// that the last one met, nil before the first.
func (e *engine) refusal(ctx context.Context, err, busy error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return over(ctx, err, busy)
	}
	if busy != nil && llm.KindOf(err) == llm.KindUnknown {
		return fmt.Errorf("%w: %w", err, busy)
	}
	return err
}

// over is the error of a call that was not made because ctx has ended, as err
// says.
func over(ctx context.Context, err, busy error) error {
	if which := ended(ctx); which != nil {
		err = &timeoutError{which: which, cause: err}
	}
	if busy != nil {
		err = fmt.Errorf("while waiting to try again: %w: %w", err, busy)
	}
	return &llm.Error{Kind: llm.KindOf(ctx.Err()), Err: &unsentError{err}}
}

// An unsentError is a timeout or a cancellation of a call that was not made.
type unsentError struct{ error }

func (e *unsentError) Unwrap() error { return e.error }

// once makes one try. It returns how long the next one has to wait beside
// what its admission sees, and whether something inside makes tries too.
func (e *engine) once(ctx context.Context, outer *try, g *grant, waits Waits, call callFunc) (resp llm.Response, own time.Duration, nested bool, err error) {
	t := &try{engine: *e, outer: outer, log: triesOf(ctx), waits: waits, start: time.Now()}
	t.within(ctx, t.start, e.timeout)
	t.grant.Store(g)
	t.log.begin(t)
	crashed := true
	defer func() {
		t.Cancel()
		if crashed { // neither slot nor bill must be lost with a goroutine
			t.conclude(&llm.Response{}, &llm.Error{Kind: llm.KindPanic, Err: errCrashed})
		}
	}()
	resp, err = call(t)
	crashed = false
	if err != nil {
		err = t.explain(ctx, e.timeout, err)
	}
	own = t.conclude(&resp, err)
	return resp, own, t.logged.Load(), err
}

var errCrashed = errors.New("call: the call panicked or ended its goroutine")

func outcomeOf(resp llm.Response, err error) outcome {
	o := outcome{sent: true, resp: resp, err: err}
	switch {
	case err == nil:
	case llm.KindOf(err) == llm.KindMiss:
		o.sent = false
	case final(err): // another scope has dealt with it
		o.err = &llm.Error{Kind: llm.KindUnknown, Err: err}
	}
	return o
}

// pause waits before try n+1 for what the scope does not wait for: own, or
// without a scope all of it. It returns how long that was; negative if there is
// no other try, and why.
func (e *engine) pause(ctx context.Context, n int, own time.Duration, busy error) (waited time.Duration, err error) {
	wait := own
	if e.scope == nil {
		wait = e.backoff.busy(n, busy)
	}
	if wait <= 0 {
		return 0, busy
	}
	if hold(ctx) { // before the deadline is looked at
		defer unhold(ctx)
	}
	if err := e.refuse(ctx, fmt.Sprintf("try %d", n+1), wait, busy); err != nil {
		return -1, err
	}
	if err := sleep(ctx, wait); err != nil {
		return -1, over(ctx, err, busy)
	}
	return wait, busy
}

// refuse returns why a wait is not made: nil if it is.
func (e *engine) refuse(ctx context.Context, what string, wait time.Duration, cause error) error {
	asked := wait // the scope waits for nothing else beside its pause
	if e.scope == nil {
		asked = askedFor(cause)
	}
	if asked > e.maxWait {
		return tooLong(asked, e.maxWait, cause)
	}
	if left, ok := fits(ctx, wait); !ok {
		return noTime(what, wait, left, cause)
	}
	return nil
}

func tooLong(asked, most time.Duration, cause error) error {
	return fmt.Errorf("%w: the server asked for %v, and the most is %v (MaxWait): %w", ErrTooLong, asked.Round(time.Millisecond), most, cause)
}

// noTime is why there is no other try or attempt; cause may be nil.
func noTime(what string, wait, left time.Duration, cause error) error {
	err := fmt.Errorf("%w: %s would come in %v, and %v are left",
		ErrNoTime, what, wait.Round(time.Millisecond), max(left, 0).Round(time.Millisecond))
	if cause != nil {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// A try is the context of one try, and what those further in have to know of
// it.
type try struct {
	Bound
	engine engine
	outer  *try                  // that it is part of; nil for none
	grant  atomic.Pointer[grant] // until something settles it
	log    *Tries                // nil for none
	below  *try                  // see Tries.under; guarded by log
	logged atomic.Bool           // something inside has logged its own tries
	news   atomic.Pointer[Try]   // what [Announce] came to
	over   atomic.Bool           // concluded
	waits  Waits                 // before it
	start  time.Time
}

type tryKey struct{}

func tryOf(ctx context.Context) *try {
	t, _ := ctx.Value(tryKey{}).(*try)
	return t
}

// Value implements context.Context.
func (t *try) Value(key any) any {
	if key == (tryKey{}) {
		return t
	}
	return t.Bound.Value(key)
}

// conclude takes in what the try came to, once: ends its grant, unless a call
// inside has taken it over, adds it to the budget and logs it.
func (t *try) conclude(resp *llm.Response, err error) (own time.Duration) {
	if t.over.Swap(true) { // it was abandoned
		if g := t.grant.Swap(nil); g != nil { // while it waited for more, see Announce
			g.end(outcomeOf(*resp, err))
		}
		return 0
	}
	log := Try{Start: t.start, Waits: t.waits, Duration: time.Since(t.start)}
	t.announced(&log)
	if g := t.grant.Swap(nil); g != nil {
		own = g.end(outcomeOf(*resp, err))
	}
	t.engine.budget.tried(*resp, err)
	t.log.end(t)
	if !t.logged.Load() {
		logTry(t.outer, t.log, log, resp, err)
	}
	return own
}
