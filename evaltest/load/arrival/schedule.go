package arrival

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A Schedule is a plan of when requests are due. It is immutable and may be
// used by several goroutines at once. The zero Schedule has no arrivals.
type Schedule struct {
	process Process
	stages  []leg
	offsets []time.Duration // of a trace, sorted
	name    string
}

// Constant returns the endless schedule in which a request is due every
// 1/perSecond seconds, the first at once. A rate outside (0, [MaxRate]] panics;
// use [Stages] for a rate from outside.
func Constant(perSecond float64) Schedule { return endless(Even, perSecond) }

// Poisson returns the endless schedule of a Poisson process. A rate outside
// (0, [MaxRate]] panics.
func Poisson(perSecond float64) Schedule { return endless(Memoryless, perSecond) }

// Gamma returns the endless schedule whose gaps have a gamma distribution of
// the shape; see [Process] for its meaning and range. With shape 1 the times
// are Poisson's, draw for draw. A rate outside (0, [MaxRate]] or a shape outside
// its range panics.
func Gamma(perSecond, shape float64) Schedule {
	if shape == 0 {
		panic(&OptionError{"Gamma: shape", shape, "use Constant for even gaps"})
	}
	return endless(Process(shape), perSecond)
}

func endless(p Process, perSecond float64) Schedule {
	s, err := Stages(p, Hold(Forever, perSecond))
	if err != nil {
		panic(err)
	}
	return s
}

// Stages returns the schedule whose rate follows the stages one after the
// other, and ends with the last. Every process follows the same rate: the
// process of rate 1 is stretched so that the rate's integral takes the place of
// time, which makes Poisson arrivals under a ramp an inhomogeneous Poisson
// process and not a row of constant pieces.
//
// Errors are *[OptionError]: no stages, a shape out of range, a length that is
// not positive, a rate that is negative, not finite or above [MaxRate], a
// [Forever] that is not last or has no constant rate above 0, and stages that
// are 0 throughout.
func Stages(p Process, stages ...Stage) (Schedule, error) {
	if err := p.check("Stages: process"); err != nil {
		return Schedule{}, err
	}
	legs, err := lay(stages)
	if err != nil {
		return Schedule{}, err
	}
	words := make([]string, len(stages))
	for i, s := range stages {
		words[i] = s.String()
	}
	return Schedule{process: p, stages: legs, name: p.String() + " " + strings.Join(words, ",")}, nil
}

// Trace returns the schedule of the offsets, each divided by timeScale: 2
// replays twice as fast, 0.5 at half the speed, 1 exactly. The first offset is
// kept as it is: subtract it from all to start at once.
//
// Errors are *[OptionError]: no offsets, one that is negative or before its
// predecessor (arrivals are matched with rows by position, so nothing is
// sorted here), a scale that is not above 0 and finite, and one by which the
// last offset overflows.
func Trace(offsets []time.Duration, timeScale float64) (Schedule, error) {
	if err := refuse(timeScale > 0 && !math.IsInf(timeScale, 0), "Trace: time scale", timeScale, "it must be above 0 and finite: 2 is twice as fast"); err != nil {
		return Schedule{}, err
	}
	if len(offsets) == 0 {
		return Schedule{}, &OptionError{"Trace: number of offsets", 0, "a trace needs at least one"}
	}
	scaled := make([]time.Duration, len(offsets))
	before := time.Duration(0)
	for i, o := range offsets {
		if o < before {
			return Schedule{}, &OptionError{fmt.Sprintf("Trace: offset %d", i), o, fmt.Sprintf("it must not be before %v; sort the rows by time first", before)}
		}
		before = o
		if timeScale == 1 { // exact also beyond the 53 bits of a float
			scaled[i] = o
			continue
		}
		ns := math.Round(float64(o) / timeScale)
		if ns >= math.MaxInt64 {
			return Schedule{}, &OptionError{fmt.Sprintf("Trace: offset %d", i), o, fmt.Sprintf("at time scale %v it is beyond 292 years", timeScale)}
		}
		scaled[i] = time.Duration(ns)
	}
	return Schedule{offsets: scaled, name: fmt.Sprintf("trace of %d at time scale %v", len(offsets), timeScale)}, nil
}

