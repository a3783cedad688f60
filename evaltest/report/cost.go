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
	billed, recorded decimal.Decimal
	priced, unpriced int
	models           map[string]bool
}

func (c *costSum) total() Cost {
	out := Cost{Billed: c.billed, Recorded: c.recorded, Priced: c.priced, Unpriced: c.unpriced}
	out.UnpricedModels = slices.Sorted(maps.Keys(c.models))
	return out
}

// maxUnpricedModels bounds what is named; the count is complete.
const maxUnpricedModels = 5

func (c *costSum) unknown(model string) {
	c.unpriced++
	if model == "" || len(c.models) >= maxUnpricedModels {
		return
	}
	if c.models == nil {
		c.models = map[string]bool{}
	}
	c.models[model] = true
}

// add counts the answer's own calls. What never ran, and what failed before
// any call, spent nothing; an answer without a known price spent something
// unknown.
func (c *costSum) add(r *result.Record) {
	if r.CostUSD == "" && r.Usage.Calls == 0 && r.Response == nil {
		return
	}
	model := ""
	if r.Response != nil {
		model = r.Response.Model
	}
	usd, ok := parseUSD(r.CostUSD)
	if !ok {
		c.unknown(model)
		return
	}
	c.priced++
	if r.Response != nil && r.Response.Replayed {
		c.recorded = c.recorded.Add(usd)
	} else {
		c.billed = c.billed.Add(usd)
	}
}

// addJudge counts what judges spent on the answer: the answer is priced if
// every one of their calls is.
func (c *costSum) addJudge(r *result.Record) {
	if r.JudgeUsage.Calls == 0 && (r.Verdict == nil || len(r.Verdict.Calls) == 0) {
		return
	}
	calls := 0
	known := true
	model := ""
	if r.Verdict != nil {
		calls = len(r.Verdict.Calls)
		for _, call := range r.Verdict.Calls {
			usd, ok := parseUSD(call.CostUSD)
			switch {
			case !ok:
				known, model = false, call.Model
			case call.Replayed:
				c.recorded = c.recorded.Add(usd)
			default:
				c.billed = c.billed.Add(usd)
			}
		}
	}
	if !known || calls < r.JudgeUsage.Calls {
		c.unknown(model)
		return
	}
	c.priced++
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
