package evaltest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/call"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/openai"
)

// What ends a run is played by a child of the test binary, for a run that fails
// fails its test. The child says how often the fake was called.
func init() {
	doomed := func(api llmtest.API, fault string, n int, opts ...evaltest.Option) func(*testing.T) {
		return func(t *testing.T) {
			s := &llmtest.Server{Rules: []llmtest.Rule{{Faults: llmtest.Named(fault)}}}
			defer func() { t.Logf("the fake was called %d times", s.Counts().Calls) }()
			evaltest.Run(t, sums(t, n), evaltest.Ask(modelAt(api, s), func(it dataset.Item) llm.Request { return llm.Prompt(it.Input) }),
				evaltest.Grader(grade.Numeric()), evaltest.MinAccuracy(0.5), evaltest.Options(opts...))
		}
	}
	scenarios["no money"] = doomed(llmtest.OpenAI, llmtest.FaultInsufficientQuota, 100, evaltest.Parallel(8))
	scenarios["day's quota"] = doomed(llmtest.Gemini, llmtest.FaultDailyQuota, 100, evaltest.Parallel(1))
	scenarios["refused setting"] = doomed(llmtest.OpenAI, llmtest.FaultBadRequest, 100, evaltest.Parallel(1))
}

// called is how often a doomed child called its fake.
func (c *child) called() int {
	c.t.Helper()
	_, rest, ok := strings.Cut(c.out.String(), "the fake was called ")
	require.True(c.t, ok, c.out.String())
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(c.t, err)
	return n
}

// TestCaseC16RefusedSetting: a setting that the model does not take is told
// once, is not tried again, and ends a run in which every row meets it. How the
// setting is sent can be changed.
func TestCaseC16RefusedSetting(t *testing.T) {
	t.Parallel()
	c := newChild(t, "refused setting").run()
	assert.Equal(t, 1, c.code)
	assert.Equal(t, run.DefaultAlike, c.called(), "one call a row, till all of so many met the same")
	assert.Contains(t, c.text(), "the run stopped early:")
	assert.Contains(t, c.text(), "10 errored, 90 not run")
	assert.Contains(t, c.text(), "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	assert.LessOrEqual(t, strings.Count(c.text(), "Unsupported parameter"), 2, "why it stopped, and the one group of errors")
	for _, rec := range c.journal().Records {
		if rec.Outcome == result.Errored {
			require.Len(t, rec.Attempts, 1)
			require.Equal(t, 1, rec.Attempts[0].Tries)
		}
	}

	strict := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply {
		if c.Field("max_tokens") != nil || c.Field("temperature") != nil {
			return llmtest.Reply{Fault: &llmtest.Named(llmtest.FaultBadRequest)[0]}
		}
		return llmtest.Reply{Text: "18"}
	}}
	asked := func(field string, set ...func(*llm.Request)) result.Record {
		m := openai.Config{Model: "o-1", BaseURL: "http://localhost/v1", HTTPClient: strict.Client(), MaxTokensField: field}.New()
		return asking(m, set...).Item(t.Context(), wanting("18"), 0)
	}
	capped := func(r *llm.Request) { r.MaxOutputTokens = new(int64(100)) }
	cold := func(r *llm.Request) { r.Temperature = new(0.0) }
	assert.Equal(t, result.Errored, asked(openai.MaxTokens, capped).Outcome)
	assert.Equal(t, result.Correct, asked(openai.MaxCompletionTokens, capped).Outcome, "the switch")
	assert.Equal(t, result.Errored, asked("", cold).Outcome, "a zero that is set is sent")
	assert.Equal(t, result.Correct, asked("").Outcome, "and one that is not is left out")
}

// TestCaseC18BroadStopText: a stop text that cut the answer leaves a row
// without an answer, and the summary warns of it.
func TestCaseC18BroadStopText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "Let me identify the "} }}
		stopping := func(text string) result.Record {
			return asking(modelAt(llmtest.OpenAI, s), func(r *llm.Request) { r.Stop = []string{text} }).Item(t.Context(), wanting("18"), 0)
		}
		rec := stopping("Question")
		require.Equal(t, result.Unparsed, rec.Outcome, "%+v", rec.Error)
		assert.Equal(t, grade.ReasonNoAnswer, rec.Verdict.Reason)
		_, text := summed(t, rec)
		assert.Contains(t, text, `the stop text "Question" may stand in any sentence`)
		_, text = summed(t, stopping("\n\nQuestion:"))
		assert.NotContains(t, text, "stop text")
	})
}

