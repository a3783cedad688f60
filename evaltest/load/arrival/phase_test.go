package arrival_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
	"github.com/goevals/evals/evaltest/load/record"
)

func TestLabel(t *testing.T) {
	type L = arrival.Limit
	for _, tt := range []struct {
		name, reason string
		phases       arrival.Phases
		times        string // tenths of a second
		want         string // w, m, c: an arrival of the phase
	}{
		{"none", "everything is measured", arrival.Phases{}, "0 1 2", "mmm"},
		{"by time", "a phase has its beginning and not its end", arrival.Phases{L{For: sec}, L{For: sec}, L{For: sec}}, "0 9 10 19 20 29 30 31", "wwmmcc"},
		{"by count", "the next begins with the next arrival", arrival.Phases{L{Count: 2}, L{Count: 3}, L{Count: 1}}, "0 1 2 3 4 5 6 7", "wwmmmc"},
		{"count, then time", "the second is measured from the first phase's end", arrival.Phases{Warmup: L{Count: 2}, Measured: L{For: sec}}, "0 1 5 9 14 15", "wwmmm"},
		{"time, then count", "an empty warm-up is over all the same", arrival.Phases{Warmup: L{For: sec}, Measured: L{Count: 2}}, "30 31 32", "mm"},
		{"whichever first: time", "", arrival.Phases{Measured: L{For: sec, Count: 5}}, "0 5 10", "mm"},
		{"whichever first: count", "", arrival.Phases{Measured: L{For: sec, Count: 2}}, "0 5 6", "mm"},
		{"no warm-up", "it takes no time", arrival.Phases{Measured: L{For: sec}, Cooldown: L{Count: 1}}, "0 9 10 11", "mmc"},
		{"endless cool-down", "the load stays on", arrival.Phases{Measured: L{Count: 1}, Cooldown: L{For: arrival.Forever}}, "0 1 2 900", "mccc"},
		{"measured is the rest", "", arrival.Phases{Warmup: L{Count: 1}}, "0 1 99", "wmm"},
		{"a phase without arrivals", "all three ends lie between two arrivals", arrival.Phases{L{For: sec}, L{For: sec}, L{For: sec}}, "0 25 30", "wc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, tt.phases.Check())
			var times []time.Duration
			for _, f := range strings.Fields(tt.times) {
				var n time.Duration
				_, err := fmt.Sscan(f, &n)
				require.NoError(t, err)
				times = append(times, n*100*ms)
			}
			got := ""
			for a := range tt.phases.Label(slices.Values(times)) {
				require.Equal(t, len(got), a.Seq)
				require.Equal(t, times[a.Seq], a.Due)
				got += map[record.Phase]string{record.Warmup: "w", record.Measured: "m", record.Cooldown: "c"}[a.Phase]
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestPhasesFit(t *testing.T) {
	type L = arrival.Limit
	trace, err := arrival.Trace([]time.Duration{0, sec, 2 * sec, 3 * sec}, 1)
	require.NoError(t, err)
	minute := staged(t, arrival.Memoryless, "10s:0..20,50s:20") // 100 + 1000 arrivals
	for _, tt := range []struct {
		name, reason string
		schedule     arrival.Schedule
		phases       arrival.Phases
		want         string // of the error; "": none
	}{
		{"endless", "always long enough", arrival.Poisson(1), arrival.Phases{L{For: time.Hour}, L{Count: 1e9}, L{For: arrival.Forever}}, ""},
		{"just fits", "the phases fill the schedule", minute, arrival.Phases{L{For: 10 * sec}, L{For: 40 * sec}, L{For: 10 * sec}}, ""},
		{"the rest", "an endless cool-down takes what is left", minute, arrival.Phases{L{For: 10 * sec}, L{For: 50 * sec}, L{For: arrival.Forever}}, ""},
		{"a second too long", "the load would stop before the cool-down ends", minute, arrival.Phases{L{For: 10 * sec}, L{For: 40 * sec}, L{For: 11 * sec}},
			"the cool-down phase's For is 11s; it begins at 50s, and the schedule (poisson 10s:0..20,50s:20) ends at 1m0s"},
		{"count fits", "100 in the ramp and 900 of 1000 after", minute, arrival.Phases{Warmup: L{For: 10 * sec}, Measured: L{Count: 900}}, ""},
		{"count does not", "the warm-up takes its part", minute, arrival.Phases{Warmup: L{For: 10 * sec}, Measured: L{Count: 1001}},
			"the measured phase's Count is 1001; the schedule (poisson 10s:0..20,50s:20) is expected to have 1000.0 arrivals from its beginning at 10s on"},
		{"count, then time", "100 + 200 arrivals are over at 20 s", minute, arrival.Phases{Warmup: L{Count: 300}, Measured: L{For: 40 * sec}}, ""},
		{"count, then too much time", "", minute, arrival.Phases{Warmup: L{Count: 300}, Measured: L{For: 41 * sec}}, "it begins at 20s"},
		{"whichever comes first", "time ends it where the count cannot", minute, arrival.Phases{Measured: L{Count: 5000, For: time.Minute}}, ""},
		{"whichever comes first, neither", "", minute, arrival.Phases{Measured: L{Count: 5000, For: 2 * time.Minute}}, "Count is 5000"},
		{"nothing left", "the warm-up takes all", minute, arrival.Phases{Warmup: L{For: time.Minute}}, "the warm-up takes until 1m0s"},
		{"floats", "0.29 × 100 is 28.999999999999996 as a float", staged(t, arrival.Even, "100s:0.29"), arrival.Phases{Measured: L{Count: 29}}, ""},
		{"whichever comes first, then the rest", "the count ends the warm-up at 10 s", minute, arrival.Phases{Warmup: L{Count: 100, For: 50 * sec}, Measured: L{For: 50 * sec}}, ""},
		{"trace", "its last arrival counts", trace, arrival.Phases{Warmup: L{Count: 1}, Measured: L{Count: 3}}, ""},
		{"trace too short", "", trace, arrival.Phases{Warmup: L{Count: 2}, Measured: L{Count: 3}}, "is expected to have 2.0 arrivals from its beginning at 2s on"},
		{"invalid", "checked first", trace, arrival.Phases{Warmup: L{Count: -1}}, "the warm-up phase's Count is -1; it must not be negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.phases.Fits(tt.schedule)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
			var e *arrival.OptionError
			require.ErrorAs(t, err, &e)
		})
	}
}

func TestPhasesCheck(t *testing.T) {
	type L = arrival.Limit
	for _, tt := range []struct {
		name   string
		phases arrival.Phases
		want   string
	}{
		{"negative time", arrival.Phases{Cooldown: L{For: -1}}, "the cool-down phase's For is -1ns; it must not be negative"},
		{"negative count", arrival.Phases{Measured: L{Count: -1}}, "the measured phase's Count is -1"},
		{"endless warm-up", arrival.Phases{Warmup: L{For: arrival.Forever}}, "nothing would be measured"},
		{"cool-down never begins", arrival.Phases{Cooldown: L{For: 1}}, "limit it, or leave the cool-down out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.ErrorContains(t, tt.phases.Check(), tt.want)
			assert.Panics(t, func() { tt.phases.Label(slices.Values([]time.Duration{0})) })
		})
	}
}
