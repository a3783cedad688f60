package metric

import "math"

// HistogramError is the largest relative error of a percentile that comes from
// a histogram: half of a bucket.
const HistogramError = 1.0 / (2 << subBits)

// subBits is how many bits of the mantissa tell buckets apart: 512 buckets
// between a power of two and the next, 4 KiB for each such octave that occurs.
const subBits = 9

// octave counts the values between a power of two and the next.
type octave [1 << subBits]int64

// histogram counts values of one sign in buckets no wider than 1/512 of what
// they hold. The bits of a float64 are the bucket's number.
type histogram struct {
	octaves map[int]*octave // by exponent, as the float64 has it
	zero    int64
}

func (h *histogram) add(v float64, weight int64) {
	if v == 0 {
		h.zero += weight
		return
	}
	bits := math.Float64bits(math.Abs(v))
	exponent, sub := int(bits>>52), int(bits>>(52-subBits))&(1<<subBits-1)
	o := h.octaves[exponent]
	if o == nil {
		if h.octaves == nil {
			h.octaves = map[int]*octave{}
		}
		o = new(octave)
		h.octaves[exponent] = o
	}
	o[sub] += weight
}

// middle is the value that stands for a bucket.
func middle(exponent, sub int) float64 {
	low := math.Float64frombits(uint64(exponent)<<52 | uint64(sub)<<(52-subBits))
	high := math.Float64frombits((uint64(exponent)<<52 | uint64(sub)<<(52-subBits)) + 1<<(52-subBits))
	return low + (high-low)/2
}
