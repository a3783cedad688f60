package evaltest_test

import (
	"fmt"
	"net/http"
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
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// TestCaseC01ErrorInAStream: a 200 that carries an error object is an error,
// with the server's words, and what came before it is kept and not graded.
func TestCaseC01ErrorInAStream(t *testing.T) {
	const exploded = "data: {\"error\":\"STREAM_EXPLODED\"}\n\n"
	for _, row := range []struct {
		name, reason string
		answer       http.HandlerFunc
		tries        int // allowed are two
		text         string
		says         []string
	}{
		{"object, then [DONE]", "the words say that it may heal", llmtest.Stream("data: {\"error\":{\"message\":\"quota exceeded\"}}\n\n", llmtest.Done),
			2, "", []string{"quota exceeded", "rate_limit"}},
		{"after two deltas, no [DONE]", "half an answer holds the right number by luck", llmtest.Stream(llmtest.Text("The answer"), llmtest.Text(" is 4"), "data: {\"error\":{\"message\":\"upstream broke\",\"code\":\"server_error\"}}\n\n"),
			1, "The answer is 4", []string{"upstream broke", "server_error"}},
		{"a plain string", "no object, no code", llmtest.Stream(llmtest.Text("4"), exploded), 1, "4", []string{"STREAM_EXPLODED"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := asking(modelAt(llmtest.OpenAI, answering(row.answer)), streamed)
				c.Tries, c.Attempts = 2, 1
				rec := c.Item(t.Context(), wanting("4"), 0)
				notRight(t, rec, result.Errored)
				for _, word := range row.says {
					assert.Contains(t, rec.Error.Message, word, row.reason)
				}
				assert.Equal(t, row.tries, rec.Attempts[0].Tries, row.reason)
				if row.text == "" {
					assert.Nil(t, rec.Response)
				} else if assert.NotNil(t, rec.Response, "the text so far is kept") {
					assert.Equal(t, row.text, rec.Response.Text)
				}
			})
		})
	}
}

// TestCaseC03EndWithoutAReason: a stream that just ends is half an answer,
// however clean the end. The next attempt has the whole one.
func TestCaseC03EndWithoutAReason(t *testing.T) {
	for _, api := range bothAPIs {
		t.Run(string(api), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answering(llmtest.Stream(delta(api, "The answer"), delta(api, " is 1")), says(api, "The answer is 18."))
				rec := asking(modelAt(api, s), streamed).Item(t.Context(), wanting("18"), 0)
				halfThenWhole(t, rec)
				assert.Equal(t, 500*time.Millisecond, rec.Duration, "half of the first second")
			})
		})
	}
	// Over a socket, where the end of the connection is the end of the body.
	s := answering(func(w http.ResponseWriter, _ *http.Request) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		fmt.Fprint(buf, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n", llmtest.Text("The answer"), llmtest.Text(" is 1"))
		assert.NoError(t, buf.Flush())
		conn.Close()
	}, says(llmtest.OpenAI, "The answer is 18."))
	c := asking(openai.Config{Model: "fake-1", BaseURL: s.Start(t)}.New(), streamed)
	c.Backoff.First = time.Millisecond
	halfThenWhole(t, c.Item(t.Context(), wanting("18"), 0))
}

func halfThenWhole(t *testing.T, rec result.Record) {
	t.Helper()
	require.Len(t, rec.Attempts, 2)
	first := rec.Attempts[0]
	require.NotNil(t, first.Error, "half an answer was taken for one")
	assert.Equal(t, llm.KindIncomplete, first.Error.Kind)
	assert.Contains(t, first.Error.Message, "the stream ended")
	assert.Nil(t, first.Verdict)
	assert.Equal(t, "The answer is 1", first.Text, "kept")
	assert.Equal(t, llm.UsageTotal{Calls: 1, Unknown: 1}, first.Usage, "unknown, not estimated")
	assert.Equal(t, result.Correct, rec.Outcome)
}

// TestCaseC04EndWithoutDone is the other side: where a finish reason was seen,
// the answer is whole, [DONE] or not.
func TestCaseC04EndWithoutDone(t *testing.T) {
	for _, api := range bothAPIs {
		t.Run(string(api), func(t *testing.T) {
			end := llmtest.Finish("stop")
			if api == llmtest.Gemini {
				end = llmtest.GeminiFinish("STOP") // there is never a [DONE]
			}
			synctest.Test(t, func(t *testing.T) {
				s := answering(llmtest.Stream(delta(api, "It is "), delta(api, "18."), end))
				rec := asking(modelAt(api, s), streamed).Item(t.Context(), wanting("18"), 0)
				require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
				assert.Len(t, rec.Attempts, 1)
				assert.Equal(t, llm.FinishStop, rec.Response.Finish)
				assert.Empty(t, rec.Response.Warnings)
			})
		})
	}
}

