package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
	"github.com/goevals/evals/llm/wire"
)

const sdkKey = "sk-0123456789abcdefghij"

// An app is an application that asks a model through an SDK of its own. It
// knows nothing of evals but the transport of its http.Client.
type app struct {
	name string
	ask  func(ctx context.Context, client *http.Client, question string) (string, error)
	// streamed says that it streams, retries how often it asks again by itself.
	streamed bool
	retries  int
}

func openAI(client *http.Client) *sdk.Client {
	cfg := sdk.DefaultConfig(sdkKey)
	cfg.BaseURL, cfg.HTTPClient = "http://fake/v1", client
	return sdk.NewClientWithConfig(cfg)
}

func chat(question string) sdk.ChatCompletionRequest {
	return sdk.ChatCompletionRequest{Model: "m", Messages: []sdk.ChatCompletionMessage{{Role: "user", Content: question}}}
}

func gemini(ctx context.Context, client *http.Client, opts genai.HTTPOptions) (*genai.Client, error) {
	opts.BaseURL = "http://fake"
	return genai.NewClient(ctx, &genai.ClientConfig{Backend: genai.BackendGeminiAPI, APIKey: sdkKey, HTTPClient: client, HTTPOptions: opts})
}

func once(ctx context.Context, client *http.Client, question string) (string, error) {
	body, err := json.Marshal(map[string]any{"model": "m", "messages": []map[string]string{{"role": "user", "content": question}}})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", chatURL, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("X-Api-Key", sdkKey)
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var a struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if resp.StatusCode != 200 {
		return "", fmt.Errorf("status %d", resp.StatusCode)
	}
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return "", err
	}
	return a.Choices[0].Message.Content, nil
}

var apps = []app{
	{name: "go-openai", ask: func(ctx context.Context, client *http.Client, question string) (string, error) {
		resp, err := openAI(client).CreateChatCompletion(ctx, chat(question))
		if err != nil {
			return "", err
		}
		return resp.Choices[0].Message.Content, nil
	}},
	{name: "go-openai streamed", streamed: true, ask: func(ctx context.Context, client *http.Client, question string) (string, error) {
		req := chat(question)
		req.StreamOptions = &sdk.StreamOptions{IncludeUsage: true}
		s, err := openAI(client).CreateChatCompletionStream(ctx, req)
		if err != nil {
			return "", err
		}
		defer s.Close()
		var text strings.Builder
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) {
				return text.String(), nil
			}
			if err != nil {
				return "", err
			}
			for _, ch := range chunk.Choices {
				text.WriteString(ch.Delta.Content)
			}
		}
	}},
	{name: "genai", ask: func(ctx context.Context, client *http.Client, question string) (string, error) {
		c, err := gemini(ctx, client, genai.HTTPOptions{})
		if err != nil {
			return "", err
		}
		resp, err := c.Models.GenerateContent(ctx, "m", genai.Text(question), nil)
		if err != nil {
			return "", err
		}
		return resp.Text(), nil
	}},
	{name: "genai streamed", streamed: true, ask: func(ctx context.Context, client *http.Client, question string) (string, error) {
		c, err := gemini(ctx, client, genai.HTTPOptions{})
		if err != nil {
			return "", err
		}
		var text strings.Builder
		for resp, err := range c.Models.GenerateContentStream(ctx, "m", genai.Text(question), nil) {
			if err != nil {
				return "", err
			}
			text.WriteString(resp.Text())
		}
		return text.String(), nil
	}},
	{name: "genai that retries", retries: 4, ask: func(ctx context.Context, client *http.Client, question string) (string, error) {
		c, err := gemini(ctx, client, genai.HTTPOptions{RetryOptions: &genai.HTTPRetryOptions{Attempts: new(int32(5))}})
		if err != nil {
			return "", err
		}
		resp, err := c.Models.GenerateContent(ctx, "m", genai.Text(question), nil)
		if err != nil {
			return "", err
		}
		return resp.Text(), nil
	}},
	{name: "by hand", ask: once},
	{name: "by hand that retries", retries: 2, ask: func(ctx context.Context, client *http.Client, question string) (text string, err error) {
		for range 3 {
			if text, err = once(ctx, client, question); err == nil {
				return text, nil
			}
		}
		return "", err
	}},
}

