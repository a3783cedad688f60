package run_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/evaltest/result"
	"github.com/goevals/evals/evaltest/run"
	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

// post is an application with no SDK at all: what it returns of a failure is a
// text.
func post(server *llmtest.Server) func(context.Context, string) (string, error) {
	client := &http.Client{Transport: wire.Transport{Base: server.Memory()}}
	return func(ctx context.Context, question string) (string, error) {
		body := strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"` + question + `"}]}`)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://provider.test/v1/chat/completions", body)
		if err != nil {
			return "", err
		}
		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return "", err
		}
		if resp.StatusCode != http.StatusOK {
			return "", fmt.Errorf("the bot is out of order (%d)", resp.StatusCode)
		}
		_, text, _ := strings.Cut(string(b), `"content":"`)
		text, _, _ = strings.Cut(text, `"`)
		return text, nil
	}
}

// TestForeignErrors: an application whose errors say nothing is treated as the
// provider's answer wants it, for the transport saw that.
func TestForeignErrors(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		fault        string
		outcome      result.Outcome
		kind         llm.ErrorKind
		calls        int
		took         time.Duration
	}{
		{"server error", "gets another attempt", llmtest.FaultServerError, result.Correct, "", 2, 500 * time.Millisecond},
		{"rate limit", "the same attempt, after what the server asked for", llmtest.FaultRateLimitFraction, result.Correct, "", 2, 1500 * time.Millisecond},
		{"bad key", "no second call", llmtest.FaultBadKey, result.Errored, llm.KindAuth, 1, 0},
		{"no money", "no second call, though the status is 429", llmtest.FaultInsufficientQuota, result.Errored, llm.KindBalance, 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &llmtest.Server{
					Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "18"} },
					Rules: []llmtest.Rule{{Faults: llmtest.Named(tc.fault), Calls: []int{1}}},
				}
				rec := must(t, config(run.App(post(server))).Item(t.Context(), eggs, 0))
				assert.Equal(t, tc.outcome, rec.Outcome, tc.reason)
				assert.Equal(t, tc.calls, server.Counts().Calls)
				assert.Equal(t, tc.took, rec.Duration)
				if tc.kind != "" && assert.NotNil(t, rec.Error) {
					assert.Equal(t, tc.kind, rec.Error.Kind)
					assert.Contains(t, rec.Error.Message, "the bot is out of order", "its own words stay")
				}
			})
		})
	}
}

// TestForeignErrorsOfItsOwn: what the application says itself, or what failed
// after the last call, is not the provider's.
func TestForeignErrorsOfItsOwn(t *testing.T) {
	failed := llm.Call{Err: &llm.Error{Kind: llm.KindServer, Status: 500}}
	for _, tc := range []struct {
		name, reason string
		logs         []llm.Call
		err          error
		kind         llm.ErrorKind
	}{
		{"after a good call", "the calls went well in the end", []llm.Call{failed, {}}, errBoom, llm.KindUnknown},
		{"no call", "nothing to go by", nil, errBoom, llm.KindUnknown},
		{"says what it is", "it knows better", []llm.Call{failed}, &llm.Error{Kind: llm.KindBadRequest}, llm.KindBadRequest},
		{"marked unusable", "the strategy's own word", []llm.Call{failed}, llm.Unusable(errBoom), llm.KindUnusable},
		{"another cause", "a cancelled context is not a server error", []llm.Call{failed}, fmt.Errorf("tool: %w", context.Canceled), llm.KindCanceled},
		{"the last call", "", []llm.Call{{}, failed}, errBoom, llm.KindServer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := config(answers(turn{err: tc.err, logs: tc.logs}))
			c.Attempts = 1
			rec := must(t, c.Item(t.Context(), eggs, 0))
			kind := llm.KindUnusable // has no error in the record
			if rec.Error != nil {
				kind = rec.Error.Kind
			}
			assert.Equal(t, tc.kind, kind, tc.reason)
		})
	}
	require.Zero(t, failed.Err.(*llm.Error).Err, "the log's error is not touched")
}

// TestStoppedScope: an item that the scope did not let ask has not failed: it
// is to be run again.
func TestStoppedScope(t *testing.T) {
	s := answers(turn{err: &llm.Error{Kind: llm.KindAuth, Status: 401, Message: "wrong key"}})
	c := config(s)
	require.Equal(t, result.Errored, must(t, c.Item(t.Context(), eggs, 0)).Outcome)
	rec := must(t, c.Item(t.Context(), eggs, 0))
	assert.Equal(t, result.NotRun, rec.Outcome)
	assert.Equal(t, llm.KindAuth, rec.Error.Kind)
	assert.Contains(t, rec.Error.Message, "not asked in attempt 1")
	assert.Contains(t, rec.Error.Message, "wrong key")
	assert.Len(t, s.attempts, 1)
	assert.Zero(t, rec.Usage.Calls)
}
