package evaltest_test

import (
	"path/filepath"
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
	"github.com/goevals/evals/llm/cassette"
	"github.com/goevals/evals/llm/llmtest"
)

// TestJudgeFaults: whatever happens to a judge's calls, the verdict is the one
// that it gave or none, and every call that was answered is booked.
func TestJudgeFaults(t *testing.T) {
	const counted, untold = -1, -2
	legal := `{"reasoning":"same","verdict":"C"}`
	named := func(name string) llmtest.Reply {
		f := llmtest.Named(name)[0]
		return llmtest.Reply{Text: legal, Fault: &f}
	}
	refuse := func(status int, body string) func(c llmtest.Chat, n int) llmtest.Reply {
		return func(c llmtest.Chat, _ int) llmtest.Reply {
			if b := string(c.Body); strings.Contains(b, "json_schema") || strings.Contains(b, "esponseJsonSchema") || strings.Contains(b, "esponseSchema") || strings.Contains(b, "response_json_schema") {
				return llmtest.Reply{Raw: llmtest.Status(status, body)}
			}
			return llmtest.Reply{Text: "Same.\nGRADE: C"}
		}
	}
	first := func(name string, n int) func(llmtest.Chat, int) llmtest.Reply {
		return func(_ llmtest.Chat, i int) llmtest.Reply {
			if i <= n {
				return named(name)
			}
			return llmtest.Reply{Text: legal}
		}
	}
	for _, row := range []struct {
		name   string
		reply  func(c llmtest.Chat, n int) llmtest.Reply
		want   result.Outcome
		calls  int   // that reached the provider
		booked int64 // calls of 100 tokens of input; counted or untold
	}{
		{"schema refused, OpenAI's words", refuse(400, `{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","type":"invalid_request_error","param":"response_format"}}`), result.Correct, 2, 1},
		{"schema refused, vLLM's words", refuse(400, `{"object":"error","message":"guided decoding is not enabled","type":"BadRequestError","param":null,"code":400}`), result.Correct, 2, 1},
		{"schema refused, FastAPI", refuse(422, `{"detail":[{"loc":["body","response_format"],"msg":"extra fields not permitted","type":"value_error.extra"}]}`), result.Correct, 2, 1},
		{"schema refused, nothing said", refuse(400, ``), result.Correct, 2, 1},
		{"schema refused, Google's words", refuse(400, `{"error":{"code":400,"message":"JSON mode is not enabled for models/gemma-3-1b-it","status":"INVALID_ARGUMENT"}}`), result.Correct, 2, 1},
		{"rate limits", first(llmtest.FaultRateLimitSeconds, 3), result.Correct, 4, 1},
		{"overload", first(llmtest.FaultOverloaded, 2), result.Correct, 3, 1},
		{"content filter", func(llmtest.Chat, int) llmtest.Reply { return named(llmtest.FaultContentFilter) }, result.Ungraded, 2, counted},
		{"blocked prompt", func(llmtest.Chat, int) llmtest.Reply { return named(llmtest.FaultBlockedPrompt) }, result.Ungraded, 1, untold},
		{"length", func(llmtest.Chat, int) llmtest.Reply { return named(llmtest.FaultLength) }, result.Ungraded, 2, counted},
		{"nothing but thoughts", func(llmtest.Chat, int) llmtest.Reply { return named(llmtest.FaultLengthEmpty) }, result.Ungraded, 2, counted},
		{"refusal", func(llmtest.Chat, int) llmtest.Reply { return named(llmtest.FaultRefusal) }, result.Ungraded, 2, counted},
		{"no choices: it answered, and not as the API says", first(llmtest.FaultNoChoices, 1), result.Ungraded, 1, 1},
		{"reset, then well", first(llmtest.FaultReset, 1), result.Correct, 2, 1},
		{"a page that asks to log in", first(llmtest.FaultHTML, 1), result.Ungraded, 1, untold},
		{"an unusable reply, then an error, then well", func(_ llmtest.Chat, n int) llmtest.Reply {
			switch n {
			case 1:
				return llmtest.Reply{Text: "GRADE: CI"}
			case 2:
				return named(llmtest.FaultServerError)
			}
			return llmtest.Reply{Text: legal}
		}, result.Correct, 3, 2},
		{"an unusable reply, then a refused request", func(_ llmtest.Chat, n int) llmtest.Reply {
			if n == 1 {
				return llmtest.Reply{Text: "GRADE: CI"}
			}
			return named(llmtest.FaultBadRequest)
		}, result.Ungraded, 2, 1},
		{"hangs for ever", func(llmtest.Chat, int) llmtest.Reply { return named(llmtest.FaultHang) }, result.Ungraded, 0, 0},
	} {
		for _, api := range bothAPIs {
			t.Run(row.name+"/"+string(api), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &llmtest.Server{}
					n := 0
					s.Reply = func(c llmtest.Chat) llmtest.Reply {
						n++ // one item, one call at a time
						r := row.reply(c, n)
						r.Tokens = &llm.Usage{Input: 100, Output: 20}
						return r
					}
					c := asking(saying(wordless))
					c.Judge = judge.New(modelAt(api, s))
					c.Price = pricedAt(t, map[string]string{"in": "1", "out": "10"})
					c.Attempts = 3
					c.AttemptTimeout, c.ItemTimeout = time.Minute, 3*time.Minute
					require.NoError(t, c.Check())
					start := time.Now()
					rec := c.Item(t.Context(), wanting("18"), 0)
					assert.LessOrEqual(t, time.Since(start), 3*time.Minute)
					assert.Equal(t, row.want, rec.Outcome, "%+v %+v", rec.Verdict, rec.Error)
					if row.calls > 0 {
						assert.Equal(t, row.calls, n)
					}
					switch row.booked {
					case counted: // the fault has its own usage
						assert.Positive(t, rec.JudgeUsage.Input)
						assert.Zero(t, rec.JudgeUsage.Unknown)
					case untold:
					default:
						assert.Equal(t, 100*row.booked, rec.JudgeUsage.Input, "%+v", rec.JudgeTryLog)
					}
					if row.calls > 0 {
						assert.EqualValues(t, row.calls, rec.JudgeUsage.Calls, "also those that failed")
					}
					assert.EqualValues(t, 0, rec.Usage.Input, "nothing of it is the subject's")
					s.Memory().Wait()
				})
			})
		}
	}
}

