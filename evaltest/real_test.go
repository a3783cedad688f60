package evaltest_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/dataset/gsm8k"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/openai"
)

// TestRealServer: a real OpenAI-compatible server over a small local model
// answers the sample end to end, whole and streamed, with equal texts and equal
// usage. CONTRIBUTING.md says how to get such a server.
func TestRealServer(t *testing.T) {
	base := os.Getenv("EVALS_TEST_SERVER")
	if base == "" {
		t.Skip("EVALS_TEST_SERVER is not set: give the base URL of an OpenAI-compatible server that reports usage in streams, and its model in EVALS_TEST_MODEL")
	}
	m := openai.Config{Model: os.Getenv("EVALS_TEST_MODEL"), BaseURL: base, KeyEnv: "EVALS_TEST_KEY", KeyOptional: true}.New()
	ds, err := gsm8k.Load("../testdata/gsm8k_sample.jsonl.gz")
	require.NoError(t, err)
	var runs [2][]result.Record
	for i, stream := range []bool{false, true} {
		dir := t.TempDir()
		var rep *evaltest.Report
		t.Run(map[bool]string{false: "whole", true: "streamed"}[stream], func(t *testing.T) {
			rep = evaltest.Run(t, ds, evaltest.Ask(m, func(it dataset.Item) llm.Request {
				r := llm.Prompt(it.Input)
				r.Stream, r.Temperature, r.Seed, r.MaxOutputTokens = stream, new(0.0), new(int64(1)), new(int64(48))
				// llama.cpp: what the last prompt left behind changes the
				// last digits, and with them a text.
				r.Extra = map[string]json.RawMessage{"cache_prompt": json.RawMessage("false")}
				return r
			}), evaltest.Grader(grade.Numeric()), evaltest.MinAccuracy(0), evaltest.Parallel(1), evaltest.Attempts(1),
				evaltest.Dir(dir), evaltest.Timeout(2*time.Minute))
		})
		j, err := result.Read(rep.Journal)
		require.NoError(t, err)
		require.Len(t, j.Records, ds.Len())
		runs[i] = j.Records
	}
	var total llm.UsageTotal
	for k := range runs[0] {
		whole, streamed := runs[0][k], runs[1][k]
		require.Equal(t, whole.Item.ID, streamed.Item.ID)
		require.NotNil(t, whole.Response, "%+v", whole.Error)
		require.NotNil(t, streamed.Response, "%+v", streamed.Error)
		assert.Equal(t, whole.Outcome, streamed.Outcome)
		assert.Equal(t, whole.Response.Text, streamed.Response.Text)
		assert.Equal(t, whole.Response.Finish, streamed.Response.Finish)
		assert.Equal(t, whole.Response.Usage.Input, streamed.Response.Usage.Input)
		assert.Equal(t, whole.Response.Usage.Output, streamed.Response.Usage.Output)
		assert.True(t, whole.Response.Usage.Known && streamed.Response.Usage.Known, "usage is reported")
		assert.Positive(t, streamed.Response.Timing.FirstToken)
		assert.LessOrEqual(t, streamed.Response.Timing.FirstToken, streamed.Response.Timing.Total)
		total.Merge(streamed.Usage)
	}
	t.Logf("%d items, whole and streamed: %d+%d tokens each", ds.Len(), total.Input, total.Output)
}
