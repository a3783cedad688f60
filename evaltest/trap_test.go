package evaltest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/report"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
	"github.com/goevals/evals/llm/price"
	"github.com/goevals/evals/llm/wire"
)

// settings change one setting of a request each.
var settings = map[string]func(*llm.Request){
	"prompt":      func(r *llm.Request) { r.Messages[0].Content += "!" },
	"system":      func(r *llm.Request) { *r = r.WithSystem("Think.") },
	"temperature": func(r *llm.Request) { r.Temperature = new(0.0) },
	"top p":       func(r *llm.Request) { r.TopP = new(0.0) },
	"seed":        func(r *llm.Request) { r.Seed = new(int64(0)) },
	"max tokens":  func(r *llm.Request) { r.MaxOutputTokens = new(int64(64)) },
	"stop":        func(r *llm.Request) { r.Stop = []string{"\n\nQ:"} },
	"schema": func(r *llm.Request) {
		r.Schema = &llm.Schema{Name: "n", JSON: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)}
	},
	"tools": func(r *llm.Request) {
		r.Tools = []llm.Tool{{Name: "add", Parameters: json.RawMessage(`{"type":"object"}`)}}
	},
	"thinking": func(r *llm.Request) { r.Thinking = &llm.Thinking{Level: "low"} },
	"stream":   func(r *llm.Request) { r.Stream = true },
	"extra":    func(r *llm.Request) { r.Extra = map[string]json.RawMessage{"logprobs": json.RawMessage("true")} },
}

// TestTrap18SettingsAreSentIfSet: what is not set is not sent, for some models
// refuse even a 0; and a zero that is set is.
func TestTrap18SettingsAreSentIfSet(t *testing.T) {
	for _, api := range bothAPIs {
		t.Run(string(api), func(t *testing.T) {
			body := func(set ...func(*llm.Request)) (text string) {
				s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
					text = string(c.Body)
					return llmtest.Reply{Text: "18"}
				}}
				rec := asking(modelAt(api, s), set...).Item(t.Context(), wanting("18"), 0)
				require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
				return text
			}
			want := `{"model":"fake-1","messages":[{"role":"user","content":"What is it?"}],"stream":false}`
			if api == llmtest.Gemini {
				want = `{"contents":[{"parts":[{"text":"What is it?"}],"role":"user"}],"generationConfig":{}}`
			}
			assert.JSONEq(t, want, body(), "nothing but what was asked")
			text := body(settings["temperature"], settings["top p"], settings["seed"])
			for _, name := range []string{"temperature", "top", "seed"} {
				assert.Regexp(t, `"`+name+`_?[pP]?":0\b`, text)
			}
		})
	}
}

// TestTrap18RecordingsKnowEverySetting: a recording answers only the request
// that it was made of.
func TestTrap18RecordingsKnowEverySetting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "18"} }}
	ask := func(mode cassette.Mode, set ...func(*llm.Request)) result.Record {
		c, err := cassette.Open(path, cassette.Options{Mode: mode})
		require.NoError(t, err)
		rec := asking(modelAt(llmtest.OpenAI, s), set...).Item(wire.WithMiddleware(t.Context(), c), wanting("18"), 0)
		require.NoError(t, c.Close())
		return rec
	}
	require.Equal(t, result.Correct, ask(cassette.Record).Outcome)
	require.Equal(t, result.Correct, ask(cassette.Replay).Outcome)
	for name, set := range settings {
		rec := ask(cassette.Replay, set)
		require.Equal(t, result.Errored, rec.Outcome, "%s: an answer to another request was taken", name)
		assert.Equal(t, llm.KindMiss, rec.Error.Kind, "%s: %s", name, rec.Error.Message)
	}
	assert.Equal(t, 1, s.Counts().Calls)
}

// A run that is played with one setting, or one part, changed.
func init() {
	play := func(model string, g grade.Grader, set ...func(*llm.Request)) func(*testing.T) {
		return func(t *testing.T) {
			s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
				if c.Last() == sumOf(2) {
					return llmtest.Reply{Raw: llmtest.Status(400, `{"error":{"message":"no"}}`)}
				}
				return adds(c)
			}}
			m := openai.Config{Model: model, BaseURL: "http://localhost/v1", HTTPClient: s.Client()}.New()
			evaltest.Run(t, sums(t, 3), evaltest.Ask(m, func(it dataset.Item) llm.Request {
				r := llm.Prompt(it.Input)
				for _, f := range set {
					f(&r)
				}
				return r
			}), evaltest.Grader(g), evaltest.Parallel(1), evaltest.MinAccuracy(0.1), evaltest.MaxErrored(1))
		}
	}
	scenarios["settings"] = play("m-1", grade.Numeric())
	scenarios["settings: model"] = play("m-2", grade.Numeric())
	scenarios["settings: grader"] = play("m-1", grade.Numeric(grade.Locale("de")))
	for name, set := range settings {
		scenarios["settings: "+name] = play("m-1", grade.Numeric(), set)
	}
}

// TestTrap18ResumedRunsDoNotMixSettings: a run goes on with an earlier one only
// if it asks and grades alike.
func TestTrap18ResumedRunsDoNotMixSettings(t *testing.T) {
	t.Parallel()
	first := newChild(t, "settings").run()
	require.Equal(t, 0, first.code, first.text())
	journal := first.journal().Path
	again := newChild(t, "settings", "-test.v").with("EVALTEST_RESUME", journal).run()
	require.Equal(t, 0, again.code, again.text())
	for name, want := range map[string]string{
		"model":       `the strategy was "ask openai m-1" and is "ask openai m-2"`,
		"grader":      `the grader was "numeric" and is "numeric(locale=de)"`,
		"temperature": "the first item's request was", "prompt": "the first item's request was", "thinking": "the first item's request was",
	} {
		c := newChild(t, "settings: "+name).with("EVALTEST_RESUME", journal).run()
		assert.Equal(t, 1, c.code, name)
		assert.Contains(t, c.text(), want, name)
	}
}

