package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/dataset"
	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/grade"
	"github.com/goevals/evals/llm"
)

func TestItemOutcomes(t *testing.T) {
	cut := func(text string) turn { return turn{resp: llm.Response{Text: text, Finish: llm.FinishLength}} }
	blocked := turn{resp: llm.Response{Text: "18", Finish: llm.FinishContentFilter}}
	for _, tc := range []struct {
		name, reason string
		turns        []turn
		outcome      result.Outcome
		numbers      []int // of the attempts
		took         time.Duration
		kind         llm.ErrorKind
	}{
		{"correct", "one attempt is enough", []turn{says("18")}, result.Correct, []int{1}, 0, ""},
		{"incorrect", "an answer that differs is an answer", []turn{says("17"), says("18")}, result.Incorrect, []int{1}, 0, ""},
		{"unparsed, then correct", "the next attempt comes at once", []turn{says("?"), says("18")}, result.Correct, []int{1, 2}, 0, ""},
		{"unparsed throughout", "three attempts by default", []turn{says("?")}, result.Unparsed, []int{1, 2, 3}, 0, ""},
		{"unusable, then correct", "the strategy's own word for it, at once too",
			[]turn{{err: llm.Unusable(errBoom)}, says("18")}, result.Correct, []int{1, 2}, 0, ""},
		{"unusable throughout", "an answer came: unparsed, not errored",
			[]turn{{err: llm.Unusable(errBoom)}}, result.Unparsed, []int{1, 2, 3}, 0, ""},
		{"server error, then correct", "another attempt after 0.5 s",
			[]turn{fails(llm.KindServer), says("18")}, result.Correct, []int{1, 2}, 500 * time.Millisecond, ""},
		{"server error throughout", "0.5 s and 1 s", []turn{fails(llm.KindServer)}, result.Errored, []int{1, 2, 3}, 1500 * time.Millisecond, llm.KindServer},
		{"connection, incomplete", "the waits grow with failures", []turn{fails(llm.KindConnection), fails(llm.KindIncomplete), says("18")},
			result.Correct, []int{1, 2, 3}, 1500 * time.Millisecond, ""},
		{"unparsed, server error", "the first failure waits as the first", []turn{says("?"), fails(llm.KindServer), says("18")},
			result.Correct, []int{1, 2, 3}, 500 * time.Millisecond, ""},
		{"Retry-After on a server error", "is the least", []turn{{err: &llm.Error{Kind: llm.KindServer, RetryAfter: new(7 * time.Second)}}, says("18")},
			result.Correct, []int{1, 2}, 7 * time.Second, ""},
		{"rate limit", "the same attempt, after what the server asked for, then after a second pause in a row, of 4 s (T10)",
			[]turn{{err: &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(9 * time.Second)}}, fails(llm.KindRateLimit), says("18")},
			result.Correct, []int{1, 1, 1}, 13 * time.Second, ""},
		{"no money (L01)", "no second call", []turn{fails(llm.KindBalance)}, result.Errored, []int{1}, 0, llm.KindBalance},
		{"bad request", "no second call", []turn{fails(llm.KindBadRequest)}, result.Errored, []int{1}, 0, llm.KindBadRequest},
		{"an application's own error", "nothing says that it would heal", []turn{{err: errBoom}}, result.Errored, []int{1}, 0, llm.KindUnknown},
		{"a miss", "a strict replay has no such recording", []turn{fails(llm.KindMiss)}, result.Errored, []int{1}, 0, llm.KindMiss},
		{"blocked by error (C12)", "exactly one attempt", []turn{fails(llm.KindBlocked)}, result.Blocked, []int{1}, 0, llm.KindBlocked},
		{"blocked with the right text (C13)", "never correct by luck", []turn{blocked}, result.Blocked, []int{1}, 0, ""},
		{"truncated with the right text (C15)", "never correct by luck", []turn{cut("18"), says("18")}, result.Truncated, []int{1}, 0, ""},
		{"truncated and empty (C15)", "all tokens went to thinking", []turn{cut("")}, result.Truncated, []int{1}, 0, ""},
		{"refused by finish", "", []turn{{resp: llm.Response{Text: "18", Finish: llm.FinishRefusal}}}, result.Refused, []int{1}, 0, ""},
		{"refused by field (G24)", "", []turn{{resp: llm.Response{Refusal: "I can't.", Finish: llm.FinishStop}}}, result.Refused, []int{1}, 0, ""},
		{"no finish reason", "applications have none", []turn{{resp: llm.Response{Text: "18"}}}, result.Correct, []int{1}, 0, ""},
		{"unparsed, then cut", "the last attempt decides", []turn{says("?"), cut("18")}, result.Truncated, []int{1, 2}, 0, ""},
		{"slow", "the attempt's timeout, then another attempt", []turn{{take: time.Hour}, says("18")}, result.Correct, []int{1, 2},
			2*time.Minute + 500*time.Millisecond, ""},
		{"slow throughout", "2 m + 0.5 s + 2 m + 1 s; the third is cut by the item's 5 m", []turn{{take: time.Hour}}, result.Errored, []int{1, 2, 3},
			5 * time.Minute, llm.KindTimeout},
		{"a wait beyond the item's time", "fails at once, with the provider's reason",
			[]turn{{err: &llm.Error{Kind: llm.KindServer, RetryAfter: new(time.Hour)}}}, result.Errored, []int{1}, 0, llm.KindServer},
		{"a rate limit beyond the item's time (L03)", "fails at once",
			[]turn{{err: &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(time.Hour)}}}, result.Errored, []int{1}, 0, llm.KindRateLimit},
		{"unparsed when the time is up", "deaf to its context, but within the grace", []turn{{take: 5*time.Minute + time.Second, deaf: true, resp: llm.Response{Text: "?"}}},
			result.Errored, []int{1}, 5*time.Minute + time.Second, llm.KindTimeout},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := answers(tc.turns...)
				start := time.Now()
				rec := must(t, config(s).Item(t.Context(), eggs, 0))
				assert.Equal(t, tc.took, time.Since(start), tc.reason)
				assert.Equal(t, tc.took, rec.Duration)
				assert.Equal(t, tc.outcome, rec.Outcome)
				assert.Equal(t, tc.numbers, s.numbers())
				if tc.kind == "" {
					assert.Nil(t, rec.Error)
				} else if assert.NotNil(t, rec.Error) {
					assert.Equal(t, tc.kind, rec.Error.Kind, rec.Error.Message)
				}
				if last := tc.turns[len(tc.turns)-1].resp; tc.outcome == result.Truncated || tc.outcome == result.Blocked && tc.kind == "" {
					assert.Equal(t, last.Text, rec.Response.Text, "the text is kept")
					assert.Nil(t, rec.Verdict, "and not graded")
				}
			})
		})
	}
}

func TestItemTriesOfABusyProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := answers(turn{err: &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(time.Second), Status: 429}})
		rec := must(t, config(s).Item(t.Context(), eggs, 0))
		assert.Equal(t, result.Errored, rec.Outcome)
		assert.Len(t, s.attempts, 20)
		assert.Equal(t, 19*time.Second, rec.Duration, "no wait after the last try")
		require.Len(t, rec.Attempts, 1, "a busy provider never advances the attempt")
		assert.Equal(t, 20, rec.Attempts[0].Tries)
		assert.Equal(t, 429, rec.Error.Status)
		assert.Contains(t, rec.Error.Message, "the provider stayed busy through 20 tries")
	})
}

// TestItemContains: nothing that strategy, grader or judge do ends anything
// but their item.
func TestItemContains(t *testing.T) {
	var typedNil *llm.Error
	var inner testing.T // a *testing.T that is not this goroutine's, as the outer test's is not
	acts := []struct {
		name, reason string
		do           func() error
		want         string
	}{
		{"panic", "with the stack", func() error { panic("boom") }, "panicked: boom"},
		{"panic with an error", "", func() error { panic(errBoom) }, "panicked: boom"},
		{"panic(nil)", "must not pass for an answer", func() error { panic(nil) }, "panicked: panic called with nil argument"},
		{"nil map", "a runtime error", func() error { var none map[string]map[string]int; none["a"]["b"] = 1; return nil }, "assignment to entry in nil map"},
		{"Goexit", "names the likely cause", func() error { runtime.Goexit(); return nil }, "must not call methods of the outer *testing.T; return an error instead"},
		{"FailNow of another test", "is Goexit", func() error { inner.FailNow(); return nil }, "FailNow, Fatal, Skip or a require assertion"},
		{"a typed nil error", "its own Error method panics", func() error { return typedNil }, "nil pointer dereference"},
		{"a plain error", "", func() error { return errBoom }, "boom"},
	}
	for _, who := range []string{"strategy", "grader", "judge"} {
		for _, tc := range acts {
			t.Run(who+"/"+tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					act := grade.Func(func(context.Context, dsItem, llm.Response) (grade.Verdict, error) {
						return grade.Verdict{Mark: grade.Correct, Score: 1}, tc.do()
					})
					c := config(answers(says("?")))
					c.Attempts = 1
					switch who {
					case "strategy":
						c.Strategy = run.StrategyFunc(func(context.Context, dsItem, run.Attempt) (llm.Response, error) {
							return llm.Response{Text: "18"}, tc.do()
						})
					case "grader":
						c.Grader = act
					case "judge":
						c.Judge = act
					}
					rec := must(t, c.Item(t.Context(), eggs, 0))
					want := result.Errored
					if who == "judge" {
						want = result.Ungraded
						require.NotNil(t, rec.Graded)
						assert.Equal(t, grade.Unparsed, rec.Graded.Mark)
						assert.Equal(t, grade.Ungraded, rec.Verdict.Mark)
						assert.NoError(t, rec.Verdict.Check())
					}
					assert.Equal(t, want, rec.Outcome, tc.reason)
					require.NotNil(t, rec.Error)
					assert.Contains(t, rec.Error.Message, tc.want)
					if !strings.Contains(tc.want, "nil pointer") {
						if tc.name != "a plain error" || who != "strategy" {
							assert.Contains(t, rec.Error.Message, who)
						}
					}
					if strings.Contains(tc.want, "panicked") {
						assert.Equal(t, llm.KindPanic, rec.Error.Kind)
						assert.Contains(t, rec.Error.Stack, "item_test.go")
					}
					require.Len(t, rec.Attempts, 1)
				})
			})
		}
	}
}

