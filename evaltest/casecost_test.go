package evaltest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

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
	"github.com/goevals/evals/llm/price"
)

// pricedAt is a Price of these prices in USD per million tokens, for every model.
func pricedAt(t *testing.T, prices map[string]string) func(llm.Response) (string, bool) {
	t.Helper()
	e, err := price.ParseEntry(prices)
	require.NoError(t, err)
	return func(r llm.Response) (string, bool) {
		usd, ok := e.Cost(r.Usage)
		return usd.String(), ok
	}
}

// billing is a fake whose every answer is 18 and takes these tokens, told as
// the object stands here.
func billing(usage string) *llmtest.Server {
	return &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Text: "18", Usage: json.RawMessage(usage)}
	}}
}

// billedRow asks a row of a fake that tells this usage, whole and streamed, and
// returns the record, which must be the same.
func billedRow(t *testing.T, usage string, prices map[string]string) (rec result.Record) {
	t.Helper()
	for _, stream := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := asking(modelAt(llmtest.OpenAI, billing(usage)), func(r *llm.Request) { r.Stream = stream })
			if prices != nil {
				c.Price = pricedAt(t, prices)
			}
			was := rec
			rec = c.Item(t.Context(), wanting("18"), 0)
			require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
			if !stream {
				assert.Equal(t, was.Usage, rec.Usage, "streamed or not")
				assert.Equal(t, was.CostUSD, rec.CostUSD)
			}
		})
	}
	return rec
}

// TestCaseU01CachedTokensAreBilledOnce: they are part of the prompt.
func TestCaseU01CachedTokensAreBilledOnce(t *testing.T) {
	rec := billedRow(t, `{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920}}`,
		map[string]string{"in": "2.5", "cached_in": "1.25", "out": "10"})
	assert.Equal(t, "0.005615", rec.CostUSD, "0.010415 counts the cached tokens twice")
	_, text := summed(t, rec)
	assert.Contains(t, text, "2,006 in (1,920 cached), 300 out")
	assert.Contains(t, text, "$0.005615\n")
}

// TestCaseU03CachedTokensAreASubset: they are not added on top of the prompt.
func TestCaseU03CachedTokensAreASubset(t *testing.T) {
	rec := billedRow(t, `{"input_tokens":10,"cached_input_tokens":5,"output_tokens":20}`, nil)
	assert.Equal(t, llm.Usage{Input: 10, CachedInput: 5, Output: 20, Known: true}, rec.Usage.Usage)
	_, text := summed(t, rec)
	assert.Contains(t, text, "10 in (5 cached), 20 out in 1 call\n")
}

// TestCaseU05ReasoningIsASubset: it is in OpenAI's completion already, and
// beside Gemini's candidates.
func TestCaseU05ReasoningIsASubset(t *testing.T) {
	prices := map[string]string{"in": "30", "out": "180"}
	rec := billedRow(t, `{"prompt_tokens":14746,"completion_tokens":1944,"completion_tokens_details":{"reasoning_tokens":1360}}`, prices)
	assert.Equal(t, "0.7923", rec.CostUSD, "1.0371 counts the reasoning twice")
	synctest.Test(t, func(t *testing.T) {
		s := answering(llmtest.Status(200, `{"candidates":[{"content":{"parts":[{"text":"18"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":14746,"candidatesTokenCount":584,"thoughtsTokenCount":1360}}`))
		c := asking(modelAt(llmtest.Gemini, s))
		c.Price = pricedAt(t, prices)
		other := c.Item(t.Context(), wanting("18"), 0)
		assert.Equal(t, rec.Usage, other.Usage, "one meaning for every provider")
		assert.Equal(t, rec.CostUSD, other.CostUSD)
	})
}

