package batch_test

import (
	"context"
	"iter"
	"testing"

	"github.com/goevals/evals/evaltest/batch"
)

func upto(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// BenchmarkRun measures the executor alone: a function that does nothing, 64
// at once. The target is at most 1 µs an item.
func BenchmarkRun(b *testing.B) {
	type item struct { // about as large as a dataset's item
		ID, Input, Target string
		Rest              [82]byte
	}
	b.Run("item=int", func(b *testing.B) { bench(b, func(i int) int { return i }) })
	b.Run("item=130B", func(b *testing.B) { bench(b, func(i int) item { return item{ID: "gsm8k-0001"} }) })
}

func bench[T any](b *testing.B, make func(int) T) {
	const items = 200_000
	in := func(yield func(T) bool) {
		for i := range items {
			if !yield(make(i)) {
				return
			}
		}
	}
	fn := func(_ context.Context, v T) (T, error) { return v, nil }
	b.ReportAllocs()
	for b.Loop() {
		got := 0
		for r := range batch.Run(b.Context(), in, fn, batch.Options{Parallel: 64}) {
			if r.Err != nil {
				b.Fatal(r.Err)
			}
			got++
		}
		if got != items {
			b.Fatalf("%d results, want %d", got, items)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/items, "ns/item")
}
