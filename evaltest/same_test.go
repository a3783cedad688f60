package evaltest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// sameItems is how many items each provider is asked.
const sameItems = 60

// sameReply answers in every way that both providers know. A blocked prompt is
// not among them: one says 400, the other 200 without an answer.
func sameReply(c llmtest.Chat) llmtest.Reply {
	r := adds(c)
	var n int
	fmt.Sscanf(c.Last(), "What is %d", &n)
	switch {
	case n%10 == 1:
		r.Reasoning = "First the one, then the other. "
	case n%10 == 2 && c.Try == 1:
		r.Text = "I would rather not say."
	case n%10 == 4:
		r.Finish = "length"
	case n%10 == 5:
		r.Finish = "content_filter"
	case n%10 == 6:
		r.NoUsage = true
	}
	return r
}

// sameProgram asks a provider's fake, inside a bubble, and returns the records
// as a journal has them.
func sameProgram(t *testing.T, stream bool, newModel func(*http.Client) llm.Model) []string {
	server := &llmtest.Server{
		Reply: sameReply, Key: "key-of-the-test", Seed: 7,
		Latency: llmtest.Latency{First: llmtest.LogNormal(300*time.Millisecond, 0.4), Between: llmtest.Exponential(20 * time.Millisecond)},
		Cache:   &llmtest.PrefixCache{Min: 4, Block: 2, TTL: -1},
		Rules: []llmtest.Rule{
			{Faults: llmtest.Named(llmtest.FaultServerError, llmtest.FaultReset, llmtest.FaultUnavailable), Probability: 0.1},
			{Faults: llmtest.Named(llmtest.FaultMinuteQuota), Probability: 0.05},
		},
	}
	m := newModel(server.Client())
	c := &run.Config{
		Strategy: run.Escalate(
			run.Ask(m, func(it dataset.Item) llm.Request { r := llm.Prompt(it.Input); r.Stream = stream; return r }),
			run.Ask(m, func(it dataset.Item) llm.Request {
				r := llm.Prompt(it.Input).WithSystem("Think.")
				r.Stream = stream
				return r
			}), 3),
		Grader: grade.Numeric(),
	}
	c.Backoff.Rand = func() float64 { return 0.5 }
	var rows []string
	for _, it := range sums(t, sameItems).Items() {
		rec := c.Item(t.Context(), it, 0)
		if rec.Response != nil {
			rec.Response.ID = "" // each provider has its own
		}
		b, err := json.Marshal(rec)
		require.NoError(t, err)
		rows = append(rows, string(b))
	}
	require.NoError(t, server.Quiet(t.Context()))
	return rows
}

// TestSameRecords: the same program against OpenAI and Gemini has the same
// records, but for the provider's name and what it calls things in messages.
func TestSameRecords(t *testing.T) {
	t.Setenv("SAME_TEST_KEY", "key-of-the-test")
	models := []func(*http.Client) llm.Model{
		func(hc *http.Client) llm.Model {
			return openai.Config{Model: "fake-1", BaseURL: "https://provider.test/v1", KeyEnv: "SAME_TEST_KEY", Provider: "provider", HTTPClient: hc}.New()
		},
		func(hc *http.Client) llm.Model {
			return gemini.Config{Model: "fake-1", BaseURL: "https://provider.test", KeyEnv: "SAME_TEST_KEY", Provider: "provider", HTTPClient: hc}.New()
		},
	}
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			var rows [2][]string
			for i, newModel := range models {
				synctest.Test(t, func(t *testing.T) { rows[i] = sameProgram(t, stream, newModel) })
			}
			outcomes := map[result.Outcome]int{}
			for k := range rows[0] {
				var a, b result.Record
				require.NoError(t, json.Unmarshal([]byte(rows[0][k]), &a))
				require.NoError(t, json.Unmarshal([]byte(rows[1][k]), &b))
				sameMessages(&a)
				sameMessages(&b)
				assert.Equal(t, a, b)
				outcomes[a.Outcome]++
			}
			t.Logf("%v", outcomes)
			for _, o := range []result.Outcome{result.Correct, result.Incorrect, result.Truncated, result.Blocked} {
				assert.Positive(t, outcomes[o], "no item was %s: the test shows less than it should", o)
			}
		})
	}
}

// sameMessages takes the provider's own words out of a record: kinds and
// statuses stay.
func sameMessages(r *result.Record) {
	if r.Error != nil {
		r.Error.Message = ""
	}
	if r.Response != nil {
		r.Response.Warnings = nil // Gemini says which of its filters it was
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Error != nil {
			a.Error.Message = ""
		}
		for j := range a.TryLog {
			if e := a.TryLog[j].Error; e != nil {
				e.Message = ""
			}
		}
	}
	r.Item.Row = nil
}
