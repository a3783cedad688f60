package arrival_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/arrival"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

func TestEvenTimes(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		stages       string
		want         []time.Duration
	}{
		{"hold", "the first at once, none at the very end", "1s:4", []time.Duration{0, 250 * ms, 500 * ms, 750 * ms}},
		{"not a whole number", "2.5 arrivals fit", "1s:2.5", []time.Duration{0, 400 * ms, 800 * ms}},
		{"ramp from 0", "the integral t²/2·4 reaches n at √(n/2)", "2s:0..8", []time.Duration{
			0, 707106781, 1 * sec, 1224744871, 1414213562, 1581138830, 1732050808, 1870828693}},
		{"ramp to 0", "4t - t² reaches n at 2-√(4-n), and 4 only at the end", "2s:4..0", []time.Duration{0, 267949192, 585786438, 1 * sec}},
		{"stages follow each other", "the fractions of arrivals add up", "1s:1.5,1s:0.5,1s:2", []time.Duration{0, 666666667, 2 * sec, 2500 * ms}},
		{"a pause", "nothing is due at rate 0", "1s:2,10s:0,1s:2", []time.Duration{0, 500 * ms, 11 * sec, 11500 * ms}},
		{"starts with a pause", "the first is due when the rate is above 0", "3s:0,1s:1", []time.Duration{3 * sec}},
		{"ends with a pause", "nothing comes then", "1s:1,3s:0", []time.Duration{0}},
		{"a float a bit off", "1.1 × 10 is 11.000000000000002 as a float; a twelfth would be at the end", "10s:1.1", []time.Duration{
			0, 909090909, 1818181818, 2727272727, 3636363636, 4545454545, 5454545455, 6363636364, 7272727273, 8181818182, 9090909091}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := staged(t, arrival.Even, tt.stages)
			got := slices.Collect(s.Times(nil))
			assert.Equal(t, tt.want, got)
			end, finite := s.Length()
			assert.True(t, finite)
			// Even gaps put the n-th arrival where n are expected before.
			for n, at := range got {
				assert.InDelta(t, n, s.Expected(0, at), 1e-6)
			}
			assert.InDelta(t, len(got), s.Expected(0, end), 1)
		})
	}
}

func TestEndless(t *testing.T) {
	n := 0
	for at := range arrival.Constant(1000).Times(nil) {
		require.Equal(t, time.Duration(n)*ms, at, "no drift")
		if n++; n == 200_000 {
			break
		}
	}
	_, finite := arrival.Constant(1).Length()
	assert.False(t, finite)
	assert.Equal(t, "constant forever:1", arrival.Constant(1).String())

	// 292 years hold 9.2 arrivals at one in a billion seconds.
	assert.Len(t, slices.Collect(arrival.Constant(1e-9).Times(nil)), 10)
	assert.Empty(t, slices.Collect(arrival.Schedule{}.Times(nil)))
}

func TestTrace(t *testing.T) {
	offsets := []time.Duration{0, 0, 400 * ms, 401 * ms}
	for _, tt := range []struct {
		name, reason string
		scale        float64
		want         []time.Duration
	}{
		{"as it is", "golden G8: scale 1 is exact", 1, offsets},
		{"twice as fast", "golden G8: 400 ms becomes 200 ms", 2, []time.Duration{0, 0, 200 * ms, 200*ms + 500*time.Microsecond}},
		{"half as fast", "the inverse", 0.5, []time.Duration{0, 0, 800 * ms, 802 * ms}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := arrival.Trace(offsets, tt.scale)
			require.NoError(t, err)
			assert.Equal(t, tt.want, slices.Collect(s.Times(nil)))
			assert.Equal(t, 2.0, s.Expected(0, 1))
			assert.Equal(t, 4.0, s.Expected(0, tt.want[3]+1))
			assert.Equal(t, 0.0, s.Expected(1, tt.want[2]))
			end, finite := s.Length()
			assert.True(t, finite)
			assert.Equal(t, tt.want[3], end)
			assert.False(t, s.Random())
		})
	}
	given := slices.Clone(offsets)
	s, err := arrival.Trace(given, 1)
	require.NoError(t, err)
	given[0] = time.Hour
	assert.Equal(t, offsets, slices.Collect(s.Times(nil)), "the trace is its own copy")

	// Beyond the 53 bits of a float.
	far := time.Duration(1<<62 + 1)
	s, err = arrival.Trace([]time.Duration{far}, 1)
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{far}, slices.Collect(s.Times(nil)))
}

