package llmtest_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
)

// TestManyCalls: 1,319 calls at 250 in flight with faults, a storm, limits and
// latencies: each is counted once, and nothing is left.
func TestManyCalls(t *testing.T) {
	run := func() (counts llmtest.Counts) {
		synctest.Test(t, func(t *testing.T) {
			s := &llmtest.Server{
				Seed: 3, Latency: llmtest.Latency{First: llmtest.LogNormal(200*time.Millisecond, 0.4), Between: llmtest.Exponential(time.Millisecond)},
				Limits: llmtest.Limits{RPM: 2000},
				Reply:  func(c llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "the answer to " + c.Last()} },
				Rules: []llmtest.Rule{
					{Text: "item 77 ", Faults: llmtest.Named(llmtest.FaultHang)},
					llmtest.Storm(300*time.Millisecond, 200*time.Millisecond),
					{Probability: 0.02, Faults: llmtest.Named(llmtest.FaultServerError, llmtest.FaultResetMidway, llmtest.FaultSlowDrip)},
				},
			}
			slots := make(chan bool, 250)
			var wg sync.WaitGroup
			for i := range 1319 {
				slots <- true
				wg.Go(func() {
					defer func() { <-slots }()
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					api := []llmtest.API{llmtest.OpenAI, llmtest.Gemini}[i%2]
					resp, err := ask(ctx, s.Client(), api, i%3 == 0, fmt.Sprintf("item %d of many", i))
					if err == nil {
						_, _ = io.Copy(io.Discard, resp.Body) // however it ends
						resp.Body.Close()
					}
				})
			}
			wg.Wait()
			require.NoError(t, s.Quiet(t.Context()))
			counts = s.Counts()
		})
		return counts
	}
	c := run()
	assert.Equal(t, 1319, c.Calls)
	broken := c.Faults - c.ByFault[llmtest.FaultSlowDrip]
	assert.Equal(t, c.Calls, c.Answered+c.Limited+broken, "each call came to one thing")
	assert.Equal(t, 1, c.Canceled, "the one that hung")
	assert.Equal(t, 250, c.Peak)
	assert.Greater(t, c.ByFault["storm"], 100)
	assert.Less(t, c.ByFault["storm"], 1319)
	assert.Equal(t, 1319, c.MinuteCalls)
	assert.Zero(t, c.InFlight+c.OpenBodies)
}
