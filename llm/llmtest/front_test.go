package llmtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
	"github.com/goevals/evals/llm/llmtest"
)

// do posts a body with these headers and returns the status and the answer.
func do(t *testing.T, c *http.Client, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	require.NoError(t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	resp.Body.Close()
	return resp.StatusCode, string(b)
}

const (
	openAIBody = `{"model":"m","messages":[{"role":"user","content":"q"}]}`
	geminiBody = `{"contents":[{"role":"user","parts":[{"text":"q"}]}]}`
)

func TestKeys(t *testing.T) {
	s := &llmtest.Server{Key: "k"}
	for _, r := range []struct {
		name, url, body string
		header          []string
		want            int
	}{
		{"bearer", "/v1/chat/completions", openAIBody, []string{"Authorization", "Bearer k"}, 200},
		{"Azure", "/openai/deployments/m/chat/completions?api-version=1", openAIBody, []string{"api-key", "k"}, 200},
		{"Gemini", "/v1beta/models/m:generateContent", geminiBody, []string{"x-goog-api-key", "k"}, 200},
		{"Gemini by query", "/v1beta/models/m:generateContent?key=k", geminiBody, nil, 200},
		{"Vertex", "/v1beta1/projects/p/locations/l/publishers/google/models/m:generateContent", geminiBody, []string{"Authorization", "Bearer k"}, 200},
		{"none", "/v1/chat/completions", openAIBody, nil, 401},
		{"wrong", "/v1/chat/completions", openAIBody, []string{"Authorization", "Bearer other"}, 401},
		{"Gemini says 400", "/v1beta/models/m:generateContent", geminiBody, []string{"x-goog-api-key", "other"}, 400},
		{"models too", "/v1/models", "", nil, 401},
	} {
		t.Run(r.name, func(t *testing.T) {
			status, body := do(t, s.Client(), "http://fake"+r.url, r.body, r.header...)
			assert.Equal(t, r.want, status)
			assert.NotContains(t, body, "other", "a key is never repeated")
		})
	}
	assert.Equal(t, 5, s.Counts().Calls)
	assert.Equal(t, 4, s.Counts().Rejected)
}

func TestPathsAndBodies(t *testing.T) {
	var got llmtest.Chat
	s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply { got = c; return llmtest.Reply{Text: "a b"} }}
	for _, r := range []struct {
		name, url, body string
		status          int
		want            string // in the answer
		messages        []llmtest.ChatMessage
	}{
		{"parts of text", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}]}]}`,
			200, `"object":"chat.completion"`, []llmtest.ChatMessage{{Role: "user", Content: "ab"}}},
		{"no messages", "/v1/chat/completions", `{"messages":[]}`, 400, "messages is empty", nil},
		{"no JSON", "/v1/chat/completions", `{`, 400, "the body is no chat completion", nil},
		{"system_instruction, roles, a tool's answer", "/v1beta/models/m:generateContent",
			`{"system_instruction":{"parts":[{"text":"S"}]},"contents":[{"parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"x":1}}}]}]}`,
			200, `"finishReason":"STOP"`, []llmtest.ChatMessage{{Role: "system", Content: "S"}, {Role: "user", Content: "q"}, {Role: "assistant"}, {Role: "tool", Content: `{"x":1}`}}},
		{"OpenAI's role", "/v1beta/models/m:generateContent", `{"contents":[{"role":"assistant","parts":[{"text":"q"}]}]}`, 400, "Please use a valid role: user, model.", nil},
		{"no contents", "/v1beta/models/m:generateContent", `{}`, 400, "contents is not specified", nil},
		{"no parts", "/v1beta/models/m:generateContent", `{"contents":[{"role":"user"}]}`, 400, "parts must not be empty", nil},
		{"Gemini's OpenAI API", "/v1beta/openai/chat/completions", openAIBody, 200, `"choices"`, []llmtest.ChatMessage{{Role: "user", Content: "q"}}},
		{"a stream without alt=sse is an array", "/v1beta/models/m:streamGenerateContent", geminiBody, 200, "\"text\":\"b\"}],\"role\":\"model\"},\"index\":0}]", []llmtest.ChatMessage{{Role: "user", Content: "q"}}},
		{"countTokens", "/v1beta/models/m:countTokens", geminiBody, 200, `{"totalTokens":1}`, nil},
		{"no such path", "/v1/chat", openAIBody, 404, "no such path: POST /v1/chat", nil},
		{"no such verb", "/v1beta/models/m:sing", geminiBody, 404, `"status":"NOT_FOUND"`, nil},
	} {
		t.Run(r.name, func(t *testing.T) {
			got = llmtest.Chat{}
			status, body := do(t, s.Client(), "http://fake"+r.url, r.body)
			assert.Equal(t, r.status, status)
			assert.Contains(t, body, r.want)
			assert.Equal(t, r.messages, got.Messages)
		})
	}
	_, body := do(t, s.Client(), "http://fake/v1beta/models/m:streamGenerateContent", geminiBody)
	assert.Regexp(t, `(?s)^\[\{.*\}\n,\{.*\}\n\]$`, body)
	do(t, s.Client(), "http://fake/openai/deployments/gpt-d/chat/completions?api-version=1", `{"messages":[{"role":"user","content":"q"}]}`)
	assert.Equal(t, "gpt-d", got.Model, "Azure names the model in the path")
	assert.Equal(t, "/openai/deployments/gpt-d/chat/completions", got.Path)
}

// TestSystemMessagesAreOne: Gemini has one system instruction, OpenAI as many
// messages as are sent, and a role of its own for them; it is the same call.
func TestSystemMessagesAreOne(t *testing.T) {
	var tries []int
	s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply { tries = append(tries, c.Try); return llmtest.Reply{} }}
	do(t, s.Client(), "http://fake/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"A"},{"role":"developer","content":"B"},{"role":"user","content":"q"}]}`)
	do(t, s.Client(), "http://fake/v1beta/models/m:generateContent", `{"systemInstruction":{"parts":[{"text":"A"},{"text":"B"}]},`+geminiBody[1:])
	do(t, s.Client(), "http://fake/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"AB"},{"role":"assistant","content":"q"}]}`)
	do(t, s.Client(), "http://fake/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"ABq"}]}`)
	assert.Equal(t, []int{1, 2, 1, 1}, tries)
}

// TestIDs: an answer's id is its call's own, and the same in each run, whatever
// the order of arrival.
func TestIDs(t *testing.T) {
	run := func(texts ...string) (ids []string) {
		s := new(llmtest.Server)
		for _, text := range texts {
			resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, false, text)
			require.NoError(t, err)
			var o struct {
				ID string `json:"id"`
			}
			require.NoError(t, json.NewDecoder(resp.Body).Decode(&o))
			resp.Body.Close()
			assert.Equal(t, strings.Replace(o.ID, "chatcmpl-", "req_", 1), resp.Header.Get("X-Request-Id"))
			ids = append(ids, o.ID)
		}
		return ids
	}
	a := run("a", "b", "a")
	b := run("b", "a", "a")
	assert.Equal(t, []string{a[1], a[0], a[2]}, b)
	assert.Len(t, map[string]bool{a[0]: true, a[1]: true, a[2]: true}, 3)
}

// TestSameCallIsOneTryByEachAPI: what is asked is what counts, not how.
func TestSameCallIsOneTryByEachAPI(t *testing.T) {
	var tries []int
	s := &llmtest.Server{Reply: func(c llmtest.Chat) llmtest.Reply { tries = append(tries, c.Try); return llmtest.Reply{} }}
	do(t, s.Client(), "http://fake/v1/chat/completions", openAIBody)
	do(t, s.Client(), "http://fake/v1beta/models/m:generateContent", geminiBody)
	do(t, s.Client(), "http://fake/v1beta/models/other:generateContent", geminiBody)
	assert.Equal(t, []int{1, 2, 1}, tries)
}

func TestCapOutput(t *testing.T) {
	s := &llmtest.Server{CapOutput: true, Reply: func(c llmtest.Chat) llmtest.Reply {
		return llmtest.Reply{Reasoning: "x y", Text: "one two three"}
	}}
	_, body := do(t, s.Client(), "http://fake/v1/chat/completions", `{"max_completion_tokens":3,`+openAIBody[1:])
	assert.Contains(t, body, `"content":"one "`)
	assert.Contains(t, body, `"finish_reason":"length"`)
	_, body = do(t, s.Client(), "http://fake/v1beta/models/m:generateContent", `{"generationConfig":{"maxOutputTokens":1},`+geminiBody[1:])
	assert.Contains(t, body, `"parts":[{"text":"x ","thought":true}]`)
	assert.Contains(t, body, `"MAX_TOKENS"`)
	_, body = do(t, s.Client(), "http://fake/v1/chat/completions", openAIBody)
	assert.Contains(t, body, `"content":"one two three"`)
}

// TestCapOutputOfTokensOfOwn: what is cut is never more than was asked for, by
// the server's own count.
func TestCapOutputOfTokensOfOwn(t *testing.T) {
	s := &llmtest.Server{
		CapOutput: true, Tokens: func(s string) int { return 3 * llmtest.CountWords(s) },
		Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Reasoning: "x", Text: "one two three"} },
	}
	for most, want := range map[int]string{
		2: `"content":"",`, 3: `"content":"","reasoning_content":"x"`, 8: `"content":"one ","reasoning_content":"x"`, 11: `"content":"one two "`, 12: `"finish_reason":"stop"`,
	} {
		_, body := do(t, s.Client(), "http://fake/v1/chat/completions", fmt.Sprintf(`{"max_tokens":%d,%s`, most, openAIBody[1:]))
		assert.Contains(t, body, want, "at most %d", most)
	}
}

