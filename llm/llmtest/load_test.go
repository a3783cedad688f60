package llmtest_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	goopenai "github.com/sashabaranov/go-openai"
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

// TestEverythingAtOnce: calls, counts, jobs, files and waiting meet each other;
// -race sees what they share.
func TestEverythingAtOnce(t *testing.T) {
	s := &llmtest.Server{
		Limits: llmtest.Limits{RPM: 1 << 20, TPM: 1 << 30, Concurrency: 6}, Cache: &llmtest.PrefixCache{Min: 1, Block: 1},
		Latency: llmtest.Latency{First: llmtest.Exponential(100 * time.Microsecond)},
		Reply:   func(c llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: c.Last()} },
		Rules: []llmtest.Rule{
			{Tries: 1, Limit: 20, Faults: llmtest.Named(llmtest.FaultUnavailable)},
			{Probability: 0.3, Faults: llmtest.Named(llmtest.FaultResetMidway, llmtest.FaultErrorMidway, llmtest.FaultRateLimitDate)},
		},
	}
	sdk := sdkOf(s)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	each := func(f func(i int)) {
		wg.Go(func() {
			for i := range 40 {
				f(i)
			}
		})
	}
	for n := range 8 {
		each(func(i int) {
			given, stop := context.WithCancel(ctx)
			defer stop()
			if i%5 == 0 {
				time.AfterFunc(50*time.Microsecond, stop)
			}
			resp, err := ask(given, s.Client(), []llmtest.API{llmtest.OpenAI, llmtest.Gemini}[i%2], n%2 == 0, fmt.Sprint("item ", i))
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body) // however it ends
				resp.Body.Close()
			}
		})
	}
	each(func(int) {
		b, err := sdk.CreateBatchWithUploadFile(ctx, goopenai.CreateBatchWithUploadFileRequest{
			Endpoint: goopenai.BatchEndpointChatCompletions, UploadBatchFileRequest: questions("a", "b"),
		})
		if assert.NoError(t, err) {
			_, err = sdk.RetrieveBatch(ctx, b.ID)
			assert.NoError(t, err)
			_, err = sdk.ListBatch(ctx, nil, nil)
			assert.NoError(t, err)
		}
	})
	each(func(int) { s.Counts(); s.Memory().Calls(); s.Memory().OpenBodies() })
	wg.Wait()
	require.NoError(t, s.Quiet(ctx))
	s.Memory().Wait()
	c := s.Counts()
	assert.Equal(t, c.Calls, c.ByAPI[llmtest.Gemini]+c.ByAPI[llmtest.OpenAI])
	assert.Zero(t, c.InFlight+c.OpenBodies)
}
