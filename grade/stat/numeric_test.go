package stat_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/grade/stat"
)

// The expected values of this file were computed with mpmath at 30 digits, from
// the defining integrals by their continued fractions; those that tables print
// agree with them (t at 0.025 and 9 degrees: 2.262; z at 0.025: 1.960).

// near fails unless got is want to 1e-10 of itself.
func near(t *testing.T, want, got float64, what string, args ...any) {
	t.Helper()
	assert.InEpsilon(t, want, got, 1e-10, append([]any{what}, args...)...)
}

func TestBetaCDF(t *testing.T) {
	for _, tt := range []struct{ a, b, x, want float64 }{
		{2, 3, 0.4, 0.52480000000000004},
		{0.5, 0.5, 0.1, 0.20483276469913346},
		{5, 1, 0.9, 0.59049000000000007},
		{0.5, 5, 0.01, 0.2428418908984375},
		{81, 183, 0.2553, 0.03127485278928481},
		{30, 0.5, 0.97, 0.17821754497024135},
		{1000, 1000, 0.5, 0.5},
		{1000, 1000, 0.47, 0.0036225247314441245},
		{100000.0, 100000.0, 0.5013, 0.87753571470015101},
		{7.5, 1000000.0, 1e-05, 0.82807364016695975},
		{999990, 11, 0.99999, 0.58303975019972192},
		{1000000.0, 1000000.0, 0.4995, 0.078649577580901631},
		{1, 1319, 0.001, 0.73277384055485464},
		{1319, 1, 0.999, 0.26722615944514506},
	} {
		near(t, tt.want, stat.BetaCDF(tt.a, tt.b, tt.x, 1-tt.x), "I_%v(%v, %v)", tt.x, tt.a, tt.b)
		near(t, 1-tt.want, stat.BetaCDF(tt.b, tt.a, 1-tt.x, tt.x), "mirrored I_%v(%v, %v)", tt.x, tt.a, tt.b)
	}
	assert.Equal(t, 0.0, stat.BetaCDF(2, 3, 0, 1))
	assert.Equal(t, 1.0, stat.BetaCDF(2, 3, 1, 0))
}

func TestStudentUpper(t *testing.T) {
	for _, tt := range []struct{ t, df, want float64 }{
		{0.1, 1, 0.46827448256944643},
		{1, 1, 0.25},
		{1.5, 2, 0.13619656244550054},
		{2.262157, 9, 0.02500000665221583},
		{3, 4.5, 0.017190433944379812},
		{12.7, 1, 0.02501216384467208},
		{2, 49, 0.025529574128709047},
		{2, 1318, 0.022852579541295852},
		{5, 1318, 3.2524938925913782e-7},
		{1.96, 1000000.0, 0.024998033792634895},
		{30, 3, 4.0676402135819797e-5},
		{10000.0, 2, 4.9999999250000012e-9},
		{0.001, 10, 0.49961089168737049},
		{8, 100000.0, 6.2869599381281868e-16},
	} {
		near(t, tt.want, stat.StudentUpper(tt.t, tt.df), "P(T > %v) with %v degrees", tt.t, tt.df)
		near(t, 1-tt.want, stat.StudentUpper(-tt.t, tt.df), "P(T > -%v) with %v degrees", tt.t, tt.df)
	}
	assert.Equal(t, 0.5, stat.StudentUpper(0, 3))
	assert.Equal(t, 0.0, stat.StudentUpper(math.Inf(1), 3))
	assert.Equal(t, 1.0, stat.StudentUpper(math.Inf(-1), 3))
}

func TestStudentQuantile(t *testing.T) {
	for _, tt := range []struct{ tail, df, want float64 }{
		{0.025, 1, 12.706204736174704},
		{0.025, 2, 4.3026527297494637},
		{0.025, 9, 2.2621571627982055},
		{0.05, 9, 1.8331129326562371},
		{0.005, 9, 3.2498355415921263},
		{0.025, 49, 2.0095752371292396},
		{0.025, 1318, 1.9617655127673152},
		{0.2, 9, 0.88340385968553449},
		{0.45, 5, 0.13217517523168723},
		{0.001, 3, 10.214531852407386},
		{1e-10, 4, 416.17514032960412},
		{0.025, 1000000.0, 1.959966356814107},
	} {
		near(t, tt.want, stat.StudentQuantile(tt.tail, tt.df), "t of %v with %v degrees", tt.tail, tt.df)
		if tt.tail > 1e-3 { // 1 less a smaller one has lost its digits
			near(t, -tt.want, stat.StudentQuantile(1-tt.tail, tt.df), "t of 1-%v with %v degrees", tt.tail, tt.df)
		}
	}
	assert.Equal(t, 0.0, stat.StudentQuantile(0.5, 3))
}

