package call

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
)

// TestBacklogOfANewScope: what nobody has used yet is not free for all.
func TestBacklogOfANewScope(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		limits       Limits
		n            int
		want         time.Duration
	}{
		{"the first", "at once", Limits{RPM: 1}, 1, 0},
		{"ten", "spaced out", Limits{RPM: 1}, 10, 9 * time.Minute},
		{"ten of a burst", "six at once, then one in 10 s", Limits{RPM: 6, Burst: time.Minute}, 10, 40 * time.Second},
		{"tokens", "100 each", Limits{TPM: 600, Estimate: func(llm.Request) int64 { return 100 }}, 4, 30 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				assert.Equal(t, tc.want, NewScope(tc.limits).Backlog(tc.n), tc.reason)
			})
		})
	}
}