// TestCaseL01NoMoney: an empty account's 429 is no rate limit. Nothing is tried
// again, the run ends with the calls that were in flight, and says what to do.
func TestCaseL01NoMoney(t *testing.T) {
	t.Parallel()
	c := newChild(t, "no money").run()
	assert.Equal(t, 1, c.code)
	assert.LessOrEqual(t, c.called(), 8, "no more than were in flight when the first came back")
	for _, rec := range c.journal().Records {
		for _, a := range rec.Attempts {
			assert.LessOrEqual(t, a.Tries, 1)
			for _, try := range a.TryLog {
				assert.Zero(t, try.PauseWait, "it ends at once: nothing was waited for")
			}
		}
	}
	text := c.text()
	assert.Contains(t, text, "insufficient_quota")
	assert.Contains(t, text, "billing")
	assert.Contains(t, text, "the run stopped early:")
	assert.LessOrEqual(t, strings.Count(text, "insufficient_quota"), 3, "not a line for each row")
}

// busyWith is a 429 with these headers, then the answer 18.
func busyWith(header ...string) *llmtest.Server {
	return answering(llmtest.Status(429, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`, header...), says(llmtest.OpenAI, "18"))
}

// TestCaseL03LongWaits: what the server asks for is waited to the second, or
// not at all: never a shorter guess.
func TestCaseL03LongWaits(t *testing.T) {
	for _, row := range []struct {
		name    string
		after   string
		item    time.Duration // its time; 0 for the default
		run     time.Duration // the run's; 0 for none
		outcome result.Outcome
		waits   time.Duration
		says    string
	}{
		{"0", "0", 0, 0, result.Correct, 0, ""},
		{"60", "60", 0, 0, result.Correct, time.Minute, ""},
		{"600", "600", 0, 0, result.Errored, 0, "asked for 10m0s"},
		{"3600", "3600", 0, 0, result.Errored, 0, "asked for 1h0m0s"},
		{"600, and time enough", "600", time.Hour, 0, result.Errored, 0, "asked for 10m0s, and the most is 2m0s"},
		{"beyond the item's time", "60", 30 * time.Second, 0, result.Errored, 0, "asked for 1m0s"},
		{"beyond the test's deadline", "60", 0, 30 * time.Second, result.NotRun, 0, "interrupted"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := busyWith("Retry-After", row.after)
				c := asking(modelAt(llmtest.OpenAI, s), streamed)
				if row.item > 0 {
					c.ItemTimeout, c.AttemptTimeout = row.item, row.item
				}
				ctx := t.Context()
				if row.run > 0 {
					within, cancel := context.WithTimeout(ctx, row.run)
					defer cancel()
					ctx = within
				}
				begun := time.Now()
				rec := c.Item(ctx, wanting("18"), 0)
				assert.Equal(t, row.waits, time.Since(begun))
				require.Equal(t, row.outcome, rec.Outcome, "%+v", rec.Error)
				require.Len(t, rec.Attempts, 1, "a busy provider never advances the attempt")
				if row.outcome == result.Correct {
					assert.Equal(t, 2, s.Counts().Calls)
					return
				}
				assert.Equal(t, 1, s.Counts().Calls)
				assert.Contains(t, rec.Error.Message, row.says)
			})
		})
	}
}

// TestCaseL05RetryAfterForms: what is a time is waited for, however it is
// spelled; what is none gets the pause of one's own, which is 2 s.
func TestCaseL05RetryAfterForms(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when every bubble begins
	const own = 2 * time.Second
	for _, row := range []struct {
		name, value, date string
		want              time.Duration
	}{
		{"date", now.Add(7 * time.Second).Format(http.TimeFormat), "", 7 * time.Second},
		{"date of RFC 850", now.Add(7 * time.Second).Format("Monday, 02-Jan-06 15:04:05 GMT"), "", 7 * time.Second},
		{"date of an hour ago", now.Add(-time.Hour).Format(http.TimeFormat), "", 0},
		{"date of a server whose clock is an hour ahead", now.Add(time.Hour + 7*time.Second).Format(http.TimeFormat), now.Add(time.Hour).Format(http.TimeFormat), 7 * time.Second},
		{"fraction", "1.5", "", 1500 * time.Millisecond},
		{"space before", " 2", "", 2 * time.Second},
		{"space before 5", " 5", "", 5 * time.Second},
		{"negative", "-1", "", own},
		{"NaN", "NaN", "", own},
		{"Inf", "Inf", "", own},
		{"words", "soon", "", own},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				header := []string{"Retry-After", row.value}
				if row.date != "" {
					header = append(header, "Date", row.date)
				}
				rec := asking(modelAt(llmtest.OpenAI, busyWith(header...))).Item(t.Context(), wanting("18"), 0)
				require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
				assert.Equal(t, row.want, rec.Duration)
			})
		})
	}
}

// quotaBody is Gemini's 429: the quota that was used up, and how long to wait.
func quotaBody(message, quotaID, delay string) string {
	details := ""
	if quotaID != "" {
		details = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"` + quotaID + `","quotaValue":"50"}]}`
	}
	if delay != "" {
		if details != "" {
			details += ","
		}
		details += `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"}`
	}
	text, _ := json.Marshal(message)
	return `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":` + string(text) + `,"details":[` + details + `]}}`
}

// TestCaseL07WaitInTheBody: Gemini says in the body how long to wait, and that
// is waited for.
func TestCaseL07WaitInTheBody(t *testing.T) {
	for _, row := range []struct {
		name, message, delay string
		least, most          time.Duration
	}{
		{"38s", "You exceeded your current quota.", "38s", 38 * time.Second, 39 * time.Second},
		{"the message says more", "Please retry in 58.934310785s.", "58s", 58934310785, 60 * time.Second},
		{"0.5s", "You exceeded your current quota.", "0.5s", 500 * time.Millisecond, time.Second},
		{"no details", "Resource has been exhausted (e.g. check quota).", "", 2 * time.Second, 2 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answering(llmtest.Status(429, quotaBody(row.message, "", row.delay)), says(llmtest.Gemini, "18"))
				rec := asking(modelAt(llmtest.Gemini, s), streamed).Item(t.Context(), wanting("18"), 0)
				require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
				assert.GreaterOrEqual(t, rec.Duration, row.least)
				assert.LessOrEqual(t, rec.Duration, row.most)
				assert.Equal(t, 2, s.Counts().Calls)
			})
		})
	}
}

