package price_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/price"
	"github.com/goevals/evals/llm/wire"
)

// usage reads a provider's usage object.
func usage(t *testing.T, raw string) llm.Usage {
	t.Helper()
	u, _ := wire.ReadUsage(json.RawMessage(raw))
	return u
}

// cost prices a usage object by prices by name.
func cost(t *testing.T, raw string, p prices) string {
	t.Helper()
	usd, ok := entry(t, p).Cost(usage(t, raw))
	if !ok {
		return "unknown"
	}
	return usd.String()
}

// The cases are what real users hit; their ids are those of the reports that
// were collected.

func TestCaseU01(t *testing.T) {
	assert.Equal(t, "0.005615", cost(t, `{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920}}`,
		prices{"in": "2.5", "cached_in": "1.25", "out": "10"}), "cached tokens are part of the prompt and are paid once")
}

func TestCaseU03(t *testing.T) {
	u := usage(t, `{"input_tokens":10,"cached_input_tokens":5,"output_tokens":20}`)
	assert.Equal(t, known(10, 5, 20, 0), u)
	assert.Equal(t, "47.5", cost(t, `{"input_tokens":10000000,"cached_input_tokens":5000000,"output_tokens":20000000}`,
		prices{"in": "1", "cached_in": "0.5", "out": "2"}), "cached is a part of the input, never added to it")
}

func TestCaseU05(t *testing.T) {
	assert.Equal(t, "0.7923", cost(t, `{"prompt_tokens":14746,"completion_tokens":1944,"completion_tokens_details":{"reasoning_tokens":1360}}`,
		prices{"in": "30", "out": "180"}), "reasoning is in the completion already")
}

func TestCaseU06(t *testing.T) {
	last := `{"promptTokenCount":10,"candidatesTokenCount":50}` // the last of 50 chunks, each of which counts from the start
	assert.Equal(t, "0.000165", cost(t, last, prices{"in": "1.5", "out": "3"}))
}

func TestCaseU08(t *testing.T) {
	p := prices{"in": "2", "in_above_200k": "4"}
	for _, row := range []struct{ prompt, want string }{
		{"250000", "1"}, {"200000", "0.4"}, {"200001", "0.800004"},
	} {
		assert.Equal(t, row.want, cost(t, `{"prompt_tokens":`+row.prompt+`,"completion_tokens":0}`, p), row.prompt)
	}
}

func TestCaseU10(t *testing.T) {
	table := price.Default()
	_, ok := table.Response(llm.Response{Model: "model-x", Usage: known(10, 0, 10, 0)})
	assert.False(t, ok, "a model without a price is not free")
	_, err := table.Cost("model-x", known(10, 0, 10, 0), time.Time{})
	assert.ErrorIs(t, err, price.ErrNoPrice)
	assert.EqualError(t, err, `model "model-x" has no price`)
	_, ok = table.Response(llm.Response{Model: "gpt-4o"})
	assert.False(t, ok, "an unknown usage is not free")
	_, err = table.Cost("gpt-4o", llm.Usage{}, time.Time{})
	assert.ErrorIs(t, err, price.ErrNoUsage)
}

func TestCaseU11(t *testing.T) {
	var total price.Total
	for range 2 { // the first answer could not be parsed, and was billed
		total.AddResponse(price.Default(), llm.Response{CostUSD: "0.01"})
	}
	assert.Equal(t, "$0.02", total.String())
	assert.Equal(t, 2, total.Calls)
}

func TestCaseU14(t *testing.T) {
	e := entry(t, prices{"in": "1.4", "cached_in": "0.26", "out": "4.4"})
	usd, ok := e.Cost(usage(t, `{"prompt_tokens":27147,"completion_tokens":351,"prompt_tokens_details":{"cached_tokens":27146}}`))
	require.True(t, ok)
	assert.Equal(t, "0.00860376", usd.String())
	var total price.Total
	for range 1_000_000 {
		total.Add(usd)
	}
	assert.Equal(t, "$8603.76", total.String(), "a million of them do not drift")
}

func TestCaseU15(t *testing.T) {
	p := prices{"in": "1", "out": "2"}
	assert.Equal(t, "0.000027", cost(t, `{"prompt_tokens":3,"completion_tokens":12.0}`, p), "12.0 is 12")
	assert.Equal(t, "unknown", cost(t, `{"prompt_tokens":3,"completion_tokens":"12"}`, p), "a text is no count")
	assert.Equal(t, "unknown", cost(t, `{"prompt_tokens":3,"completion_tokens":12.5}`, p), "half a token is no count")
}

// TestCasesCost runs the cost fixtures of the shared cases where they are at
// hand.
func TestCasesCost(t *testing.T) {
	b, err := os.ReadFile("../../../shared/cases/cases.json")
	if err != nil {
		t.Skip("the shared cases are not here: ", err)
	}
	var rows []struct {
		ID       string            `json:"id"`
		Fixtures []json.RawMessage `json:"fixtures"`
	}
	require.NoError(t, json.Unmarshal(b, &rows))
	seen := 0
	for _, row := range rows {
		for i, raw := range row.Fixtures {
			var f struct {
				Grader string                 `json:"grader"`
				Usage  json.RawMessage        `json:"usage"`
				Prices map[string]json.Number `json:"prices_per_million"`
				Want   string                 `json:"expect_usd"`
			}
			if json.Unmarshal(raw, &f) != nil || f.Grader != "cost" {
				continue // of another area, whose fields may have other types
			}
			seen++
			t.Run(fmt.Sprint(row.ID, " ", i), func(t *testing.T) {
				p := prices{}
				for k, v := range f.Prices {
					p[k] = v.String()
				}
				assert.Equal(t, f.Want, cost(t, string(f.Usage), p))
			})
		}
	}
	assert.GreaterOrEqual(t, seen, 5)
}

// TestPublished recomputes the costs that async-batch-llm published, from its
// token counts and the prices of those days.
func TestPublished(t *testing.T) {
	june, august := time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC), time.Date(2026, 8, 27, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		model  string
		at     time.Time
		usage  llm.Usage
		want   string // as published
		places int32
	}{
		{"deepseek-v4-flash", june, known(131083, 17024, 135468, 0), "0.0539", 4},
		{"gemini-3.1-flash-lite", june, known(129951, 0, 267258, 0), "0.4334", 4},
		{"gemini-2.5-flash-lite", june, known(133759, 0, 618428, 0), "0.2607", 4},
		{"deepseek-v4-flash", august, known(139093, 19968, 121384, 0), "0.106461", 6},
		{"gemini-3.5-flash-lite", august, known(129951, 0, 269130, 0), "0.71181", 6},
	} {
		usd, err := price.Default().Cost(row.model, row.usage, row.at)
		require.NoError(t, err)
		assert.Equal(t, row.want, usd.Round(row.places).String(), "%s at %s: %s", row.model, row.at, usd)
	}
	glm, ok := price.PerMillion("0.075", "0.015", "0.25").Cost(known(140753, 3456, 76291, 0))
	require.True(t, ok)
	assert.Equal(t, "0.029422", glm.Round(6).String(), "z-ai/glm-5.3-flash through OpenRouter, which is not in the table")

	n, err := price.EffectiveInput(131083, 17024, "0.02")
	require.NoError(t, err)
	fresh := decimal.NewFromInt(n).Mul(usd("0.14")).Add(usd("0.28").Mul(decimal.NewFromInt(135468))).Shift(-6)
	assert.Equal(t, "0.0539", fresh.Round(4).String(), "their own formula, from the effective input, agrees to the places they print")
}