func TestItemAbandons(t *testing.T) {
	for _, who := range []string{"strategy", "grader", "judge"} {
		t.Run(who, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				hang := grade.Func(func(context.Context, dsItem, llm.Response) (grade.Verdict, error) {
					<-release
					return grade.Verdict{Mark: grade.Correct, Score: 1}, nil
				})
				c := config(answers(says("?")))
				c.ItemTimeout, c.Grace, c.Attempts = time.Minute, 5*time.Second, 1
				switch who {
				case "strategy":
					c.Strategy = answers(turn{do: func() { <-release }, resp: llm.Response{Text: "18"},
						logs: []llm.Call{{Response: llm.Response{Usage: llm.Usage{Input: 7, Output: 1, Known: true}}}}})
				case "grader":
					c.Grader = hang
				case "judge":
					c.Judge = hang
				}
				rec := must(t, c.Item(t.Context(), eggs, 0))
				assert.Equal(t, 65*time.Second, rec.Duration)
				want := result.Errored
				if who == "judge" { // as after every other failure of a judge
					want = result.Ungraded
				}
				assert.Equal(t, want, rec.Outcome)
				assert.Equal(t, llm.KindTimeout, rec.Error.Kind)
				assert.Contains(t, rec.Error.Message, "abandoned: the "+who+" did not return within 5s after the item's time of 1m0s was up")
				assert.True(t, rec.Abandoned)
				assert.Equal(t, 1, run.Abandoned())
				require.Len(t, rec.Attempts, 1)
				if who == "strategy" {
					assert.EqualValues(t, 7, rec.Usage.Input, "what its calls spent counts")
				}
				before := fmt.Sprintf("%+v", rec)
				close(release)
				synctest.Wait()
				assert.Zero(t, run.Abandoned(), "it has ended since")
				assert.Equal(t, before, fmt.Sprintf("%+v", rec), "the record is not touched by the straggler")
			})
		})
	}
}

func TestItemNoGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(answers(turn{take: time.Hour, deaf: true}))
		c.Grace, c.AttemptTimeout = -1, -1
		rec := must(t, c.Item(t.Context(), eggs, 0))
		assert.Equal(t, run.DefaultItemTimeout, rec.Duration)
		assert.True(t, rec.Abandoned)
		time.Sleep(time.Hour)
		synctest.Wait()
	})
}

