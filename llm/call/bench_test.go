package call_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
)

// inFlight makes n calls with this many workers and returns how long they took
// together.
func inFlight(ctx context.Context, m llm.Model, n int, workers int) time.Duration {
	start := time.Now()
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for next.Add(1) <= int64(n) {
				if _, err := m.Generate(ctx, llm.Prompt("?")); err != nil {
					panic(err)
				}
			}
		})
	}
	wait.Wait()
	return time.Since(start)
}

// BenchmarkOverhead: what the engine adds to a call, in CPU time: the median of
// interleaved rounds of 1,000 calls with the engine, less one of 1,000 without.
// The bar is 5 µs.
func BenchmarkOverhead(b *testing.B) {
	direct := llm.ModelFunc(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "18", Usage: llm.Usage{Input: 2, Output: 1, Known: true}}, nil
	})
	for _, bench := range []struct {
		name   string
		limits call.Limits
		ctx    func(context.Context) (context.Context, func())
	}{
		{"alone", call.Limits{}, func(ctx context.Context) (context.Context, func()) { return ctx, func() {} }},
		{"limited", call.Limits{RPM: 1_000_000_000, TPM: 1_000_000_000, Concurrency: 250}, func(ctx context.Context) (context.Context, func()) { return ctx, func() {} }},
		{"in-attempt", call.Limits{}, func(ctx context.Context) (context.Context, func()) {
			item := call.Until(ctx, time.Now().Add(time.Hour))
			b := call.Within(call.WithTries(item, new(call.Tries)), time.Hour)
			return b, func() { b.Cancel(); item.Cancel() }
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			engine := call.New(direct, call.Config{Scope: call.NewScope(bench.limits)})
			req := llm.Prompt("How many?")
			req.MaxOutputTokens = new(int64(1)) // so that the limits are there and not met
			round := func(m llm.Model) time.Duration {
				start := time.Now()
				for range 10 {
					ctx, end := bench.ctx(b.Context())
					for range 100 {
						if _, err := m.Generate(ctx, req); err != nil {
							b.Fatal(err)
						}
					}
					end()
				}
				return time.Since(start) / 1000
			}
			var with, without []time.Duration
			for b.Loop() {
				without = append(without, round(direct))
				with = append(with, round(engine))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(median(with)-median(without)), "ns/overhead")
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkInFlight: 1,000 calls of 200 ms, 250 in flight, as a part of the
// ideal 800 ms. The bar is 1.03.
func BenchmarkInFlight(b *testing.B) {
	scripted := &llmtest.Model{Latency: func(int, llm.Request) time.Duration { return 200 * time.Millisecond }}
	for _, bench := range []struct {
		name    string
		m       llm.Model
		workers int
	}{
		{"pool", scripted, 250}, // a plain one, to compare
		{"engine", call.New(scripted, call.Config{}), 250},
		{"slots", call.New(scripted, call.Config{Scope: call.NewScope(call.Limits{Concurrency: 250})}), 1000},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				took = append(took, inFlight(b.Context(), bench.m, 1000, bench.workers))
			}
			b.ReportMetric(float64(median(took))/float64(800*time.Millisecond), "x/ideal")
		})
	}
}

// BenchmarkBound: a context that is looked at, as every real call's is.
func BenchmarkBound(b *testing.B) {
	parent, cancel := context.WithCancel(b.Context())
	defer cancel()
	for name, within := range map[string]func() func(){
		"std":    func() func() { ctx, cancel := context.WithTimeout(parent, time.Hour); ctx.Done(); return cancel },
		"until":  func() func() { c := call.Until(parent, time.Now().Add(time.Hour)); c.Done(); return c.Cancel },
		"within": func() func() { c := call.Within(parent, time.Hour); c.Done(); return c.Cancel },
		"unseen": func() func() { return call.Within(parent, time.Hour).Cancel },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				within()()
			}
		})
	}
}
