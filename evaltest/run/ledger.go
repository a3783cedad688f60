package run

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
)

// A ledger is what calls came to.
type ledger struct {
	usage    llm.UsageTotal
	cost     decimal.Decimal
	unpriced int // calls whose cost is unknown
	replayed int // calls answered from a recording
	missed   int // calls of which a strict replay has no recording
	model    time.Duration
	trouble  string // what went wrong with Config.Price; "" for nothing
}

func (l *ledger) add(m ledger) {
	l.usage.Merge(m.usage)
	l.cost = plus(l.cost, m.cost)
	l.unpriced += m.unpriced
	l.replayed += m.replayed
	l.missed += m.missed
	l.model += m.model
	if l.trouble == "" {
		l.trouble = m.trouble
	}
}

// usd returns the exact sum; "" if any part of it is unknown, for a sum that
// leaves one out looks like the whole.
func (l *ledger) usd() string {
	if l.usage.Calls == 0 || l.unpriced > 0 {
		return ""
	}
	return l.cost.String()
}

// atLeast returns the exact sum of what is known where some is not; "" where
// all is, or where it comes to nothing.
func (l *ledger) atLeast() string {
	if l.unpriced == 0 || !l.cost.IsPositive() {
		return ""
	}
	return l.cost.String()
}

// recorded reports whether every call that was answered came from a recording,
// if there were any. A call of which a strict replay has none reached nobody: a
// judge asks so for a form that the provider had refused.
func (l *ledger) recorded() bool { return l.replayed > 0 && l.replayed+l.missed == l.usage.Calls }

// A pricer is a [Config.Price].
type pricer func(llm.Response) (usd string, ok bool)

// ask calls the user's function. A panic makes the cost unknown: the answer is
// there and was paid for.
func (p pricer) ask(resp llm.Response, trouble *string) (usd string, ok bool) {
	defer func() {
		if v := recover(); v != nil {
			*trouble = fmt.Sprintf("the price function panicked: %v: the cost is unknown", v)
			usd, ok = "", false
		}
	}()
	return p(resp)
}

// book is the ledger of calls that the item has made. The user's code runs, so
// nobody may hold mu.
func (o *one) book(calls ...llm.Call) ledger {
	if o.c.Price == nil && o.c.Budget == nil {
		return book(nil, calls...)
	}
	o.mu.Lock()
	was := o.doing
	o.doing = pricing
	o.mu.Unlock()
	l := book(o.c.Price, calls...)
	o.mu.Lock()
	paid := min(o.paid, len(calls))
	o.paid = len(calls)
	o.mu.Unlock()
	if o.c.Budget != nil {
		_ = o.c.Budget.Spend(calls[paid:]...) // whoever asks next is told
	}
	o.mu.Lock()
	o.doing = was
	o.mu.Unlock()
	return l
}

// book adds calls up. Failed ones count with what they were billed. A nil
// price knows of no cost.
func book(price pricer, calls ...llm.Call) ledger {
	var l ledger
	for _, k := range calls {
		resp := k.Response
		resp.Usage = k.Usage()
		l.model += resp.Timing.Total
		if resp.Replayed {
			l.replayed++
		} else if llm.KindOf(k.Err) == llm.KindMiss {
			l.missed++
		}
		if !resp.Usage.Known && resp.CostUSD == "" && call.CostsNothing(k.Err) {
			l.usage.Calls++ // and cost nothing
			continue
		}
		l.usage.Count(resp.Usage)
		usd, ok := resp.CostUSD, resp.CostUSD != ""
		if !ok && price != nil && resp.Usage.Known {
			usd, ok = price.ask(resp, &l.trouble)
		}
		if !ok {
			l.unpriced++
			continue
		}
		cost, err := decimal.NewFromString(usd)
		if err != nil || cost.IsNegative() {
			l.unpriced++
			continue
		}
		l.cost = plus(l.cost, cost)
	}
	return l
}

// plus is a + b. To add nothing, or to nothing, takes as much time and memory
// as any other sum, and most ledgers have one call.
func plus(a, b decimal.Decimal) decimal.Decimal {
	switch {
	case b.IsZero():
		return a
	case a.IsZero():
		return b
	}
	return a.Add(b)
}
