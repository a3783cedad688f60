package price_test

import (
	"fmt"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/price"
)

func Example() {
	table := price.Default().With(price.Entry{
		Model: "our-router", Rates: price.PerMillion("0.40", "0.04", "1.60"), // USD per million tokens
	})
	var total price.Total
	for _, resp := range []llm.Response{
		{Model: "our-router", Usage: llm.Usage{Input: 2006, CachedInput: 1920, Output: 300, Known: true}},
		{Model: "our-router"}, // the provider reported no usage
		{Model: "openai/gpt-4o", CostUSD: "0.0042", Usage: llm.Usage{Input: 1000, Output: 100, Known: true}},
		{Model: "gpt-4o-2024-08-06", Usage: llm.Usage{Input: 1000, Output: 100, Known: true}},
	} {
		usd, ok := table.Response(resp)
		fmt.Println(resp.Model, usd, ok)
		total.AddResponse(table, resp)
	}
	fmt.Println(total)
	// Output:
	// our-router 0.0005912 true
	// our-router  false
	// openai/gpt-4o 0.0042 true
	// gpt-4o-2024-08-06 0.0035 true
	// ≥ $0.0082912 (1 call unpriced)
}

func ExampleTable_FindAt() {
	may := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	october := time.Date(2026, 10, 14, 12, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{may, october, october.Add(-4 * time.Hour)} {
		e, _ := price.Default().FindAt("deepseek-v4-flash", at)
		fmt.Println(at.Format("2 Jan 15:04"), e.Input, e.CachedInput, e.Output)
	}
	// Output:
	// 4 May 12:00 0.14 0.0028 0.28
	// 14 Oct 12:00 0.15 0.003 0.6
	// 14 Oct 08:00 0.3 0.006 1.2
}

func ExampleEffectiveInput() {
	n, err := price.EffectiveInput(131083, 17024, "0.02") // cached tokens cost 2 % of others
	fmt.Println(n, err)
	// Output: 114400 <nil>
}
