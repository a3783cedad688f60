package price_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/price"
)

func usd(s string) decimal.Decimal { return decimal.RequireFromString(s) }

func TestTotalString(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		calls        []string // an amount; else "?model", or "?" for no usage
		want         string
	}{
		{"nothing", "no call costs nothing", nil, "$0"},
		{"known", "exact, not rounded", []string{"0.1", "0.0200001"}, "$0.1200001"},
		{"one unknown", "the rest is a lower bound", []string{"0.12", "?"}, "≥ $0.12 (1 call unpriced)"},
		{"three unknown", "case U10", []string{"0.12", "?a", "?a", "?"}, "≥ $0.12 (3 calls unpriced)"},
		{"free and unknown", "0 is known", []string{"0", "?"}, "≥ $0 (1 call unpriced)"},
		{"no price", "case U10: says which model", []string{"?gpt-x", "?gpt-x"}, "unknown (model gpt-x has no price)"},
		{"two models", "sorted", []string{"?b", "?a"}, "unknown (models a, b have no price)"},
		{"many models", "a line stays a line", []string{"?e", "?d", "?c", "?b", "?a"}, "unknown (models b, c, d, … have no price)"},
		{"no usage", "not a price is what is missing", []string{"?"}, "unknown (no usage was reported)"},
		{"hostile name", "a terminal would obey it", []string{"?\x1b[2J"}, `unknown (model "\x1b[2J" has no price)`},
		{"long name", "cut", []string{"?" + strings.Repeat("m", 500)}, "unknown (model " + strings.Repeat("m", 80) + "… has no price)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var total price.Total
			for _, c := range row.calls {
				if model, ok := strings.CutPrefix(c, "?"); ok {
					total.AddUnknown(model)
				} else {
					total.Add(usd(c))
				}
			}
			assert.Equal(t, row.want, total.String(), row.reason)
			assert.Equal(t, len(row.calls), total.Calls)
		})
	}
}

func TestTotalMerge(t *testing.T) {
	var a, b price.Total
	a.Add(usd("0.01"))
	b.AddUnknown("m")
	b.Add(usd("0.02"))
	a.Merge(b)
	a.Merge(price.Total{})
	assert.Equal(t, "≥ $0.03 (1 call unpriced)", a.String())
	assert.Equal(t, 3, a.Calls)
	var c, d price.Total
	d.AddUnknown("m")
	c.Merge(d)
	assert.Equal(t, "unknown (model m has no price)", fmt.Sprint(c), "the model's name is taken over")
}

func TestTotalAddResponse(t *testing.T) {
	var total price.Total
	total.AddResponse(price.Default(), llm.Response{Model: "gpt-x", Usage: known(1, 0, 1, 0)})
	assert.Equal(t, "unknown (model gpt-x has no price)", total.String())
	total = price.Total{}
	total.AddResponse(price.Default(), llm.Response{Model: "gpt-4o"})
	assert.Equal(t, "unknown (no usage was reported)", total.String())
	total.AddResponse(price.Default(), llm.Response{Model: "gpt-4o", CostUSD: "no number"})
	assert.Equal(t, 2, total.Unknown, "what cannot be read is unknown")
}
