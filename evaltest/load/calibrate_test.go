package load_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load"
	"github.com/goevals/evals/evaltest/load/metric"
)

// TestCalibrate only looks that each figure is there: what they are is this
// machine's business.
func TestCalibrate(t *testing.T) {
	c, err := load.Calibrate(t.Context(), load.Calibration{Users: 4, Streams: 10, ITL: 2 * time.Millisecond, Rate: 200, For: 50 * time.Millisecond})
	require.NoError(t, err)
	for name, f := range map[string]metric.Figure{"requests": c.Requests, "tokens": c.Tokens, "achieved": c.Achieved} {
		v, ok := f.Get()
		assert.True(t, ok && v > 0, "%s: %v", name, f)
	}
	assert.Equal(t, "evals-load-ceiling/1", c.Schema)
	assert.Positive(t, c.TTFTP50)
	assert.GreaterOrEqual(t, c.TTFTP99, c.TTFTP50)
	assert.GreaterOrEqual(t, c.ITLOffP99, c.ITLOffP50)
	assert.True(t, c.Shared)
	_, err = json.Marshal(c)
	require.NoError(t, err)
	t.Logf("%+v", *c)
}

func TestCalibrateRefuses(t *testing.T) {
	for _, c := range []load.Calibration{{Users: -1}, {Streams: 1 << 20}, {ITL: -1}, {For: 2 * time.Hour}, {Rate: -5}, {Fast: "http://x"}} {
		_, err := load.Calibrate(t.Context(), c)
		require.ErrorIs(t, err, load.ErrConfig, "%+v", c)
	}
}
