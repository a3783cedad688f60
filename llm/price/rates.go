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
	// Input is the price of input that was neither read from nor written to a
	// cache.
	Input decimal.Decimal
	// CachedInput is the price of input that the provider had cached.
	CachedInput decimal.Decimal
	// Output is the price of output, reasoning included.
	Output decimal.Decimal
	// CacheWrite is the price of input that the provider wrote to its cache;
	// nil if that costs what other input does.
	CacheWrite *decimal.Decimal
	// CacheWriteHour is the price of input that was written to a cache that
	// keeps it for an hour; nil if that costs CacheWrite.
	CacheWriteHour *decimal.Decimal

	lacks lacking
}

// lacking are the prices that a table or a row did not give. It is not the
// other way round, so that Rates{Input: …} is whole.
type lacking uint8

const (
	lacksInput lacking = 1 << iota
	lacksCached
	lacksOutput
)

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
			return Rates{}, fmt.Errorf("%w: the %s rate is %q: %v", ErrRate, f.name, clip(f.text), err)
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

// maxDigits is the longest price that is read, in bytes.
const maxDigits = 128

// rate reads one price. Bounds keep an exponent such as 1e999999999 from
// filling the memory when it is printed.
func rate(s string) (decimal.Decimal, error) {
	s = strings.TrimSpace(s)
	if len(s) > maxDigits {
		return decimal.Decimal{}, fmt.Errorf("want at most %d characters", maxDigits)
	}
	d, err := decimal.NewFromString(s)
	switch {
	case err != nil:
		return decimal.Decimal{}, errors.New("want a decimal number of USD per million tokens, such as 0.075")
	case d.IsNegative():
		return decimal.Decimal{}, errors.New("want 0 or more")
	case d.Exponent() < -100 || d.Exponent() > 9 || d.GreaterThan(maxRate):
		return decimal.Decimal{}, errors.New("want at most 100 digits after the point and at most a billion USD")
	}
	return d, nil
}

// clip keeps a value in an error short.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Cost is what u costs in USD, exactly. Cached input is part of the input and
// is priced once, at its own rate; so is what was written to a cache; reasoning
// is part of the output. ok is false if the usage is unknown, or contradicts
// itself (a part larger than its whole, a negative count): the cost is then
// unknown too, and is not 0.
func (r Rates) Cost(u llm.Usage) (usd decimal.Decimal, ok bool) {
	if !sound(u) {
		return decimal.Decimal{}, false
	}
	write := u.CacheWrite - u.CacheWriteHour
	plain := u.Input - u.CachedInput - u.CacheWrite
	writeRate, hourRate := r.writes()
	if r.lacks&lacksInput != 0 && (plain > 0 || write > 0 && r.CacheWrite == nil || u.CacheWriteHour > 0 && r.CacheWrite == nil && r.CacheWriteHour == nil) ||
		u.CachedInput > 0 && r.lacks&lacksCached != 0 || u.Output > 0 && r.lacks&lacksOutput != 0 {
		return decimal.Decimal{}, false
	}
	sum := tokens{plain, r.Input}.cost()
	for _, t := range [...]tokens{{u.CachedInput, r.CachedInput}, {write, writeRate}, {u.CacheWriteHour, hourRate}, {u.Output, r.Output}} {
		if t.n > 0 { // most calls have no more than two kinds, and exact sums take time
			sum = sum.Add(t.cost())
		}
	}
	return sum.Shift(-6), true // per million
}

// tokens are n tokens at a rate.
type tokens struct {
	n    int64
	rate decimal.Decimal
}

// cost is in millionths of a dollar.
func (t tokens) cost() decimal.Decimal { return t.rate.Mul(decimal.NewFromInt(t.n)) }

// writes are the rates of what was written to a cache, and to one that keeps it
// for an hour.
func (r Rates) writes() (write, hour decimal.Decimal) {
	write = r.Input
	if r.CacheWrite != nil {
		write = *r.CacheWrite
	}
	hour = write
	if r.CacheWriteHour != nil {
		hour = *r.CacheWriteHour
	}
	return write, hour
}

// sound reports a usage that can be priced.
func sound(u llm.Usage) bool {
	return u.Known && u.CachedInput >= 0 && u.CacheWriteHour >= 0 && u.Output >= 0 && u.Reasoning >= 0 &&
		u.CacheWriteHour <= u.CacheWrite && u.CacheWrite <= u.Input-u.CachedInput && u.Reasoning <= u.Output
}

// times are the rates, each multiplied by n.
func (r Rates) times(n decimal.Decimal) Rates {
	r.Input, r.CachedInput, r.Output = r.Input.Mul(n), r.CachedInput.Mul(n), r.Output.Mul(n)
	for _, p := range []**decimal.Decimal{&r.CacheWrite, &r.CacheWriteHour} {
		if *p != nil {
			d := (*p).Mul(n)
			*p = &d
		}
	}
	return r
}
