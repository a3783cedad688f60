package metric

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A timeline must agree with counting every event, in whatever order they come
// and however often its bins have doubled.
func TestTimelineAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, scale := range []time.Duration{20 * time.Millisecond, 40 * time.Second, 30 * time.Minute} {
		type flight struct{ from, to time.Duration }
		var tl timeline
		var flights []flight
		for range 400 {
			from := time.Duration(rng.Int64N(int64(scale)))
			f := flight{from, from + time.Duration(rng.Int64N(int64(scale/4)))}
			flights = append(flights, f)
			tl.inFlight(f.from, f.to)
			tl.at(f.to).answers++
			tl.at(f.to).output += 3
		}
		for range 50 {
			from := time.Duration(rng.Int64N(int64(scale)))
			to := from + time.Duration(rng.Int64N(int64(scale)))
			got, ok := tl.between(from, to)
			if !ok {
				require.Less(t, to-from, 2*tl.width, "only a window of no whole bin is absent")
				continue
			}
			require.True(t, from <= got.from && got.to <= to, "edges move inwards")
			require.True(t, got.from-from < tl.width && to-got.to < tl.width, "by less than a bin")
			var answers int64
			var busy time.Duration
			for _, f := range flights {
				if got.from <= f.to && f.to < got.to {
					answers++
				}
				busy += max(0, min(f.to, got.to)-max(f.from, got.from))
			}
			require.Equal(t, answers, got.answers)
			require.Equal(t, 3*answers, got.output)
			require.Equal(t, busy, got.busy)
		}
		assert.LessOrEqual(t, len(tl.bins), maxBins)
	}
}

func TestTimelineWidth(t *testing.T) {
	var tl timeline
	tl.at(0).answers++
	tl.at(65535*time.Millisecond).answers++
	assert.Equal(t, time.Millisecond, tl.width)
	tl.at(65536*time.Millisecond).answers++
	assert.Equal(t, 2*time.Millisecond, tl.width)
	tl.at(1<<62).answers++ // a record that claims centuries costs no memory
	assert.LessOrEqual(t, len(tl.bins), maxBins)
	var sum int64
	for _, b := range tl.bins {
		sum += b.answers
	}
	assert.Equal(t, int64(4), sum, "doubling loses nothing")
}