// TestItemInterrupted: whatever was under way when the run's context ended is
// run again on resume, so the outcome is not final; what it spent is kept.
func TestItemInterrupted(t *testing.T) {
	slowJudge := grade.Func(func(ctx context.Context, _ dsItem, _ llm.Response) (grade.Verdict, error) {
		<-ctx.Done()
		return grade.Verdict{}, ctx.Err()
	})
	spent := llm.Usage{Input: 10, Output: 5, Known: true}
	for _, tc := range []struct {
		name, reason string
		turns        []turn
		judge        grade.Grader
		where        string
		outcome      result.Outcome
		calls        int
	}{
		{"in a call", "", []turn{{take: time.Hour}}, nil, "interrupted in attempt 1: context canceled", result.NotRun, 1},
		{"in a second call", "the first one's tokens are kept", []turn{says("?"), {take: time.Hour}}, nil, "in attempt 2", result.NotRun, 2},
		{"during a backoff", "the provider's error is no verdict on the item", []turn{{err: &llm.Error{Kind: llm.KindServer, RetryAfter: new(time.Minute), Usage: spent}}}, nil,
			"before attempt 2", result.NotRun, 1},
		{"during a rate limit's wait", "", []turn{{err: &llm.Error{Kind: llm.KindRateLimit, RetryAfter: new(time.Minute)}}}, nil, "in attempt 1", result.NotRun, 1},
		{"while judging", "an answer without its verdict", []turn{says("?")}, slowJudge, "while judging", result.NotRun, 3},
		{"a deaf strategy", "after the grace", []turn{{take: time.Hour, deaf: true}}, nil, "abandoned: the strategy did not return within 10s after the run was interrupted", result.NotRun, 1},
		{"an answer all the same", "a strategy may finish what it has begun", []turn{{take: 9 * time.Second, deaf: true, resp: llm.Response{Text: "18"}}}, nil, "", result.Correct, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(5*time.Second, cancel)
				c := config(answers(tc.turns...))
				c.Judge = tc.judge
				rec := must(t, c.Item(ctx, eggs, 2))
				assert.Equal(t, tc.outcome, rec.Outcome, tc.reason)
				assert.Equal(t, tc.outcome != result.NotRun, rec.Outcome.Final())
				assert.Equal(t, 2, rec.Sample)
				assert.Equal(t, tc.calls, rec.Usage.Calls)
				if tc.where != "" {
					assert.Equal(t, llm.KindCanceled, rec.Error.Kind)
					assert.Contains(t, rec.Error.Message, tc.where)
					assert.Nil(t, rec.Response)
					assert.Nil(t, rec.Verdict)
				}
				if tc.name == "while judging" {
					assert.Equal(t, "?", rec.Attempts[2].Text, "the answer is in the attempts")
				}
				time.Sleep(2 * time.Hour) // lets the deaf ones go
			})
		})
	}
}

func TestItemRunDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for _, kind := range []llm.ErrorKind{llm.KindServer, llm.KindRateLimit} {
			start := time.Now()
			rec := must(t, config(answers(turn{err: &llm.Error{Kind: kind, RetryAfter: new(time.Minute)}})).Item(ctx, eggs, 0))
			assert.Equal(t, result.NotRun, rec.Outcome, "the run's time, not the item's: it must run again")
			assert.Zero(t, time.Since(start), "and there is no point in waiting for it")
			assert.Contains(t, rec.Error.Message, "the run would end before the next call")
		}
	})
}

func TestItemNotStarted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("interrupted by SIGINT"))
	s := answers(says("18"))
	rec := must(t, config(s).Item(ctx, eggs, 1))
	assert.Equal(t, run.NotRun(eggs, 1, "not started: interrupted by SIGINT"), rec)
	assert.Empty(t, s.attempts)
}

func TestItemContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ctx context.Context
		s := answers(turn{seen: &ctx, resp: llm.Response{Text: "18"}})
		c := config(s)
		c.Attempts = 7
		start := time.Now()
		c.Item(t.Context(), eggs, 4)
		assert.Equal(t, "eggs", llm.ItemID(ctx))
		assert.Equal(t, 4, llm.SampleIndex(ctx))
		end, ok := ctx.Deadline()
		assert.True(t, ok)
		assert.Equal(t, run.DefaultAttemptTimeout, end.Sub(start))
		assert.Equal(t, []run.Attempt{{Number: 1, Of: 7, Sample: 4, State: new(run.State)}}, s.attempts)
	})
}

func TestItemRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(answers(
			turn{take: time.Second, resp: llm.Response{Text: "?", Model: "small-1", Finish: llm.FinishStop}},
			turn{take: 2 * time.Second, resp: llm.Response{Text: "18", Model: "large-1", Finish: llm.FinishStop, Warnings: []string{"odd"}}}))
		start := time.Now().UTC()
		rec := must(t, c.Item(t.Context(), eggs, 0))
		correct, unparsed := grade.Verdict{Mark: grade.Correct, Score: 1, Answer: "18"}, grade.Verdict{Mark: grade.Unparsed, Reason: grade.ReasonNoAnswer}
		none := llm.UsageTotal{Calls: 1, Unknown: 1}
		assert.Equal(t, result.Record{
			Item: result.ItemOf(eggs), Outcome: result.Correct, Score: 1, Verdict: &correct,
			Response: &llm.Response{Text: "18", Model: "large-1", Finish: llm.FinishStop, Warnings: []string{"odd"}},
			Attempts: []result.Attempt{
				{Number: 1, Tries: 1, Start: start, Duration: time.Second, Text: "?", Finish: llm.FinishStop, Model: "small-1", Usage: none, Verdict: &unparsed},
				{Number: 2, Tries: 1, Start: start.Add(time.Second), Duration: 2 * time.Second, Finish: llm.FinishStop, Model: "large-1", Usage: none, Verdict: &correct},
			},
			Usage: llm.UsageTotal{Calls: 2, Unknown: 2}, Start: start, Duration: 3 * time.Second, Latency: 2 * time.Second,
		}, rec)
	})
}

func TestItemLongError(t *testing.T) {
	rec := must(t, config(answers(turn{err: fmt.Errorf("%s", strings.Repeat("é", 20_000))})).Item(t.Context(), eggs, 0))
	assert.Less(t, len(rec.Error.Message), 17_000)
	assert.Contains(t, rec.Error.Message, " bytes more)")
}

// TestItemErrorKindOnce: a record has the kind beside the message, and readers
// print both.
func TestItemErrorKindOnce(t *testing.T) {
	for _, r := range []struct {
		name, reason string
		err          error
		want         result.Error
	}{
		{"model's", "", &llm.Error{Kind: llm.KindAuth, Provider: "openai", Status: 401, Message: "Wrong key"}, result.Error{Kind: llm.KindAuth, Status: 401, Message: "openai: HTTP 401: Wrong key"}},
		{"recording's", "", &llm.Error{Kind: llm.KindMiss, Err: errors.New("no recording")}, result.Error{Kind: llm.KindMiss, Message: "no recording"}},
		{"wrapped", "a sentence of the application's stays as it is", fmt.Errorf("routing: %w", &llm.Error{Kind: llm.KindMiss, Err: errors.New("no recording")}), result.Error{Kind: llm.KindMiss, Message: "routing: miss: no recording"}},
	} {
		t.Run(r.name, func(t *testing.T) {
			rec := must(t, config(answers(turn{err: r.err})).Item(t.Context(), eggs, 0))
			require.NotNil(t, rec.Error)
			assert.Equal(t, r.want, *rec.Error, r.reason)
		})
	}
}

// TestItemKeys: net/http's errors hold the URL, and the URL of some providers
// holds the key. It must not reach a journal, whoever made the error.
func TestItemKeys(t *testing.T) {
	const key = "k3y-of-a-user-0123456789"
	leak := &url.Error{Op: "Post", URL: "https://api.example/v1?key=" + key, Err: errors.New("connection refused")}
	for name, strategy := range map[string]run.StrategyFunc{
		"error": func(context.Context, dataset.Item, run.Attempt) (llm.Response, error) { return llm.Response{}, leak },
		"unusable": func(context.Context, dataset.Item, run.Attempt) (llm.Response, error) {
			return llm.Response{}, llm.Unusable(leak)
		},
		"panic": func(context.Context, dataset.Item, run.Attempt) (llm.Response, error) { panic(leak) },
	} {
		t.Run(name, func(t *testing.T) {
			c := &run.Config{Strategy: strategy, Grader: grade.Exact(), Attempts: 1}
			rec := c.Item(t.Context(), dataset.Item{ID: "a", Target: "b"}, 0)
			text, err := json.Marshal(rec)
			require.NoError(t, err)
			assert.Contains(t, string(text), "connection refused")
			assert.NotContains(t, string(text), key)
		})
	}
}