// TestCaseL08DaysQuota: a day's quota ends the run by its name after one call,
// though the server speaks of seconds; a minute's is waited for.
func TestCaseL08DaysQuota(t *testing.T) {
	c := newChild(t, "day's quota").run()
	assert.Equal(t, 1, c.code)
	assert.Equal(t, 1, c.called())
	assert.Contains(t, c.text(), "the run stopped early:")
	assert.Contains(t, c.text(), "generativelanguage.googleapis.com/generate_content_", "the metric's name")
	assert.Contains(t, c.text(), "1 errored, 99 not run")

	synctest.Test(t, func(t *testing.T) {
		for id, want := range map[string]result.Outcome{
			"GenerateRequestsPerDayPerProjectPerModel-FreeTier":    result.Errored,
			"GenerateRequestsPerMinutePerProjectPerModel-FreeTier": result.Correct,
		} {
			s := answering(llmtest.Status(429, quotaBody("You exceeded your current quota.", id, "7s")), says(llmtest.Gemini, "18"))
			rec := asking(modelAt(llmtest.Gemini, s), streamed).Item(t.Context(), wanting("18"), 0)
			require.Equal(t, want, rec.Outcome, "%s: %+v", id, rec.Error)
			if want == result.Correct {
				assert.Equal(t, 7*time.Second, rec.Duration)
				continue
			}
			assert.Equal(t, llm.KindQuota, rec.Error.Kind)
			assert.Equal(t, 1, s.Counts().Calls)
			assert.Contains(t, rec.Error.Message, "generate_content_free_tier_requests")
		}
	})
}

