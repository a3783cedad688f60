package judge_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/wire"
)

// TestJuryAndCanariesReplay: a jury of one model that wavers, with canaries, and
// a rubric of one call a criterion are recorded. A strict replay in another
// order finds each member's own answer and each canary, and comes to the same
// verdicts.
func TestJuryAndCanariesReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jury.jsonl.gz")
	server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		data := c.Messages[1].Content
		switch {
		case strings.Contains(c.Messages[0].Content, "- rude:"):
			return llmtest.Reply{Text: `{"rude":"no"}`}
		case strings.Contains(c.Messages[0].Content, "- names-it:"):
			return llmtest.Reply{Text: `{"names-it":"yes"}`}
		case strings.Contains(data, "Lyon") || strings.Contains(data, "waver") && c.Try != 2:
			return llmtest.Reply{Text: fmt.Sprintf("try %d\nGRADE: I", c.Try)}
		}
		return llmtest.Reply{Text: fmt.Sprintf("try %d\nGRADE: C", c.Try)}
	}}
	known := []judge.Labelled{
		{Item: dataset.Item{ID: "r", Input: "The capital of France?", Target: "Paris"}, Response: said("Paris it is"), Label: right},
		{Item: dataset.Item{ID: "w", Input: "The capital of France?", Target: "Paris"}, Response: said("Lyon it is"), Label: wrong},
	}
	answers := []string{"Paris", "Lyon", "I waver, Paris", "Paris!"}
	play := func(mode cassette.Mode, config judge.CanaryConfig, order ...int) (lines []string) {
		c, err := cassette.Open(path, cassette.Options{Mode: mode})
		require.NoError(t, err)
		model := openai.Config{Model: "m", BaseURL: "http://127.0.0.1/v1", HTTPClient: server.Client()}.New()
		jury := judge.WithCanaries(judge.NewJury(judge.JuryConfig{}, judge.Repeat(judge.New(model), 3)...), known, config)
		rubric := judge.NewRubric(model, []judge.Criterion{three[0], three[2]}, judge.OneCallEach())
		for _, i := range order {
			for sample := range 2 {
				ctx := wire.WithMiddleware(llm.WithSample(llm.WithItem(t.Context(), strconv.Itoa(i)), sample), c)
				item := dataset.Item{ID: strconv.Itoa(i), Input: "The capital of France?", Target: "Paris"}
				v, err := jury.Grade(ctx, item, said(answers[i]))
				require.NoError(t, err, answers[i])
				line := fmt.Sprint(i, sample, v.Mark)
				for _, r := range v.Calls[:3] {
					line += " " + r.Text
				}
				lines = append(lines, line)
				v, err = rubric.Grade(ctx, item, said(answers[i]))
				require.NoError(t, err)
				require.Equal(t, right, v.Mark)
			}
		}
		require.NoError(t, jury.Verdict())
		report := jury.Report()
		require.Equal(t, len(report.Results), report.Hit)
		if config.Rate == 0 {
			require.Equal(t, 2, report.Hit)
		}
		require.NoError(t, c.Close())
		slices.Sort(lines)
		return lines
	}
	for name, config := range map[string]judge.CanaryConfig{"once": {}, "rate": {Rate: 0.6, Seed: 4}} {
		t.Run(name, func(t *testing.T) {
			first := play(cassette.Auto, config, 0, 1, 2, 3)
			calls := server.Counts().Calls
			assert.Equal(t, first, play(cassette.Replay, config, 3, 2, 0, 1))
			assert.Equal(t, calls, server.Counts().Calls, "nobody was asked")
		})
	}
}
