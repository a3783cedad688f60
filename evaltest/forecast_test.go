package evaltest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/evaltest/gate"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/llm"
)

// TestForecastFromBaseline: of each answer what one of the accepted run spent, in
// whatever numbers a file may hold.
func TestForecastFromBaseline(t *testing.T) {
	for _, row := range []struct {
		name, reason string
		h            gate.BaselineHeader
		answers      int
		want         report.Forecast
	}{
		{"scaled", "half as many answers", gate.BaselineHeader{Items: 10, Samples: 2, Usage: llm.UsageTotal{Usage: llm.Usage{Input: 1000, Output: 15}, Calls: 20}, CostUSD: "0.3"}, 10, report.Forecast{Input: 500, Output: 8, Priced: true}},
		{"large", "a product beyond 64 bits", gate.BaselineHeader{Items: 1000, Samples: 1, Usage: llm.UsageTotal{Usage: llm.Usage{Input: 1 << 62}, Calls: 1}, CostUSD: "1"}, 1000, report.Forecast{Input: 1 << 62, Priced: true}},
		{"judge unpriced", "said", gate.BaselineHeader{Items: 1, Samples: 1, Usage: llm.UsageTotal{Calls: 1}, CostUSD: "1", JudgeUsage: llm.UsageTotal{Calls: 1}}, 1, report.Forecast{Priced: true, Unpriced: []string{"the judge"}}},
		{"model unpriced", "said", gate.BaselineHeader{Items: 1, Samples: 1, Usage: llm.UsageTotal{Calls: 1}, JudgeCostUSD: "1", JudgeUsage: llm.UsageTotal{Calls: 1}}, 1, report.Forecast{Priced: true, Unpriced: []string{"the model"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := report.Forecast{Answers: row.answers}
			new(runner).fromBaseline(&f, &gate.Baseline{Header: row.h})
			assert.Equal(t, row.want.Input, f.Input, row.reason)
			assert.Equal(t, row.want.Output, f.Output)
			assert.Equal(t, row.want.Priced, f.Priced)
			assert.Equal(t, row.want.Unpriced, f.Unpriced)
		})
	}
}