// TestTokensAsSaid: usage that a Reply says is told as each API tells it.
func TestTokensAsSaid(t *testing.T) {
	u := llm.Usage{Input: 2006, CachedInput: 1920, Output: 300, Reasoning: 100}
	s := &llmtest.Server{Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "a b c", Tokens: &u} }}
	_, body := do(t, s.Client(), "http://fake/v1/chat/completions", openAIBody)
	assert.Contains(t, body, `"usage":{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,"prompt_tokens_details":{"cached_tokens":1920,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":100,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}`)
	_, body = do(t, s.Client(), "http://fake/v1beta/models/m:generateContent", geminiBody)
	assert.Contains(t, body, `"usageMetadata":{"promptTokenCount":2006,"candidatesTokenCount":200,"totalTokenCount":2306,"thoughtsTokenCount":100,"cachedContentTokenCount":1920,"promptTokensDetails":[{"modality":"TEXT","tokenCount":2006}],"cacheTokensDetails":[{"modality":"TEXT","tokenCount":1920}]}`)
	u.Known = true
	assert.Equal(t, u.Add(u), s.Counts().Billed)
}

// TestStreamWithoutUsage: OpenAI tells usage in a stream only to who asks.
func TestStreamWithoutUsage(t *testing.T) {
	s := new(llmtest.Server)
	_, body := do(t, s.Client(), "http://fake/v1/chat/completions", `{"stream":true,`+openAIBody[1:])
	assert.NotContains(t, body, "usage")
	assert.Contains(t, body, "[DONE]")
	assert.Equal(t, s.Counts().Billed, s.Counts().Unreported)
	assert.EqualValues(t, 1, s.Counts().Unreported.Output)
}

