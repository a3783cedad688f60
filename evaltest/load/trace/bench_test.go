package trace_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goevals/evals/evaltest/load/trace"
)

// BenchmarkRead reads files of 20,000 rows; ns/row is what a row costs.
func BenchmarkRead(b *testing.B) {
	const rows = 20_000
	var azure, burst strings.Builder
	azure.WriteString(azureHeader)
	burst.WriteString("Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n")
	for i := range rows {
		fmt.Fprintf(&azure, "2023-11-16 18:%02d:%02d.%07d,374,44\n", i/1000, i/17%60, i)
		fmt.Fprintf(&burst, "%d.5,s%d,2,GPT-4,906,446,1352,Conversation log\n", i, i%1000)
	}
	for _, bb := range []struct{ name, text string }{
		{"kind=azure", azure.String()},
		{"kind=burstgpt", burst.String()},
		{"kind=mooncake", randomTrace(rand.New(rand.NewPCG(1, 1)), rows, 512)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := trace.Read(strings.NewReader(bb.text), "in", trace.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
