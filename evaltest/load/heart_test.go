package load

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHeart: it beats every 10 ms, is never late where time is exact, and says
// nothing of less than a hundred beats.
func TestHeart(t *testing.T) {
	for after, beats := range map[time.Duration]int64{0: 0, 995 * time.Millisecond: 99, 2005 * time.Millisecond: 200} {
		synctest.Test(t, func(t *testing.T) {
			var h heart
			h.begin()
			time.Sleep(after)
			p99 := h.stop()
			assert.Equal(t, beats, h.late.N(), "in %v", after)
			late, ok := p99.Get()
			require.Equal(t, beats >= 100, ok)
			assert.Zero(t, late)
		})
	}
}
