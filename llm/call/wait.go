package call

import (
	"context"
	"time"
)

// fits reports whether a wait ends before ctx does by its deadline, and how
// much time is left.
func fits(ctx context.Context, wait time.Duration) (left time.Duration, ok bool) {
	end, bounded := ctx.Deadline()
	if !bounded {
		return 0, true
	}
	left = time.Until(end)
	return left, wait < left
}

// sleep waits, or returns ctx's error if that ends first.
func sleep(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