// TestBilling: what was cut is billed as far as it went, and not reported.
func TestBilling(t *testing.T) {
	for _, r := range []struct {
		name, reason       string
		fault              string
		bills              bool
		billed, unreported int64 // of output
	}{
		{"reset", "two tokens had gone out", llmtest.FaultResetMidway, true, 2, 2},
		{"not billed", "the provider is kind", llmtest.FaultResetMidway, false, 0, 0},
		{"truncated", "a clean end in the middle is billed like a broken one", llmtest.FaultTruncated, true, 2, 2},
		{"hang", "until the caller gave up", llmtest.FaultHangMidway, true, 2, 2},
		{"no usage", "whole, but not told", llmtest.FaultNoUsage, false, 4, 4},
		{"whole", "and told", llmtest.FaultNoDone, false, 4, 0},
	} {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := llmtest.Named(r.fault)
				f[0].Damage.Bills = r.bills
				s := &llmtest.Server{Rules: []llmtest.Rule{{Faults: f}}, Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "one two three four"} }}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				resp, err := ask(ctx, s.Client(), llmtest.OpenAI, true, "a b")
				require.NoError(t, err)
				_, _ = io.Copy(io.Discard, resp.Body) // however it ends
				resp.Body.Close()
				s.Memory().Wait()
				c := s.Counts()
				assert.Equal(t, r.billed, c.Billed.Output, r.reason)
				assert.Equal(t, r.unreported, c.Unreported.Output, r.reason)
				if r.fault == llmtest.FaultHangMidway {
					assert.Equal(t, 1, c.Canceled)
				}
			})
		})
	}
}

