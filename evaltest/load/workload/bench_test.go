package workload

import (
	"fmt"
	"testing"
)

// What a prompt costs to make. ns/token is the figure to watch: at 30,000
// tokens a prompt it bounds the rate that one core can prepare.
func BenchmarkRequest(b *testing.B) {
	for _, tokens := range []int{1, 500, 30_000} {
		for _, mode := range []string{"plain", "overlap", "groups"} {
			b.Run(fmt.Sprintf("mode=%s/tokens=%d", mode, tokens), func(b *testing.B) {
				opt := Options{Text: words{}, Seed: 1, Input: Must(Fixed(tokens, 0)), Output: Must(Fixed(64, 0))}
				switch mode {
				case "overlap":
					opt.Overlap.Share = .5
				case "groups":
					opt.Groups = Groups{Count: 16, Tokens: tokens}
				}
				w := mustNew(b, opt)
				b.ReportAllocs()
				made := 0
				for seq := 0; b.Loop(); seq++ {
					r, err := w.Request(seq)
					if err != nil {
						b.Fatal(err)
					}
					made += r.AskedInput
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(made), "ns/token")
			})
		}
	}
}

// The first prompt with a shared beginning, token by token.
func BenchmarkBeginning(b *testing.B) {
	for b.Loop() {
		w := mustNew(b, Options{Text: words{}, Seed: 1, Input: Must(Fixed(30_000, 0)), Overlap: Overlap{Share: 1}})
		if _, err := w.Request(0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/30_000, "ns/token")
}

// Requests far into a run with lengths that vary: what came before is looked at
// once.
func BenchmarkFarInto(b *testing.B) {
	w := mustNew(b, Options{Text: words{}, Seed: 1, Input: Must(LogNormal(20, .5, 100)), Overlap: Overlap{Share: .5}})
	for seq := 100_000; b.Loop(); seq++ {
		if _, err := w.Request(seq); err != nil {
			b.Fatal(err)
		}
	}
}
