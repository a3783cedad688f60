package evaltest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// TestCanariesAroundTheGrader: a judge that is the run's grader, and answers from
// a cache, books no call; what it decided is ungraded all the same.
func TestCanariesAroundTheGrader(t *testing.T) {
	s := judgeOf(func(string) string { return "C" })
	cache := judge.Dir(t.TempDir())
	for _, name := range []string{"asked", "from the cache"} {
		t.Run(name, func(t *testing.T) {
			k := judge.WithCanaries(judge.New(modelAt(llmtest.Gemini, s), judge.Named("m"), judge.Cache(cache)), []judge.Labelled{
				{Item: dataset.Item{ID: "good"}, Response: llm.Response{Text: "eighteen"}, Label: grade.Correct},
				{Item: dataset.Item{ID: "bad"}, Response: llm.Response{Text: "seventeen"}, Label: grade.Incorrect},
			}, judge.CanaryConfig{})
			rep := evaltest.RunInBubble(t, questions(t, 4),
				evaltest.Ask(modelAt(llmtest.OpenAI, s), func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }),
				evaltest.Grader(k), evaltest.MinAccuracy(0), evaltest.MaxUngraded(4), evaltest.Attempts(1))
			assert.Equal(t, 1, k.Report().Missed)
			assert.Equal(t, 4, rep.Stats.Outcomes[result.Ungraded], rep.Warnings)
		})
	}
}
