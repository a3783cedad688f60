package workload

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSettingsErrors(t *testing.T) {
	in := FlagNames("input")
	latency := Names{
		Fixed: "--tool-call-latency-ms", Mu: "--tool-call-latency-lognorm-mu", Median: "--tool-call-latency-lognorm-median-ms",
		Sigma: "--tool-call-latency-lognorm-sigma", Max: "--tool-call-latency-lognorm-max-ms",
	}
	for _, row := range []struct {
		name, reason string
		in           Settings
		want         string
	}{
		{"fixed and sigma", "fixed or log-normal", Settings{Names: in, Fixed: ptr(5), Sigma: ptr(1.0)},
			"workload: --input-tokens cannot be combined with --input-lognorm-* (--input-lognorm-sigma)"},
		{"fixed and two others", "this is said before mu and median", Settings{Names: in, Fixed: ptr(5), Mu: ptr(1.0), Median: ptr(3.0)},
			"workload: --input-tokens cannot be combined with --input-lognorm-* (--input-lognorm-mu)"},
		{"mu and median", "said before sigma", Settings{Names: in, Mu: ptr(1.0), Median: ptr(3.0)},
			"workload: --input-lognorm-mu cannot be combined with --input-lognorm-median: each is the other's logarithm or exponential"},
		{"no sigma", "sigma is wanted first", Settings{Names: in, Max: ptr(10)},
			"workload: --input-lognorm-sigma is missing: --input-lognorm-max needs it"},
		{"no sigma with median", "", Settings{Names: in, Median: ptr(10.0)},
			"workload: --input-lognorm-sigma is missing: --input-lognorm-median needs it"},
		{"no location", "an orphan sigma is not ignored", Settings{Names: in, Sigma: ptr(1.0)},
			"workload: --input-lognorm-median or --input-lognorm-mu is missing: --input-lognorm-sigma needs one of them"},
		{"sigma 0", "", Settings{Names: in, Sigma: ptr(0.0), Mu: ptr(1.0)},
			"workload: --input-lognorm-sigma is 0: want a finite number above 0"},
		{"sigma negative", "", Settings{Names: in, Sigma: ptr(-.5), Mu: ptr(1.0)},
			"workload: --input-lognorm-sigma is -0.5: want a finite number above 0"},
		{"sigma NaN", "", Settings{Names: in, Sigma: ptr(math.NaN()), Mu: ptr(1.0)},
			"workload: --input-lognorm-sigma is NaN: want a finite number above 0"},
		{"sigma infinite", "", Settings{Names: in, Sigma: ptr(math.Inf(1)), Mu: ptr(1.0)},
			"workload: --input-lognorm-sigma is +Inf: want a finite number above 0"},
		{"mu NaN", "", Settings{Names: in, Sigma: ptr(1.0), Mu: ptr(math.NaN())},
			"workload: --input-lognorm-mu is NaN: want a finite number"},
		{"median 0", "its logarithm is not finite", Settings{Names: in, Sigma: ptr(1.0), Median: ptr(0.0)},
			"workload: --input-lognorm-median is 0: want a finite number above 0"},
		{"max 0", "given, and of no use", Settings{Names: in, Sigma: ptr(1.0), Mu: ptr(1.0), Max: ptr(0)},
			"workload: --input-lognorm-max is 0: want a whole number from 1 to 2147483647"},
		{"mu too large", "all lengths would be the end of the range", Settings{Names: in, Sigma: ptr(1.0), Mu: ptr(30.0)},
			"workload: --input-lognorm-mu is 30: most lengths would be above 2147483647"},
		{"fixed 0", "a prompt has a token", Settings{Names: in, Fixed: ptr(0)},
			"workload: --input-tokens is 0: want a whole number from 1 to 2147483647"},
		{"fixed negative", "also where 0 is none", Settings{Names: latency, Fixed: ptr(-1), ZeroIsNone: true},
			"workload: --tool-call-latency-ms is -1: want a whole number from 1 to 2147483647"},
		{"vary alone", "", Settings{Names: in, Vary: ptr(4)},
			"workload: --input-vary is 4: it needs --input-tokens"},
		{"vary negative", "", Settings{Names: in, Fixed: ptr(4), Vary: ptr(-1)},
			"workload: --input-vary is -1: want a whole number from 0 to 2147483647"},
		{"vary overflows", "", Settings{Names: in, Fixed: ptr(math.MaxInt32), Vary: ptr(1)},
			"workload: --input-vary is 1: --input-tokens with it is above 2147483647"},
		{"other names", "a family may have names of its own", Settings{Names: latency, Sigma: ptr(1.0)},
			"workload: --tool-call-latency-lognorm-median-ms or --tool-call-latency-lognorm-mu is missing: --tool-call-latency-lognorm-sigma needs one of them"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d, err := row.in.Dist()
			require.EqualError(t, err, row.want, row.reason)
			require.ErrorIs(t, err, ErrOption)
			assert.True(t, d.IsZero())
		})
	}
}

func TestSettings(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		in           Settings
		want         Dist
	}{
		{"nothing", "no length was given", Settings{}, Dist{}},
		{"vary 0 alone", "a default that was spelled out", Settings{Vary: ptr(0)}, Dist{}},
		{"fixed", "", Settings{Fixed: ptr(7), Vary: ptr(2)}, Must(Fixed(7, 2))},
		{"none", "a latency of 0", Settings{Fixed: ptr(0), ZeroIsNone: true}, Dist{}},
		{"median", "", Settings{Sigma: ptr(1.0), Median: ptr(30.0), Max: ptr(50)}, Must(LogNormal(30, 1, 50))},
		{"mu", "mu 0 is a value", Settings{Sigma: ptr(1.0), Mu: ptr(0.0)}, Must(LogNormal(1, 1, 0))},
		{"huge mu with max", "all are max", Settings{Sigma: ptr(1.0), Mu: ptr(700.0), Max: ptr(5)}, Must(LogNormalMu(700, 1, 5))},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := row.in.Dist()
			require.NoError(t, err, row.reason)
			assert.Equal(t, row.want, got, row.reason)
		})
	}
}

func TestConstructorErrors(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		make         func() (Dist, error)
		want         string
	}{
		{"uniform low", "", func() (Dist, error) { return Uniform(0, 3) }, "workload: lo is 0: want a whole number from 1 to 2147483647"},
		{"uniform order", "", func() (Dist, error) { return Uniform(4, 3) }, "workload: hi is 3: want from lo, which is 4, to 2147483647"},
		{"no values", "", func() (Dist, error) { return Empirical(nil) }, "workload: values are none: want at least one length"},
		{"bad value", "the place is named", func() (Dist, error) { return Empirical([]int{3, 0}) }, "workload: values[1] is 0: want a whole number from 1 to 2147483647"},
		{"negative max", "0 is none, -1 is a mistake", func() (Dist, error) { return LogNormal(3, 1, -1) }, "workload: max is -1: want a whole number from 1 to 2147483647"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := row.make()
			require.EqualError(t, err, row.want, row.reason)
			require.ErrorIs(t, err, ErrOption)
		})
	}
}
