package workload

import (
	"fmt"
	"math"
	"strings"
)

// Settings are one length as a person gives it, in flags or in a file: either
// Fixed with or without Vary, or a log-normal: Sigma, one of Median and Mu, and
// perhaps Max. A nil field was not given.
type Settings struct {
	// Names are how the options are called in errors. Default: n, vary, mu,
	// median, sigma and max.
	Names Names
	// Fixed is the length, at least 1; Vary how much it varies to both sides,
	// at least 0.
	Fixed, Vary *int
	// Mu is the mean of the logarithms, Median its exponential, Sigma the
	// standard deviation of the logarithms, above 0.
	Mu, Median, Sigma *float64
	// Max is the longest length of a log-normal, at least 1.
	Max *int
	// ZeroIsNone takes a Fixed of 0 for no length at all, as is usual for a
	// latency; else it is an error.
	ZeroIsNone bool
}

// Names are the names of options. Those that a family does not have stay empty.
type Names struct {
	Fixed, Vary, Mu, Median, Sigma, Max string
}

// FlagNames returns the names of the flags of a family as BatchBench has them:
// --input-tokens, --input-vary, --input-lognorm-mu, -median, -sigma and -max
// for "input".
func FlagNames(family string) Names {
	f := "--" + family
	return Names{
		Fixed: f + "-tokens", Vary: f + "-vary",
		Mu: f + "-lognorm-mu", Median: f + "-lognorm-median", Sigma: f + "-lognorm-sigma", Max: f + "-lognorm-max",
	}
}

var fieldNames = Names{Fixed: "n", Vary: "vary", Mu: "mu", Median: "median", Sigma: "sigma", Max: "max"}

// Dist returns the distribution that the settings describe; the zero Dist if
// nothing was given. Errors are [*OptionError]s: first those of options that
// exclude each other, then of those that are missing, then of values.
//
// A Sigma or Max on its own is an error. BatchBench ignores them for outputs.
func (s Settings) Dist() (Dist, error) {
	if s.Names == (Names{}) {
		s.Names = fieldNames
	}
	given, isLogNormal := s.logNormalOption()
	vary := 0
	if s.Vary != nil {
		vary = *s.Vary
	}
	switch {
	case s.Fixed != nil && isLogNormal:
		return Dist{}, &OptionError{Option: s.Names.Fixed, Reason: "cannot be combined with " + logNormalFlags(given)}
	case s.Mu != nil && s.Median != nil:
		return Dist{}, &OptionError{Option: s.Names.Mu, Reason: "cannot be combined with " + s.Names.Median + ": each is the other's logarithm or exponential"}
	case isLogNormal && s.Sigma == nil:
		return Dist{}, &OptionError{Option: s.Names.Sigma, Reason: "is missing: " + given + " needs it"}
	case isLogNormal && s.Mu == nil && s.Median == nil:
		return Dist{}, &OptionError{Option: s.Names.Median, Reason: fmt.Sprintf("or %s is missing: %s needs one of them", s.Names.Mu, given)}
	case vary != 0 && s.Fixed == nil:
		return Dist{}, badOption(s.Names.Vary, vary, "it needs "+s.Names.Fixed)
	case vary < 0 || vary > maxDraw:
		return Dist{}, badOption(s.Names.Vary, vary, fmt.Sprintf("want a whole number from 0 to %d", maxDraw))
	case isLogNormal:
		return s.logNormal()
	case s.Fixed != nil:
		return s.fixed(*s.Fixed, vary)
	}
	return Dist{}, nil
}

// logNormalOption names the first option of a log-normal that was given.
func (s Settings) logNormalOption() (name string, given bool) {
	switch {
	case s.Mu != nil:
		return s.Names.Mu, true
	case s.Median != nil:
		return s.Names.Median, true
	case s.Sigma != nil:
		return s.Names.Sigma, true
	case s.Max != nil:
		return s.Names.Max, true
	}
	return "", false
}

// logNormalFlags writes --input-lognorm-* for the options' common beginning,
// or the one that was given.
func logNormalFlags(given string) string {
	if i := strings.LastIndex(given, "lognorm-"); i >= 0 {
		return given[:i] + "lognorm-* (" + given + ")"
	}
	return given
}

func (s Settings) fixed(n, vary int) (Dist, error) {
	switch {
	case n == 0 && s.ZeroIsNone && vary == 0:
		return Dist{}, nil
	case n < 1 || n > maxDraw:
		return Dist{}, badOption(s.Names.Fixed, n, wantLength)
	case n > maxDraw-vary:
		return Dist{}, badOption(s.Names.Vary, vary, fmt.Sprintf("%s with it is above %d", s.Names.Fixed, maxDraw))
	}
	return Dist{kind: fixed, n: n, vary: vary, lo: max(1, n-vary), hi: n + vary}, nil
}

func (s Settings) logNormal() (Dist, error) {
	d := Dist{kind: logNormal, sigma: *s.Sigma}
	if !(d.sigma > 0) || math.IsInf(d.sigma, 0) {
		return Dist{}, badOption(s.Names.Sigma, d.sigma, "want a finite number above 0")
	}
	name, value := s.Names.Mu, 0.0
	if s.Mu != nil {
		value = *s.Mu
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return Dist{}, badOption(name, value, "want a finite number")
		}
		d.mu = value
	} else {
		name, value = s.Names.Median, *s.Median
		if !(value > 0) || math.IsInf(value, 0) {
			return Dist{}, badOption(name, value, "want a finite number above 0")
		}
		d.mu = math.Log(value)
	}
	if s.Max != nil {
		d.max = *s.Max
		if d.max < 1 || d.max > maxDraw {
			return Dist{}, badOption(s.Names.Max, d.max, wantLength)
		}
	} else if d.mu > math.Log(maxDraw) {
		return Dist{}, badOption(name, value, fmt.Sprintf("most lengths would be above %d", maxDraw))
	}
	return d, nil
}
