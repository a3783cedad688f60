package llmtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

func TestConformanceOfTheScriptedModel(t *testing.T) {
	llmtest.Run(t, func(*testing.T) llm.Model { return &llmtest.Model{Log: true} })
}

func TestModel(t *testing.T) {
	ctx := context.Background()
	m := llmtest.Answers("1", "2")
	for _, want := range []string{"1", "2"} {
		r, err := m.Generate(ctx, llm.Prompt("q"))
		require.NoError(t, err)
		assert.Equal(t, want, r.Text)
	}
	_, err := m.Generate(ctx, llm.Prompt("q"))
	require.ErrorContains(t, err, "call 3 of a Model with 2 answers")
	assert.Equal(t, 3, m.Calls())

	m = llmtest.Table(map[string]string{"a": "A"})
	r, err := m.Generate(ctx, llm.Prompt("a"))
	require.NoError(t, err)
	assert.Equal(t, "A", r.Text)
	_, err = m.Generate(ctx, llm.Prompt("b"))
	require.ErrorContains(t, err, `none to "b"`)
	assert.Equal(t, "b", m.Requests()[1].Messages[0].Content)
}

func TestModelLatencyCostsNoTimeInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &llmtest.Model{Latency: func(n int, _ llm.Request) time.Duration { return time.Duration(n) * time.Hour }}
		r, err := m.Generate(t.Context(), llm.Prompt("q"))
		require.NoError(t, err)
		assert.Equal(t, time.Hour, r.Timing.Total)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err = m.Generate(ctx, llm.Prompt("q"))
		assert.Equal(t, llm.KindTimeout, llm.KindOf(err))
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

const body = `{"model":"m","messages":[{"role":"user","content":"one two"}],"stream":true,"stream_options":{"include_usage":true}}`

func post(ctx context.Context, c *http.Client, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return c.Do(req)
}

func TestMemoryStreamsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply {
			return llmtest.Reply{Text: "a b", FirstToken: time.Second, PerToken: time.Minute}
		}}
		start := time.Now()
		resp, err := post(t.Context(), s.Client(), "http://fake/v1")
		require.NoError(t, err)
		assert.Zero(t, time.Since(start), "the header comes before the first token")
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, time.Second+time.Minute, time.Since(start))
		assert.Contains(t, string(b), `"prompt_tokens":2`)
		assert.True(t, strings.HasSuffix(string(b), "data: [DONE]\n\n"))
		assert.Equal(t, 1, s.Memory().OpenBodies())
		resp.Body.Close()
		assert.Equal(t, 0, s.Memory().OpenBodies())
		c := s.Counts()
		assert.Equal(t, llmtest.Counts{
			Calls: 1, ByAPI: map[llmtest.API]int{llmtest.OpenAI: 1}, Streamed: 1, Answered: 1, Peak: 1,
			MinuteCalls: 1, MinuteTokens: 4, Billed: llm.Usage{Input: 2, Output: 2, Known: true},
		}, c)
	})
}

func TestMemoryFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replies := map[string]http.HandlerFunc{
			"hang": llmtest.Hang, "reset": llmtest.Reset(), "cut": llmtest.Reset(llmtest.Text("x")),
			"limit": llmtest.Status(429, `{}`, "Retry-After", "7"),
		}
		which := ""
		s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Raw: replies[which]} }}
		which = "hang"
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := post(ctx, s.Client(), "http://fake/v1")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		which = "reset"
		_, err = post(t.Context(), s.Client(), "http://fake/v1")
		require.ErrorIs(t, err, io.EOF)
		which = "cut"
		resp, err := post(t.Context(), s.Client(), "http://fake/v1")
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		resp.Body.Close()
		which = "limit"
		resp, err = post(t.Context(), s.Client(), "http://fake/v1")
		require.NoError(t, err)
		assert.Equal(t, 429, resp.StatusCode)
		assert.Equal(t, "7", resp.Header.Get("Retry-After"))
		resp.Body.Close()
		s.Memory().Wait()
		assert.Equal(t, 4, s.Counts().Faults)
	})
}

func TestMemoryBodyEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply {
			return llmtest.Reply{Text: "a b", PerToken: time.Hour}
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		resp, err := post(ctx, s.Client(), "http://fake/v1")
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.True(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
		resp.Body.Close()
		s.Memory().Wait()
	})
}

func TestServerOverLoopback(t *testing.T) {
	s := &llmtest.Server{Key: "k", Reply: func(c llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: c.Last()} }}
	url := s.Start(t)
	resp, err := post(t.Context(), http.DefaultClient, url)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 401, resp.StatusCode, "a wrong key is refused")

	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user"}]}`))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer k")
	resp, err = http.DefaultClient.Do(req)
	require.NoError(t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 400, resp.StatusCode)
	assert.True(t, json.Valid(b))
	assert.Contains(t, string(b), "messages[0] has no content")
}

// TestCanceledStreamNeverEndsCleanly: the handler's return and the context's
// end race, so it is tried many times.
func TestCanceledStreamNeverEndsCleanly(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply {
				return llmtest.Reply{Raw: llmtest.SlowStream(time.Hour, "data: x\n\n")}
			}}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			resp, err := post(ctx, s.Client(), "http://fake/v1")
			require.NoError(t, err)
			_, err = io.ReadAll(resp.Body)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			resp.Body.Close()
		})
	}
}