// TestCaseU06CumulativeUsage: each chunk of a Gemini stream counts from the
// start, so only the last one counts.
func TestCaseU06CumulativeUsage(t *testing.T) {
	chunk := func(text, usage, more string) string {
		return fmt.Sprintf(`data: {"candidates":[{"content":{"parts":[{"text":%q}]}%s}]%s}`+"\r\n\r\n", text, more, usage)
	}
	counted := func(n int) string {
		return fmt.Sprintf(`,"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":%d}`, n)
	}
	const stop = `,"finishReason":"STOP"`
	var growing, last, early []string
	for i := 1; i < 50; i++ {
		growing = append(growing, chunk(" so", counted(i), ""))
		last = append(last, chunk(" so", "", ""))
		early = append(early, chunk(" so", counted(i), ""))
	}
	growing, last = append(growing, chunk(" 18", counted(50), stop)), append(last, chunk(" 18", counted(50), stop))
	early = append(early, chunk(" 18", `,"usageMetadata":{"candidatesTokenCount":50}`, stop))
	for name, chunks := range map[string][]string{"every chunk": growing, "the last only": last, "the last lacks a field": early} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := asking(modelAt(llmtest.Gemini, answering(llmtest.Stream(chunks...))), streamed).Item(t.Context(), wanting("18"), 0)
				require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
				assert.Equal(t, llm.Usage{Input: 10, Output: 50, Known: true}, rec.Usage.Usage)
			})
		})
	}
}

// TestCaseU08Tiers: a prompt beyond the threshold is priced whole by the higher
// rate, and so are its output and what of it was cached.
func TestCaseU08Tiers(t *testing.T) {
	for _, row := range []struct{ name, usage, want string }{
		{"beyond", `{"prompt_tokens":250000,"completion_tokens":0}`, "1"},
		{"at", `{"prompt_tokens":200000,"completion_tokens":0}`, "0.4"},
		{"one beyond", `{"prompt_tokens":200001,"completion_tokens":0}`, "0.800004"},
	} {
		rec := billedRow(t, row.usage, map[string]string{"in": "2", "in_above_200k": "4"})
		assert.Equal(t, row.want, rec.CostUSD, row.name)
	}
	rec := billedRow(t, `{"prompt_tokens":250000,"completion_tokens":1000,"prompt_tokens_details":{"cached_tokens":50000}}`,
		map[string]string{"in": "2", "in_above_200k": "4", "cached_in": "0.2", "cached_in_above_200k": "0.4", "out": "12", "out_above_200k": "18"})
	assert.Equal(t, "0.838", rec.CostUSD, "200,000 at 4, 50,000 at 0.4, 1,000 at 18")
}

// TestCaseU10UnknownIsNotZero: usage that a server left out is unknown, and so
// is what a model without a price costs. The sums say that they are a part.
func TestCaseU10UnknownIsNotZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
			return llmtest.Reply{Text: "18", Tokens: &llm.Usage{Input: 50_000, Output: 10_000}, NoUsage: c.N == 2}
		}}
		rows := func(price func(llm.Response) (string, bool)) []result.Record {
			c := asking(modelAt(llmtest.OpenAI, s), streamed)
			c.Price = price
			return []result.Record{c.Item(t.Context(), wanting("18"), 0), c.Item(t.Context(), wanting("18"), 1), c.Item(t.Context(), wanting("18"), 2)}
		}
		records := rows(pricedAt(t, map[string]string{"in": "1", "out": "1"}))
		stats, text := summed(t, records...)
		assert.Equal(t, llm.UsageTotal{Usage: llm.Usage{Input: 100_000, Output: 20_000, Known: true}, Calls: 3, Unknown: 1}, stats.Usage)
		assert.Empty(t, records[1].CostUSD)
		assert.Equal(t, 3, stats.Correct())
		assert.Contains(t, text, "at least 100,000 in, 20,000 out in 3 calls; partial: 1 call without usage")
		assert.Contains(t, text, ">= $0.12, 1 row unpriced (1 call without usage)")

		_, text = summed(t, rows(price.Default().Response)...)
		assert.Contains(t, text, "cost      unknown (model fake-1 has no price)")
		assert.NotContains(t, text, "$0")
	})
}

