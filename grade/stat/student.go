package stat

import "math"

// studentUpper is the probability that Student's t with df degrees of freedom
// is above t. Source: NIST DLMF 8.17, P(|T| > t) = I_x(df/2, 1/2) with x =
// df/(df+t²).
func studentUpper(t, df float64) float64 {
	if t < 0 {
		return 1 - studentUpper(-t, df)
	}
	if math.IsInf(t, 1) {
		return 0
	}
	// t²/df and not t²: the square of a huge t is no number.
	r := t / math.Sqrt(df)
	if r > 1e150 {
		return 0
	}
	x, y := 1/(1+r*r), r*r/(1+r*r)
	return betaCDF(df/2, 0.5, x, y) / 2
}

// studentDensity is the density of Student's t. With x = df/(df+t²), the
// density of the beta variable at x carries over by |dx/dt|.
func studentDensity(t, df float64) float64 {
	lgHalf, _ := math.Lgamma((df + 1) / 2)
	lg, _ := math.Lgamma(df / 2)
	return math.Exp(lgHalf-lg-(df+1)/2*math.Log1p(t*t/df)) / math.Sqrt(df*math.Pi)
}

// studentQuantile is the t with the probability tail above it, 0 < tail < 1:
// 2.262 for 0.025 with 9 degrees of freedom. Where t has no float worth the
// name, as for a tail of 1e-200 with 1 degree of freedom, it is infinite.
func studentQuantile(tail, df float64) float64 {
	switch {
	case tail > 0.5:
		return -studentQuantile(1-tail, df)
	case tail == 0.5:
		return 0
	}
	// The normal quantile lies left of t's. The tail is convex there, so
	// Newton's method climbs to the root without passing it. Far out it is
	// taken on the logarithms of both, which are nearly a line.
	t := normalQuantile(tail)
	for range 200 {
		upper, density := studentUpper(t, df), studentDensity(t, df)
		if upper == 0 || density == 0 {
			return math.Inf(1)
		}
		next := t + (upper-tail)/density
		if tail < 0.1 {
			next = t * math.Exp(math.Log(upper/tail)*upper/(t*density))
		}
		if math.Abs(next-t) <= 1e-15*math.Abs(next) {
			return next
		}
		t = next
	}
	return t
}
