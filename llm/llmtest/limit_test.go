package llmtest_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm"
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

// TestLimitsOfAModelOfTheirOwn: what a server admits, and when it says that one
// may come back, is what a plain list of the last minute's calls says.
func TestLimitsOfAModelOfTheirOwn(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { againstAList(t, seed) })
	}
}

func againstAList(t *testing.T, seed uint64) {
	draw := rand.New(rand.NewPCG(seed, 0))
	limits := llmtest.Limits{RPM: draw.IntN(20), TPM: draw.IntN(3) * 60, CountRefused: draw.IntN(2) == 0}
	s := &llmtest.Server{Limits: limits, Reply: func(c llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: llmtest.Words(c.MaxTokens)} }}
	type call struct {
		at     time.Time
		tokens int
	}
	var calls []call
	// fits says whether a call of so many tokens may come at this time.
	fits := func(at time.Time, input int) bool {
		n, tokens := 0, 0
		for _, c := range calls {
			if at.Sub(c.at) < time.Minute {
				n++
				tokens += c.tokens
			}
		}
		return (limits.RPM == 0 || n < limits.RPM) && (limits.TPM == 0 || tokens+input <= limits.TPM)
	}
	for range 300 {
		time.Sleep(time.Duration(draw.ExpFloat64() * 3e9)) // virtual
		input, output, now := 1+draw.IntN(20), draw.IntN(8), time.Now()
		want := fits(now, input)
		body := fmt.Sprintf(`{"model":"m","max_tokens":%d,"messages":[{"role":"user","content":%q}]}`, output, llmtest.Words(input))
		resp, err := s.Client().Post("http://fake/v1/chat/completions", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, want, resp.StatusCode == 200, "%+v", limits)
		if want {
			calls = append(calls, call{now, input + output})
			continue
		}
		if limits.CountRefused {
			calls = append(calls, call{now, 0})
		}
		ms, err := strconv.Atoi(resp.Header.Get("Retry-After-Ms"))
		require.NoError(t, err)
		back := now.Add(time.Duration(ms) * time.Millisecond)
		assert.True(t, fits(back, input), "who comes back when told to gets in, %+v", limits)
		assert.False(t, fits(back.Add(-2*time.Millisecond), input), "and not before")
	}
	assert.Equal(t, 300, s.Counts().Calls)
}

// TestTokensOfManyAtOnce: no call's tokens are lost where many come at once.
func TestTokensOfManyAtOnce(t *testing.T) {
	s := &llmtest.Server{Limits: llmtest.Limits{TPM: 2000}, Reply: func(llmtest.Chat) llmtest.Reply { return llmtest.Reply{Text: llmtest.Words(9)} }}
	var good atomic.Int64
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for j := range 20 {
				resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, false, fmt.Sprint(i, "-", j))
				if assert.NoError(t, err) {
					resp.Body.Close()
					good.Add(int64(1 - min(1, resp.StatusCode-200)))
				}
			}
		})
	}
	wg.Wait()
	c := s.Counts()
	assert.EqualValues(t, c.Billed.Input+c.Billed.Output, c.MinuteTokens)
	// A call is let in by its one token of input; what came in beside it before
	// the first had answered is at most one call for each caller.
	assert.GreaterOrEqual(t, good.Load(), int64(200))
	assert.Less(t, good.Load(), int64(200+32))
}

// TestTokensAsSaidCount: tokens that a Reply says count against the limit as
// they do in the usage.
func TestTokensAsSaidCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Limits: llmtest.Limits{TPM: 100}, Reply: func(llmtest.Chat) llmtest.Reply {
			return llmtest.Reply{Text: "a", Tokens: &llm.Usage{Input: 70, Output: 25}}
		}}
		assert.Equal(t, []int{200, 429}, statuses(t, s, "q", "one two three four five six"), "95 and 6 do not fit")
		assert.Equal(t, []int{200}, statuses(t, s, "one two three four five"))
	})
}

// TestResetIsNeverEarly: times are told in whole milliseconds, rounded up.
func TestResetIsNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Limits: llmtest.Limits{RPM: 1}}
		assert.Equal(t, []int{200}, statuses(t, s, "q"))
		time.Sleep(700 * time.Microsecond) // virtual
		resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, false, "q")
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, "1m0s", resp.Header.Get("X-Ratelimit-Reset-Requests"), "59.9993 s are left")
		assert.Equal(t, "60000", resp.Header.Get("Retry-After-Ms"))
	})
}

// TestEachRefusalCounts: whichever limit refused a call.
func TestEachRefusalCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Limits: llmtest.Limits{RPM: 2, TPM: 5, CountRefused: true}}
		assert.Equal(t, []int{200}, statuses(t, s, "one two"))
		time.Sleep(30 * time.Second)
		assert.Equal(t, []int{429}, statuses(t, s, "one two three"), "3 and 3 are more than 5")
		time.Sleep(29 * time.Second)
		assert.Equal(t, []int{429}, statuses(t, s, "one"), "the third call in a minute")
		time.Sleep(2 * time.Second)
		assert.Equal(t, []int{429}, statuses(t, s, "one"), "both refused ones are less than a minute old")
		time.Sleep(59 * time.Second)
		assert.Equal(t, []int{200}, statuses(t, s, "one"))
	})
}
