package llmtest_test

import (
	"fmt"
	"io"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goevals/evals/llm/llmtest"
)

// statuses asks one call after another and returns their statuses.
func statuses(t *testing.T, s *llmtest.Server, texts ...string) (out []int) {
	t.Helper()
	for _, text := range texts {
		resp, err := ask(t.Context(), s.Client(), llmtest.OpenAI, false, text)
		require.NoError(t, err)
		resp.Body.Close()
		out = append(out, resp.StatusCode)
	}
	return out
}

func TestRules(t *testing.T) {
	down := llmtest.Named(llmtest.FaultUnavailable)
	for _, r := range []struct {
		name string
		rule llmtest.Rule
		want []int // of the calls a, b, a, c, a
	}{
		{"every call", llmtest.Rule{}, []int{503, 503, 503, 503, 503}},
		{"by number", llmtest.Rule{Calls: []int{2, 5}}, []int{200, 503, 200, 200, 503}},
		{"the first try of everything", llmtest.Rule{Tries: 1}, []int{503, 503, 200, 503, 200}},
		{"the first two tries", llmtest.Rule{Tries: 2}, []int{503, 503, 503, 503, 200}},
		{"by text", llmtest.Rule{Text: "a"}, []int{503, 200, 503, 200, 503}},
		{"by model", llmtest.Rule{Model: "other"}, []int{200, 200, 200, 200, 200}},
		{"by whatever", llmtest.Rule{Match: func(c llmtest.Chat) bool { return c.Last() == "c" }}, []int{200, 200, 200, 503, 200}},
		{"at most twice", llmtest.Rule{Limit: 2}, []int{503, 503, 200, 200, 200}},
		{"text and number", llmtest.Rule{Text: "a", Calls: []int{1, 2, 3}}, []int{503, 200, 503, 200, 200}},
	} {
		t.Run(r.name, func(t *testing.T) {
			r.rule.Faults = down
			s := &llmtest.Server{Rules: []llmtest.Rule{r.rule}}
			assert.Equal(t, r.want, statuses(t, s, "a", "b", "a", "c", "a"))
		})
	}
}

// TestRuleByProbability: the same calls meet the same faults, in whatever
// order they come and by whichever API; a try again is another draw.
func TestRuleByProbability(t *testing.T) {
	run := func(api llmtest.API, seed uint64, order []int) map[int]int {
		s := &llmtest.Server{Seed: seed, Rules: []llmtest.Rule{{
			Faults: llmtest.Named(llmtest.FaultServerError, llmtest.FaultRateLimit, llmtest.FaultUnavailable), Probability: 0.3,
		}}}
		out := map[int]int{}
		for _, i := range order {
			resp, err := ask(t.Context(), s.Client(), api, false, fmt.Sprint("item ", i))
			require.NoError(t, err)
			resp.Body.Close()
			out[i] = resp.StatusCode
		}
		return out
	}
	var up, down []int
	for i := range 400 {
		up, down = append(up, i), append(down, 399-i)
	}
	want := run(llmtest.OpenAI, 7, up)
	assert.Equal(t, want, run(llmtest.OpenAI, 7, down))
	assert.Equal(t, want, run(llmtest.Gemini, 7, up))
	assert.NotEqual(t, want, run(llmtest.OpenAI, 8, up))
	n := map[int]int{}
	for _, status := range want {
		n[status]++
	}
	assert.InDelta(t, 280, n[200], 40)
	for _, status := range []int{429, 500, 503} {
		assert.InDelta(t, 40, n[status], 20, "each fault is drawn alike")
	}
}

func TestStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Server{Rules: []llmtest.Rule{llmtest.Storm(10*time.Second, 30*time.Second)}}
		for at, want := range []int{200, 200, 429, 429, 429, 429, 429, 200} { // every 6 s
			resp, err := ask(t.Context(), s.Client(), llmtest.Gemini, false, "q")
			require.NoError(t, err)
			b, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, want, resp.StatusCode, "after %d s", 6*at)
			if want == 429 {
				assert.Contains(t, string(b), fmt.Sprintf(`"retryDelay":"%ds"`, 40-6*at), "until the storm is over")
			}
			time.Sleep(6 * time.Second) // virtual
		}
		assert.Equal(t, map[string]int{"storm": 5}, s.Counts().ByFault)
	})
}

func TestBadServers(t *testing.T) {
	hang := llmtest.Named(llmtest.FaultHang)
	for _, r := range []struct {
		name, want string
		server     *llmtest.Server
	}{
		{"no fault", "Rules[0]: field Faults is empty", &llmtest.Server{Rules: []llmtest.Rule{{}}}},
		{"probability", "Rules[1]: field Probability is 2", &llmtest.Server{Rules: []llmtest.Rule{{Faults: hang}, {Faults: hang, Probability: 2}}}},
		{"no number", "Probability is NaN", &llmtest.Server{Rules: []llmtest.Rule{{Faults: hang, Probability: math.NaN()}}}},
		{"call 0", "counted from 1", &llmtest.Server{Rules: []llmtest.Rule{{Faults: hang, Calls: []int{0}}}}},
		{"time", "From is -1s", &llmtest.Server{Rules: []llmtest.Rule{{Faults: hang, From: -time.Second}}}},
		{"times", "Limit is -1", &llmtest.Server{Rules: []llmtest.Rule{{Faults: hang, Limit: -1}}}},
		{"nothing", `the fault "x" does nothing`, &llmtest.Server{Rules: []llmtest.Rule{{Faults: []llmtest.Fault{{Name: "x"}}}}}},
		{"limits", "RPM:-1", &llmtest.Server{Limits: llmtest.Limits{RPM: -1}}},
	} {
		t.Run(r.name, func(t *testing.T) {
			defer func() { assert.Contains(t, fmt.Sprint(recover()), r.want) }()
			r.server.Client()
		})
	}
}
