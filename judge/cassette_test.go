package judge_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

// TestRecordAndReplay: a judge's calls are recorded, re-asks and a refused
// schema too, and a strict replay finds them in another order, in a process that
// has learnt nothing of the provider.
func TestRecordAndReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judge.jsonl.gz")
	server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		switch {
		case strings.Contains(string(c.Body), "json_schema"):
			return llmtest.Reply{Raw: llmtest.Status(400, `{"error":{"message":"response_format json_schema is not supported","type":"invalid_request_error"}}`)}
		case strings.Contains(c.Messages[1].Content, "Lyon") && c.Try == 1 && len(c.Messages) == 2:
			return llmtest.Reply{Text: "GRADE: who knows"}
		case strings.Contains(c.Messages[1].Content, "Lyon"):
			return llmtest.Reply{Text: "GRADE: I"}
		case strings.Contains(c.Messages[1].Content, "nothing") && c.Try == 1:
			return llmtest.Reply{Text: " "}
		}
		return llmtest.Reply{Text: "It matches.\nGRADE: C"}
	}}
	answers := []string{"Paris", "Lyon", "nothing but Paris", "Paris!"}
	want := []grade.Mark{right, wrong, right, right}
	play := func(mode cassette.Mode, order ...int) {
		c, err := cassette.Open(path, cassette.Options{Mode: mode})
		require.NoError(t, err)
		model := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: server.Client()}.New()
		j := judge.New(model)
		for _, i := range order {
			ctx := wire.WithMiddleware(llm.WithItem(context.Background(), "item"), c)
			v, err := j.Grade(ctx, dataset.Item{ID: "item", Input: "The capital of France?", Target: "Paris"}, said(answers[i]))
			require.NoError(t, err, answers[i])
			assert.Equal(t, want[i], v.Mark, answers[i])
			assert.Equal(t, mode == cassette.Replay, v.Calls[0].Replayed)
		}
		require.NoError(t, c.Close())
	}
	play(cassette.Record, 0, 1, 2, 3)
	calls := server.Counts().Calls
	play(cassette.Replay, 3, 1, 2, 0)
	play(cassette.Replay, 1, 0)
	assert.Equal(t, calls, server.Counts().Calls, "nobody was asked")
}
