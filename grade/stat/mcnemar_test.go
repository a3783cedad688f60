package stat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/grade/stat"
)

func TestMcNemar(t *testing.T) {
	// The rows with a row of Pascal's triangle in their reason are derived by
	// hand: tail sums of it over 2^n.
	for _, tt := range []struct {
		name, reason           string
		broke, fixed           int
		p, mid, two, twoSidMid float64
	}{
		{"nothing flipped", "no evidence, and no half of it", 0, 0, 1, 1, 1, 1},
		{"one broke", "1 1: a fair coin", 1, 0, 0.5, 0.25, 1, 0.5},
		{"none broke, four fixed", "1 4 6 4 1: all of it", 0, 4, 1, 31. / 32, 2. / 16, 2. / 32},
		{"5 to 1", "1 6 15 20 15 6 1: (6+1)/64, less 3/64", 5, 1, 7. / 64, 4. / 64, 14. / 64, 8. / 64},
		{"12 to 3", "(455+105+15+1)/2^15, less 227.5/2^15", 12, 3, 576. / 32768, 348.5 / 32768, 1152. / 32768, 697. / 32768},
		{"2 to 2", "1 4 6 4 1: two-sided never above 1", 2, 2, 11. / 16, 0.5, 1, 1},
		{"59 to 6", "scipy.stats.binom", 59, 6, 2.482325163564308e-12, 1.3629015993034435e-12, 4.964650327128616e-12, 2 * 1.3629015993034435e-12},
		// M. W. Fagerland et al., BMC Medical Research Methodology 13 (2013) 91,
		// tables 1 and 5, airway hyper-responsiveness: 7 and 1 discordant
		// pairs, exact 0.0703, mid-p 0.0391.
		{"7 to 1", "published", 7, 1, 9. / 256, 5. / 256, 0.0703125, 0.0390625},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := stat.McNemar(tt.broke, tt.fixed)
			assert.InEpsilon(t, tt.p, r.P, 1e-10, tt.reason)
			assert.InEpsilon(t, tt.mid, r.MidP, 1e-10, tt.reason)
			assert.InEpsilon(t, tt.two, r.TwoSided, 1e-10, tt.reason)
			assert.InEpsilon(t, tt.twoSidMid, r.TwoSidedMid, 1e-10, tt.reason)
			assert.Equal(t, [2]int{tt.broke, tt.fixed}, [2]int{r.Broke, r.Fixed})
		})
	}
}

func TestMcNemarOfMany(t *testing.T) {
	r := stat.McNemar(500_500, 499_500)
	assert.InEpsilon(t, 0.15889734568165277, r.P, 1e-10, "mpmath")
	r = stat.McNemar(1_000_000, 0)
	assert.Zero(t, r.P, "2 to the power of -1000000 is below the smallest float")
	assert.Equal(t, 1.0, stat.McNemar(0, 1_000_000).P)
}