// TestTrap17EveryPhysicalCallIsLogged: what an SDK asks again by itself is seen
// and counted, whatever the SDK says of it.
func TestTrap17EveryPhysicalCallIsLogged(t *testing.T) {
	for _, a := range apps {
		t.Run(a.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &llmtest.Server{
					Reply: func(c llmtest.Chat) llmtest.Reply {
						return llmtest.Reply{Text: "yes " + c.Last(), FirstToken: time.Second, PerToken: 100 * time.Millisecond}
					},
					Rules: []llmtest.Rule{{Tries: 1, Faults: []llmtest.Fault{llmtest.Busy(0)}}},
				}
				client := &http.Client{Transport: wire.Transport{Base: server.Memory()}}
				var log llm.CallLog
				ctx := llm.WithCallLog(llm.WithItem(t.Context(), "item"), &log)
				text, err := a.ask(ctx, client, "one two")
				calls := log.Calls()
				if a.retries == 0 {
					require.Error(t, err)
					require.Len(t, calls, 1)
					text, err = a.ask(ctx, client, "one two")
					calls = log.Calls()
				}
				require.NoError(t, err)
				assert.Equal(t, "yes one two", text)
				require.Len(t, calls, 2, "one refused, one answered")
				assert.Equal(t, server.Counts().Calls, len(calls))

				var e *llm.Error
				require.ErrorAs(t, calls[0].Err, &e)
				assert.Equal(t, llm.KindRateLimit, e.Kind)
				assert.Equal(t, 429, e.Status)
				assert.NotEmpty(t, e.Message)
				require.NotNil(t, e.RetryAfter)
				assert.Zero(t, *e.RetryAfter, "0 is stated")
				assert.False(t, calls[0].Response.Usage.Known)

				require.NoError(t, calls[1].Err)
				r := calls[1].Response
				assert.Equal(t, llm.Usage{Input: 2, Output: 3, Known: true}, r.Usage)
				assert.Equal(t, llm.FinishStop, r.Finish)
				assert.Equal(t, "m", r.Model)
				assert.Equal(t, 1200*time.Millisecond, r.Timing.Total)
				if a.streamed {
					assert.Equal(t, []time.Duration{time.Second, 1100 * time.Millisecond, 1200 * time.Millisecond}, r.Chunks)
					assert.Equal(t, time.Second, r.Timing.FirstToken)
				} else {
					assert.Empty(t, r.Chunks)
				}
			})
		})
	}
}

// TestCallsBelongToTheirItem: calls made at once, several for one item, each
// come to the log of their own.
func TestCallsBelongToTheirItem(t *testing.T) {
	const items, each = 20, 3
	for _, a := range apps {
		t.Run(a.name, func(t *testing.T) {
			server := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: c.Last()} }}
			client := &http.Client{Transport: wire.Transport{Base: server.Memory()}}
			logs := make([]llm.CallLog, items)
			var wg sync.WaitGroup
			for i := range items {
				ctx := llm.WithCallLog(llm.WithItem(t.Context(), fmt.Sprint(i)), &logs[i])
				for range each {
					wg.Go(func() {
						// As many words as the item's number tells the items apart.
						question := strings.Join(slices.Repeat([]string{"w"}, i+1), " ")
						text, err := a.ask(ctx, client, question)
						assert.NoError(t, err)
						assert.Equal(t, question, text)
					})
				}
			}
			wg.Wait()
			for i := range logs {
				calls := logs[i].Calls()
				require.Len(t, calls, each)
				for _, c := range calls {
					require.NoError(t, c.Err)
					assert.Equal(t, llm.Usage{Input: int64(i + 1), Output: int64(i + 1), Known: true}, c.Response.Usage)
				}
			}
			assert.Equal(t, items*each, server.Counts().Calls)
			assert.Zero(t, server.Memory().OpenBodies())
		})
	}
}

