package report

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPlanCost: a part whose cost is unknown is no part of what is promised.
func TestPlanCost(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		f            Forecast
		want         string
	}{
		{"known", "all of it", Forecast{USD: decimal.RequireFromString("1.5"), Priced: true}, "cost      about $1.5\n"},
		{"unknown", "nothing is known", Forecast{}, "cost      unknown: no accepted run says what answers cost\n"},
		{"without the judge", "else the model's alone would be the forecast", Forecast{USD: decimal.RequireFromString("1.5"), Priced: true, Unpriced: []string{"the judge"}}, "cost      at least about $1.5: what the judge costs is unknown\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var b strings.Builder
			row.f.Strategy = "x"
			require.NoError(t, Plan(&b, row.f))
			assert.Contains(t, b.String(), row.want, row.reason)
		})
	}
}
