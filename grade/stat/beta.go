package stat

import "math"

// betaCDF is the regularised incomplete beta function I_x(a, b), the
// probability that a beta variable is at most x. y is 1-x, an argument of its
// own so that neither end loses digits. Source: the continued fraction of NIST
// DLMF 8.17.22, evaluated by Lentz's method, behind the prefactor of
// [logBinomial]; checked to 1e-10 against mpmath, and to 1e-7 where a or b is
// several hundred million.
func betaCDF(a, b, x, y float64) float64 {
	switch {
	case x <= 0:
		return 0
	case y <= 0:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - betaFraction(b, a, y, x)
	}
	return betaFraction(a, b, x, y)
}

// betaDensity is x·y times the density of the beta distribution at x.
func betaDensity(a, b, x, y float64) float64 {
	return a * b / (a + b) * math.Exp(logBinomial(a, a+b, x, y))
}

// tiny stands for a zero denominator in Lentz's method.
const tiny = 1e-300

func betaFraction(a, b, x, y float64) float64 {
	front := betaDensity(a, b, x, y) / a
	c, d := 1.0, lentz(1-(a+b)*x/(a+1))
	h := d
	// The fraction converges within a few times √max(a,b) steps; a million
	// are enough for any count that a run has.
	for m := 1.0; m < 1e6; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = lentz(1+even*d), 1+even/c
		if c == 0 {
			c = tiny
		}
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = lentz(1+odd*d), 1+odd/c
		if c == 0 {
			c = tiny
		}
		h *= d * c
		if math.Abs(d*c-1) < 1e-16 {
			break
		}
	}
	return math.Min(1, front*h)
}

func lentz(d float64) float64 {
	if d == 0 {
		d = tiny
	}
	return 1 / d
}

// betaQuantile is the x with betaCDF(a, b, x) = p, for a and b of at least 1,
// by Newton's method within a bracket that halves where a step leaves it.
func betaQuantile(p, a, b float64) float64 {
	lo, hi := 0.0, 1.0
	x := a / (a + b)
	for range 200 {
		y := 1 - x
		miss := betaCDF(a, b, x, y) - p
		if miss == 0 {
			return x
		}
		if miss > 0 {
			hi = x
		} else {
			lo = x
		}
		next := x - miss*x*y/betaDensity(a, b, x, y)
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if math.Abs(next-x) <= 1e-16*x {
			return next
		}
		x = next
	}
	return x
}
