package evaltest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/judge"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
)

// questions is a dataset of n rows whose answers hold no number, so that the
// judge decides on each.
func questions(t *testing.T, n int) *dataset.Dataset {
	t.Helper()
	items := make([]dataset.Item, n)
	for i := range items {
		items[i] = dataset.Item{ID: fmt.Sprintf("row%03d", i), Input: fmt.Sprintf("question %03d", i), Target: "18"}
	}
	ds, err := dataset.New("questions", items)
	require.NoError(t, err)
	return ds
}

// wordless is an answer without a number, on which a judge must decide.
const wordless = "As many as there were before."

func saying(text string) llm.Model {
	return &llmtest.Model{Reply: func(int, llm.Request) (llm.Response, error) {
		return llm.Response{Text: text, Finish: llm.FinishStop}, nil
	}}
}

// scripted is a judge's model that replies by the question it is asked about.
func scripted(reply func(question string) (string, error)) *llmtest.Model {
	return &llmtest.Model{Log: true, Reply: func(_ int, req llm.Request) (llm.Response, error) {
		for _, m := range req.Messages {
			if i := strings.Index(m.Content, "question "); m.Role == llm.RoleUser && i >= 0 {
				text, err := reply(m.Content[i : i+len("question 000")])
				return llm.Response{Text: text, Finish: llm.FinishStop, Usage: llm.Usage{Input: 10, Output: 2, Known: true}}, err
			}
		}
		return llm.Response{}, fmt.Errorf("no question in %v", req.Messages)
	}}
}

// judged runs wordless answers under a judge in a bubble, with a gate that any
// accuracy passes.
func judged(t *testing.T, n int, m llm.Model, opts ...evaltest.Option) *evaltest.Report {
	t.Helper()
	return evaltest.RunInBubble(t, questions(t, n), evaltest.Ask(saying(wordless), func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }), evaltest.Grader(grade.Numeric()), evaltest.Attempts(1), evaltest.Parallel(1),
		evaltest.Judge(judge.New(m)), evaltest.MinAccuracy(0.01), evaltest.Options(opts...))
}

func outcomes(t *testing.T, rep *evaltest.Report) map[string]result.Record {
	t.Helper()
	all := map[string]result.Record{}
	for rec, err := range rep.Records() {
		require.NoError(t, err)
		all[rec.Item.ID] = rec
	}
	return all
}

// TestCaseJ07UnparsableVerdict: it is ungraded, never wrong, after one repair,
// with the raw reply kept, and the run fails unless that is allowed.
func TestCaseJ07UnparsableVerdict(t *testing.T) {
	for i, reply := range []string{"GRID: C", "**Answer: C**", ""} {
		for _, allowed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %t", i, allowed), func(t *testing.T) {
				m := scripted(func(string) (string, error) { return reply, nil })
				opts := []evaltest.Option{evaltest.MinAccuracy(0)}
				if allowed {
					opts = append(opts, evaltest.MaxUngraded(1))
				}
				rep := judged(t, 1, m, opts...)
				rec := outcomes(t, rep)["row000"]
				assert.Equal(t, result.Ungraded, rec.Outcome, reply)
				assert.Equal(t, 2, m.Calls(), "one repair")
				require.NotNil(t, rec.Verdict)
				require.Len(t, rec.Verdict.Calls, 2)
				assert.Equal(t, reply, rec.Verdict.Calls[1].Text, "the raw reply is kept")
				assert.NotEmpty(t, rec.Verdict.Why)
				assert.Equal(t, 1, rep.Stats.Outcomes[result.Ungraded])
				assert.Zero(t, rep.Stats.Outcomes[result.Incorrect])
				assert.Contains(t, rep.Summary, "1 ungraded")
				assert.Equal(t, !allowed, rep.Failed(), "%q: %s", reply, rep.Summary)
			})
		}
	}
}

// TestCaseJ15OneBadReply: it costs its own row only.
func TestCaseJ15OneBadReply(t *testing.T) {
	for name, broken := range map[string]func() (string, error){
		"no verdict": func() (string, error) { return "I cannot say.", nil },
		"fails":      func() (string, error) { return "", &llm.Error{Kind: llm.KindServer, Message: "broke"} },
		"panics":     func() (string, error) { panic("judge") },
	} {
		t.Run(name, func(t *testing.T) {
			m := scripted(func(q string) (string, error) {
				if q == "question 001" {
					return broken()
				}
				return `{"verdict":"C"}`, nil
			})
			rep := judged(t, 3, m)
			all := outcomes(t, rep)
			assert.Equal(t, result.Correct, all["row000"].Outcome)
			assert.NotEqual(t, result.Incorrect, all["row001"].Outcome)
			assert.NotEqual(t, result.Correct, all["row001"].Outcome)
			assert.Equal(t, result.Correct, all["row002"].Outcome)
			assert.True(t, rep.Failed(), "the run is not green")
		})
	}
}