// TestTrap19PricesOfTheirOwn: each model has its own price of cached tokens,
// with a date and a source; a model that is not known costs nobody knows what;
// and what the provider says that a call cost counts before the list.
func TestTrap19PricesOfTheirOwn(t *testing.T) {
	table := price.Default()
	shares := map[string]bool{}
	for _, e := range table.Entries() {
		require.NotEmpty(t, e.Source, e.Model)
		require.False(t, e.AsOf.IsZero(), e.Model)
		with, ok := e.Cost(llm.Usage{Input: 1000, CachedInput: 1000, Known: true})
		full, _ := e.Cost(llm.Usage{Input: 1000, Known: true})
		if ok && full.IsPositive() {
			shares[with.Div(full).Round(3).String()] = true
		}
	}
	assert.GreaterOrEqual(t, len(shares), 3, "one rate of cached tokens for all: %v", shares)
	june, august := time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC), time.Date(2026, 8, 27, 12, 0, 0, 0, time.UTC)
	usage := llm.Usage{Input: 1_000_000, Output: 1_000_000, Known: true}
	was, err := table.Cost("deepseek-v4-flash", usage, june)
	require.NoError(t, err)
	is, err := table.Cost("deepseek-v4-flash", usage, august)
	require.NoError(t, err)
	assert.NotEqual(t, was.String(), is.String(), "a price is one of its day")

	costs := func(model, usage string) result.Record {
		s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "18", Usage: json.RawMessage(usage)} }}
		c := asking(openai.Config{Model: model, BaseURL: "http://localhost/v1", HTTPClient: s.Client()}.New())
		c.Price = func(r llm.Response) (string, bool) {
			r.CostUSD = "" // a price list of one's own does not look at it
			return table.Response(r)
		}
		return c.Item(t.Context(), wanting("18"), 0)
	}
	listed := costs("gpt-4o", `{"prompt_tokens":1000,"completion_tokens":100}`)
	assert.NotEmpty(t, listed.CostUSD)
	assert.NotEqual(t, "0", listed.CostUSD)
	unknown := costs("gpt-4o-of-my-own", `{"prompt_tokens":1000,"completion_tokens":100}`)
	assert.Empty(t, unknown.CostUSD, "not that of a model whose name begins alike")
	_, text := summed(t, unknown)
	assert.Contains(t, text, "unknown (model gpt-4o-of-my-own has no price)")
	assert.Equal(t, "0.123", costs("gpt-4o", `{"prompt_tokens":1000,"completion_tokens":100,"cost":0.123}`).CostUSD, "the provider knows best")
}

// TestTrap21AnswersStayWithTheirItems: answers end in another order than they
// were asked in. Each record has its own item, and the report has them in the
// order of the dataset.
func TestTrap21AnswersStayWithTheirItems(t *testing.T) {
	const n, samples = 40, 2
	backwards := make(chan struct{}) // opened when all are asked
	waiting := make(chan struct{}, n*samples)
	s := evaltest.StrategyFunc(func(_ context.Context, it dataset.Item, a evaltest.Attempt) (llm.Response, error) {
		waiting <- struct{}{}
		<-backwards
		return llm.Response{Text: it.Target}, nil
	})
	go func() {
		for range n * samples {
			<-waiting
		}
		close(backwards) // and whoever is first now ends first
	}()
	var rep *evaltest.Report
	dir := t.TempDir()
	require.True(t, t.Run("run", func(t *testing.T) {
		rep = evaltest.Run(t, sums(t, n), s, evaltest.Grader(grade.Exact()), evaltest.Samples(samples), evaltest.Parallel(n*samples), evaltest.Dir(dir))
	}))
	var got, want []string
	for rec, err := range rep.Records() {
		require.NoError(t, err)
		got = append(got, fmt.Sprint(rec.Item.ID, rec.Sample))
		require.Equal(t, rec.Item.Target, rec.Response.Text, "another item's answer")
	}
	for i := range n {
		for k := range samples {
			want = append(want, fmt.Sprintf("sum-%04d%d", i, k))
		}
	}
	assert.Equal(t, want, got)
	journal, err := result.Read(rep.Journal)
	require.NoError(t, err)
	ended := func(a, b result.Record) int { return strings.Compare(a.Item.ID, b.Item.ID) }
	assert.False(t, slices.IsSortedFunc(journal.Records, ended), "they ended in order: the test shows nothing")
}

// TestTrap24OneLineForOneCause: 1,319 rows that fail alike are one line of the
// summary, with their number.
func TestTrap24OneLineForOneCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Rules: []llmtest.Rule{{Faults: llmtest.Named(llmtest.FaultUnavailable)}}}
		c := asking(modelAt(llmtest.OpenAI, s))
		c.Attempts = 1
		sum := report.New(report.Labels{})
		for it := range sums(t, stormItems).All() {
			rec := c.Item(t.Context(), it, 0)
			require.Equal(t, result.Errored, rec.Outcome)
			sum.Add(&rec)
		}
		stats := sum.Stats()
		require.Len(t, stats.Errors, 1)
		assert.Equal(t, stormItems, stats.Errors[0].Count)
		var b strings.Builder
		require.NoError(t, report.Text(&b, stats, report.Options{}))
		assert.Less(t, strings.Count(b.String(), "\n"), 20, "%s", b.String())
		assert.Equal(t, 1, strings.Count(b.String(), "HTTP 503"))
	})
}
