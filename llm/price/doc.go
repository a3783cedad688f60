// Package price computes what tokens cost, exactly.
//
// It does not know any provider's prices yet: a [Rates] is what you make it.
// An unknown usage has an unknown cost, which is not 0.
//
// To use it:
//
//  1. rates := price.PerMillion("2.50", "1.25", "10.00")
//  2. usd, ok := rates.Cost(resp.Usage)
//  3. If ok, usd.String() is the exact decimal.
package price