func TestRefusals(t *testing.T) {
	trace := func(scale float64, offsets ...time.Duration) error {
		_, err := arrival.Trace(offsets, scale)
		return err
	}
	stages := func(p arrival.Process, s ...arrival.Stage) error {
		_, err := arrival.Stages(p, s...)
		return err
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"no offsets", trace(1), "arrival: Trace: number of offsets is 0; a trace needs at least one"},
		{"negative offset", trace(1, -1), "offset 0 is -1ns; it must not be before 0s"},
		{"unsorted", trace(1, 2*sec, sec), "offset 1 is 1s; it must not be before 2s; sort the rows by time first"},
		{"scale 0", trace(0, 1), "time scale is 0; it must be above 0 and finite"},
		{"scale NaN", trace(nan, 1), "time scale is NaN"},
		{"scale infinite", trace(inf, 1), "time scale is +Inf"},
		{"scale overflows", trace(1e-18, time.Hour), "at time scale 1e-18 it is beyond 292 years"},
		{"no stages", stages(arrival.Even), "number of stages is 0"},
		{"shape NaN", stages(arrival.Process(nan), arrival.Hold(1, 1)), "process is NaN; a shape must be 0 (even gaps) or from 0.01 to 1e+06"},
		{"shape negative", stages(-1, arrival.Hold(1, 1)), "process is -1"},
		{"shape just too small", stages(arrival.Process(math.Nextafter(0.01, 0)), arrival.Hold(1, 1)), "a shape must be"},
		{"shape just too large", stages(arrival.Process(math.Nextafter(1e6, 2e6)), arrival.Hold(1, 1)), "a shape must be"},
		{"length 0", stages(arrival.Even, arrival.Hold(0, 1)), "stage 1: For is 0s; a length must be above 0"},
		{"rate negative", stages(arrival.Even, arrival.Hold(1, 1), arrival.Ramp(1, 1, -1)), "stage 2: To is -1; a rate must be from 0 to 1e9 a second"},
		{"rate NaN", stages(arrival.Even, arrival.Ramp(1, nan, 1)), "stage 1: From is NaN"},
		{"rate infinite", stages(arrival.Even, arrival.Hold(1, inf)), "stage 1: From is +Inf"},
		{"rate above a nanosecond", stages(arrival.Even, arrival.Hold(1, math.Nextafter(1e9, 2e9))), "a rate must be"},
		{"forever first", stages(arrival.Even, arrival.Hold(arrival.Forever, 1), arrival.Hold(1, 1)), "only the last stage may be endless"},
		{"forever ramp", stages(arrival.Even, arrival.Ramp(arrival.Forever, 1, 2)), "an endless stage needs one rate above 0"},
		{"forever 0", stages(arrival.Even, arrival.Hold(arrival.Forever, 0)), "an endless stage needs one rate above 0"},
		{"too long", stages(arrival.Even, arrival.Hold(arrival.Forever-2, 1), arrival.Hold(2, 1)), "the stages are longer than 292 years together"},
		{"all 0", stages(arrival.Even, arrival.Hold(1, 0), arrival.Hold(1, 0)), "no request would ever be due"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.ErrorContains(t, tt.err, tt.want)
			var e *arrival.OptionError
			require.True(t, errors.As(tt.err, &e))
			assert.NotEmpty(t, e.Option)
		})
	}
	assert.Panics(t, func() { arrival.Constant(0) })
	assert.Panics(t, func() { arrival.Poisson(-1) })
	assert.Panics(t, func() { arrival.Gamma(1, 0) }, "even gaps are asked for by Constant")
	assert.Panics(t, func() { arrival.Gamma(1, nan) })
	assert.Panics(t, func() { arrival.Poisson(1).Times(nil) })
	assert.Panics(t, func() { arrival.Poisson(1).Expected(2, 1) })
	assert.NoError(t, stages(arrival.MinShape, arrival.Hold(1, 1)))
	assert.NoError(t, stages(arrival.MaxShape, arrival.Hold(1, 1e9)))
}

func TestParseStages(t *testing.T) {
	got, err := arrival.ParseStages(" 30s : 0 .. 100, 5m:100 ,1m:100...5,forever:2e1")
	require.NoError(t, err)
	assert.Equal(t, []arrival.Stage{
		arrival.Ramp(30*sec, 0, 100), arrival.Hold(5*time.Minute, 100), arrival.Ramp(time.Minute, 100, 0.5), arrival.Hold(arrival.Forever, 20),
	}, got)
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", `stage 1 of "" is ""; it has no colon`},
		{"no colon", "30s", "it has no colon; write a length, a colon and a rate"},
		{"no unit", "30:1", `its length "30" is no duration`},
		{"no rate", "30s:", `its rate "" is no number`},
		{"half a ramp", "30s:1..", `its rate "" is no number`},
		{"hexadecimal", "30s:0x1p2", `its rate "0x1p2" is no number`},
		{"too much", "30s:1e400", `its rate "1e400" is no number`},
		{"second", "1s:1,oops", `stage 2 of "1s:1,oops" is "oops"`},
		{"checked too", "1s:-1", "stage 1: From is -1"},
		{"hostile", "1s:\x1b[31m", `its rate "\x1b[31m" is no number`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := arrival.ParseStages(tt.in)
			require.ErrorContains(t, err, tt.want)
			var e *arrival.OptionError
			assert.True(t, errors.As(err, &e))
			assert.NotContains(t, err.Error(), "\x1b")
		})
	}
}

// What is read is written as it can be read again, and makes a schedule whose
// times are in order, inside, and as many as the rate's integral says.
func FuzzStages(f *testing.F) {
	for _, s := range []string{"30s:0..100,5m:100,forever:20", "1s:1", "1ns:1e9", "3s:0,1s:1..0", "1h:1e-9..1e9", "2562047h47m16s:1", ":", "1s:..", "forever:0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		stages, err := arrival.ParseStages(text)
		if err != nil {
			return
		}
		again := ""
		for i, s := range stages {
			if i > 0 {
				again += ","
			}
			again += s.String()
		}
		back, err := arrival.ParseStages(again)
		require.NoError(t, err)
		require.Equal(t, stages, back)
		for _, p := range []arrival.Process{arrival.Even, arrival.Memoryless, 0.3} {
			s, err := arrival.Stages(p, stages...)
			require.NoError(t, err)
			end, finite := s.Length()
			last, n := time.Duration(0), 0
			for at := range s.Times(seeded(1)) {
				require.GreaterOrEqual(t, at, last)
				require.True(t, !finite || at < end)
				if p == arrival.Even {
					// A time is rounded by half a nanosecond, in which up to one
					// arrival comes at the highest rate.
					require.InDelta(t, n, s.Expected(0, at), 1+1e-6*float64(n))
				}
				last = at
				if n++; n == 1000 {
					break
				}
			}
			if finite && n < 1000 && p == arrival.Even {
				require.InDelta(t, n, s.Expected(0, end), 1.001)
			}
		}
	})
}
