package wire

import (
	"testing"
	"time"
)

// SetDrainTime has Close read an unread body for as long, until the test is
// over.
func SetDrainTime(t testing.TB, d time.Duration) {
	was := drainTime
	drainTime = d
	t.Cleanup(func() { drainTime = was })
}
