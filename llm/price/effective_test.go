package price_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/llm/price"
)

func TestEffectiveInput(t *testing.T) {
	for _, row := range []struct {
		name, reason  string
		input, cached int64
		rate          string
		want          int64 // -1 is an error
	}{
		{"published run", "the billable input that async-batch-llm published", 131083, 17024, "0.02", 114400},
		{"Gemini's rate", "computed from its formula", 1000, 333, "0.1", 701},
		{"half of one", "truncation rounds what remains up", 1000, 1, "0.5", 1000},
		{"no discount", "cached tokens cost what others do", 100, 100, "1.0", 100},
		{"free", "cached tokens cost nothing", 100, 100, "0", 0},
		{"half of three", "1.5 is truncated to 1", 100, 3, "0.5", 99},
		{"nothing cached", "nothing to discount", 7, 0, "0.1", 7},
		{"nothing", "zero is zero", 0, 0, "0.5", 0},
		{"exact tenth", "0.9 × 10 is 9, in floats too little", 10, 10, "0.1", 1},
		{"exact fraction", "a third in 30 digits", 3, 3, "0.333333333333333333333333333333", 1},
		{"huge", "no overflow, no float", math.MaxInt64, math.MaxInt64, "0.5", math.MaxInt64/2 + 1},
		{"exponent", "a decimal like another", 100, 50, "1e-1", 55},
		{"above one", "a cached token is never dearer", 1, 1, "1.0001", -1},
		{"below zero", "no price is negative", 1, 1, "-0.1", -1},
		{"NaN", "no number", 1, 1, "NaN", -1},
		{"empty", "no number", 1, 1, "", -1},
		{"tiny exponent", "would fill the memory", 1, 1, "1e-999999999", -1},
		{"cached above input", "a contradiction", 1, 2, "0.5", -1},
		{"negative input", "a contradiction", -1, -2, "0.5", -1},
		{"negative cached", "a contradiction", 5, -1, "0.5", -1},
	} {
		t.Run(row.name, func(t *testing.T) {
			n, err := price.EffectiveInput(row.input, row.cached, row.rate)
			if row.want < 0 {
				assert.Error(t, err, row.reason)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, row.want, n, row.reason)
		})
	}
}