// TestCaseC06KeepAlives: what is no delta is passed over, and is not the first
// token.
func TestCaseC06KeepAlives(t *testing.T) {
	const role = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
	whole := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Déjà vu: 18\"},\"finish_reason\":\"stop\"}]}\n\n"
	at := strings.Index(whole, "é") + 1 // in the middle of the character
	for _, row := range []struct {
		name   string
		pieces []string // one a second
		first  time.Duration
	}{
		{"all four kinds", []string{": OPENROUTER PROCESSING\n\n", "retry: 3000\n\n", "data:\n\n", "event: ping\n\n", role, llmtest.Text("It is"), ": OPENROUTER PROCESSING\n\n", "data: \n\n",
			llmtest.Text(" 18."), "retry: 3000\n\n", "event: ping\n\n", llmtest.Finish("stop"), llmtest.Done}, 6 * time.Second},
		{"CRLF", []string{": x\r\n\r\n", strings.ReplaceAll(whole, "\n", "\r\n")}, 2 * time.Second},
		{"no space", []string{": x\n\n", strings.Replace(whole, "data: ", "data:", 1)}, 2 * time.Second},
		{"several lines", []string{strings.Replace(whole, ",\"finish", ",\ndata: \"finish", 1)}, time.Second},
		{"split character", []string{whole[:at], whole[at:]}, 2 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answering(llmtest.SlowStream(time.Second, row.pieces...))
				rec := asking(modelAt(llmtest.OpenAI, s), streamed).Item(t.Context(), wanting("18"), 0)
				require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
				assert.Len(t, rec.Attempts, 1)
				assert.Equal(t, row.first, rec.Response.Timing.FirstToken, "neither a keep-alive nor a role is a token")
				if strings.Contains(row.name, "character") {
					assert.Equal(t, "Déjà vu: 18", rec.Response.Text)
				}
			})
		})
	}
}

// TestCaseC08HTML: a page is no answer; a gateway's status says more than the
// JSON that it is not.
func TestCaseC08HTML(t *testing.T) {
	const key = "key-0123456789-abcdef"
	t.Setenv("CASE_TEST_KEY", key)
	page := "<html><head><title>Blocked</title></head><body>Request denied for " + key + "</body></html>"
	for _, row := range []struct {
		name, reason string
		stream       bool
		answer       http.HandlerFunc
		attempts     int
		says         []string
	}{
		{"200, whole", "asking again gets the same page", false, llmtest.HTML(200, page), 1, []string{"200", "text/html", "Blocked Request denied"}},
		{"200, streamed", "", true, llmtest.HTML(200, page), 1, []string{"200", "text/html", "Blocked Request denied"}},
		{"502", "the gateway may come back", false, llmtest.HTML(502, page), 3, []string{"502", "text/html"}},
		{"504", "", true, llmtest.HTML(504, page), 3, []string{"504", "text/html"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answering(row.answer)
				m := openai.Config{Model: "fake-1", BaseURL: "https://provider.test/v1", KeyEnv: "CASE_TEST_KEY", HTTPClient: s.Client()}.New()
				rec := asking(m, func(r *llm.Request) { r.Stream = row.stream }).Item(t.Context(), wanting("18"), 0)
				notRight(t, rec, result.Errored)
				assert.Len(t, rec.Attempts, row.attempts, row.reason)
				assert.Equal(t, row.attempts, s.Counts().Calls)
				for _, word := range row.says {
					assert.Contains(t, rec.Error.Message, word)
				}
				assert.NotContains(t, rec.Error.Message, "invalid character")
				assert.NotContains(t, rec.Error.Message, key)
				assert.Less(t, len(rec.Error.Message), 1000, "an excerpt")
			})
		})
	}
}

// TestCaseC09BlockedPrompt: Gemini answers a blocked prompt without a
// candidate. The row is blocked, by the reason that was given, and billed.
func TestCaseC09BlockedPrompt(t *testing.T) {
	for _, row := range []struct{ name, feedback, says string }{
		{"SAFETY", `{"blockReason":"SAFETY"}`, "SAFETY"},
		{"no reason", `{}`, "unknown"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answering(llmtest.Status(200, `{"promptFeedback":`+row.feedback+`,"usageMetadata":{"promptTokenCount":7,"totalTokenCount":7}}`))
				rec := asking(modelAt(llmtest.Gemini, s)).Item(t.Context(), wanting("18"), 0)
				notRight(t, rec, result.Blocked)
				assert.Equal(t, 1, s.Counts().Calls, "not asked again")
				assert.Contains(t, rec.Error.Message, row.says)
				assert.Equal(t, llm.UsageTotal{Usage: llm.Usage{Input: 7, Known: true}, Calls: 1}, rec.Usage)
			})
		})
	}
}

