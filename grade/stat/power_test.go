package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/grade/stat"
)

// bruteForce adds up the trinomial over every outcome at which the test fires.
func bruteForce(t stat.PairedTest, n int, drop float64) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	power := func(p float64, k int) float64 {
		if k == 0 {
			return 0
		}
		return float64(k) * math.Log(p)
	}
	sum := 0.0
	for broke := 0; broke <= n; broke++ {
		for fixed := 0; broke+fixed <= n; fixed++ {
			rest := n - broke - fixed
			if !t.Fires(broke, fixed) {
				continue
			}
			sum += math.Exp(lg(n) - lg(broke) - lg(fixed) - lg(rest) +
				power(t.Discordant+drop, broke) + power(t.Discordant, fixed) + power(1-2*t.Discordant-drop, rest))
		}
	}
	return sum
}

func TestPowerIsTheSum(t *testing.T) {
	for _, n := range []int{1, 4, 5, 23, 100} {
		for _, discordant := range []float64{0, 0.01, 0.1, 0.35} {
			for _, drop := range []float64{0, 0.02, 0.3} {
				for _, exact := range []bool{false, true} {
					for _, alpha := range []float64{0.05, 1. / 32, 0.001} {
						test := stat.PairedTest{Alpha: alpha, Discordant: discordant, Exact: exact}
						assert.InDelta(t, bruteForce(test, n, drop), test.Power(n, drop), 1e-11, "n %d, drop %v, %+v", n, drop, test)
					}
				}
			}
		}
	}
}

// TestFires pins where the test begins to fire. 4 broken and none fixed is a
// mid-p of 1/32; at an alpha of 1/32 exactly that is enough.
func TestFires(t *testing.T) {
	for _, tt := range []struct {
		name         string
		broke, fixed int
		alpha        float64
		mid, exact   bool
	}{
		{"nothing flipped", 0, 0, 0.999, false, false},
		{"3 broke", 3, 0, 0.05, false, false},
		{"4 broke", 4, 0, 0.05, true, false},
		{"5 broke", 5, 0, 0.05, true, true},
		{"5 broke, 1 fixed: 0.0625", 5, 1, 0.05, false, false},
		{"7 broke, 1 fixed", 7, 1, 0.05, true, true},
		{"at alpha", 4, 0, 1. / 32, true, false},
		{"both at alpha", 5, 0, 1. / 32, true, true},
		{"just above alpha", 4, 0, math.Nextafter(1./32, 0), false, false},
		{"fixed only", 0, 20, 0.05, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.mid, stat.PairedTest{Alpha: tt.alpha}.Fires(tt.broke, tt.fixed))
			assert.Equal(t, tt.exact, stat.PairedTest{Alpha: tt.alpha, Exact: true}.Fires(tt.broke, tt.fixed))
		})
	}
}

// TestPairedTestFigures pins the table of the documentation of PairedTest.
func TestPairedTestFigures(t *testing.T) {
	for _, tt := range []struct {
		n                  int
		discordant         float64
		size, exactSize    float64
		minDrop, exactDrop float64
	}{
		{50, 0.02, 0.0071, 0.0013, 0.1434, 0.1654},
		{50, 0.1, 0.0423, 0.0234, 0.2197, 0.2408},
		{200, 0.02, 0.0385, 0.0199, 0.0512, 0.0567},
		{200, 0.1, 0.0496, 0.0369, 0.0943, 0.0995},
		{1319, 0.02, 0.0494, 0.0380, 0.0161, 0.0169},
		{1319, 0.1, 0.0496, 0.0439, 0.0330, 0.0338},
		{10_000, 0.02, 0.0499, 0.0451, 0.0053, 0.0054},
		{10_000, 0.1, 0.0499, 0.0477, 0.0114, 0.0115},
	} {
		t.Run(fmt.Sprint(tt.n, tt.discordant), func(t *testing.T) {
			mid := stat.PairedTest{Alpha: 0.05, Discordant: tt.discordant}
			exact := mid
			exact.Exact = true
			assert.InDelta(t, tt.size, mid.Power(tt.n, 0), 5e-5, "size of the mid-p")
			assert.InDelta(t, tt.exactSize, exact.Power(tt.n, 0), 5e-5, "size of the exact test")
			drop, err := mid.MinDrop(tt.n, 0.8)
			require.NoError(t, err)
			assert.InDelta(t, tt.minDrop, drop, 5.1e-5, "drop of the mid-p")
			drop, err = exact.MinDrop(tt.n, 0.8)
			require.NoError(t, err)
			assert.InDelta(t, tt.exactDrop, drop, 5.1e-5, "drop of the exact test")
		})
	}
}

// TestFalseAlarmBound: what the documentation says of the worst false alarms.
func TestFalseAlarmBound(t *testing.T) {
	worst := func(exact bool, percent int) (size float64, at string) {
		for n := 1; n <= 300; n += 1 + n/40 {
			for i := 5; i <= percent; i += 5 {
				d := float64(i) / 100
				s := stat.PairedTest{Alpha: 0.05, Discordant: d, Exact: exact}.Power(n, 0)
				if s > size {
					size, at = s, fmt.Sprintf("n %d, discordant %.2f", n, d)
				}
			}
		}
		return size, at
	}
	size, at := worst(true, 50)
	assert.LessOrEqual(t, size, 0.05, "the exact test never exceeds alpha: %s", at)
	size, at = worst(false, 25)
	t.Log("mid-p, at most half of the items flip:", size, at)
	assert.InDelta(t, 0.0502, size, 0.0001, at)
	size, at = worst(false, 50)
	t.Log("mid-p, any:", size, at)
	assert.InDelta(t, 0.0730, size, 0.0001, at)
}