// TestCaseL10ExhaustedDimension: the limit that is used up says when to come
// back, and if both are, the later one.
func TestCaseL10ExhaustedDimension(t *testing.T) {
	for _, row := range []struct {
		name                    string
		requests, requestsReset string
		tokens, tokensReset     string
		want                    time.Duration
	}{
		{"tokens", "99", "8ms", "0", "6m0s", 360 * time.Second},
		{"requests", "0", "6m0s", "99", "8ms", 360 * time.Second},
		{"both", "0", "8ms", "0", "6m0s", 360 * time.Second},
		{"both, the other way", "0", "6m0s", "0", "8ms", 360 * time.Second},
		{"requests, soon", "0", "8ms", "99", "6m0s", 8 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				header := []string{
					"X-Ratelimit-Remaining-Requests", row.requests, "X-Ratelimit-Reset-Requests", row.requestsReset,
					"X-Ratelimit-Remaining-Tokens", row.tokens, "X-Ratelimit-Reset-Tokens", row.tokensReset,
				}
				c := asking(modelAt(llmtest.OpenAI, busyWith(header...)))
				c.Scope, c.ItemTimeout = call.NewScope(call.Limits{MaxWait: 10 * time.Minute}), time.Hour
				rec := c.Item(t.Context(), wanting("18"), 0)
				require.Equal(t, result.Correct, rec.Outcome, "%+v", rec.Error)
				assert.InDelta(t, row.want, rec.Duration, float64(time.Millisecond))

				rec = asking(modelAt(llmtest.OpenAI, busyWith(header...))).Item(t.Context(), wanting("18"), 0)
				if row.want == 360*time.Second { // longer than anybody allows unless told
					require.Equal(t, result.Errored, rec.Outcome)
					assert.Contains(t, rec.Error.Message, "asked for 6m0s")
					assert.Zero(t, rec.Duration)
				}
			})
		})
	}
}

// TestCaseL11LargerThanTheLimit: a row that no minute holds fails at once and
// says so; the others go on. One that would wait too long says that it is the
// limit that it would wait for.
func TestCaseL11LargerThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply {
			return llmtest.Reply{Text: "18", Tokens: &llm.Usage{Input: 4900, Output: 100}}
		}}
		scope := call.NewScope(call.Limits{TPM: 10_000})
		capped := func(r *llm.Request) { r.MaxOutputTokens = new(int64(100)) }
		asks := func(bytes int, within time.Duration) result.Record {
			c := asking(call.New(modelAt(llmtest.OpenAI, s), call.Config{Scope: scope}), capped)
			c.ItemTimeout, c.AttemptTimeout = within, within
			it := wanting("18")
			it.Input = strings.Repeat("x", bytes)
			return c.Item(t.Context(), it, 0)
		}
		begun := time.Now()
		rec := asks(4*11_900, time.Hour)
		require.Equal(t, result.Errored, rec.Outcome)
		assert.Contains(t, rec.Error.Message, "request needs 12000 tokens, limit 10000/min")
		assert.Len(t, rec.Attempts, 1, "no loop")
		assert.Zero(t, s.Counts().Calls)
		assert.Zero(t, time.Since(begun), "no hang")

		require.Equal(t, result.Correct, asks(4*4900, time.Hour).Outcome, "the others go on")
		assert.Zero(t, time.Since(begun))
		rec = asks(4*4900, 5*time.Second)
		require.Equal(t, result.Errored, rec.Outcome, "30 s of the minute's tokens are taken")
		assert.Contains(t, rec.Error.Message, "the limit of 10000 tokens a minute allows the next call in 30s, and this one has 5s")
		assert.Zero(t, time.Since(begun), "it fails before it waits in vain")
		assert.Equal(t, 1, s.Counts().Calls)
		require.Equal(t, result.Correct, asks(4*4900, time.Hour).Outcome)
		assert.Equal(t, 30*time.Second, time.Since(begun))
	})
}

// TestCaseL13BoundedBackoff: twenty 502s without a Retry-After. No wait is
// longer than the cap, and all of them end within the item's time.
func TestCaseL13BoundedBackoff(t *testing.T) {
	for _, budget := range []time.Duration{10 * time.Minute, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var last time.Time
			var longest time.Duration
			var calls atomic.Int64
			s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply {
				if calls.Add(1) > 1 {
					longest = max(longest, time.Since(last))
				}
				last = time.Now()
				return llmtest.Reply{Raw: llmtest.HTML(502, "<h1>502</h1>")}
			}}
			c := asking(modelAt(llmtest.OpenAI, s))
			c.Attempts, c.ItemTimeout = 20, budget
			c.Backoff.Rand = func() float64 { return 0.999999 }
			begun := time.Now()
			rec := c.Item(t.Context(), wanting("18"), 0)
			require.Equal(t, result.Errored, rec.Outcome)
			assert.Equal(t, 502, rec.Error.Status)
			assert.LessOrEqual(t, longest, time.Minute)
			assert.Greater(t, longest, 59*time.Second, "the cap is reached")
			assert.LessOrEqual(t, time.Since(begun), budget)
			if budget == time.Hour {
				assert.Len(t, rec.Attempts, 20)
			} else {
				assert.Less(t, len(rec.Attempts), 20)
				assert.Contains(t, rec.Error.Message, "no attempt")
			}
		})
	}
}
