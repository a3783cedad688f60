package call_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

// client returns a client of a server, over this transport.
func client(url string, rt http.RoundTripper) llm.Model {
	return openai.Config{Model: "fake", BaseURL: url, KeyEnv: "CALL_TEST_KEY", KeyOptional: true, HTTPClient: &http.Client{Transport: rt}}.New()
}

// TestProviderOf600RPM: a provider that counts strictly is used to at least
// 99 % for ten minutes, and refuses nothing.
func TestProviderOf600RPM(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const minutes, rpm = 10, 600
		server := &llmtest.Server{
			Limits:  llmtest.Limits{RPM: rpm, CountRefused: true},
			Latency: llmtest.Latency{First: llmtest.LogNormal(900*time.Millisecond, 0.5)},
		}
		ctx, cancel := context.WithTimeout(t.Context(), minutes*time.Minute)
		defer cancel()
		m := call.New(client("https://provider.test/v1", server.Memory()), call.Config{Scope: call.NewScope(call.Limits{RPM: rpm})})
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _ = m.Generate(ctx, llm.Prompt("How many?")) // the last ones are cut off
				}
			})
		}
		wg.Wait()
		require.NoError(t, server.Quiet(t.Context()))
		counts := server.Counts()
		assert.Zero(t, counts.Limited, "refused")
		assert.LessOrEqual(t, counts.MinuteCalls, rpm, "in any minute")
		assert.GreaterOrEqual(t, counts.Calls, minutes*rpm*99/100, "of %d possible", minutes*rpm)
	})
}

// BenchmarkLoopback: 1,000 calls of 100 ms at 250 in flight over real sockets,
// through the engine and through a plain pool of as many workers. The two take
// turns, and change who begins. x/pool is the engine's median wall time in terms
// of the pool's; the bar is 1 within the noise that the pool's own spread shows.
// dials are the most connections that either made.
func BenchmarkLoopback(b *testing.B) {
	const calls, workers = 1000, 250
	server := &llmtest.Server{Latency: llmtest.Latency{First: llmtest.Constant(100 * time.Millisecond)}}
	rt := wire.NewPool(workers)
	b.Cleanup(rt.CloseIdleConnections)
	plain := client(server.Start(b), rt)
	engine := call.New(plain, call.Config{Scope: call.NewScope(call.Limits{Concurrency: workers})})
	inFlight(b.Context(), plain, calls, workers) // both find the connections made
	var pooled, engined []time.Duration
	for i := 0; b.Loop(); i++ {
		for leg := range 2 {
			if (i+leg)%2 == 0 {
				pooled = append(pooled, inFlight(b.Context(), plain, calls, workers))
			} else {
				engined = append(engined, inFlight(b.Context(), engine, calls, workers))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(median(engined))/float64(median(pooled)), "x/pool")
	b.ReportMetric(float64(pooled[len(pooled)-1])/float64(pooled[0]), "x/spread")
	b.ReportMetric(float64(median(engined))/float64(400*time.Millisecond), "x/ideal")
	b.ReportMetric(float64(server.Counts().Dialed), "dials")
}

// BenchmarkDials: 1,000 streamed calls by 20 workers. dials are the connections
// made; the bar is 21.
func BenchmarkDials(b *testing.B) {
	const calls, workers = 1000, 20
	for b.Loop() {
		server := &llmtest.Server{Latency: llmtest.Latency{First: llmtest.Constant(5 * time.Millisecond)}}
		rt := wire.NewPool(workers)
		m := call.New(client(server.Start(b), rt), call.Config{})
		inFlight(b.Context(), llm.ModelFunc(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			req.Stream = true
			return m.Generate(ctx, req)
		}), calls, workers)
		b.ReportMetric(float64(server.Counts().Dialed), "dials")
		rt.CloseIdleConnections()
	}
}
