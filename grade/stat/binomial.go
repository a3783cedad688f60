package stat

import "math"

// logBinomial is ln[Γ(n+1)/(Γ(x+1)Γ(n-x+1)) p^x q^(n-x)] with q = 1-p, for
// 0 <= x <= n, x and n not necessarily whole. It is accurate to about 1e-14
// for any size, where a difference of three log-gammas loses six digits at n =
// 1e6. Source: C. Loader, "Fast and accurate computation of binomial
// probabilities" (2000).
//
// q is an argument of its own so that a p next to 1 does not lose it.
func logBinomial(x, n, p, q float64) float64 {
	switch {
	case x == 0 && n == 0:
		return 0
	case p == 0:
		return impossibleUnless(x == 0)
	case q == 0:
		return impossibleUnless(x == n)
	case x == 0:
		return n * logOneLess(p, q)
	case x == n:
		return n * logOneLess(q, p)
	}
	y := n - x
	sum := stirlingError(n) - stirlingError(x) - stirlingError(y) - deviance(x, n*p) - deviance(y, n*q)
	return sum - (math.Log(2*math.Pi)+math.Log(x)+math.Log(y/n))/2
}

func impossibleUnless(certain bool) float64 {
	if certain {
		return 0
	}
	return math.Inf(-1)
}

// logOneLess is ln(1-p), where q is 1-p: from whichever of the two is exact.
func logOneLess(p, q float64) float64 {
	if p < q {
		return math.Log1p(-p)
	}
	return math.Log(q)
}

// stirlingError is ln Γ(x+1) less Stirling's (x+½)ln x - x + ½ln 2π, for x > 0.
func stirlingError(x float64) float64 {
	if x < 15 {
		gamma, _ := math.Lgamma(x + 1)
		return gamma - (x+0.5)*math.Log(x) + x - math.Log(2*math.Pi)/2
	}
	xx := x * x
	return (1./12 - (1./360-(1./1260-(1./1680-1./1188/xx)/xx)/xx)/xx) / x
}

// deviance is x ln(x/m) + m - x, without the cancellation when x is near m.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) >= 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	sum, term := (x-m)*v, 2*x*v
	// v² is below 0.01, so that ten terms are enough.
	for j := 3.0; j < 25; j += 2 {
		term *= v * v
		sum += term / j
	}
	return sum
}

// binomial is the probability of exactly k successes in n trials.
func binomial(k, n int, p float64) float64 {
	if k < 0 || k > n {
		return 0
	}
	return math.Exp(logBinomial(float64(k), float64(n), p, 1-p))
}

// binomialUpper is the probability of at least k successes in n trials. Both
// tails are summed from their largest term outwards, by the ratio of
// neighbours, so a small tail keeps its relative accuracy until it is below
// the smallest float, where it is 0.
func binomialUpper(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	case float64(k) > float64(n)*p:
		return binomialOutward(k, n, p)
	default:
		return 1 - binomialOutward(n-k+1, n, 1-p)
	}
}

// binomialOutward is the probability of at least k, for k beyond the mean.
func binomialOutward(k, n int, p float64) float64 {
	odds := p / (1 - p)
	sum, term := 1.0, 1.0
	for i := k; i < n; i++ {
		term *= float64(n-i) / float64(i+1) * odds
		if sum+term == sum {
			break
		}
		sum += term
	}
	return math.Min(1, binomial(k, n, p)*sum)
}

// A binomialTail is the probability sum of at least k of n successes, carried
// along as n and k grow one by one. Both steps are exact identities, so it
// strays by rounding only, 1e-16 a step.
type binomialTail struct {
	k, n   int
	p, sum float64
}

func newTail(k, n int, p float64) binomialTail {
	return binomialTail{k: k, n: n, p: p, sum: binomialUpper(k, n, p)}
}

// trial adds one trial: it helps those that were one short.
func (t *binomialTail) trial() {
	t.sum += t.p * binomial(t.k-1, t.n, t.p)
	t.n++
}

// raise asks for one more success.
func (t *binomialTail) raise() {
	t.sum = math.Max(0, t.sum-binomial(t.k, t.n, t.p))
	t.k++
}