// cent is a fake whose every call costs a cent, says its provider, and whose
// n-th answer is the n-th text; the last is repeated.
func cent(texts ...string) *llmtest.Server {
	return &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Text: texts[min(c.N, len(texts))-1], Usage: json.RawMessage(`{"prompt_tokens":10,"completion_tokens":2,"cost":0.01}`)}
	}}
}

// yesJudge asks a model, and marks a reply that is neither YES nor NO unusable.
func yesJudge(m llm.Model) grade.Grader {
	return grade.Func(func(ctx context.Context, it dataset.Item, resp llm.Response) (grade.Verdict, error) {
		said, err := m.Generate(ctx, llm.Prompt("Is "+it.Target+" the answer? "+resp.Text))
		switch {
		case err != nil:
			return grade.Verdict{}, err
		case said.Text == "YES":
			return grade.Verdict{Mark: grade.Correct, Score: 1}, nil
		case said.Text == "NO":
			return grade.Verdict{Mark: grade.Incorrect, Reason: grade.ReasonWrong}, nil
		}
		return grade.Verdict{}, llm.Unusable(fmt.Errorf("neither YES nor NO: %q", said.Text))
	})
}

// TestCaseU11EveryCallIsPaid: what was answered in vain was billed, and what
// judges spend stands apart.
func TestCaseU11EveryCallIsPaid(t *testing.T) {
	t.Run("judge", func(t *testing.T) {
		c := asking(modelAt(llmtest.OpenAI, cent("see the note")))
		c.Attempts, c.Judge = 2, yesJudge(modelAt(llmtest.OpenAI, cent("well", "YES")))
		rec := c.Item(t.Context(), wanting("18"), 0)
		require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
		assert.Equal(t, "0.02", rec.JudgeCostUSD, "the first reply could not be used, and was billed")
		assert.Equal(t, 2, rec.JudgeUsage.Calls)
		_, text := summed(t, rec)
		assert.Contains(t, text, "tokens    20 in, 4 out in 2 calls\ncost      $0.02\n", "the candidate's")
		assert.Contains(t, text, "          tokens 20 in, 4 out in 2 calls\n          cost $0.02\n", "the judge's")
	})
	t.Run("rejected JSON", func(t *testing.T) {
		c := asking(modelAt(llmtest.OpenAI, cent(`{"total": 18`, `{"total": 18}`)))
		c.Grader = grade.JSON()
		rec := c.Item(t.Context(), wanting(`{"total":18}`), 0)
		require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
		assert.Equal(t, "0.02", rec.CostUSD)
		assert.Equal(t, llm.UsageTotal{Usage: llm.Usage{Input: 20, Output: 4, Known: true}, Calls: 2}, rec.Usage)
		assert.Zero(t, rec.JudgeUsage.Calls)
	})
	t.Run("recorded candidate", recordedCandidate)
}

// recordedCandidate: what is replayed costs nothing, and its judge what it
// costs.
func recordedCandidate(t *testing.T) {
	path, s := filepath.Join(t.TempDir(), "calls.jsonl.gz"), cent("see the note")
	judges := llmtest.Answers("YES", "YES")
	judges.Log, judges.Usage = true, llmtest.WordUsage
	ds, err := dataset.New("one", []dataset.Item{wanting("18")})
	require.NoError(t, err)
	run := func(name string, mode cassette.Mode) (rep *evaltest.Report) {
		dir := t.TempDir()
		require.True(t, t.Run(name, func(t *testing.T) {
			rep = evaltest.Run(t, ds, evaltest.Ask(modelAt(llmtest.OpenAI, s), func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }),
				evaltest.Grader(grade.Numeric()), evaltest.Judge(yesJudge(judges)), evaltest.Attempts(1), evaltest.Dir(dir),
				evaltest.Cassette(path, mode), evaltest.Price(func(llm.Response) (string, bool) { return "0.03", true }))
		}))
		return rep
	}
	first := run("record", cassette.Record)
	assert.Equal(t, "0.01", first.Stats.Cost.Billed.USD.String())
	again := run("replay", cassette.Replay)
	assert.Equal(t, "0", again.Stats.Cost.Billed.USD.String())
	assert.Equal(t, "0.01", again.Stats.Cost.Recorded.USD.String())
	assert.Equal(t, "0.03", again.Stats.JudgeCost.Billed.USD.String())
	assert.Equal(t, 1, s.Counts().Calls)
	assert.Contains(t, again.Summary, "$0 billed: all was replayed")
}