// simulate is how often of 2,000 runs the test fires, flipping n coins a run.
func simulate(test stat.PairedTest, n int, drop float64, seed uint64) float64 {
	random := rand.New(rand.NewPCG(seed, 7))
	fired := 0
	for range 2000 {
		broke, fixed := 0, 0
		for range n {
			switch u := random.Float64(); {
			case u < test.Discordant+drop:
				broke++
			case u < 2*test.Discordant+drop:
				fixed++
			}
		}
		if stat.McNemar(broke, fixed).MidP <= test.Alpha {
			fired++
		}
	}
	return float64(fired) / 2000
}

func TestPowerSimulated(t *testing.T) {
	for i, tt := range []struct {
		n          int
		discordant float64
		alpha      float64
	}{
		{30, 0, 0.05}, {50, 0.02, 0.05}, {100, 0.1, 0.05}, {300, 0.01, 0.05}, {300, 0.2, 0.01}, {1319, 0.02, 0.05}, {1319, 0.1, 0.05},
	} {
		t.Run(fmt.Sprint(tt.n, tt.discordant), func(t *testing.T) {
			test := stat.PairedTest{Alpha: tt.alpha, Discordant: tt.discordant}
			drop, err := stat.MinDrop(tt.n, tt.discordant, tt.alpha, 0.8)
			require.NoError(t, err)
			assert.InDelta(t, 0.80, simulate(test, tt.n, drop, uint64(i)), 0.03, "a drop of %v is found", drop)
			allowed := tt.alpha + 3*math.Sqrt(tt.alpha*(1-tt.alpha)/2000)
			assert.LessOrEqual(t, simulate(test, tt.n, 0, uint64(100+i)), allowed, "false alarms")
		})
	}
}

func TestMinDropAndItemsForAgree(t *testing.T) {
	for _, discordant := range []float64{0, 0.01, 0.1} {
		for _, drop := range []float64{0.01, 0.05, 0.3} {
			n, err := stat.ItemsFor(drop, discordant, 0.05, 0.8)
			require.NoError(t, err)
			test := stat.PairedTest{Alpha: 0.05, Discordant: discordant}
			assert.GreaterOrEqual(t, test.Power(n, drop), 0.8, "%d items", n)
			assert.Less(t, test.Power(n-1, drop), 0.8, "%d items", n-1)
			found, err := stat.MinDrop(n, discordant, 0.05, 0.8)
			require.NoError(t, err)
			assert.LessOrEqual(t, found, drop*(1+1e-9))
			assert.GreaterOrEqual(t, test.Power(n, found), 0.8)
			assert.Less(t, test.Power(n, found*(1-1e-6)), 0.8, "no smaller drop has it")
		}
	}
}

func TestMinDropNeedsItems(t *testing.T) {
	var few *stat.NotEnough
	for _, tt := range []struct {
		name       string
		n          int
		discordant float64
		exact      bool
		need       int
	}{
		{"3 broken of 3 are a mid-p of 1/16", 3, 0, false, 4},
		{"4 broken of 4 are a p of 1/16", 4, 0, true, 5},
		{"no items", 0, 0, false, 4},
		{"noise hides it", 10, 0.3, false, 34},
	} {
		t.Run(tt.name, func(t *testing.T) {
			test := stat.PairedTest{Alpha: 0.05, Discordant: tt.discordant, Exact: tt.exact}
			_, err := test.MinDrop(tt.n, 0.8)
			require.ErrorAs(t, err, &few)
			assert.Equal(t, stat.NotEnough{Method: "paired test", Have: tt.n, Need: tt.need, What: "items"}, *few)
			_, err = test.MinDrop(tt.need, 0.8)
			assert.NoError(t, err, "the number that would do does")
		})
	}
	var undefined *stat.Undefined
	_, err := stat.MinDrop(1000, 0.5, 0.05, 0.8)
	assert.ErrorAs(t, err, &undefined, "every item flips")
	_, err = stat.ItemsFor(1e-9, 0.001, 0.05, 0.8)
	assert.ErrorAs(t, err, &undefined, "beyond a billion items")
}

// TestDifferenceMinDrop: the paired t test finds the drop that MinDrop names 80%
// of the time, from few clusters to many.
func TestDifferenceMinDrop(t *testing.T) {
	for _, n := range []int{8, 20, 100} {
		// Differences uniform in ±½ have the variance 1/12.
		se := math.Sqrt(1 / 12. / float64(n))
		drop := stat.Difference{SE: se, DF: float64(n - 1)}.MinDrop(0.05, 0.8)
		random := rand.New(rand.NewPCG(uint64(n), 5))
		found, alarms := 0, 0
		for range 2000 {
			pairs, none := make([]stat.Pair, n), make([]stat.Pair, n)
			for i := range pairs {
				x := random.Float64() - 0.5
				pairs[i].New, none[i].New = x-drop, x
			}
			d, err := stat.PairedDiff(pairs, 0.95)
			require.NoError(t, err)
			if d.P <= 0.05 {
				found++
			}
			d, err = stat.PairedDiff(none, 0.95)
			require.NoError(t, err)
			if d.P <= 0.05 {
				alarms++
			}
		}
		t.Logf("%d pairs: found %.3f, false alarms %.3f", n, float64(found)/2000, float64(alarms)/2000)
		assert.InDelta(t, 0.8, float64(found)/2000, 0.03, "%d pairs", n)
		assert.LessOrEqual(t, float64(alarms)/2000, 0.0646, "%d pairs", n)
	}
	assert.InDelta(t, (1.6448536+0.8416212)*0.01, stat.Difference{SE: 0.01}.MinDrop(0.05, 0.8), 1e-9, "without degrees of freedom: z")
}
