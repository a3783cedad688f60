package price_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/price"
)

func TestResponse(t *testing.T) {
	rates := price.PerMillion("2.50", "1.25", "10")
	for _, row := range []struct {
		name, reason string
		resp         llm.Response
		usd          string
		ok           bool
	}{
		{"usage", "case U01: cached tokens are part of the input and are paid once",
			llm.Response{Usage: llm.Usage{Input: 2006, CachedInput: 1920, Output: 300, Known: true}}, "0.005615", true},
		{"provider's own", "who sends the bill knows best",
			llm.Response{CostUSD: "0.0042", Usage: llm.Usage{Input: 2006, Output: 300, Known: true}}, "0.0042", true},
		{"no usage", "unknown is not free", llm.Response{}, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			usd, ok := rates.Response(row.resp)
			assert.Equal(t, row.ok, ok, row.reason)
			assert.Equal(t, row.usd, usd, row.reason)
		})
	}
}
