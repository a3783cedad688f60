package stat_test

import (
	"testing"

	"github.com/goevals/evals/grade/stat"
)

// BenchmarkMinDrop is what -evaltest.plan waits for: at most 50 ms at 10,000
// items.
func BenchmarkMinDrop(b *testing.B) {
	for _, n := range []struct {
		name string
		n    int
	}{{"100", 100}, {"1319", 1319}, {"10000", 10_000}, {"1000000", 1_000_000}} {
		b.Run(n.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := stat.MinDrop(n.n, 0.05, 0.05, 0.8); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkItemsFor(b *testing.B) {
	for b.Loop() {
		if _, err := stat.ItemsFor(0.01, 0.05, 0.05, 0.8); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMcNemar(b *testing.B) {
	for b.Loop() {
		stat.McNemar(500_500, 499_500)
	}
}

func BenchmarkMannWhitneyExact(b *testing.B) {
	x, y := make([]float64, 25), make([]float64, 25)
	for i := range x {
		x[i], y[i] = float64(i), float64(i)+3.5
	}
	for b.Loop() {
		if _, _, err := stat.MannWhitney(x, y); err != nil {
			b.Fatal(err)
		}
	}
}