// String names the process and the stages, such as "poisson forever:20", or
// the trace's length and scale.
func (s Schedule) String() string { return s.name }

// Process returns the process of the gaps; a trace, whose times are given, has
// none, and ok is false.
func (s Schedule) Process() (p Process, ok bool) { return s.process, s.offsets == nil }

// Random reports whether the times depend on random numbers.
func (s Schedule) Random() bool { return s.offsets == nil && s.process != Even }

// Length returns how long the schedule is; ok is false if it is endless. All
// arrivals are due before it, but a trace's last, which is due at it.
func (s Schedule) Length() (d time.Duration, ok bool) {
	switch {
	case len(s.offsets) > 0:
		return s.offsets[len(s.offsets)-1], true
	case len(s.stages) == 0:
		return 0, true
	}
	last := s.stages[len(s.stages)-1]
	return last.end, last.end != Forever
}

// Times returns the times at which requests are due, as offsets from the run's
// start, in order; two may be equal. They are computed as they are asked for,
// and none depends on when another was used. They end with the stages or the
// trace; endless ones after 292 years, where a time.Duration ends.
//
// The generator r is drawn from as the sequence is ranged over, and only there,
// so a generator of the same seed gives the same times. A second range goes on
// drawing and gives other times. A nil r panics if the schedule is [Schedule.Random].
func (s Schedule) Times(r *rand.Rand) iter.Seq[time.Duration] {
	if len(s.offsets) > 0 {
		return slices.Values(s.offsets)
	}
	if r == nil && s.Random() {
		panic("arrival.Schedule.Times: r is nil; " + s.name + " needs random numbers")
	}
	return func(yield func(time.Duration) bool) {
		last := time.Duration(0)
		u, k := s.process.first(r), 0
		for n := 1; ; n++ {
			for k < len(s.stages) && u >= s.stages[k].upTo {
				k++
			}
			if k == len(s.stages) {
				return
			}
			t, ok := s.stages[k].at(u)
			// Rounding may carry an arrival to the very end of its stage; at
			// the end of the schedule that is one too many.
			if !ok || k == len(s.stages)-1 && t >= s.stages[k].end {
				return
			}
			last = max(last, t) // rounding must not turn two around either
			if !yield(last) {
				return
			}
			if s.process == Even {
				u = float64(n) // a sum of n ones is exact, but only up to 2⁵³
				continue
			}
			u += s.process.gap(r)
		}
	}
}

// Expected returns the expected number of arrivals due in [from, to): the
// integral of the rate, or a trace's count. The number in a run varies around
// it, and is never stretched to meet it. A from below 0 or above to panics.
func (s Schedule) Expected(from, to time.Duration) float64 {
	if from < 0 || to < from {
		panic(fmt.Sprintf("arrival.Schedule.Expected: the window from %v to %v is none", from, to))
	}
	if len(s.offsets) > 0 {
		i, _ := slices.BinarySearch(s.offsets, from)
		j, _ := slices.BinarySearch(s.offsets, to)
		return float64(j - i)
	}
	sum := 0.0
	for _, l := range s.stages {
		sum += l.mass(from, to)
	}
	return sum
}

// when returns the time at which u arrivals are expected to have come: the
// schedule's end if it has no more than that.
func (s Schedule) when(u float64) time.Duration {
	if i := int(u); i < len(s.offsets) {
		return s.offsets[i]
	}
	for _, l := range s.stages {
		if u < l.upTo {
			if t, ok := l.at(u); ok {
				return t
			}
		}
	}
	end, _ := s.Length()
	return end
}