// judgedBy runs n questions, each answered without a number, under judges of the
// server s.
func judgedBy(t *testing.T, n int, s *llmtest.Server, opts ...evaltest.Option) (rep *evaltest.Report, all map[string]result.Record) {
	t.Helper()
	t.Run("run", func(t *testing.T) {
		rep = runJudged(t, n, s, opts...)
		all = outcomes(t, rep)
	})
	require.NotNil(t, rep)
	return rep, all
}

func runJudged(t *testing.T, n int, s *llmtest.Server, opts ...evaltest.Option) *evaltest.Report {
	return evaltest.RunInBubble(t, questions(t, n),
		evaltest.Ask(modelAt(llmtest.OpenAI, s), func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }),
		evaltest.Grader(grade.Numeric()), evaltest.Judge(judge.New(modelAt(llmtest.Gemini, s))), evaltest.MinAccuracy(0), evaltest.Attempts(1),
		evaltest.Price(pricedAt(t, map[string]string{"in": "1", "out": "10"})), evaltest.Options(opts...))
}

// judging is a provider whose subject answers without a number, and whose judge
// needs a re-ask on each third question and refuses schemas.
func judging() *llmtest.Server {
	return &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		r := llmtest.Reply{Tokens: &llm.Usage{Input: 100, Output: 20}}
		all := string(c.Body)
		odd := strings.Contains(all, "question 000") || strings.Contains(all, "question 003") || strings.Contains(all, "question 006")
		switch {
		case c.API == llmtest.OpenAI:
			r.Text = wordless
		case strings.Contains(all, "chema"):
			r.Raw = llmtest.Status(400, `{"error":{"code":400,"message":"no schemas here","status":"INVALID_ARGUMENT"}}`)
		case odd && len(c.Messages) == 2:
			r.Text = "GRADE: CI"
		case odd:
			r.Text = "It differs.\nGRADE: I"
		default:
			r.Text = "It matches.\nGRADE: C"
		}
		return r
	}}
}

