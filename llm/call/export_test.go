package call

import (
	"context"
	"sync"
	"time"
)

// Within is a try's context.
func Within(parent context.Context, d time.Duration) *Bound {
	b := new(Bound)
	b.within(parent, time.Now(), d)
	return b
}

// Hold makes the time of the tries that ctx belongs to stand still until release
// is called, once or more often.
func Hold(ctx context.Context) (release func()) {
	if !hold(ctx) {
		return func() {}
	}
	return sync.OnceFunc(func() { unhold(ctx) })
}
