package wire

import (
	"encoding/json"

	"github.com/shopspring/decimal"
)

// maxCost is the longest cost that is read, in bytes.
const maxCost = 64

// ReadCost is what a provider's usage object says that the call cost, in USD,
// as an exact decimal: usage.cost, as OpenRouter and others report it. It is ""
// if the object has none, or one that is no cost: negative, absurd, no number.
func ReadCost(usage json.RawMessage) string {
	var u struct {
		Cost json.RawMessage `json:"cost"`
	}
	if json.Unmarshal(usage, &u) != nil {
		return ""
	}
	return cost(u.Cost)
}

func cost(raw json.RawMessage) string {
	var n json.Number
	if len(raw) > maxCost || json.Unmarshal(raw, &n) != nil || n == "" {
		return ""
	}
	d, err := decimal.NewFromString(n.String())
	// Bounds keep an exponent from filling the memory when it is printed.
	if err != nil || d.IsNegative() || d.Exponent() < -40 || d.Exponent() > 20 {
		return ""
	}
	return d.String()
}
