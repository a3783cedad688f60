package report

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/llm"
)

// FuzzParsePicos: where a cost is read as an integer it is what the decimal
// library reads, and what that refuses is refused.
func FuzzParsePicos(f *testing.F) {
	for _, s := range []string{"0", "0.00001234", "12.5", "999999.999999999999", "1000000", "0.0000000000001", "1.", ".5", "", "-1", "+1", "1e3", "1.2.3", "1_0", "\u0661", "00.10", "NaN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := parsePicos(s)
		if !ok {
			return
		}
		want, known := parseUSD(s)
		require.True(t, known, "%q is read as %d and is no cost", s, n)
		require.True(t, want.Equal(decimal.New(n, -picoDigits)), "%q is %d picos", s, n)
	})
}

// TestCostSumIsExact: whichever way costs are added, the sum is that of the
// decimals, to the last digit and beyond what an integer holds.
func TestCostSumIsExact(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		costs        []string
		times        int
	}{
		{"small", "what answers cost", []string{"0.00002225", "0.0000000000001", "0"}, 1000},
		{"overflow", "beyond 2^63 picodollars", []string{"999999.999999999999", "0.000000000001"}, 105},
		{"mixed", "one that integers cannot hold between two that they can", []string{"1.5", "1e-20", "2000000", "2.25"}, 3},
		{"odd", "leading and trailing zeros", []string{"007.10", "0.100000000000"}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := New(Labels{})
			want := decimal.Zero
			for i := range tc.times {
				for _, usd := range tc.costs {
					s.AddSpent(&result.Record{CostUSD: usd, Usage: llm.UsageTotal{Calls: 1}, Response: &llm.Response{}})
					want = want.Add(decimal.RequireFromString(usd))
				}
				if i%50 == 0 { // to look must change nothing
					assert.Equal(t, want.String(), s.Stats().Cost.Billed.USD.String())
				}
			}
			assert.Equal(t, want.String(), s.Stats().Cost.Billed.USD.String())
			assert.Equal(t, tc.times*len(tc.costs), s.Stats().Cost.Billed.Priced)
		})
	}
}
