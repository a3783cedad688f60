package evaltest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/gemini"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// The tests named TestCase… are what real users met, by the ids of the reports
// that were collected; those named TestTrap… are what an earlier tool for the
// same purpose fell into. Here they are asked end to end: a fake provider in
// memory answers a row, and the row's record is looked at. They run in a bubble,
// so that waits are exact and take no time.

var bothAPIs = []llmtest.API{llmtest.OpenAI, llmtest.Gemini}

// modelAt is a client of a fake in memory.
func modelAt(api llmtest.API, s *llmtest.Server) llm.Model {
	if api == llmtest.Gemini {
		return gemini.Config{
			Model: "fake-1", BaseURL: "https://provider.test", HTTPClient: s.Client(),
			Header: http.Header{"X-Goog-Api-Key": {"key-of-the-test"}},
		}.New()
	}
	return openai.Config{Model: "fake-1", BaseURL: "http://localhost/v1", HTTPClient: s.Client()}.New()
}

// asking is a Config that asks m each item's input, with jitter of half the
// bound: the waits before later attempts are 0.5 s, 1 s, 2 s, ….
func asking(m llm.Model, set ...func(*llm.Request)) *run.Config {
	c := &run.Config{
		Strategy: run.Ask(m, func(it dataset.Item) llm.Request {
			req := llm.Prompt(it.Input)
			for _, f := range set {
				f(&req)
			}
			return req
		}),
		Grader: grade.Numeric(),
	}
	c.Backoff.Rand = func() float64 { return 0.5 }
	return c
}

func streamed(r *llm.Request) { r.Stream = true }

// wanting is a row with this target.
func wanting(target string) dataset.Item {
	return dataset.Item{ID: "row", Input: "What is it?", Target: target}
}

// answering is a fake that answers the n-th call with the n-th handler, and all
// further ones with the last.
func answering(handlers ...http.HandlerFunc) *llmtest.Server {
	return &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Raw: handlers[min(c.N, len(handlers))-1]}
	}}
}

// says is an answer of either API that holds this text.
func says(api llmtest.API, text string) http.HandlerFunc {
	if api == llmtest.Gemini {
		return llmtest.Stream(llmtest.GeminiText(text), llmtest.GeminiFinish("STOP"))
	}
	return llmtest.Stream(llmtest.Text(text), llmtest.Finish("stop"), llmtest.Done)
}

// delta is a piece of a streamed answer of either API.
func delta(api llmtest.API, text string) string {
	if api == llmtest.Gemini {
		return llmtest.GeminiText(text)
	}
	return llmtest.Text(text)
}

// notRight checks a record of an answer that must not be graded.
func notRight(t *testing.T, rec result.Record, outcome result.Outcome) {
	t.Helper()
	require.Equal(t, outcome, rec.Outcome, "%+v", rec.Error)
	require.Nil(t, rec.Verdict, "it was graded")
	require.Zero(t, rec.Score)
}

// summed is what a run of these records comes to, and the text that shows it.
func summed(t *testing.T, records ...result.Record) (*report.Stats, string) {
	t.Helper()
	sum := report.New(report.Labels{Planned: len(records)})
	for i := range records {
		sum.Add(&records[i])
	}
	stats := sum.Stats()
	var b strings.Builder
	require.NoError(t, report.Text(&b, stats, report.Options{Width: 200}))
	return stats, b.String()
}
