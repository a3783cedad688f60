package run_test

import (
	"context"
	"testing"

	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm"
)

// BenchmarkItem measures what the way of an item costs beside its strategy:
// goroutine, deadlines, call log, grading, record.
func BenchmarkItem(b *testing.B) {
	c := &run.Config{Grader: exact, Strategy: run.StrategyFunc(func(context.Context, dsItem, run.Attempt) (llm.Response, error) {
		return llm.Response{Text: "18"}, nil
	})}
	b.ReportAllocs()
	for b.Loop() {
		if rec := c.Item(b.Context(), eggs, 0); rec.Score != 1 {
			b.Fatal(rec.Outcome, rec.Error)
		}
	}
}

// BenchmarkCrewItem measures the same where goroutines are kept.
func BenchmarkCrewItem(b *testing.B) {
	c := &run.Config{Grader: exact, Strategy: run.StrategyFunc(func(context.Context, dsItem, run.Attempt) (llm.Response, error) {
		return llm.Response{Text: "18"}, nil
	})}
	crew := c.Crew(b.Context(), nil)
	defer crew.Close()
	b.ReportAllocs()
	for b.Loop() {
		if rec, _ := crew.Item(eggs, 0); rec.Score != 1 {
			b.Fatal(rec.Outcome, rec.Error)
		}
	}
}
