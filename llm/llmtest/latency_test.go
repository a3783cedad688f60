package llmtest_test

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
)

func TestDistributions(t *testing.T) {
	for _, r := range []struct {
		name         string
		dist         llmtest.Dist
		median, mean time.Duration
		least, most  time.Duration
	}{
		{"constant", llmtest.Constant(time.Second), time.Second, time.Second, time.Second, time.Second},
		{"uniform", llmtest.Uniform(time.Second, 3*time.Second), 2 * time.Second, 2 * time.Second, time.Second, 3 * time.Second},
		{"exponential: median is the mean times ln 2", llmtest.Exponential(time.Second), 693 * time.Millisecond, time.Second, 0, time.Hour},
		{"log-normal: mean is the median times exp(sigma²/2)", llmtest.LogNormal(time.Second, 0.5), time.Second, 1133 * time.Millisecond, 0, time.Hour},
		{"log-normal without spread", llmtest.LogNormal(time.Second, 0), time.Second, time.Second, time.Second, time.Second},
	} {
		t.Run(r.name, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(1, 2))
			var all []time.Duration
			var sum time.Duration
			for range 20_000 {
				d := r.dist(draw)
				all, sum = append(all, d), sum+d
			}
			slices.Sort(all)
			assert.InEpsilon(t, r.median, all[len(all)/2], 0.03)
			assert.InEpsilon(t, r.mean, sum/time.Duration(len(all)), 0.03)
			assert.GreaterOrEqual(t, all[0], r.least)
			assert.LessOrEqual(t, all[len(all)-1], r.most)
		})
	}
	assert.Panics(t, func() { llmtest.Uniform(2, 1) })
	assert.Panics(t, func() { llmtest.LogNormal(1, -1) })
}

// took asks these texts at once and returns how long each answer took.
func took(t *testing.T, s *llmtest.Server, api llmtest.API, stream bool, texts ...string) map[string]time.Duration {
	type one struct {
		text string
		took time.Duration
	}
	results := make(chan one)
	start := time.Now()
	for _, text := range texts {
		go func() {
			resp, err := ask(t.Context(), s.Client(), api, stream, text)
			if assert.NoError(t, err) {
				_, err = io.Copy(io.Discard, resp.Body)
				assert.NoError(t, err)
				resp.Body.Close()
			}
			results <- one{text, time.Since(start)}
		}()
	}
	out := map[string]time.Duration{}
	for range texts {
		r := <-results
		out[r.text] = r.took
	}
	return out
}

// TestLatencyIsReproducible: the same call takes the same time whatever the
// order of arrival, streamed or not, and by whichever API.
func TestLatencyIsReproducible(t *testing.T) {
	latency := llmtest.Latency{First: llmtest.LogNormal(time.Second, 0.5), Between: llmtest.Exponential(20 * time.Millisecond)}
	run := func(api llmtest.API, stream bool, seed uint64, texts ...string) (out map[string]time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			s := &llmtest.Server{Latency: latency, Seed: seed, Reply: func(llmtest.Chat) llmtest.Reply {
				return llmtest.Reply{Reasoning: "Let me think.", Text: "It is this and that."}
			}}
			out = took(t, s, api, stream, texts...)
		})
		return out
	}
	want := run(llmtest.OpenAI, false, 1, "a", "b", "c")
	assert.Len(t, map[time.Duration]bool{want["a"]: true, want["b"]: true, want["c"]: true}, 3, "each call has a time of its own")
	assert.Equal(t, want, run(llmtest.OpenAI, false, 1, "c", "b", "a"), "the order of arrival does not matter")
	assert.Equal(t, want, run(llmtest.OpenAI, true, 1, "a", "b", "c"), "a stream takes as long in all")
	assert.Equal(t, want, run(llmtest.Gemini, true, 1, "b", "a", "c"), "and so does the other API")
	assert.Equal(t, want, run(llmtest.Gemini, false, 1, "b", "a", "c"))
	assert.NotEqual(t, want, run(llmtest.OpenAI, false, 2, "a", "b", "c"), "another seed")
}

// TestLatencyOfTries: the second of two equal requests is another draw.
func TestLatencyOfTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Latency: llmtest.Latency{First: llmtest.Exponential(time.Second)}}
		first := took(t, s, llmtest.OpenAI, false, "a")["a"]
		assert.NotEqual(t, first, took(t, s, llmtest.OpenAI, false, "a")["a"])
	})
}

// TestLatencyCatchesUp: tokens are due at points in time, so that what the
// caller was slow for is not added up.
func TestLatencyCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Latency: llmtest.Latency{Between: llmtest.Constant(time.Second)}, Reply: func(llmtest.Chat) llmtest.Reply {
			return llmtest.Reply{Text: llmtest.Words(10)}
		}}
		start := time.Now()
		resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, true, "q")
		require.NoError(t, err)
		time.Sleep(5 * time.Second) // virtual: the caller does something else
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, 9*time.Second, time.Since(start))
	})
}

func TestPrefixCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{
			Cache:   &llmtest.PrefixCache{TTL: time.Minute},
			Latency: llmtest.Latency{PerInput: time.Millisecond},
		}
		long := llmtest.Words(1300)
		cached := func(api llmtest.API, text string) (n int64, d time.Duration) {
			start := time.Now()
			before := s.Counts().Billed.CachedInput
			resp, err := ask(t.Context(), s.Client(), api, false, text)
			require.NoError(t, err)
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Body.Close()
			n = s.Counts().Billed.CachedInput - before
			if n > 0 {
				assert.Regexp(t, `"cached_tokens":1280|"cachedContentTokenCount":1280`, string(b))
			}
			return n, time.Since(start)
		}
		n, d := cached(llmtest.OpenAI, long)
		assert.Zero(t, n, "never seen")
		assert.Equal(t, 1300*time.Millisecond, d)
		n, d = cached(llmtest.OpenAI, long+" and more")
		assert.EqualValues(t, 1280, n, "1,024 and two blocks of 128")
		assert.Equal(t, 22*time.Millisecond, d, "what is cached is not read again")
		n, _ = cached(llmtest.Gemini, long)
		assert.EqualValues(t, 1280, n, "one cache for both")
		n, _ = cached(llmtest.OpenAI, "x "+long)
		assert.Zero(t, n, "another beginning")
		n, _ = cached(llmtest.OpenAI, llmtest.Words(1000))
		assert.Zero(t, n, "too short to be kept")
		n, _ = cached(llmtest.OpenAI, llmtest.Words(1000))
		assert.Zero(t, n)
		time.Sleep(2 * time.Minute) // virtual
		n, _ = cached(llmtest.OpenAI, long)
		assert.Zero(t, n, "forgotten")
	})
}

func TestPrefixCacheOfOwnSize(t *testing.T) {
	s := &llmtest.Server{Cache: &llmtest.PrefixCache{Min: 2, Block: 3, TTL: -1}, Tokens: func(s string) int { return 2 * llmtest.CountWords(s) }}
	const body = `","messages":[{"role":"user","content":"one two three"}]}`
	for _, model := range []string{"m", "m", "other"} {
		do(t, s.Client(), "http://fake/v1/chat/completions", `{"model":"`+model+body)
	}
	u := s.Counts().Billed
	assert.EqualValues(t, 18, u.Input, "two tokens a word")
	assert.EqualValues(t, 5, u.CachedInput, "2 and a block of 3, of the second call; the third asks another model")
}