// TestCaseC11Thoughts are kept apart from the answer and never graded.
func TestCaseC11Thoughts(t *testing.T) {
	const answer = `{"candidates":[{"content":{"parts":[{"thought":true,"text":"Maybe 17?"},{"text":"The answer "},{"text":"is 18."}]},"finishReason":"STOP"}]}`
	for target, want := range map[string]result.Outcome{"18": result.Correct, "17": result.Incorrect} {
		for _, stream := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				handler := llmtest.Status(200, answer)
				if stream {
					handler = llmtest.Stream("data: " + answer + "\r\n\r\n")
				}
				rec := asking(modelAt(llmtest.Gemini, answering(handler)), func(r *llm.Request) { r.Stream = stream }).Item(t.Context(), wanting(target), 0)
				require.Equal(t, want, rec.Outcome, "target %s, stream %v: %+v", target, stream, rec.Error)
				assert.Equal(t, "The answer is 18.", rec.Response.Text)
				assert.Equal(t, "Maybe 17?", rec.Response.Reasoning)
				assert.Equal(t, "18", rec.Verdict.Answer)
			})
		}
	}
}

// TestCaseC12ContentFilter: a row that the filter refuses is blocked after one
// call, and the others go on.
func TestCaseC12ContentFilter(t *testing.T) {
	s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		if c.Last() == sumOf(1) {
			return llmtest.Reply{Raw: llmtest.Status(400, `{"error":{"code":"content_filter","message":"The response was filtered","innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"violence":{"filtered":true,"severity":"medium"}}}}}`)}
		}
		return adds(c)
	}}
	records, rep := ran(t, s, 8)
	blocked := records["sum-0001"]
	notRight(t, blocked, result.Blocked)
	require.Len(t, blocked.Attempts, 1)
	assert.Equal(t, 1, blocked.Attempts[0].Tries)
	assert.Contains(t, blocked.Error.Message, "content_filter")
	assert.Equal(t, 8, s.Counts().Calls, "each row was asked once")
	assert.Equal(t, map[result.Outcome]int{result.Blocked: 1, result.Incorrect: 1, result.Correct: 6}, rep.Stats.Outcomes)
}

// sumOf is the i-th question of sums.
func sumOf(i int) string { return fmt.Sprintf("What is %d + %d ?", i, 2*i) }

// ran runs n sums against a fake in memory, under a gate that passes, and
// returns their records.
func ran(t *testing.T, s *llmtest.Server, n int, opts ...evaltest.Option) (map[string]result.Record, *evaltest.Report) {
	t.Helper()
	var rep *evaltest.Report
	dir := t.TempDir()
	require.True(t, t.Run("run", func(t *testing.T) {
		rep = evaltest.Run(t, sums(t, n), evaltest.Ask(modelAt(llmtest.OpenAI, s), func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }),
			evaltest.Grader(grade.Numeric()), evaltest.MinAccuracy(0.1), evaltest.Dir(dir), evaltest.Options(opts...))
	}))
	records := map[string]result.Record{}
	for rec, err := range rep.Records() {
		require.NoError(t, err)
		records[rec.Item.ID] = rec
	}
	require.Len(t, records, n)
	return records, rep
}

// TestCaseC13FilteredAnswer: an answer that the filter cut is blocked, though
// its half holds the right number.
func TestCaseC13FilteredAnswer(t *testing.T) {
	for _, row := range []struct {
		name   string
		api    llmtest.API
		answer string
		text   string
	}{
		{"partial", llmtest.OpenAI, `{"choices":[{"index":0,"message":{"role":"assistant","content":"The answer is 4"},"finish_reason":"content_filter"}]}`, "The answer is 4"},
		{"null", llmtest.OpenAI, `{"choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":"content_filter"}]}`, ""},
		{"Gemini", llmtest.Gemini, `{"candidates":[{"content":{"parts":[{"text":"The answer is 4"}]},"finishReason":"SAFETY"}]}`, "The answer is 4"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answering(llmtest.Status(200, row.answer))
				rec := asking(modelAt(row.api, s)).Item(t.Context(), wanting("4"), 0)
				notRight(t, rec, result.Blocked)
				assert.Equal(t, row.text, rec.Response.Text, "kept")
				assert.Equal(t, llm.FinishContentFilter, rec.Response.Finish)
				assert.Equal(t, 1, s.Counts().Calls)
			})
		})
	}
}

// TestCaseC15CutAnswers: answers that ended at the token limit are counted
// apart from wrong ones, and the summary says how many there were.
func TestCaseC15CutAnswers(t *testing.T) {
	s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		switch c.Last() {
		case sumOf(1):
			return llmtest.Reply{Reasoning: "1 and 2, let me see", Finish: "length"} // all of it went into reasoning
		case sumOf(2):
			return llmtest.Reply{Text: "2 + 4 makes 6", Finish: "length"} // the right number, by luck
		}
		return llmtest.Reply{Text: "#### 0"}
	}}
	records, rep := ran(t, s, 3)
	assert.Equal(t, map[result.Outcome]int{result.Correct: 1, result.Truncated: 2}, rep.Stats.Outcomes)
	for _, id := range []string{"sum-0001", "sum-0002"} {
		notRight(t, records[id], result.Truncated)
	}
	assert.Equal(t, "2 + 4 makes 6", records["sum-0002"].Response.Text)
	assert.Contains(t, rep.Summary, "2 of 3 truncated")
	assert.Equal(t, 3, s.Counts().Calls, "the same again would be cut again")
}