func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Latency: llmtest.Latency{First: llmtest.Constant(time.Hour)}}
		resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, true, "q")
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, s.Quiet(ctx), context.DeadlineExceeded)
		require.ErrorContains(t, s.Quiet(ctx), "1 calls are still in flight and 1 bodies are open")
		assert.Equal(t, 1, s.Counts().InFlight)
		go resp.Body.Close()
		require.NoError(t, s.Quiet(t.Context()), "it waits for the end")
		assert.Equal(t, 1, s.Counts().Canceled)

		s = new(llmtest.Server)
		resp, err = ask(t.Context(), s.Client(), llmtest.OpenAI, false, "q")
		require.NoError(t, err)
		synctest.Wait() // the call has ended
		assert.Equal(t, 0, s.Counts().InFlight)
		go func() {
			time.Sleep(time.Second) // virtual
			resp.Body.Close()
		}()
		require.NoError(t, s.Quiet(t.Context()), "a body alone is waited for too")
	})
}

// TestLoopback: over a socket a reset is one, connections are counted and used
// again, and a call that hangs does not hold up the end of the test.
func TestLoopback(t *testing.T) {
	hangs := make(chan bool, 1)
	hang := llmtest.Fault{Name: "hang", Answer: func(w http.ResponseWriter, r *http.Request, _ llmtest.Chat) {
		hangs <- true
		llmtest.Hang(w, r)
	}}
	s := &llmtest.Server{Rules: []llmtest.Rule{
		{Text: "reset", Faults: llmtest.Named(llmtest.FaultReset)},
		{Text: "hang", Faults: []llmtest.Fault{hang}},
		{Text: "late", Faults: llmtest.Named(llmtest.FaultLateEnd)},
	}}
	root := s.StartRoot(t)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	post := func(ctx context.Context, text string) (*http.Response, error) {
		body := strings.Replace(openAIBody, `"q"`, `"`+text+`"`, 1)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, root+"/v1/chat/completions", strings.NewReader(body))
		require.NoError(t, err)
		return client.Do(req)
	}
	for _, text := range []string{"a", "b", "late"} {
		resp, err := post(t.Context(), text)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
	}
	assert.Equal(t, 1, s.Counts().Dialed, "one connection for all")
	_, err := post(t.Context(), "reset")
	assert.True(t, errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF), "%v", err)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := post(ctx, "hang")
		assert.ErrorIs(t, err, context.Canceled)
	})
	<-hangs
	cancel()
	wg.Wait()
	later, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, s.Quiet(later))
	assert.Equal(t, 2, s.Counts().Dialed)
	assert.Equal(t, 1, s.Counts().Canceled)
}

func TestHTTP2(t *testing.T) {
	s := new(llmtest.Server)
	root, client := s.StartTLS(t)
	resp, err := client.Post(root+"/v1/chat/completions", "application/json", strings.NewReader(openAIBody))
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, 2, resp.ProtoMajor)
	assert.Equal(t, 200, resp.StatusCode)
}

// TestListenerClosesWhatHangs: a test ends although a stream is left open.
func TestListenerClosesWhatHangs(t *testing.T) {
	s := &llmtest.Server{Rules: []llmtest.Rule{{Faults: llmtest.Named(llmtest.FaultHangMidway)}}}
	var left *http.Response
	t.Run("left open", func(t *testing.T) {
		var err error
		left, err = http.Post(s.Start(t)+"/chat/completions", "application/json", strings.NewReader(`{"stream":true,`+openAIBody[1:]))
		require.NoError(t, err)
	})
	left.Body.Close()
	assert.Zero(t, s.Counts().InFlight)
}
