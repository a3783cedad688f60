package price

import "github.com/goevals/evals/llm"

// Response is the cost of the call that resp answers, in USD, as an exact
// decimal: what the provider itself said, else what the rates make of the
// usage. It has the shape that evaltest.Price wants, for runs of one model.
func (r Rates) Response(resp llm.Response) (usd string, ok bool) {
	if resp.CostUSD != "" {
		return resp.CostUSD, true
	}
	d, ok := r.Cost(resp.Usage)
	if !ok {
		return "", false
	}
	return d.String(), true
}
