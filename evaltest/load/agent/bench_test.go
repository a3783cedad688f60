package agent

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/load/record"
)

// BenchmarkRun is what a request costs the client besides being sent: texts,
// bodies and bookkeeping, with 64 sessions of 20 turns against a server that
// answers at once. heap-B/trajectory is what a run keeps of each that has
// ended.
func BenchmarkRun(b *testing.B) {
	const turns = 20
	instant := CallerFunc(func(_ context.Context, c *Call, rec *record.Request) []byte {
		rec.Sent = time.Since(c.Start)
		rec.FirstSent, rec.Done = rec.Sent, time.Since(c.Start)
		return []byte(`{"role":"assistant","content":"a reply of a few words"}`)
	})
	p, err := Synthesize(1, max(b.N, 64), Shape{Input: Fixed(1000), Turns: Fixed(turns), Output: Fixed(100), Environment: Fixed(200)})
	require.NoError(b, err)
	cfg := config()
	cfg.MaxActive = 64
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	before := heap()
	b.ReportAllocs()
	b.ResetTimer()
	res, err := Run(context.Background(), p, cfg, instant)
	b.StopTimer()
	require.NoError(b, err)
	n := float64(res.Succeeded)
	b.ReportMetric((heap()-before)/float64(len(res.Trajectories)), "heap-B/trajectory")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/request")
	b.ReportMetric(n/b.Elapsed().Seconds(), "requests/s")
	runtime.KeepAlive(res)
	runtime.KeepAlive(p)
}
