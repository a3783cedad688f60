package report

import (
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/evaltest/result"
)

// costSum adds up what answers cost. Decimals are exact: a float sum of many
// small prices drifts.
type costSum struct {
	billed, recorded Sum
	models           map[string]bool
}

func (c *costSum) total() Cost {
	return Cost{Billed: c.billed, Recorded: c.recorded, Models: slices.Sorted(maps.Keys(c.models))}
}

// maxUnpricedModels bounds what is named; the counts are complete.
const maxUnpricedModels = 5

func (c *costSum) add(usd, atLeast, model string, replayed bool) {
	sum := &c.billed
	if replayed {
		sum = &c.recorded
	}
	if d, ok := parseUSD(usd); ok {
		sum.Priced++
		sum.USD = sum.USD.Add(d)
		return
	}
	sum.Unpriced++
	if d, ok := parseUSD(atLeast); ok {
		sum.USD = sum.USD.Add(d)
	}
	if model == "" || len(c.models) >= maxUnpricedModels {
		return
	}
	if c.models == nil {
		c.models = map[string]bool{}
	}
	c.models[clip(model)] = true
}

// addAnswer counts the answer's own calls. What never ran, and what failed
// before any call, spent nothing; an answer without a known price spent
// something unknown.
func (c *costSum) addAnswer(r *result.Record) {
	if r.CostUSD == "" && r.Usage.Calls == 0 && r.Response == nil {
		return
	}
	model := ""
	if r.Response != nil && r.Usage.Unknown == 0 { // else the usage is what is missing
		model = r.Response.Model
	}
	c.add(r.CostUSD, r.AtLeastUSD, model, r.Replayed)
}

// addJudge counts what judges spent on the answer.
func (c *costSum) addJudge(r *result.Record) {
	if r.JudgeCostUSD == "" && r.JudgeUsage.Calls == 0 {
		return
	}
	model := ""
	if r.Verdict != nil && r.JudgeUsage.Unknown == 0 {
		for _, call := range r.Verdict.Calls {
			model = call.Model
		}
	}
	c.add(r.JudgeCostUSD, r.JudgeAtLeastUSD, model, r.JudgeReplayed)
}

// parseUSD reads an exact decimal of dollars. A journal may be damaged or
// hostile: a number of a billion digits ("1e999999999") must not be added up,
// and a negative cost is none.
func parseUSD(s string) (decimal.Decimal, bool) {
	if s == "" || len(s) > 64 {
		return decimal.Decimal{}, false
	}
	d, err := decimal.NewFromString(s)
	if err != nil || d.IsNegative() || d.Exponent() < -64 || d.Exponent() > 12 {
		return decimal.Decimal{}, false
	}
	return d, true
}