// TestForeignErrors: a call of the application's own SDK that fails is told
// with the provider's kind, code and words.
func TestForeignErrors(t *testing.T) {
	wire.SetDrainTime(t, time.Minute) // every body ends, however busy the machine is
	const quota = `{"error":{"message":"You exceeded your current quota for key ` + sdkKey + `","type":"insufficient_quota","code":"insufficient_quota"}}`
	rows := []struct {
		name, reason string
		h            http.HandlerFunc
		want         llm.Error
		wait         time.Duration // -1: not stated
	}{
		{"L01", "no rate limit, whatever the status", llmtest.Status(429, quota), llm.Error{Kind: llm.KindBalance, Status: 429, Code: "insufficient_quota", Message: "You exceeded your current quota for key [masked]"}, -1},
		{"L10", "the limits of the header are kept beside the wait", llmtest.Status(429, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`,
			"x-ratelimit-remaining-requests", "99", "x-ratelimit-reset-requests", "8ms", "x-ratelimit-remaining-tokens", "0", "x-ratelimit-reset-tokens", "6m0s"),
			llm.Error{Kind: llm.KindRateLimit, Status: 429, Code: "rate_limit_exceeded", Message: "slow down",
				RateLimit: &llm.RateLimit{Requests: window(-1, 99, 8*time.Millisecond), Tokens: window(-1, 0, 6*time.Minute)}}, 6 * time.Minute},
		{"L07", "the wait is in the body only", llmtest.Status(429, fmt.Sprintf(retryInfo, "Quota exceeded", `"38s"`)), llm.Error{Kind: llm.KindRateLimit, Status: 429, Code: "RESOURCE_EXHAUSTED", Message: "Quota exceeded"}, 38 * time.Second},
		{"502 HTML", "C08", llmtest.HTML(502, "<html><h1>502 Bad Gateway</h1></html>"), llm.Error{Kind: llm.KindServer, Status: 502}, -1},
		{"plain text", "words that are no JSON are shown", llmtest.Status(503, "overloaded, retry after 5 seconds", "Content-Type", "text/plain"), llm.Error{Kind: llm.KindServer, Status: 503, Message: "overloaded, retry after 5 seconds"}, 5 * time.Second},
		{"200 HTML", "a gateway's page is no answer", llmtest.HTML(200, "<html>blocked</html>"), llm.Error{Kind: llm.KindBadResponse, Status: 200, Message: "the answer is a page of HTML"}, -1},
		{"T14 error in a 200", "its own status says what it is", llmtest.Status(200, `{"error":{"message":"try again in 2s","code":429}}`), llm.Error{Kind: llm.KindRateLimit, Status: 200, Message: "try again in 2s"}, 2 * time.Second},
		{"cut JSON", "half an answer is none", llmtest.Status(200, `{"choices":[{"message":{"content":"ha`), llm.Error{Kind: llm.KindIncomplete, Status: 200}, -1},
		{"huge", "bounded", llmtest.Status(400, `{"error":{"message":"`+strings.Repeat("x", 1<<20)+`"}}`), llm.Error{Kind: llm.KindBadRequest, Status: 400}, -1},
		{"long", "cut", llmtest.Status(400, `{"error":{"message":"`+strings.Repeat("é", 1<<10)+`"}}`), llm.Error{Kind: llm.KindBadRequest, Status: 400, Message: strings.Repeat("é", 300) + "… (2048 bytes)"}, -1},
		{"empty", "the status is all there is", llmtest.Status(500, ""), llm.Error{Kind: llm.KindServer, Status: 500}, -1},
	}
	for _, r := range rows {
		for _, read := range []bool{true, false} {
			t.Run(fmt.Sprint(r.name, " read ", read), func(t *testing.T) {
				var log llm.CallLog
				rt := memory(r.h)
				rt.Provider = "own"
				req, err := http.NewRequestWithContext(llm.WithCallLog(t.Context(), &log), "POST", chatURL, strings.NewReader("{}"))
				require.NoError(t, err)
				req.Header.Set("Authorization", "Bearer "+sdkKey)
				resp, err := rt.RoundTrip(req)
				require.NoError(t, err)
				if read { // an SDK may close an error without reading it
					_, err = io.ReadAll(resp.Body)
					require.NoError(t, err)
				}
				require.NoError(t, resp.Body.Close())
				require.Len(t, log.Calls(), 1)
				var e *llm.Error
				require.ErrorAs(t, log.Calls()[0].Err, &e, r.reason)
				got := *e
				if r.wait < 0 {
					assert.Nil(t, got.RetryAfter, r.reason)
				} else if assert.NotNil(t, got.RetryAfter, r.reason) {
					assert.Equal(t, r.wait, *got.RetryAfter, r.reason)
				}
				r.want.Provider, got.RetryAfter, got.Err = "own", nil, nil
				assert.Equal(t, r.want, got, r.reason)
				assert.Equal(t, r.want.RateLimit, log.Calls()[0].Response.RateLimit)
			})
		}
	}
}

// TestUnreadErrorOverHTTP2: streams of HTTP/2 are not drained for the
// connection's sake, but a failed answer is read for what it says.
func TestUnreadErrorOverHTTP2(t *testing.T) {
	for status, wantRead := range map[int]bool{500: true, 200: false} {
		body := &closeTracker{Reader: strings.NewReader(`{"error":{"message":"why"}}`)}
		rt := wire.Transport{Base: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, ProtoMajor: 2, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}, nil
		})}
		var log llm.CallLog
		require.NoError(t, closeUnread(llm.WithCallLog(t.Context(), &log), &http.Client{Transport: rt}))
		assert.True(t, body.closed.Load())
		left, err := io.ReadAll(body.Reader)
		require.NoError(t, err)
		assert.Equal(t, wantRead, len(left) == 0)
		if wantRead {
			assert.ErrorContains(t, log.Calls()[0].Err, "why")
		}
	}
}

// TestLoggedRateLimits: what a good answer says of the limits is logged too.
func TestLoggedRateLimits(t *testing.T) {
	var log llm.CallLog
	_, _, err := call(llm.WithCallLog(t.Context(), &log), memory(llmtest.Status(200, goodAnswer, "x-ratelimit-limit-requests", "600", "x-ratelimit-remaining-requests", "599")), chatURL, `{}`)
	require.NoError(t, err)
	assert.Equal(t, &llm.RateLimit{Requests: window(600, 599, -1)}, log.Calls()[0].Response.RateLimit)
}