// TestCaseU12OneBrokenCall: a call that broke without a usage leaves what is
// known known, and the sums say that they are a part.
func TestCaseU12OneBrokenCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{
			Reply: func(llmtest.Chat) llmtest.Reply {
				return llmtest.Reply{Text: "18", Tokens: &llm.Usage{Input: 100, Output: 20}}
			},
			Rules: []llmtest.Rule{{Faults: llmtest.Named(llmtest.FaultReset), Calls: []int{1}}},
		}
		c := asking(modelAt(llmtest.OpenAI, s), streamed)
		c.Price = pricedAt(t, map[string]string{"in": "1", "out": "1"})
		var records []result.Record
		for k := range 3 {
			records = append(records, c.Item(t.Context(), wanting("18"), k))
		}
		require.Len(t, records[0].Attempts, 2)
		assert.Equal(t, llm.KindConnection, records[0].Attempts[0].Error.Kind)
		stats, text := summed(t, records...)
		assert.Equal(t, 3, stats.Correct())
		assert.Equal(t, llm.UsageTotal{Usage: llm.Usage{Input: 300, Output: 60, Known: true}, Calls: 4, Unknown: 1}, stats.Usage)
		assert.Contains(t, text, "at least 300 in, 60 out in 4 calls; partial: 1 call without usage")
		assert.Contains(t, text, ">= $0.00036, 1 row unpriced (1 call without usage)")
	})
}

// TestCaseU14TinyCosts: to the last digit, and however many are added up.
func TestCaseU14TinyCosts(t *testing.T) {
	rec := billedRow(t, `{"prompt_tokens":27147,"completion_tokens":351,"prompt_tokens_details":{"cached_tokens":27146}}`,
		map[string]string{"in": "1.4", "cached_in": "0.26", "out": "4.4"})
	assert.Equal(t, "0.00860376", rec.CostUSD)
	const n = 100_000 // package price adds up a million
	sum := report.New(report.Labels{Samples: 1})
	for range n {
		sum.Add(&rec)
	}
	assert.Equal(t, "860.376", sum.Stats().Cost.Billed.USD.String(), "they do not drift")
}

// TestCaseU15OddCounts: an answer is not lost over how its tokens are spelled.
func TestCaseU15OddCounts(t *testing.T) {
	for _, row := range []struct {
		name, count string
		want        llm.Usage
	}{
		{"float", "12.0", llm.Usage{Input: 3, Output: 12, Known: true}},
		{"text", `"12"`, llm.Usage{}},
		{"fraction", "12.5", llm.Usage{}},
	} {
		for api, usage := range map[llmtest.API]string{llmtest.OpenAI: `{"prompt_tokens":3,"completion_tokens":%s}`, llmtest.Gemini: `{"promptTokenCount":3,"candidatesTokenCount":%s}`} {
			t.Run(row.name+" "+string(api), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					rec := asking(modelAt(api, billing(fmt.Sprintf(usage, row.count))), streamed).Item(t.Context(), wanting("18"), 0)
					require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
					assert.Len(t, rec.Attempts, 1)
					assert.Equal(t, row.want, rec.Usage.Usage)
					_, text := summed(t, rec)
					assert.Equal(t, !row.want.Known, strings.Contains(text, "1 answer: usage is unknown"), "a warning where it was not read:\n%s", text)
					if !row.want.Known {
						assert.Equal(t, 1, rec.Usage.Unknown)
					}
				})
			})
		}
	}
}