// TestCaseJ16Denominator: rows that the judge could not grade stay in it.
func TestCaseJ16Denominator(t *testing.T) {
	t.Run("10 rows, the judge fails on 5", func(t *testing.T) {
		m := scripted(func(q string) (string, error) {
			if q >= "question 005" {
				return "", &llm.Error{Kind: llm.KindServer, Status: 500, Message: "broke"}
			}
			return "It matches.\nGRADE: C", nil
		})
		rep := judged(t, 10, m, evaltest.MinAccuracy(0.9))
		assert.Equal(t, 5, rep.Stats.Correct())
		assert.Equal(t, 5, rep.Stats.Outcomes[result.Ungraded])
		assert.Contains(t, rep.Summary, "5/10")
		assert.Contains(t, rep.Summary, "5 ungraded")
		assert.NotContains(t, rep.Summary, "100.0%")
		assert.True(t, rep.Failed(), "the gate compares with the conservative number")
	})
	t.Run("100 rows, HTTP 500 on 10 for ever", func(t *testing.T) {
		s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
			i := strings.Index(c.Messages[1].Content, "question 0")
			q := c.Messages[1].Content[i : i+len("question 000")]
			switch {
			case q >= "question 090":
				return llmtest.Reply{Raw: llmtest.Status(500, `{"error":{"message":"broke"}}`)}
			case q >= "question 080":
				return llmtest.Reply{Text: `{"verdict":"I"}`}
			}
			return llmtest.Reply{Text: `{"verdict":"C"}`}
		}}
		rep := judged(t, 100, modelAt(llmtest.OpenAI, s), evaltest.MinAccuracy(0.85), evaltest.MaxUngraded(1))
		assert.Equal(t, 80, rep.Stats.Correct())
		assert.Equal(t, 10, rep.Stats.Outcomes[result.Incorrect])
		assert.Equal(t, 10, rep.Stats.Outcomes[result.Ungraded])
		assert.Contains(t, rep.Summary, "80/100")
		assert.NotContains(t, rep.Summary, "88.9")
		assert.True(t, rep.Failed(), "80 of 100 is less than 85%")
	})
}

// TestJudgeUsageIsApart: what the judge spends is booked apart from what the
// answer cost, with either provider, once for each call.
func TestJudgeUsageIsApart(t *testing.T) {
	for _, api := range bothAPIs {
		t.Run(string(api), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				subject := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply {
					return llmtest.Reply{Text: wordless, Tokens: &llm.Usage{Input: 7, Output: 3}}
				}}
				replies := []string{"hm", `{"reasoning":"the same number","verdict":"C"}`}
				s := &llmtest.Server{
					Reply: func(c llmtest.Chat) llmtest.Reply {
						return llmtest.Reply{Text: replies[min(c.N, len(replies))-1], Tokens: &llm.Usage{Input: 100, Output: 20}}
					},
				}
				c := asking(modelAt(llmtest.OpenAI, subject))
				c.Judge = judge.New(modelAt(api, s))
				c.Price = pricedAt(t, map[string]string{"in": "1", "out": "10"})
				c.Attempts = 1
				require.NoError(t, c.Check())
				rec := c.Item(t.Context(), wanting("18"), 0)
				require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
				assert.Equal(t, llm.UsageTotal{Usage: llm.Usage{Input: 7, Output: 3, Known: true}, Calls: 1}, rec.Usage)
				assert.Equal(t, llm.UsageTotal{Usage: llm.Usage{Input: 200, Output: 40, Known: true}, Calls: 2}, rec.JudgeUsage)
				assert.Equal(t, "0.000037", rec.CostUSD)
				assert.Equal(t, "0.0006", rec.JudgeCostUSD)
				require.NotNil(t, rec.Verdict)
				require.Len(t, rec.Verdict.Calls, 2)
				assert.Equal(t, "hm", rec.Verdict.Calls[0].Text)
				assert.Len(t, rec.JudgeTryLog, 2)
			})
		})
	}
}

// TestJudgeWaitsForABusyProvider: under a run and with a scope of its own, tries
// do not multiply, and the judge's wait is no one's attempt.
func TestJudgeWaitsForABusyProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := 110 * time.Second // twice: longer than an attempt
		m := &llmtest.Model{Log: true,
			Reply: func(int, llm.Request) (llm.Response, error) {
				return llm.Response{Text: "GRADE: C", Finish: llm.FinishStop}, nil
			},
			Fault: func(n int, _ llm.Request) (f llmtest.ModelFault) {
				if n <= 2 {
					f.Err = &llm.Error{Kind: llm.KindRateLimit, RetryAfter: &wait}
				}
				return f
			},
		}
		c := asking(saying(wordless))
		c.Judge = judge.New(m, judge.Scope(call.NewScope(call.Limits{})))
		c.Attempts = 1
		rec := c.Item(t.Context(), wanting("18"), 0)
		require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
		assert.Equal(t, 3, m.Calls())
		assert.Equal(t, 2*wait, rec.Duration)
	})
}