// TestJudgeIsRecorded: a run with a judge replays strictly, in another order and
// with other parallelism, and says the same of each item.
func TestJudgeIsRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judged.jsonl.gz")
	s := judging()
	_, recorded := judgedBy(t, 8, s, evaltest.Cassette(path, cassette.Record), evaltest.Parallel(1))
	calls := s.Counts().Calls
	for _, opts := range [][]evaltest.Option{
		{evaltest.Parallel(1)}, {evaltest.Parallel(8)}, {evaltest.Parallel(3), evaltest.Limit(5)},
	} {
		_, all := judgedBy(t, 8, s, append(opts, evaltest.Cassette(path, cassette.Replay))...)
		require.NotEmpty(t, all)
		for id, rec := range all {
			assert.Equal(t, recorded[id].Outcome, rec.Outcome, "%s: %+v", id, rec.Error)
			assert.Equal(t, recorded[id].Verdict.Why, rec.Verdict.Why, id)
			assert.True(t, rec.JudgeReplayed, "nothing of it was paid")
			assert.Equal(t, recorded[id].JudgeUsage.Usage, rec.JudgeUsage.Usage, id)
		}
	}
	assert.Equal(t, calls, s.Counts().Calls, "nobody was asked")
	assert.Equal(t, result.Correct, recorded["row001"].Outcome)
	assert.Equal(t, result.Incorrect, recorded["row003"].Outcome)
}

// TestJudgeSpendsTheBudget: what judges cost counts, and no more are asked when
// it is spent.
func TestJudgeSpendsTheBudget(t *testing.T) {
	s := judging()
	// An item: its answer 0.0003, its judge 0.0003, or 0.0006 with a re-ask.
	rep, all := judgedBy(t, 8, s, evaltest.Parallel(1), evaltest.MaxCost("0.0014"))
	assert.True(t, rep.Failed(), "what was not judged is not passed over")
	assert.Equal(t, result.Incorrect, all["row000"].Outcome)
	assert.Equal(t, "0.0006", all["row000"].JudgeCostUSD)
	assert.Equal(t, result.Correct, all["row001"].Outcome)
	assert.LessOrEqual(t, s.Counts().Calls, 6, "2 answers, 3 judgements, 1 refused schema")
	for id, rec := range all {
		if id > "row001" {
			assert.NotContains(t, []result.Outcome{result.Correct, result.Incorrect}, rec.Outcome, id)
		}
	}
	assert.Contains(t, rep.Summary, "cost $0.0009", "the judge's, apart")
}

// TestJudgedRunResumes: a run whose budget ran out pays for no verdict twice.
func TestJudgedRunResumes(t *testing.T) {
	s := judging()
	first := runJudged(t, 8, s, evaltest.Parallel(1), evaltest.MaxCost("0.0029"))
	was, before := outcomes(t, first), s.Counts().Calls
	_, all := judgedBy(t, 8, s, evaltest.Parallel(4), evaltest.Resume(first.Journal))
	require.Len(t, all, 8)
	done := 0
	for id, rec := range was {
		if rec.Outcome != result.Correct && rec.Outcome != result.Incorrect {
			continue
		}
		done++
		assert.Equal(t, rec.Outcome, all[id].Outcome, id)
		assert.Equal(t, rec.JudgeUsage, all[id].JudgeUsage, id)
	}
	assert.Equal(t, 4, done, "row000 to row003 cost 0.003")
	// 4 answers, 4 judgements, a re-ask for row006, and a refused schema for
	// each judgement that began before the judge knew.
	after := s.Counts().Calls - before
	assert.GreaterOrEqual(t, after, 10)
	assert.LessOrEqual(t, after, 13)
}
