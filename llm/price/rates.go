package price

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/goevals/evals/llm"
)

// Rates are prices in USD per million tokens. The zero value prices everything
// at 0, as a server of one's own may. Safe for concurrent use.
type Rates struct {
	// Input is the price of input that was not cached.
	Input decimal.Decimal
	// CachedInput is the price of input that the provider had cached.
	CachedInput decimal.Decimal
	// Output is the price of output, reasoning included.
	Output decimal.Decimal
}

// ErrRate is in the tree of the error for a price that cannot be meant.
var ErrRate = errors.New("price: not a price")

// New reads rates from decimals in USD per million tokens, such as "0.075". An
// empty cachedInput means that cached input costs what other input does.
func New(input, cachedInput, output string) (Rates, error) {
	if cachedInput == "" {
		cachedInput = input
	}
	var r Rates
	for _, f := range []struct {
		name string
		text string
		to   *decimal.Decimal
	}{{"input", input, &r.Input}, {"cached input", cachedInput, &r.CachedInput}, {"output", output, &r.Output}} {
		d, err := rate(f.text)
		if err != nil {
			return Rates{}, fmt.Errorf("%w: the %s rate is %q: %v", ErrRate, f.name, f.text, err)
		}
		*f.to = d
	}
	return r, nil
}

// PerMillion is [New] for rates in code: it panics where New fails.
func PerMillion(input, cachedInput, output string) Rates {
	r, err := New(input, cachedInput, output)
	if err != nil {
		panic(err)
	}
	return r
}

var maxRate = decimal.New(1, 9)

// rate reads one price. Bounds keep an exponent such as 1e999999999 from
// filling the memory when it is printed.
func rate(s string) (decimal.Decimal, error) {
	d, err := decimal.NewFromString(strings.TrimSpace(s))
	switch {
	case err != nil:
		return decimal.Decimal{}, errors.New("want a decimal number of USD per million tokens, such as 0.075")
	case d.IsNegative():
		return decimal.Decimal{}, errors.New("want 0 or more")
	case d.Exponent() < -30 || d.Exponent() > 9 || d.GreaterThan(maxRate):
		return decimal.Decimal{}, errors.New("want at most 30 digits after the point and at most a billion USD")
	}
	return d, nil
}

// Cost is what u costs in USD, exactly. Cached input is part of the input and
// is priced once, at its own rate; reasoning is part of the output. ok is
// false if the usage is unknown, or contradicts itself (a part larger than its
// whole, a negative count): the cost is then unknown too, and is not 0.
func (r Rates) Cost(u llm.Usage) (usd decimal.Decimal, ok bool) {
	if !u.Known || u.CachedInput < 0 || u.Output < 0 || u.CachedInput > u.Input || u.Reasoning > u.Output {
		return decimal.Decimal{}, false
	}
	sum := r.Input.Mul(decimal.NewFromInt(u.Input - u.CachedInput)).
		Add(r.CachedInput.Mul(decimal.NewFromInt(u.CachedInput))).
		Add(r.Output.Mul(decimal.NewFromInt(u.Output)))
	return sum.Shift(-6), true // per million
}
