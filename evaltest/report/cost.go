package report

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/evaltest/result"
)

// costSum adds up what answers cost. Decimals are exact: a float sum of many
// small prices drifts.
type costSum struct {
	billed, recorded runningSum
	models           map[string]bool
}

func (c *costSum) total() Cost {
	return Cost{Billed: c.billed.total(), Recorded: c.recorded.total(), Models: slices.Sorted(maps.Keys(c.models))}
}

// A runningSum is a Sum under way. Most costs are added as integers: decimals take ten
// times as long, while all workers wait.
type runningSum struct {
	Sum
	picos int64 // in units of 1e-12 USD, of USD yet to be added
}

func (s *runningSum) add(d decimal.Decimal) { s.USD = s.USD.Add(d) }

// tryAdd adds a cost of at most six digits before the point and twelve behind
// it, as almost all are, and reports whether it did.
func (s *runningSum) tryAdd(usd string) bool {
	n, ok := parsePicos(usd)
	if !ok {
		return false
	}
	if s.picos += n; s.picos > math.MaxInt64/2 { // n is less than the other half
		s.flush()
	}
	return true
}

func (s *runningSum) flush() {
	if s.picos != 0 {
		s.add(decimal.New(s.picos, -picoDigits))
		s.picos = 0
	}
}

func (s *runningSum) total() Sum {
	s.flush()
	return s.Sum
}

const picoDigits = 12

// parsePicos reads digits with a point among them, or without one.
func parsePicos(s string) (n int64, ok bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if whole == "" || len(whole) > 6 || len(fraction) > picoDigits {
		return 0, false
	}
	for _, digits := range [...]string{whole, fraction} {
		for i := range len(digits) {
			if digits[i] < '0' || digits[i] > '9' {
				return 0, false
			}
			n = 10*n + int64(digits[i]-'0')
		}
	}
	for range picoDigits - len(fraction) {
		n *= 10
	}
	return n, true
}

// maxUnpricedModels bounds what is named; the counts are complete.
const maxUnpricedModels = 5

func (c *costSum) add(usd, atLeast, model string, replayed bool) {
	to := &c.billed
	if replayed {
		to = &c.recorded
	}
	if to.tryAdd(usd) {
		to.Priced++
		return
	}
	if d, ok := parseUSD(usd); ok {
		to.Priced++
		to.add(d)
		return
	}
	to.Unpriced++
	if d, ok := parseUSD(atLeast); ok {
		to.add(d)
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
