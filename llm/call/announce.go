package call

import (
	"context"
	"time"

	"github.com/goevals/evals/llm"
)

// Announce says which request the code inside a [Policy] is about to make, so
// that its Scope can tell how many tokens that will take: before, it has
// admitted a call of average size. It waits if that needs more of the tokens a
// minute, and fails, before anything is sent, if the request is larger than the
// limit ([ErrTooLarge]) or the wait does not fit. A [Model] of the same Scope
// does so by itself. Outside of a Policy with a Scope it does nothing.
func Announce(ctx context.Context, req llm.Request) error {
	t := tryOf(ctx)
	for t != nil && t.engine.scope == nil {
		t = t.outer
	}
	if t == nil {
		return nil
	}
	need, had := t.engine.scope.estimate(req), t.grant.Load() // Estimate may panic
	if had == nil || !t.grant.CompareAndSwap(had, nil) {
		return nil
	}
	if hold(ctx) {
		defer unhold(ctx)
	}
	g, waits, err := had.again(ctx, need)
	if g != had {
		t.news.Store(&Try{Start: time.Now(), Waits: waits, Unsent: err != nil})
	}
	if err != nil {
		return err
	}
	t.grant.Store(g)
	return nil
}

// announced corrects what is logged of a try whose request was announced.
func (t *try) announced(log *Try) {
	n := t.news.Load()
	if n == nil {
		return
	}
	log.Unsent = n.Unsent
	log.Waits = log.Waits.plus(n.Waits)
	log.Duration -= n.Start.Sub(log.Start)
	log.Start = n.Start
}
