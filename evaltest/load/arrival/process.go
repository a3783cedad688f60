package arrival

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// Process is how the gaps between arrivals vary: the shape of their gamma
// distribution. Its mean is the schedule's business. The coefficient of
// variation of the gaps is 1/√shape: at shape 0.25 they vary twice as much as
// their mean, at 1 as much, at 100 a tenth as much.
//
// The shape is what vLLM calls burstiness: the lower, the more bursty. Range:
// [Even], or [MinShape] to [MaxShape].
type Process float64

// Processes by name.
const (
	// Even has no variation: the n-th arrival, from 0, is due when the rate's
	// integral reaches n. The first is due at once. (0 stands for it because
	// it is the limit of ever larger shapes, which a float cannot hold.)
	Even Process = 0
	// Memoryless has exponential gaps: a Poisson process, or one with a
	// changing rate under stages. It is what many independent clients make.
	Memoryless Process = 1
)

// The range of shapes. Below the lower bound nearly all gaps round to nothing
// and a few hold all the time; above the upper one use [Even].
const (
	MinShape Process = 0.01
	MaxShape Process = 1e6
)

// String returns "constant", "poisson" or "gamma(0.5)".
func (p Process) String() string {
	switch p {
	case Even:
		return "constant"
	case Memoryless:
		return "poisson"
	}
	return "gamma(" + strconv.FormatFloat(float64(p), 'g', -1, 64) + ")"
}

func (p Process) check(where string) error {
	return refuse(p == Even || p >= MinShape && p <= MaxShape, where, float64(p), // a NaN fails too
		fmt.Sprintf("a shape must be 0 (even gaps) or from %v to %v", float64(MinShape), float64(MaxShape)))
}

// first draws the unit-rate time of the first arrival. For a random process
// that is the time to the next arrival of a process that has always been
// running: a uniform share of a gap chosen by its length, which for gamma gaps
// is a gamma of one shape more. So the expected count of every window is its
// rate times its length, from the very start; with a whole gap instead, bursty
// schedules would begin (1/shape-1)/2 arrivals ahead. For exponential gaps the
// two are the same, and the plain draw is taken.
func (p Process) first(r *rand.Rand) float64 {
	switch p {
	case Even:
		return 0
	case Memoryless:
		return r.ExpFloat64()
	}
	return r.Float64() * gamma(r, float64(p)+1) / float64(p)
}

// gap draws a gap of mean 1.
func (p Process) gap(r *rand.Rand) float64 {
	switch p {
	case Even:
		return 1
	case Memoryless:
		return r.ExpFloat64()
	}
	return gamma(r, float64(p)) / float64(p)
}

// gamma draws from the gamma distribution of the shape and scale 1, by the
// method of Marsaglia and Tsang (ACM TOMS 26(3), 2000): the cube of a shifted
// normal, corrected by rejection, which is exact. Below shape 1 it takes one
// of shape+1 times U^(1/shape), which is exact too.
func gamma(r *rand.Rand, shape float64) float64 {
	if shape < 1 {
		u := 1 - r.Float64() // in (0, 1]: a gap of 0 comes from underflow only
		return gamma(r, shape+1) * math.Pow(u, 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - r.Float64()
		if math.Log(u) < x*x/2+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}
