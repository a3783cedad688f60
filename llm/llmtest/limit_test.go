package llmtest_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
)

// TestRollingMinute: 60 a minute are 60 in any minute, not 60 by the clock.
func TestRollingMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Limits: llmtest.Limits{RPM: 60}}
		for range 600 { // one a second for ten minutes
			assert.Equal(t, []int{200}, statuses(t, s, "q"))
			time.Sleep(time.Second) // virtual
		}
		c := s.Counts()
		assert.Equal(t, 60, c.MinuteCalls)
		assert.Zero(t, c.Limited)
		time.Sleep(time.Minute)
		for range 60 {
			require.Equal(t, []int{200}, statuses(t, s, "q"))
		}
		time.Sleep(59999 * time.Millisecond)
		assert.Equal(t, []int{429}, statuses(t, s, "q"), "a millisecond too early")
		time.Sleep(time.Millisecond)
		assert.Equal(t, []int{200}, statuses(t, s, "q"))
		c = s.Counts()
		assert.Equal(t, 1, c.Limited)
		assert.Equal(t, 61, c.MinuteCalls, "what was refused was received all the same")
	})
}

// TestLimitHeaders: they are true: who comes when they say gets in.
func TestLimitHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Limits: llmtest.Limits{RPM: 3, TPM: 20}} // a call takes 3 tokens: 2 and ok
		header := func(want int, text string) map[string]string {
			resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, false, text)
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, want, resp.StatusCode)
			out := map[string]string{}
			for k := range resp.Header {
				out[k] = resp.Header.Get(k)
			}
			return out
		}
		h := header(200, "one two")
		assert.Equal(t, "3 2 1m0s", h["X-Ratelimit-Limit-Requests"]+" "+h["X-Ratelimit-Remaining-Requests"]+" "+h["X-Ratelimit-Reset-Requests"])
		assert.Equal(t, "20 18 1m0s", h["X-Ratelimit-Limit-Tokens"]+" "+h["X-Ratelimit-Remaining-Tokens"]+" "+h["X-Ratelimit-Reset-Tokens"])
		time.Sleep(10 * time.Second)
		header(200, "one two")
		time.Sleep(10 * time.Second)
		header(200, "one two")
		h = header(429, "one two")
		assert.Equal(t, "0 40s", h["X-Ratelimit-Remaining-Requests"]+" "+h["X-Ratelimit-Reset-Requests"], "until one more may come")
		assert.Equal(t, "40", h["Retry-After"])
		assert.Equal(t, "40000", h["Retry-After-Ms"])
		time.Sleep(40 * time.Second)
		header(200, "one two three four five six seven eight nine ten eleven twelve thirteen")
		h = header(429, "one")
		assert.Equal(t, "10", h["Retry-After"], "the requests, again")
	})
}

func TestTokensAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Limits: llmtest.Limits{TPM: 10}, Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: "a b c"} }}
		assert.Equal(t, []int{200}, statuses(t, s, "one two three"))
		time.Sleep(time.Second)
		assert.Equal(t, []int{429}, statuses(t, s, "one two three four five"), "6 and 5 do not fit")
		assert.Equal(t, []int{200}, statuses(t, s, "one two three"), "6 and 3 fit; what comes out counts then")
		assert.Equal(t, 12, s.Counts().MinuteTokens)
		resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, false, "one two three four")
		require.NoError(t, err)
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, "59", resp.Header.Get("Retry-After"), "when the first call is a minute old")
		assert.Equal(t, "0", resp.Header.Get("X-Ratelimit-Remaining-Tokens"))
		assert.Contains(t, string(b), "tokens per min (TPM): Limit 10, Used 12, Requested 4. Please try again in 59s.")
		time.Sleep(59 * time.Second)
		assert.Equal(t, []int{200}, statuses(t, s, "one two three four"))

		resp, err = ask(t.Context(), s.Client(), llmtest.OpenAI, false, llmtest.Words(11))
		require.NoError(t, err)
		b, err = io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, 429, resp.StatusCode)
		assert.Contains(t, string(b), "Request too large")
		assert.Empty(t, resp.Header.Get("Retry-After"), "no waiting heals it")
	})
}

func TestGeminiLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Limits: llmtest.Limits{RPM: 1}}
		resp, err := ask(t.Context(), s.Client(), llmtest.Gemini, false, "q")
		require.NoError(t, err)
		resp.Body.Close()
		time.Sleep(1500 * time.Millisecond)
		resp, err = ask(t.Context(), s.Client(), llmtest.Gemini, true, "q")
		require.NoError(t, err)
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, 429, resp.StatusCode)
		assert.Contains(t, string(b), `"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"`)
		assert.Contains(t, string(b), `"retryDelay":"58.5s"`)
		assert.Contains(t, string(b), `Please retry in 58.5s.`)
		for _, name := range []string{"Retry-After", "Retry-After-Ms", "X-Ratelimit-Limit-Requests"} {
			assert.Empty(t, resp.Header.Get(name), "Gemini has no such headers")
		}
	})
}

func TestConcurrencyLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Limits: llmtest.Limits{Concurrency: 2}, Latency: llmtest.Latency{First: llmtest.Constant(time.Second)}}
		got := make(chan int)
		for _, text := range []string{"a", "b", "c"} {
			go func() {
				resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, false, text)
				if assert.NoError(t, err) {
					resp.Body.Close()
					got <- resp.StatusCode
				}
			}()
		}
		n := map[int]int{}
		for range 3 {
			n[<-got]++
		}
		assert.Equal(t, map[int]int{200: 2, 429: 1}, n)
		assert.Equal(t, []int{200}, statuses(t, s, "d"), "the slots are free again")
	})
}

func TestCountRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Limits: llmtest.Limits{RPM: 1, CountRefused: true}}
		assert.Equal(t, []int{200}, statuses(t, s, "q"))
		time.Sleep(59 * time.Second)
		assert.Equal(t, []int{429}, statuses(t, s, "q"))
		time.Sleep(59 * time.Second)
		assert.Equal(t, []int{429}, statuses(t, s, "q"), "who knocks waits longer")
	})
}
