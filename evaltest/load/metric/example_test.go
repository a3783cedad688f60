package metric_test

import (
	"fmt"
	"os"
	"time"

	"github.com/goevals/evals/evaltest/load/metric"
	"github.com/goevals/evals/evaltest/load/record"
	"github.com/goevals/evals/llm"
)

// A closed loop of one user: each answer has its first token after 50 ms and
// nine more, 10 ms apart.
func Example() {
	m, err := metric.New(metric.Config{Users: 1, SLO: metric.SLO{TTFT: 100 * time.Millisecond}})
	if err != nil {
		fmt.Println(err)
		return
	}
	const ms = time.Millisecond
	for i := range 20 {
		at := time.Duration(i) * 140 * ms
		r := record.Request{
			Seq: i, Phase: record.Measured, Streamed: true, Finish: "length",
			Due: at, FirstSent: at, Sent: at, Done: at + 140*ms,
			Usage: llm.Usage{Known: true, Input: 32, Output: 10},
		}
		for k := range 10 {
			r.Fragments = append(r.Fragments, record.Fragment{At: at + 50*ms + time.Duration(k)*10*ms, Bytes: 5})
		}
		if err := m.Add(&r); err != nil {
			fmt.Println(err)
		}
	}

	r := m.Result(metric.Health{CPU: metric.Some(0.12)})
	ttft := r.Dists[metric.TTFT].At(0.9)
	fmt.Println("valid:", r.Validity.Valid)
	fmt.Println("TTFT p90 in ns:", ttft.Value, "too few:", ttft.Few)
	fmt.Println("TPOT p50 in ns:", r.Dists[metric.TPOT].At(0.5).Value)
	fmt.Println("goodput:", r.Goodput.Fraction)
	if err := r.WriteSummary(os.Stdout, metric.BaseSheet); err != nil {
		fmt.Println(err)
	}
	// Output:
	// valid: true
	// TTFT p90 in ns: 5e+07 too few: false
	// TPOT p50 in ns: 1e+07
	// goodput: 1
	// Requests: total=20 successful=20 failed=0
	// Tokens: prompt=640 completion=200
	// Duration: 2.80 s
	// Throughput: requests/s=7.14 prompt tok/s=228.57 completion tok/s=71.43
	// Latency (ms): p50=140.00 p90=140.00 p99=140.00
}
