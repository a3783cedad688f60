package load

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/metric"
)

// TestGoodShare: what a search makes of a run that is not valid.
func TestGoodShare(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		broken       []string
		dropped      int64
		share        float64 // below 0: an error
		client       bool    // that blames the client
	}{
		{"valid", "seven of ten were good", nil, 0, 0.7, false},
		{"late", "the client's own", []string{"lag p99"}, 0, -1, true},
		{"starved", "the client's own", []string{"wake-up p99"}, 0, -1, true},
		{"dropped", "the server was too slow", []string{"dropped arrivals", achievedCheck}, 3, 0.7, false},
		{"cut", "the server was too slow", []string{"unfinished requests"}, 0, 0.7, false},
		{"late and dropped", "the client may be why", []string{"lag max", "dropped arrivals"}, 3, -1, true},
		{"slower, and nothing dropped", "nobody but the client sends", []string{achievedCheck}, 0, -1, true},
		{"usage now and then", "a slower rate does not mend the server", []string{"token sources"}, 0, -1, false},
		{"dropped, and a warm cache", "a repeat would find the same", []string{"dropped arrivals", "cached input"}, 3, -1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &Report{Result: &metric.Result{Counts: metric.Counts{Due: 10, OK: 10, Dropped: tt.dropped}, Goodput: &metric.Goodput{FractionLow: metric.Some(0.7)}}}
			r.Result.Validity.Valid = tt.broken == nil
			for _, name := range tt.broken {
				r.Result.Validity.Checks = append(r.Result.Validity.Checks, metric.Check{Name: name, State: metric.Broken})
			}
			share, err := goodShare(r)
			if tt.share >= 0 {
				require.NoError(t, err, tt.reason)
				assert.Equal(t, tt.share, share, tt.reason)
				return
			}
			require.ErrorIs(t, err, ErrInvalid)
			if tt.client {
				require.ErrorIs(t, err, arrival.ErrNotOffered, tt.reason)
			} else {
				require.NotErrorIs(t, err, arrival.ErrNotOffered, tt.reason)
			}
		})
	}
}