func TestNormalQuantile(t *testing.T) {
	for _, tt := range []struct{ tail, want float64 }{
		{0.4999, 0.00025066283008800749},
		{0.4, 0.25334710313579974},
		{0.1, 1.2815515655446004},
		{0.05, 1.6448536269514727},
		{0.025, 1.9599639845400542},
		{0.011, 2.2903678778552675},
		{0.009, 2.3656181268642927},
		{0.001, 3.0902323061678135},
		{1e-10, 6.3613409024040562},
		{1e-100, 21.273453560965324},
		{1e-300, 37.047096299361199},
	} {
		near(t, tt.want, stat.NormalQuantile(tt.tail), "z of %v", tt.tail)
		near(t, tt.tail, stat.NormalUpper(tt.want), "P(Z > %v)", tt.want)
		if tt.tail > 1e-3 {
			near(t, -tt.want, stat.NormalQuantile(1-tt.tail), "z of 1-%v", tt.tail)
		}
	}
}

func TestClopperPearson(t *testing.T) {
	// To four digits the first three are also in R. G. Newcombe, Statistics in
	// Medicine 17 (1998), 857-872, table I, method 5.
	for _, tt := range []struct {
		correct, n    int
		level, lo, hi float64
	}{
		{81, 263, 0.95, 0.25273674558527, 0.367621922601352},
		{15, 148, 0.95, 0.0578440100834481, 0.161650490349479},
		{1, 29, 0.95, 0.000872646883579797, 0.177644295488723},
		{742, 1319, 0.95, 0.535282448174505, 0.589533010613683},
		{1318, 1319, 0.95, 0.995783171083682, 0.999980805485215},
		{7, 10, 0.99, 0.264886014712869, 0.962992778903768},
		{999999, 1000000, 0.95, 0.999994428369344, 0.999999974682193},
		{500000, 1000000, 0.95, 0.499019519195311, 0.500980480804689},
	} {
		i := stat.ClopperPearson(tt.correct, tt.n, tt.level)
		near(t, tt.lo, i.Lo, "%d/%d", tt.correct, tt.n)
		near(t, tt.hi, i.Hi, "%d/%d", tt.correct, tt.n)
		assert.Equal(t, tt.level, i.Level)
	}
}

// TestClopperPearsonEnds: at 0 and n the free end has a closed form, the q with
// (1-q)^n = 0.025.
func TestClopperPearsonEnds(t *testing.T) {
	assert.Equal(t, stat.Interval{Lo: 0, Hi: 1, Level: 0.95}, stat.ClopperPearson(0, 0, 0.95), "nothing is known")
	for _, n := range []int{1, 2, 10, 50, 1319, 1e6} {
		free := -math.Expm1(math.Log(0.025) / float64(n))
		none, all := stat.ClopperPearson(0, n, 0.95), stat.ClopperPearson(n, n, 0.95)
		assert.Zero(t, none.Lo, "0 of %d", n)
		near(t, free, none.Hi, "0 of %d", n)
		assert.Equal(t, 1.0, all.Hi, "%d of %d", n, n)
		near(t, 1-free, all.Lo, "%d of %d", n, n)
	}
}

func TestBinomialUpper(t *testing.T) {
	for _, tt := range []struct {
		k, n    int
		p, want float64
	}{
		{8, 10, 0.5, 0.0546875},
		{60, 100, 0.5, 0.028443966820490396},
		{55, 100, 0.55, 0.54131614615790803},
		{300, 1000, 0.25, 0.00019359032194907896},
		{500500, 1000000, 0.5, 0.15889734568165277},
		{510000, 1000000, 0.5, 2.7721816438496123e-89},
		{1000000, 1000000, 0.9999, 3.7015207857933868e-44},
		{3, 1000000, 1e-06, 0.080301305101449589},
		{999000, 1000000, 0.999, 0.5084093682207646},
		{900, 1000, 0.5, 6.7017177900062963e-162},
	} {
		near(t, tt.want, stat.BinomialUpper(tt.k, tt.n, tt.p), "P(X >= %d) of %d at %v", tt.k, tt.n, tt.p)
	}
	assert.Equal(t, 1.0, stat.BinomialUpper(0, 10, 0.5))
	assert.Equal(t, 0.0, stat.BinomialUpper(11, 10, 0.5))
	assert.Equal(t, 0.0, stat.BinomialUpper(1e6, 1e6, 0.5), "below the smallest float: 0, and no NaN")
	assert.Equal(t, 0.0, stat.BinomialUpper(3, 10, 0))
	assert.Equal(t, 1.0, stat.BinomialUpper(10, 10, 1))
}

func TestBinomialSumsToOne(t *testing.T) {
	for _, n := range []int{1, 7, 100, 1319} {
		for _, p := range []float64{1e-9, 0.05, 0.5, 0.99} {
			sum := 0.0
			for k := 0; k <= n; k++ {
				sum += stat.Binomial(k, n, p)
			}
			assert.InDelta(t, 1, sum, 1e-12, "n %d, p %v", n, p)
		}
	}
}
