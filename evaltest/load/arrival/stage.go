package arrival

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// MaxRate is the highest rate of a schedule, in requests a second: one a
// nanosecond, which is as fine as times are.
const MaxRate = 1e9

// Forever is the length of a stage that does not end.
const Forever = time.Duration(math.MaxInt64)

// A Stage is a piece of a schedule in which the rate goes from one value to
// another in a straight line.
type Stage struct {
	// For is its length; above 0. [Forever] is allowed for the last stage if
	// From and To are equal.
	For time.Duration
	// From and To are the rates at its beginning and end, in requests a
	// second; 0 to [MaxRate].
	From, To float64
}

// Hold returns a stage of one rate.
func Hold(d time.Duration, perSecond float64) Stage { return Stage{d, perSecond, perSecond} }

// Ramp returns a stage that goes from one rate to another.
func Ramp(d time.Duration, from, to float64) Stage { return Stage{d, from, to} }

// String returns the stage as [ParseStages] reads it, such as "30s:0..100".
func (s Stage) String() string {
	d, rate := s.For.String(), strconv.FormatFloat(s.From, 'g', -1, 64)
	if s.For == Forever {
		d = "forever"
	}
	if s.To != s.From {
		rate += ".." + strconv.FormatFloat(s.To, 'g', -1, 64)
	}
	return d + ":" + rate
}

// ParseStages reads stages from text such as "30s:0..100,5m:100,forever:20":
// lengths as time.ParseDuration reads them or the word forever, a colon, and a
// rate or two with two dots between. Spaces around parts are ignored. The
// values are checked as by [Stages]; errors are *[OptionError].
func ParseStages(text string) ([]Stage, error) {
	var stages []Stage
	for i, part := range strings.Split(text, ",") {
		s, err := parseStage(part)
		if err != nil {
			return nil, &OptionError{fmt.Sprintf("stage %d of %q", i+1, text), strconv.Quote(part), err.Error() + "; write a length, a colon and a rate, as in 30s:100 or 30s:0..100"}
		}
		stages = append(stages, s)
	}
	if _, err := lay(stages); err != nil {
		return nil, err
	}
	return stages, nil
}

func parseStage(part string) (s Stage, err error) {
	length, rates, ok := strings.Cut(part, ":")
	if !ok {
		return s, errors.New("it has no colon")
	}
	if length = strings.TrimSpace(length); length == "forever" {
		s.For = Forever
	} else if s.For, err = time.ParseDuration(length); err != nil {
		return s, fmt.Errorf("its length %q is no duration", length)
	}
	from, to, two := strings.Cut(rates, "..")
	if s.From, err = parseRate(from); err == nil {
		s.To = s.From
		if two {
			s.To, err = parseRate(to)
		}
	}
	return s, err
}

func parseRate(text string) (float64, error) {
	text = strings.TrimSpace(text)
	// ParseFloat also takes hexadecimal and underscores, which no rate is
	// written in; 0x1p-2 would more likely be a slip.
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xX_") {
		return 0, fmt.Errorf("its rate %q is no number", text)
	}
	return rate, nil
}

// A leg is a stage laid out on the schedule. The rate's integral is measured in
// arrivals from the schedule's start.
type leg struct {
	start, end time.Duration // end is Forever for the last one of an endless schedule
	from, to   float64
	base, upTo float64 // the integral at start and end
}

// lay checks the stages and puts one after the other.
func lay(stages []Stage) ([]leg, error) {
	if len(stages) == 0 {
		return nil, &OptionError{"Stages: number of stages", 0, "a schedule needs at least one"}
	}
	legs := make([]leg, len(stages))
	var start time.Duration
	var base float64
	for i, s := range stages {
		if err := s.check(i, len(stages), start); err != nil {
			return nil, err
		}
		l := leg{start: start, end: Forever, from: s.From, to: s.To, base: base, upTo: math.Inf(1)}
		if s.For != Forever {
			l.end = start + s.For
			l.upTo = base + (s.From+s.To)/2*s.For.Seconds()
		}
		legs[i], start, base = l, l.end, l.upTo
	}
	if base == 0 {
		return nil, &OptionError{"Stages: rate", 0, "it is 0 throughout, so no request would ever be due"}
	}
	return legs, nil
}

// check checks stage i of n, which starts at start.
func (s Stage) check(i, n int, start time.Duration) error {
	at := func(field string) string { return fmt.Sprintf("Stages: stage %d: %s", i+1, field) }
	const want = "a rate must be from 0 to 1e9 a second"
	endless := s.For == Forever
	return errors.Join( // everything that is wrong with it
		refuse(s.For > 0, at("For"), s.For, "a length must be above 0"),
		refuse(s.From >= 0 && s.From <= MaxRate, at("From"), s.From, want),
		refuse(s.To >= 0 && s.To <= MaxRate, at("To"), s.To, want),
		refuse(!endless || i == n-1, at("For"), "forever", "only the last stage may be endless"),
		refuse(!endless || s.From == s.To && s.From > 0, at("rate"), s, "an endless stage needs one rate above 0"),
		refuse(endless || start <= Forever-1-max(s.For, 0), at("For"), s.For, "the stages are longer than 292 years together"),
	)
}

// at returns when the rate's integral reaches u; base ≤ u < upTo. ok is false
// beyond 292 years.
func (l leg) at(u float64) (t time.Duration, ok bool) {
	u -= l.base
	if l.end == Forever {
		ns := math.Round(u / l.from * 1e9)
		if ns >= float64(Forever-l.start) {
			return 0, false
		}
		return l.start + time.Duration(ns), true
	}
	d := (l.end - l.start).Seconds()
	// The root of from·s + (to-from)/(2d)·s² = u that lies in the stage, in
	// the form that does not subtract two nearly equal numbers when the ramp
	// is flat.
	root := math.Sqrt(max(0, l.from*l.from+2*(l.to-l.from)/d*u))
	s := 0.0
	if u > 0 {
		s = 2 * u / (l.from + root)
	}
	return min(l.end, l.start+time.Duration(math.Round(min(s, d)*1e9))), true
}

// mass returns the rate's integral over the part of the leg in [from, to).
func (l leg) mass(from, to time.Duration) float64 {
	from, to = max(from, l.start), min(to, l.end)
	if to <= from {
		return 0
	}
	slope := 0.0
	if l.from != l.to {
		slope = (l.to - l.from) / (l.end - l.start).Seconds()
	}
	middle := ((from - l.start).Seconds() + (to - l.start).Seconds()) / 2
	return (l.from + slope*middle) * (to - from).Seconds()
}
