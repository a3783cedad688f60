package price

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/llm"
)

// An Entry is what a model costs. Entries are values: to change one, copy it
// and give it to [Table.With]. Safe for concurrent use.
type Entry struct {
	// Provider is who bills, such as "openai", in lower case. In [Table.With] it
	// may be empty: the entry then counts for the model's bare id.
	Provider string
	// Model is the provider's id of the model, letter for letter.
	Model string
	// Aliases are further ids of the same model, such as dated snapshots.
	Aliases []string
	// Rates are the prices of a request with a short prompt.
	Rates
	// Tiers are the prices of requests with longer prompts, ascending by Above.
	Tiers []Tier
	// Marginal prices only the tokens beyond a tier's threshold at the tier's
	// rates, and those before it at the rates before. No provider in the
	// default table bills so. The parts of a prompt are taken in the order
	// cached, written to the cache, other; output is priced by the tier that
	// the prompt's end lies in.
	Marginal bool
	// Batch are the prices through the provider's batch API, which
	// [Entry.InBatch] takes; nil if there are none or they are not known.
	Batch *Batch
	// Peak are the hours in which the model costs more; nil if there are none.
	Peak *Peak
	// From is when these prices began; zero if they were always so, as far as
	// the table knows.
	From time.Time
	// AsOf is the day up to which Source is known to say so; of a row with a Via,
	// the day on which that was published.
	AsOf time.Time
	// Source is the provider's page that states the prices.
	Source string
	// Via is the compilation through which the page was read; empty if the
	// page itself was.
	Via string
}

// A Tier is what a request costs whose prompt is long. The whole request costs
// that, output included, unless the entry is Marginal.
type Tier struct {
	// Above is the threshold in tokens: prompts of more than Above have these
	// rates, prompts of Above or less do not. What counts is the whole input,
	// cached tokens included.
	Above int64
	Rates
}

// Batch are the rates of a batch API, which need not be one fraction of the
// others: some providers discount everything but cached input.
type Batch struct {
	Rates
	Tiers []Tier
}

// Cost is what u costs in USD, exactly, by the rates and tiers of the entry.
// ok is false where [Rates.Cost] says so, where the entry lacks a price that u
// needs, and where the hour decides: see [Entry.At].
func (e Entry) Cost(u llm.Usage) (usd decimal.Decimal, ok bool) {
	switch {
	case e.Peak != nil || !sound(u):
		return decimal.Decimal{}, false
	case e.Marginal:
		return e.marginal(u)
	}
	rates := e.Rates
	for _, t := range e.Tiers {
		if u.Input > t.Above {
			rates = t.Rates
		}
	}
	return rates.Cost(u)
}

// At is the entry as it is at the time t: peak hours, if it has any, are
// resolved. The zero time resolves nothing.
func (e Entry) At(t time.Time) Entry {
	if e.Peak == nil || t.IsZero() {
		return e
	}
	factor := decimal.NewFromInt(1)
	if e.Peak.in(t) {
		factor = e.Peak.Factor
	}
	e.Peak = nil
	e.Rates, e.Tiers = e.Rates.times(factor), tiersTimes(e.Tiers, factor)
	if e.Batch != nil {
		e.Batch = &Batch{e.Batch.Rates.times(factor), tiersTimes(e.Batch.Tiers, factor)}
	}
	return e
}

func tiersTimes(tiers []Tier, factor decimal.Decimal) []Tier {
	out := slices.Clone(tiers)
	for i := range out {
		out[i].Rates = out[i].Rates.times(factor)
	}
	return out
}

// InBatch is the entry with the prices of the provider's batch API; ok is
// false if it has none.
func (e Entry) InBatch() (batch Entry, ok bool) {
	if e.Batch == nil {
		return Entry{}, false
	}
	e.Rates, e.Tiers, e.Batch = e.Batch.Rates, e.Batch.Tiers, nil
	return e, true
}

// marginal prices each part of the prompt by where it lies.
func (e Entry) marginal(u llm.Usage) (decimal.Decimal, bool) {
	var sum decimal.Decimal
	low, rates := int64(0), e.Rates
	for i := 0; ; i++ {
		high, last := u.Input, true
		if i < len(e.Tiers) && e.Tiers[i].Above < u.Input {
			high, last = e.Tiers[i].Above, false
		}
		written := u.CachedInput + u.CacheWrite
		part := llm.Usage{
			Known: true, Input: high - low,
			CachedInput:    overlap(low, high, 0, u.CachedInput),
			CacheWrite:     overlap(low, high, u.CachedInput, written),
			CacheWriteHour: overlap(low, high, written-u.CacheWriteHour, written),
		}
		if last {
			part.Output, part.Reasoning = u.Output, u.Reasoning
		}
		usd, ok := rates.Cost(part)
		if !ok {
			return decimal.Decimal{}, false
		}
		if sum = sum.Add(usd); last {
			return sum, true
		}
		low, rates = high, e.Tiers[i].Rates
	}
}

// overlap is how much of [a, b) lies in [low, high).
func overlap(low, high, a, b int64) int64 { return max(0, min(high, b)-max(low, a)) }
