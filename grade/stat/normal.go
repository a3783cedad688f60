package stat

import "math"

// normalUpper is the probability that a standard normal variable is above z.
func normalUpper(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// normalQuantile is the z with the probability tail above it, 0 < tail < 1:
// 1.96 for 0.025.
func normalQuantile(tail float64) float64 {
	if tail > 0.5 {
		return -normalQuantile(1 - tail)
	}
	if tail > 0.01 {
		return math.Sqrt2 * math.Erfinv(1-2*tail)
	}
	// 1-2·tail has no digits left for a small tail, so Newton's method on its
	// logarithm, which is concave: it converges from any side.
	z := math.Sqrt(-2 * math.Log(tail))
	for range 50 {
		upper := normalUpper(z)
		if upper == 0 {
			z *= 0.99
			continue
		}
		step := math.Log(upper/tail) * upper / normalDensity(z)
		z += step
		if math.Abs(step) < 1e-15*z {
			break
		}
	}
	return z
}
