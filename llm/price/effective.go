package price

import (
	"fmt"

	"github.com/shopspring/decimal"
)

// EffectiveInput is input as a number of full-price tokens, for display: input −
// trunc(cached × (1 − rate)), where rate is the price of a cached token as a
// fraction of another's, in 0..1 ("0.1"). Truncation rounds what remains up. A
// cost is never computed from it: see [Rates.Cost].
func EffectiveInput(input, cached int64, rate string) (int64, error) {
	d, err := decimal.NewFromString(rate)
	switch {
	case err != nil || len(rate) > maxDigits || d.Exponent() < -100:
		return 0, fmt.Errorf("price: EffectiveInput: the rate is %q; want a decimal of at most 100 digits in 0..1, such as 0.1", clip(rate))
	case d.IsNegative() || d.GreaterThan(decimal.NewFromInt(1)):
		return 0, fmt.Errorf("price: EffectiveInput: the rate is %s; want 0 to 1, the price of a cached token as a fraction", clip(rate))
	case input < 0 || cached < 0 || cached > input:
		return 0, fmt.Errorf("price: EffectiveInput: %d of %d tokens are cached; want 0 up to all of them", cached, input)
	}
	saved := decimal.NewFromInt(cached).Mul(decimal.NewFromInt(1).Sub(d))
	return input - saved.Truncate(0).IntPart(), nil
}
